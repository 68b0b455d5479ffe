"""The pages in a browser."""

from cc_bot.texts.area import Area, Sentence, by_key


class WebTexts(Area):
    """Words that all pages share."""

    title = Sentence(ja="cc-bot", en="cc-bot")
    to_content = Sentence(ja="本文へ", en="Skip to the content")
    pages = Sentence(ja="ページ", en="Pages")
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
            "memories_imported": Sentence(ja="{count}件を取り込みました。", en="Memories imported: {count}."),
            "memories_none_chosen": Sentence(ja="何も選ばれていません。左のチェックで選んでください。", en="Nothing is chosen. Tick the memories that you mean."),
            "memories_none": Sentence(ja="書き出すメモリはまだありません。", en="There are no memories to export yet."),
            "memories_more": Sentence(ja="そのあとにメモリが増えたので、まだ何も消していません。もう一度確かめてください。", en="There are more memories by now, so nothing was erased. Please look once more."),
            "canvas_cleared": Sentence(ja="キャンバスを空にしました。会話の内容はそのままです。", en="The canvas is empty now. The conversation stays as it is."),
            "element_removed": Sentence(ja="キャンバスから外しました。", en="Taken off the canvas."),
            "agent_used": Sentence(ja="エージェントを切り替えました。次の質問から、このエージェントが答えます。", en="Switched. This agent answers from the next question on."),
        }
    )


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


class WebSettingsTexts(Area):
    language_default = Sentence(ja="Discord・ブラウザの言語に合わせる", en="As Discord and your browser have it")
    timezone_hint = Sentence(ja="「東京」や「Europe/Paris」のように入力してください。空にすると、既定の {zone} になります。", en="Type a city or a zone, such as Tokyo or Europe/Paris. Leave it empty for the default, {zone}.")
    timezone_reminders = Sentence(ja="変えると、「毎日7時」のような繰り返しのお知らせは、新しいタイムゾーンの7時に届きます。1回だけのお知らせが届くタイミングは変わりません。", en="A repeat such as “every day at 7:00” then comes at 7:00 in the new time zone. One-time reminders still come at the same moment as before.")
    voice_hint = Sentence(ja="短い回答に、読み上げた音声を付けます。", en="Short answers come with a recording of them.")
    save = Sentence(ja="保存する", en="Save")
    privacy_hint = Sentence(ja="あなたについて保存しているものを見る、受け取る、すべて消すことができます。", en="See what is stored about you, download it, or erase all of it.")
    browsers = Sentence(ja="サインインしているブラウザ", en="Browsers that are signed in")
    browsers_hint = Sentence(ja="心当たりのないものがあれば、サインアウトしてください。", en="If you don't know one of them, sign it out.")
    this_browser = Sentence(ja="このブラウザ", en="this browser")
    since = Sentence(ja="サインイン: {time}", en="Signed in: {time}")
    from_place = Sentence(ja="リンクを受け取った場所: {place}", en="Its link is from: {place}")
    used = Sentence(ja="最後の利用: {time}", en="Last used: {time}")
    ends = Sentence(ja="使わなければ {time} に終わります", en="Ends, if unused: {time}")
    end = Sentence(ja="サインアウト", en="Sign out")
    end_of = Sentence(ja="{made} からのブラウザをサインアウト", en="Sign out the browser of {made}")
    end_others = Sentence(ja="ほかのブラウザをすべてサインアウト", en="Sign out all others")
    end_all = Sentence(ja="このブラウザもふくめ、すべてサインアウト", en="Sign out everywhere, here too")


class WebPrivacyTexts(Area):
    stored = Sentence(ja="あなたについて保存しているもの", en="What is stored about you")
    kind = Sentence(ja="種類", en="Kind")
    count = Sentence(ja="件数", en="Number")
    first = Sentence(ja="最初", en="From")
    last = Sentence(ja="最後", en="To")
    export = Sentence(ja="データを受け取る", en="Download your data")
    export_hint = Sentence(ja="保存しているもののすべてを、1つの JSON ファイルで受け取れます。人に見せないようにしてください。", en="Everything that is stored about you, in one JSON file. Best kept to yourself.")
    download = Sentence(ja="ダウンロードする", en="Download")
    erase = Sentence(ja="すべて消す", en="Erase everything")
    erase_hint = Sentence(ja="次のページで、何が消えるかを確かめてから消せます。", en="The next page tells what goes, and asks once more.")
    erase_ask = Sentence(ja="消す前に確かめる…", en="See what would be erased …")
    question = Sentence(ja="あなたのデータをすべて消しますか？", en="Erase everything that is stored about you?")
    goes = Sentence(ja="消えるもの", en="What goes")
    covers = Sentence(ja="チャンネルでの発言とそれへの回答も、ボットの記録から消えます。サインインしているブラウザは、すべてサインアウトします。元には戻せません。", en="What you said in channels goes from the bot's records as well, with the answers to it. All browsers are signed out. This can't be undone.")
    within = Sentence(ja="このボタンは {until} まで使えます。", en="The button works until {until}.")
    cancel = Sentence(ja="やめて戻る", en="Cancel and go back")
    signed_out = Sentence(ja="このブラウザからもサインアウトしました。また使うときは、Discord で </web> を使ってください。", en="This browser is signed out too. To come back, use </web> on Discord.")


class WebConversationTexts(Area):
    hint = Sentence(ja="ボットとのあなたの会話です。ほかの人には見えません。", en="Your own conversations with the bot. Nobody else sees this page.")
    none = Sentence(ja="会話はまだありません。", en="There are no conversations yet.")
    place = Sentence(ja="チャンネルとエージェント", en="Channel and agent")
    everywhere = Sentence(ja="すべて（{count}）", en="All ({count})")
    choice = Sentence(ja="{channel}・{agent}（{count}）", en="{channel}, {agent} ({count})")
    show = Sentence(ja="表示する", en="Show")
    terminal = Sentence(ja="ターミナル", en="Terminal")
    dm = Sentence(ja="ボットとのDM", en="DM with the bot")
    unknown_channel = Sentence(ja="名前の分からないチャンネル（{made} 作成）", en="Unknown channel (made {made})")
    open = Sentence(ja="続いています", en="goes on")
    closed = Sentence(ja="終わりました", en="over")
    when = Sentence(ja="{first} 〜 {last}", en="{first} to {last}")
    messages = Sentence(ja="発言と回答 {count}件", en="{count} messages")
    no_words = Sentence(ja="（本文なし）", en="(no text)")
    summary = Sentence(ja="この場所での会話の要約", en="Summary of the conversations in this place")
    you = Sentence(ja="あなた", en="You")
    private = Sentence(ja="自分だけ", en="only you")
    files = Sentence(ja="添付: {names}", en="Attached: {names}")
    statuses = by_key({"stopped": Sentence(ja="途中で止めました", en="stopped by you"), "cut": Sentence(ja="途中で切れました", en="cut off")})
    delete = Sentence(ja="この会話を消す", en="Delete this conversation")
    delete_hint = Sentence(
        ja="この会話の発言と回答、添付ファイル、この会話をふくむ要約が消え、チャンネルの文脈からも外れます。いちばん新しい会話なら、キャンバスも空になります。Discord に表示されているメッセージとメモリは残ります。元には戻せません。",
        en="What was said here goes, with its files and the summary that tells of it, and leaves the context of its channel. With the newest conversation of a place its canvas is emptied too. Messages on Discord itself and memories stay. This can't be undone.",
    )
    delete_now = Sentence(ja="元に戻せないことを確かめて消す", en="Delete for good")
    gone = Sentence(ja="この会話は、もうありません。消したか、保存する期間が過ぎています。", en="This conversation is gone: it was deleted, or the time for which it is kept is over.")
    back = Sentence(ja="会話の一覧へ", en="All conversations")
    pages = Sentence(ja="ページ送り", en="Pages of this list")
    page = Sentence(ja="{page} / {pages} ページ", en="Page {page} of {pages}")
    first = Sentence(ja="最初", en="First")
    previous = Sentence(ja="前へ", en="Previous")
    next = Sentence(ja="次へ", en="Next")
    last = Sentence(ja="最後", en="Last")


class WebReminderTexts(Area):
    new = Sentence(ja="新しいお知らせ", en="New reminder")
    new_hint = Sentence(ja="時刻になったら、DM でお知らせします。", en="When its time comes, you get a DM.")
    new_hint_terminal = Sentence(ja="時刻になったら、開いているターミナルでお知らせします。", en="When its time comes, it is said in the terminal that is open.")
    text = Sentence(ja="お知らせする内容", en="What to remind you of")
    when = Sentence(ja="いつ", en="When")
    when_hint = Sentence(ja="「明日9時」「30分後」「毎朝7時」のように書いてください。", en="For example: tomorrow at 9, in 30 minutes, every morning at 7.")
    repeat = Sentence(ja="繰り返し（なくてもかまいません）", en="Repeat (optional)")
    repeat_hint = Sentence(ja="「毎日」「毎週月曜」「1回だけ」のように書いてください。", en="For example: every day, every Monday, once.")
    add = Sentence(ja="予約する", en="Set it")
    change = Sentence(ja="変える", en="Change")
    change_of = Sentence(ja="お知らせ {number} を変える", en="Change reminder {number}")
    when_kept = Sentence(ja="空のままなら、時刻は変わりません。", en="Left empty, its time stays.")
    save = Sentence(ja="保存する", en="Save")
    cancel = Sentence(ja="取り消す", en="Cancel it")
    cancel_of = Sentence(ja="お知らせ {number} を取り消す", en="Cancel reminder {number}")
    resume = Sentence(ja="再開する", en="Let it go on")
    resume_of = Sentence(ja="お知らせ {number} を再開する", en="Let reminder {number} go on")
    heartbeat = Sentence(ja="声かけ", en="Checking in")
    heartbeat_hint = Sentence(ja="近づいた予定や新しいメモリを見て、お知らせしたほうがよいことがあるときだけ、ボットから声をかけます。", en="The bot looks at what is coming up and at new memories, and speaks to you only when something is worth telling.")
    every = Sentence(ja="何時間ごとに確かめるか（1〜168）", en="Look every so many hours (1 to 168)")
    quiet_from = Sentence(ja="静かにする時間のはじめ", en="Quiet from")
    quiet_to = Sentence(ja="静かにする時間の終わり", en="Quiet until")
    heartbeat_start = Sentence(ja="DM での声かけを始める", en="Start it, by DM")
    heartbeat_again = Sentence(ja="この内容で始め直す（DM）", en="Start it anew, by DM")
    heartbeat_stop = Sentence(ja="声かけをやめる", en="Stop it")


class WebUsageTexts(Area):
    now = Sentence(ja="今日と今月", en="Today and this month")
    roles = Sentence(ja="ロールごとに上限があるサーバーでは、Discord の </usage> で残りをたしかめてください。", en="Where a server has limits by role, </usage> on Discord tells what is left to you there.")
    period = Sentence(ja="期間", en="Period")
    days = Sentence(ja="{days}日間", en="{days} days")
    by_day = Sentence(ja="日ごと", en="By day")
    by_month = Sentence(ja="月ごと", en="By month")
    by_model = Sentence(ja="モデルごと", en="By model")
    by_purpose = Sentence(ja="目的ごと", en="By purpose")
    day = Sentence(ja="日", en="Day")
    month = Sentence(ja="月", en="Month")
    model = Sentence(ja="モデル", en="Model")
    purpose = Sentence(ja="目的", en="Purpose")
    tokens = Sentence(ja="トークン", en="Tokens")
    turns = Sentence(ja="質問", en="Questions")
    cost = Sentence(ja="金額", en="Cost")
    sound = Sentence(ja="音声", en="Sound")
    together = Sentence(ja="合計", en="In all")
    nothing = Sentence(ja="この期間には、何も使っていません。", en="Nothing was used in these days.")
    purposes = by_key({"turn": Sentence(ja="質問への回答", en="answers"), "summary": Sentence(ja="会話の要約", en="summaries"), "heartbeat": Sentence(ja="声かけ", en="checking in"), "schedule": Sentence(ja="時刻を読み取ること", en="reading what a time means"), "speech": Sentence(ja="読み上げ", en="reading aloud")})
    server = Sentence(ja="サーバー: {name}", en="Server: {name}")
    server_hint = Sentence(ja="このサーバーを管理しているあなたに表示しています。全員の合計で、だれが何に使ったかは分かりません。", en="Shown to you since you manage this server. It is the sum of all members, and tells nothing of anybody.")


class WebMemoryTexts(Area):
    # ---- looking through them
    search = Sentence(ja="言葉で探す", en="Search")
    filters = Sentence(ja="しぼり込む", en="Narrow down")
    find = Sentence(ja="表示する", en="Show")
    any = Sentence(ja="すべて", en="all")
    origin = Sentence(ja="きっかけ", en="How it came about")
    order = Sentence(ja="並び順", en="Order")
    newest_first = Sentence(ja="新しい順", en="newest first")
    tag = Sentence(ja="タグ", en="Tag")
    found = Sentence(ja="{count}件あります。", en="{count} memories")
    found_one = Sentence(ja="1件あります。", en="1 memory")
    found_none = Sentence(ja="0件です。", en="no memories")
    found_most = Sentence(ja="合うものが多いので、近いものから{count}件だけを出しています。言葉を足すか、しぼり込むと、ほかのものも見つかります。", en="More than {count} memories fit, so these are the {count} that fit best. Add a word or narrow down to find others.")
    nothing_fits = Sentence(ja="この条件に合うメモリはありません。", en="No memory fits what you are looking for.")
    show_all = Sentence(ja="条件を外す", en="Show all")
    counted = Sentence(ja="{name}（{count}件）", en="{name} ({count})")
    choose = Sentence(ja="#{id} を選ぶ", en="Choose #{id}")
    pinned = Sentence(ja="ピン留め", en="pinned")
    private = Sentence(ja="DM と、自分だけに見える回答でだけ使います", en="Used only in DMs and in answers that you alone see")

    private_only = Sentence(ja="DM と、自分だけに見える回答", en="DMs and private answers")
    until = Sentence(ja="{date} まで", en="until {date}")
    expired = Sentence(ja="期限切れ", en="expired")
    none = Sentence(ja="メモリはまだありません。ここで追加するか、会話の中で「〜を覚えておいて」と頼むと、ここに並びます。", en="There are no memories yet. Add one here, or say “remember that …” in a conversation.")

    # ---- adding
    add = Sentence(ja="メモリを追加する", en="Add a memory")
    save = Sentence(ja="覚える", en="Remember it")
    end = Sentence(ja="期限", en="Last day it holds")
    end_hint = Sentence(ja="「{example}」のように書けます。なければ空欄にしてください。", en="Such as: {example}. Leave it empty if there is none.")

    # ---- one of them
    edit = Sentence(ja="編集する", en="Edit")
    save_changes = Sentence(ja="保存する", en="Save")
    earlier = Sentence(ja="前の内容", en="What it said before")
    no_earlier = Sentence(ja="編集すると、その前の内容がここに残ります。", en="Once you edit it, what it said before stays here.")
    restore = Sentence(ja="この内容に戻す", en="Go back to this")
    restore_of = Sentence(ja="{time} の内容に戻す", en="Go back to what it said on {time}")
    undo_edit = Sentence(ja="最後の変更を取り消す", en="Undo the last change")
    made = Sentence(ja="覚えた日時", en="Remembered")
    changed = Sentence(ja="変更した日時", en="Changed")
    message = Sentence(ja="元のメッセージを見る", en="See the message")
    pin = Sentence(ja="ピン留めする", en="Pin")
    unpin = Sentence(ja="ピンを外す", en="Unpin")
    delete = Sentence(ja="削除する", en="Delete")
    erase = Sentence(ja="完全に消す…", en="Erase for good…")
    to_list = Sentence(ja="メモリの一覧へ", en="To all memories")
    deleted = Sentence(ja="このメモリは削除しました。", en="This memory is deleted.")
    conflict = Sentence(ja="編集しているあいだに、このメモリが変わりました。まだ何も保存していません。両方を見くらべて、残すほうを選んでください。", en="This memory changed while you were editing it. Nothing is saved yet. Compare the two and choose what to keep.")
    now_says = Sentence(ja="今の内容", en="What it says now")
    keep_now = Sentence(ja="今の内容のままにする", en="Keep what it says now")
    yours = Sentence(ja="あなたが入力した内容", en="What you entered")
    save_yours = Sentence(ja="この内容で保存する", en="Save this instead")

    # ---- erasing
    erase_title = Sentence(ja="完全に消す", en="Erase for good")
    erase_question = Sentence(ja="次のメモリを、前の内容もふくめて完全に消します。元には戻せません。", en="These memories are erased for good, with all that they said before. This can't be undone.")
    erase_told = Sentence(
        ja="会話の中で話したことは記録に残ります。「会話の記録からも消す」を選ぶと、この内容にふれた発言や回答、その要約、キャンバスに描いたものも消え、そこで話したことはもう思い出せません。",
        en="What was said in conversations stays. “Erase from conversations too” also removes the messages that touch on it, their summaries and what was drawn from them on canvases; then I no longer know what was said there.",
    )
    best_first = Sentence(ja="検索中は、近いものから並びます。", en="A search lists what fits best first.")
    erase_all = Sentence(ja="すべてのメモリを完全に消す…", en="Erase all memories for good…")
    erase_all_question = Sentence(ja="メモリ {count}件をすべて、前の内容や削除したばかりのものもふくめて、完全に消します。元には戻せません。", en="All your memories ({count}) are erased for good, with all that they said before and what was just deleted. This can't be undone.")
    erase_copy_first = Sentence(ja="控えが要るときは、先に書き出してください。", en="For a copy, export them first.")
    erased_title = Sentence(ja="完全に消しました", en="Erased for good")
    erased = Sentence(ja="もう元には戻せません。", en="This can't be undone.")
    erased_none = Sentence(ja="もうなかったもの: {numbers}", en="Not there any more: {numbers}")

    # ---- several at once
    several = Sentence(ja="選んだメモリ", en="The memories you chose")
    chosen_before = Sentence(ja="ほかの検索で選んだもの", en="Chosen in other searches")
    with_chosen = Sentence(ja="選んだものを", en="With those chosen:")
    new_category = Sentence(ja="新しいカテゴリ", en="New category")
    change_category = Sentence(ja="カテゴリを変える", en="Change the category")
    undo_all = Sentence(ja="削除したものを元に戻す", en="Undo the deletions")
    there = Sentence(ja="あるもの: {count}件", en="There: {count}")
    hidden = Sentence(ja="削除したもの: {count}件", en="Deleted: {count}")
    gone = Sentence(ja="もうないもの: {count}件", en="Not there any more: {count}")
    not_done = Sentence(ja="できなかったもの: {count}件", en="Not done: {count}")
    state_hidden = Sentence(ja="削除ずみ（{until} まで元に戻せます）", en="deleted (can be undone until {until})")
    state_gone = Sentence(ja="もうありません", en="not there any more")
    state_not_done = Sentence(ja="できませんでした。{why}", en="Not done. {why}")

    # ---- files and pausing
    files = Sentence(ja="書き出し・取り込み・一時停止", en="Export, import and pause")
    export_json = Sentence(ja="書き出す（JSON）", en="Export (JSON)")
    export_readable = Sentence(ja="書き出す（読むための Markdown）", en="Export (Markdown, for reading)")
    export_hint = Sentence(ja="何件あっても、1つのファイルになります。取り込めるのは1回に 1 MB までなので、大きなファイルは分けて取り込んでください。", en="One file, however many there are. An import takes 1 MB at a time; split a larger file for it.")
    export_name = Sentence(ja="メモリ-{day}", en="memories-{day}")
    import_ = Sentence(ja="ファイルから取り込む…", en="Import from a file…")
    import_title = Sentence(ja="メモリを取り込む", en="Import memories")
    import_hint = Sentence(
        ja="書き出した JSON、ChatGPT などのメモリの一覧、1行に1件のテキストを読めます（1 MB・{limit}件まで）。保存する前に、何が入るかを見られます。",
        en="It reads exported JSON, lists from ChatGPT and the like, and texts with one memory a line (up to 1 MB and {limit} of them). You see what would come in before anything is kept.",
    )
    file = Sentence(ja="ファイル", en="File")
    import_audience = Sentence(ja="使う場所が書かれていないものは", en="Those that don't say where they are used")
    look = Sentence(ja="内容を確かめる", en="Look at it first")
    preview = Sentence(ja="取り込む前の確認", en="Before anything is imported")
    import_not_yet = Sentence(ja="まだ何も保存していません。", en="Nothing is saved yet.")
    import_new = Sentence(ja="新しく覚える: {count}件", en="New: {count}")
    import_some = Sentence(ja="はじめの{count}件", en="The first {count}")
    other_file = Sentence(ja="別のファイルを選ぶ", en="Choose another file")
    is_paused = Sentence(ja="一時停止中です。新しく覚えることも、回答に使うこともしません。", en="Memory is paused: nothing new is kept, and nothing is used in answers.")
    pause = Sentence(ja="一時停止する", en="Pause")
    pause_hint = Sentence(ja="一時停止すると、再開するまで、新しく覚えることも、回答に使うこともしません。今あるメモリはそのまま残ります。", en="While paused, nothing new is kept and nothing is used in answers. What is there stays.")
    resume = Sentence(ja="再開する", en="Resume")
