"""The words of the pages in a browser on what is one's own: settings, data, conversations, reminders and
usage."""

from cc_bot.texts.area import Area, Sentence, by_key


class WebSettingsTexts(Area):
    language_default = Sentence(
        ja="Discord・ブラウザの言語に合わせる", en="As Discord and your browser have it"
    )
    timezone_hint = Sentence(
        ja="「東京」や「Europe/Paris」のように入力してください。空にすると、既定の {zone} になります。",
        en="Type a city or a zone, such as Tokyo or Europe/Paris. Leave it empty for the default, {zone}.",
    )
    timezone_reminders = Sentence(
        ja="変えると、これからのお知らせの時刻も、新しいタイムゾーンに合わせて変わります。",
        en="Reminders that are to come move to the new time zone as well.",
    )
    voice_hint = Sentence(
        ja="短い回答に、読み上げた音声を付けます。", en="Short answers come with a recording of them."
    )
    save = Sentence(ja="保存する", en="Save")
    privacy_hint = Sentence(
        ja="あなたについて保存しているものを見る、受け取る、すべて消すことができます。",
        en="See what is stored about you, download it, or erase all of it.",
    )
    browsers = Sentence(ja="サインインしているブラウザ", en="Browsers that are signed in")
    browsers_hint = Sentence(
        ja="心当たりのないものがあれば、サインアウトしてください。",
        en="If you don't know one of them, sign it out.",
    )
    this_browser = Sentence(ja="このブラウザ", en="this browser")
    since = Sentence(ja="サインイン: {time}", en="Signed in: {time}")
    from_place = Sentence(ja="リンクを受け取った場所: {place}", en="Its link is from: {place}")
    used = Sentence(ja="最後の利用: {time}", en="Last used: {time}")
    ends = Sentence(ja="使わなければ {time} に終わります", en="Ends, if unused: {time}")
    end = Sentence(ja="サインアウト", en="Sign out")
    end_of = Sentence(ja="{made} からのブラウザをサインアウト", en="Sign out the browser of {made}")
    """What the button is called for those who hear it."""
    end_others = Sentence(ja="ほかのブラウザをすべてサインアウト", en="Sign out all others")
    end_all = Sentence(ja="このブラウザもふくめ、すべてサインアウト", en="Sign out everywhere, here too")


class WebPrivacyTexts(Area):
    stored = Sentence(ja="あなたについて保存しているもの", en="What is stored about you")
    kind = Sentence(ja="種類", en="Kind")
    count = Sentence(ja="件数", en="Number")
    first = Sentence(ja="最初", en="From")
    last = Sentence(ja="最後", en="To")
    export = Sentence(ja="データを受け取る", en="Download your data")
    export_hint = Sentence(
        ja="保存しているもののすべてを、1つの JSON ファイルで受け取れます。人に見せないようにしてください。",
        en="Everything that is stored about you, in one JSON file. Best kept to yourself.",
    )
    download = Sentence(ja="ダウンロードする", en="Download")
    erase = Sentence(ja="すべて消す", en="Erase everything")
    erase_hint = Sentence(
        ja="次のページで、何が消えるかを確かめてから消せます。",
        en="The next page tells what goes, and asks once more.",
    )
    erase_ask = Sentence(ja="消す前に確かめる…", en="See what would be erased …")
    question = Sentence(
        ja="あなたのデータをすべて消しますか？", en="Erase everything that is stored about you?"
    )
    goes = Sentence(ja="消えるもの", en="What goes")
    covers = Sentence(
        ja="チャンネルでの発言とそれへの回答も、ボットの記録から消えます。サインインしているブラウザは、すべてサインアウトします。元には戻せません。",
        en="What you said in channels goes from the bot's records as well, with the answers to it. All browsers are signed out. This can't be undone.",
    )
    within = Sentence(ja="このボタンは {until} まで使えます。", en="The button works until {until}.")
    cancel = Sentence(ja="やめて戻る", en="Cancel and go back")
    signed_out = Sentence(
        ja="このブラウザからもサインアウトしました。また使うときは、Discord で </web> を使ってください。",
        en="This browser is signed out too. To come back, use </web> on Discord.",
    )


class WebConversationTexts(Area):
    hint = Sentence(
        ja="ボットとのあなたの会話です。ほかの人には見えません。",
        en="Your own conversations with the bot. Nobody else sees this page.",
    )
    none = Sentence(ja="会話はまだありません。", en="There are no conversations yet.")
    place = Sentence(ja="チャンネルとエージェント", en="Channel and agent")
    everywhere = Sentence(ja="すべて（{count}）", en="All ({count})")
    choice = Sentence(ja="{channel}・{agent}（{count}）", en="{channel}, {agent} ({count})")
    show = Sentence(ja="表示する", en="Show")
    terminal = Sentence(ja="ターミナル", en="Terminal")
    dm = Sentence(ja="ボットとのDM", en="DM with the bot")
    unknown_channel = Sentence(
        ja="名前の分からないチャンネル（{made} 作成）", en="Unknown channel (made {made})"
    )
    """Parameter: made. Where Discord does not tell what a channel is called."""
    open = Sentence(ja="続いています", en="goes on")
    closed = Sentence(ja="終わりました", en="over")
    when = Sentence(ja="{first} 〜 {last}", en="{first} to {last}")
    messages = Sentence(ja="発言と回答 {count}件", en="{count} messages")
    no_words = Sentence(ja="（本文なし）", en="(no text)")
    summary = Sentence(ja="この場所での会話の要約", en="Summary of the conversations in this place")
    you = Sentence(ja="あなた", en="You")
    private = Sentence(ja="自分だけ", en="only you")
    files = Sentence(ja="添付: {names}", en="Attached: {names}")
    statuses = by_key(
        {
            "stopped": Sentence(ja="途中で止めました", en="stopped by you"),
            "cut": Sentence(ja="途中で切れました", en="cut off"),
        }
    )
    delete = Sentence(ja="この会話を消す", en="Delete this conversation")
    delete_hint = Sentence(
        ja="この会話の発言と回答、添付ファイル、この会話をふくむ要約が消え、チャンネルの文脈からも外れます。いちばん新しい会話なら、キャンバスも空になります。Discord に表示されているメッセージとメモリは残ります。元には戻せません。",
        en="What was said here goes, with its files and the summary that tells of it, and leaves the context of its channel. With the newest conversation of a place its canvas is emptied too. Messages on Discord itself and memories stay. This can't be undone.",
    )
    delete_now = Sentence(ja="元に戻せないことを確かめて消す", en="Delete for good")
    gone = Sentence(
        ja="この会話は、もうありません。消したか、保存する期間が過ぎています。",
        en="This conversation is gone: it was deleted, or the time for which it is kept is over.",
    )
    back = Sentence(ja="会話の一覧へ", en="All conversations")
    pages = Sentence(ja="ページ送り", en="Pages of this list")
    """What the links between pages are called for those who hear it."""
    page = Sentence(ja="{page} / {pages} ページ", en="Page {page} of {pages}")
    first = Sentence(ja="最初", en="First")
    previous = Sentence(ja="前へ", en="Previous")
    next = Sentence(ja="次へ", en="Next")
    last = Sentence(ja="最後", en="Last")


class WebReminderTexts(Area):
    new = Sentence(ja="新しいお知らせ", en="New reminder")
    new_hint = Sentence(ja="時刻になったら、DM でお知らせします。", en="When its time comes, you get a DM.")
    new_hint_terminal = Sentence(
        ja="時刻になったら、開いているターミナルでお知らせします。",
        en="When its time comes, it is said in the terminal that is open.",
    )
    text = Sentence(ja="お知らせする内容", en="What to remind you of")
    when = Sentence(ja="いつ", en="When")
    when_hint = Sentence(
        ja="「明日9時」「30分後」「毎朝7時」のように書いてください。",
        en="For example: tomorrow at 9, in 30 minutes, every morning at 7.",
    )
    repeat = Sentence(ja="繰り返し（なくてもかまいません）", en="Repeat (optional)")
    repeat_hint = Sentence(
        ja="「毎日」「毎週月曜」「1回だけ」のように書いてください。",
        en="For example: every day, every Monday, once.",
    )
    add = Sentence(ja="予約する", en="Set it")
    listed = Sentence(ja="予約したお知らせ（{count}件）", en="Your reminders ({count})")
    none = Sentence(ja="予約したお知らせはありません。", en="You have no reminders.")
    next = Sentence(ja="{repeat}（次は {time}）", en="{repeat} (next: {time})")
    """Parameters: repeat, time."""
    place = Sentence(ja="場所: {place}", en="Where: {place}")
    change = Sentence(ja="変える", en="Change")
    change_of = Sentence(ja="お知らせ {number} を変える", en="Change reminder {number}")
    """What it is called for those who hear it, as with the others of `_of`."""
    when_kept = Sentence(ja="空のままなら、時刻は変わりません。", en="Left empty, its time stays.")
    save = Sentence(ja="保存する", en="Save")
    cancel = Sentence(ja="取り消す", en="Cancel it")
    cancel_of = Sentence(ja="お知らせ {number} を取り消す", en="Cancel reminder {number}")
    resume = Sentence(ja="再開する", en="Let it go on")
    resume_of = Sentence(ja="お知らせ {number} を再開する", en="Let reminder {number} go on")
    heartbeat = Sentence(ja="声かけ", en="Checking in")
    heartbeat_hint = Sentence(
        ja="近づいた予定や新しいメモを見て、お知らせしたほうがよいことがあるときだけ、ボットから声をかけます。",
        en="The bot looks at what is coming up and at new memories, and speaks to you only when something is worth telling.",
    )
    heartbeat_off = Sentence(ja="今はオフです。", en="It is off.")
    heartbeat_next = Sentence(ja="次は {time} です。", en="Next: {time}.")
    heartbeat_paused = Sentence(
        ja="止まっています。下のボタンで始め直せます。", en="It is paused. Start it anew below."
    )
    every = Sentence(ja="何時間ごとに確かめるか（1〜168）", en="Look every so many hours (1 to 168)")
    quiet_from = Sentence(ja="静かにする時間のはじめ", en="Quiet from")
    quiet_to = Sentence(ja="静かにする時間の終わり", en="Quiet until")
    heartbeat_start = Sentence(ja="DM での声かけを始める", en="Start it, by DM")
    heartbeat_again = Sentence(ja="この内容で始め直す（DM）", en="Start it anew, by DM")
    heartbeat_stop = Sentence(ja="声かけをやめる", en="Stop it")


class WebUsageTexts(Area):
    now = Sentence(ja="今日と今月", en="Today and this month")
    roles = Sentence(
        ja="ロールごとに上限があるサーバーでは、Discord の </usage> で残りをたしかめてください。",
        en="Where a server has limits by role, </usage> on Discord tells what is left to you there.",
    )
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
    bar = Sentence(ja="{day}: {tokens} トークン", en="{day}: {tokens} tokens")
    purposes = by_key(
        {
            "turn": Sentence(ja="質問への回答", en="answers"),
            "summary": Sentence(ja="会話の要約", en="summaries"),
            "heartbeat": Sentence(ja="声かけ", en="checking in"),
            "schedule": Sentence(ja="時刻を読み取ること", en="reading what a time means"),
            "speech": Sentence(ja="読み上げ", en="reading aloud"),
        }
    )
    server = Sentence(ja="サーバー: {name}", en="Server: {name}")
    server_hint = Sentence(
        ja="このサーバーを管理しているあなたに表示しています。全員の合計で、だれが何に使ったかは分かりません。",
        en="Shown to you since you manage this server. It is the sum of all members, and tells nothing of anybody.",
    )
