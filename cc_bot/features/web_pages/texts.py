from cc_bot.texts.area import Area, Sentence


class WebPageCheckTexts(Area):
    reading = Sentence(ja="ウェブページを読む", en="Reading web pages")
    search = Sentence(ja="ウェブ検索", en="Web search")
    reading_ok = Sentence(ja="貼られた URL のページを読めます。", en="Pages that users link to can be read.")
    reading_not_installed = Sentence(ja="貼られた URL のページは読めません。読むには make pages。", en="Pages that users link to are not read. `make pages` enables that.")
    reading_off = Sentence(ja="貼られた URL のページは読みません（CC_BOT_READ_PAGES=off）。", en="Pages that users link to are not read (CC_BOT_READ_PAGES=off).")
    reading_failed_fix = Sentence(ja="このマシンから {url} を直接開けるか確かめてください（プロキシは使いません）。ページを読まないなら CC_BOT_READ_PAGES=off。", en="Check that this machine can open {url} directly (no proxy is used). If the bot should read no pages, set CC_BOT_READ_PAGES=off.")
    search_ok = Sentence(ja="ウェブ検索（{name}）を使えます。", en="The web can be searched ({name}).")
    search_none = Sentence(ja="ウェブ検索は使いません。使うには CC_BOT_SEARCH_URL か CC_BOT_BRAVE_KEY を設定してください。", en="The web is not searched. CC_BOT_SEARCH_URL or CC_BOT_BRAVE_KEY enables that.")
    search_failed = Sentence(ja="ウェブ検索（{name}）が答えません。\n→ {variable} と、その検索が動いているかを確かめてください。", en="The web search ({name}) does not answer.\n→ Check {variable}, and whether the search service is running.")
    search_format_off = Sentence(ja="SearXNG が、プログラムからの検索（JSON）を許していません。\n→ settings.yml の search.formats に json を足して、起動し直してください。", en="SearXNG does not let programs search (JSON is off).\n→ Add json to search.formats in its settings.yml, and restart it.")
