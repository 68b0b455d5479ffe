"""The terminal chat: the commands that it alone has, its hints, and what stands around an answer there."""

from cc_bot.texts.area import Area, Sentence, by_key


class TerminalTexts(Area):
    commands = by_key({"memory undo": Sentence(ja="削除（10分以内）か、最後の変更を取り消します", en="Undo a deletion (for ten minutes), or the newest change"), "exit": Sentence(ja="終わります", en="Leave")})
    """What Discord has no command for; the other descriptions are in commands.py."""
    no_key = Sentence(ja="💡 .env に OPENAI_API_KEY=sk-… と書くと、AIモデルが答えます（手元のサーバーなら OPENAI_BASE_URL）。", en="💡 Put OPENAI_API_KEY=sk-… into .env to have an AI model answer (OPENAI_BASE_URL for a server of your own).")
    greeting = Sentence(ja="cc-bot（{model}）。聞きたいことを書いて Enter を押してください。/help で一覧、Ctrl-D で終わります。", en="cc-bot ({model}). Write a question and press Enter. /help lists the commands, Ctrl-D leaves.")
    goodbye = Sentence(ja="またどうぞ。", en="See you.")
    help_title = Sentence(ja="できること", en="What I can do")
    help_keys = Sentence(ja="Enter で送信、Alt+Enter で改行、↑ で前の入力、Tab で補完します。Ctrl-C は回答を止めるか入力を消し、Ctrl-D で終わります。", en="Enter sends, Alt+Enter starts a new line, ↑ brings back what you entered, Tab completes. Ctrl-C stops the answer or clears the line, Ctrl-D leaves.")
    help_stored = Sentence(ja="会話とメモリは、このボットが動いている機械に保存されます。", en="Conversations and memories are kept on the machine that this bot runs on.")
    send = Sentence(ja="送信", en="send")
    leave = Sentence(ja="終了", en="leave")
    interrupt = Sentence(ja="Ctrl-C で止める", en="Ctrl-C stops")
    tool_used = Sentence(ja="{name} を使いました", en="Used {name}")
    tool_failed = Sentence(ja="{name} はうまくいきませんでした", en="{name} did not work")
    cut = Sentence(ja="✂️ 回答が途中で切れました。「続けて」と書くと続きを書きます。", en="✂️ The answer broke off. Write “go on” for the rest.")
    unknown = Sentence(ja="{given} というコマンドはありません。/help で一覧を見られます。/ で始まる質問は /ask に続けて書いてください。", en="There is no command {given}. /help lists them; to ask something that begins with /, put /ask before it.")
    unknown_near = Sentence(ja="{given} というコマンドはありません。{nearest} のことですか？", en="There is no command {given}. Did you mean {nearest}?")
    not_here = Sentence(ja="{given} はターミナルでは使えません。Discord か、cc-bot web で開くページでどうぞ。", en="{given} does not work in the terminal. Use it on Discord, or the pages that cc-bot web opens.")
    model_not_found = Sentence(ja="AIモデル「{model}」が見つかりません。CC_BOT_MODEL と OPENAI_BASE_URL を確かめてください。", en="There is no AI model “{model}”. Check CC_BOT_MODEL and OPENAI_BASE_URL.")
    model_unreachable = Sentence(ja="AIモデルのサーバー {host} につながりません。サーバーが動いているか、OPENAI_BASE_URL（models.toml なら base_url）が正しいかを確かめてください。", en="The AI model's server at {host} can't be reached. Check that it runs, and OPENAI_BASE_URL (or base_url in models.toml).")
    model_refused_key = Sentence(ja="AIモデルのサーバーがAPIキーを受け付けません。OPENAI_API_KEY（models.toml なら api_key）と、その残高や権限を確かめてください。", en="The AI model's server does not accept the API key. Check OPENAI_API_KEY (or api_key in models.toml), its credit and its rights.")
    model_refused_request = Sentence(ja="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、cc-bot doctor で CC_BOT_MODEL の設定を確かめてください。", en="The AI model did not accept this question. Put it another way, or check CC_BOT_MODEL with cc-bot doctor.")
    ask_doctor = Sentence(ja="cc-bot doctor で原因を確かめてください", en="run cc-bot doctor to see why")
    """Instead of `errors.tell_operator`: the reader is the operator."""
    servers_starting = Sentence(ja="ツールのサーバーにつないでいます…（10秒まで）", en="Connecting to servers with tools… (10 seconds at most)")
    images_given = Sentence(ja="🖼️ ツールが画像を {count} 枚返しました。ここでは表示できません。", en="🖼️ A tool gave {count} picture(s), which can't be shown here.")
    nothing_to_undo = Sentence(ja="#{id} に取り消せる変更はありません。", en="There is no change of #{id} to undo.")
    proposal = Sentence(ja="提案: {what}", en="Proposal: {what}")
    confirm = Sentence(ja="実行しますか？（y/N）", en="Do it? (y/N)")
    in_zone = Sentence(ja="（{zone} の時刻）", en=" ({zone} time)")
    """After a time that counts in another time zone than the user's."""
