"""The words of the pages in a browser, and of the command that gives the link to them."""

from cc_bot.texts.area import Area, Sentence, by_key


class WebTexts(Area):
    """Words that all pages share."""

    title = Sentence(ja="cc-bot", en="cc-bot")
    to_content = Sentence(ja="本文へ", en="Skip to the content")
    pages = Sentence(ja="ページ", en="Pages")
    """What the list of pages is called for those who hear it."""
    canvas = Sentence(ja="キャンバス", en="Canvas")
    memories = Sentence(ja="メモリ", en="Memories")
    conversations = Sentence(ja="会話", en="Conversations")
    reminders = Sentence(ja="お知らせ", en="Reminders")
    usage = Sentence(ja="使用量", en="Usage")
    settings = Sentence(ja="設定", en="Settings")
    privacy = Sentence(ja="プライバシー", en="Privacy")
    console = Sentence(ja="管理", en="Console")
    sign_out = Sentence(ja="サインアウト", en="Sign out")
    signed_out = Sentence(ja="サインアウトしました", en="You are signed out")
    come_back = Sentence(ja="またページを見るときは、Discord で </web> を実行してください。", en="To see your pages again, use </web> on Discord.")
    trouble = Sentence(ja="できませんでした", en="That didn't work")
    back = Sentence(ja="戻る", en="Back")
    away = Sentence(ja="ボットに届きません。つながるまで、少しお待ちください。", en="The bot can't be reached. Please wait until it is back.")
    """Where a press got no answer."""
    unsaved = Sentence(ja="まだ保存していない文章があります。保存せずに進みますか？", en="What you typed is not saved yet. Go on without saving it?")
    sign_in = Sentence(ja="サインイン", en="Sign in")
    sign_in_whose = Sentence(ja="{name} さんのページを、このブラウザで開きます。", en="This opens the pages of {name} in this browser.")
    sign_in_own = Sentence(ja="ご自分の名前でなければ、何も押さずに閉じてください。ほかの人と共用のブラウザでは、使い終わったらサインアウトしてください。", en="If that is not you, close this page and press nothing. In a browser that others use too, sign out when you are done.")
    sign_in_press = Sentence(ja="ページを開く", en="Open my pages")
    numbers = Sentence(ja="数値を見る", en="See the numbers")
    canvas_places = Sentence(ja="キャンバスを選んでください。", en="Choose a canvas.")
    canvas_others = Sentence(ja="ほかのチャンネル", en="Other channels")
    elements = Sentence(ja="{count}件", en="{count} up")
    canvas_empty = Sentence(ja="まだ何も出ていません。Discord で「買うものをキャンバスに出して」のように頼むと、ここに出ます。", en='Nothing is up yet. Ask on Discord, like "put my shopping list on the canvas", and it appears here.')
    answers_here = Sentence(ja="ここで答えるエージェント", en="Who answers here")
    use_agent = Sentence(ja="切り替える", en="Switch")
    hide_private = Sentence(ja="自分だけに見えるものを隠す", en="Hide what only I can see")
    private = Sentence(ja="自分だけに見えます", en="Only you can see this")
    remove_element = Sentence(ja="「{title}」をキャンバスから外す", en="Take “{title}” off the canvas")
    untitled = Sentence(ja="無題", en="untitled")
    clear_canvas = Sentence(ja="キャンバスを空にする", en="Empty the canvas")
    clear_question = Sentence(ja="出ているものをすべて外します。元には戻せません。会話の内容はそのままです。", en="This takes everything down and can't be undone. The conversation stays as it is.")
    clear_yes = Sentence(ja="すべて外す", en="Take everything down")
    others_up = Sentence(ja="ほかに出ているもの", en="Also up")
    connecting = Sentence(ja="つないでいます…", en="Connecting…")
    live = Sentence(ja="変更はすぐ届きます。", en="Changes appear at once.")
    reconnecting = Sentence(ja="ボットに届きません。つなぎ直しています…", en="The bot can't be reached. Reconnecting…")
    closed_signed_out = Sentence(ja="サインアウトしました。", en="You are signed out.")
    closed_denied = Sentence(ja="いまは使えないため、表示を終えました。", en="You can't use the bot at the moment.")
    closed_unknown = Sentence(ja="わからない内容が届きました。", en="That message is not understood.")
    closed_too_many_open = Sentence(ja="開いているタブが多いため止まりました。再読み込みで続きます。", en="Too many tabs are open, so this one stopped. Reload it to go on.")
    """Each of these fits the 123 bytes that a socket's end may say."""
    terminal_user = Sentence(ja="ターミナル", en="the terminal's user")
    done = by_key(
        {
            "session_ended": Sentence(ja="サインアウトしました。", en="That browser is signed out."),
            "sessions_ended": Sentence(ja="ほかのブラウザをすべてサインアウトしました。", en="All other browsers are signed out."),
            "settings_saved": Sentence(ja="設定を保存しました。", en="Your settings are saved."),
            "erase_too_late": Sentence(ja="時間がたったので、何も消していません。もう一度確かめてください。", en="That took too long, so nothing was erased. Please look once more."),
            "conversation_deleted": Sentence(ja="会話を消しました。", en="The conversation is deleted."),
            "memory_edited": Sentence(ja="変更しました。", en="It is changed."),
            "memory_unchanged": Sentence(ja="前のままです。変更はありませんでした。", en="It is as it was. Nothing was changed."),
            "memory_undone": Sentence(ja="最後の変更を取り消しました。", en="The last change is undone."),
            "memory_not_undone": Sentence(ja="そのあとにまた変わったので、取り消しませんでした。前の内容から選んで戻せます。", en="It has changed again since, so nothing was undone. You can go back to an earlier text."),
            "memory_restored": Sentence(ja="前の内容に戻しました。", en="It says again what it said before."),
            "memory_not_restored": Sentence(ja="その内容はもう残っていません。", en="That version is no longer kept."),
            "memory_pinned": Sentence(ja="ピン留めしました。", en="It is pinned."),
            "memory_unpinned": Sentence(ja="ピンを外しました。", en="It is no longer pinned."),
            "memories_imported": Sentence(ja="{count}件を取り込みました。", en="Memories imported: {count}."),
            "memories_none_chosen": Sentence(ja="何も選ばれていません。左のチェックで選んでください。", en="Nothing is chosen. Tick the memories that you mean."),
            "memories_none": Sentence(ja="書き出すメモリはまだありません。", en="There are no memories to export yet."),
            "memories_more": Sentence(ja="そのあとにメモリが増えたので、まだ何も消していません。もう一度確かめてください。", en="There are more memories by now, so nothing was erased. Please look once more."),
            "canvas_cleared": Sentence(ja="キャンバスを空にしました。会話の内容はそのままです。", en="The canvas is empty now. The conversation stays as it is."),
            "element_removed": Sentence(ja="キャンバスから外しました。", en="Taken off the canvas."),
            "agent_used": Sentence(ja="エージェントを切り替えました。次の質問から、このエージェントが答えます。", en="Switched. This agent answers from the next question on."),
        }
    )
    """What a press has done, by the name that the next page's address tells."""


class WebCommandTexts(Area):
    """Words of `/web`."""

    link = Sentence(ja="🔗 あなたのページを開くリンクです。10分間、1回だけ使えます。人には見せないでください。", en="🔗 A link to your own pages. It works once, within 10 minutes. Show it to nobody.")
    open = Sentence(ja="自分のページを開く", en="Open my pages")
    not_served = Sentence(ja="このボットでは、ブラウザのページは使えません。ボットの管理者にご相談ください。", en="This bot has no pages for a browser. Its operator can set them up.")
    signed_in = Sentence(ja="サインイン中のブラウザ（{count}）", en="Browsers that are signed in ({count})")
    session = Sentence(ja="・{made} から・最後に使ったのは {used}", en="- since {made}, last used {used}")
    more = Sentence(ja="・ほか {count}件", en="- and {count} more")
    end_one = Sentence(ja="サインアウトするブラウザを選ぶ", en="Choose a browser to sign out")
    end_choice = Sentence(ja="{made} からのブラウザ", en="The one since {made}")
    end_all = Sentence(ja="すべてサインアウトする", en="Sign out everywhere")
    ended = Sentence(ja="✅ {count}件のブラウザをサインアウトしました。", en="✅ {count} browsers are signed out.")
    ended_already = Sentence(ja="そのブラウザはもうサインアウトしています。", en="That browser is signed out already.")


class WebStartTexts(Area):
    """Words for the operator."""

    served = Sentence(ja="ブラウザのページ: {url}", en="Pages for browsers: {url}")
    link = Sentence(ja="次のリンクをブラウザで開いてください（10分間、1回だけ使えます）。", en="Open this link in a browser (it works once, within 10 minutes).")
    no_port = Sentence(ja="CC_BOT_WEB_PORT が設定されていません。たとえば CC_BOT_WEB_PORT=8080 と .env に書いて、cc-bot run を起動してください。", en="CC_BOT_WEB_PORT is not set. Write CC_BOT_WEB_PORT=8080, say, into .env and start cc-bot run.")
    nobody_serves = Sentence(ja="いまは {host}:{port} で何も動いていません。リンクを開く前に cc-bot run を起動してください。", en="Nothing answers at {host}:{port} at the moment. Start cc-bot run before you open the link.")
