"""The pages in a browser."""

from cc_bot.texts.area import Area, Both, Sentence, by_key


class WebTexts(Area):
    to_content = Sentence(ja="本文へ", en="Skip to the content")
    pages = Sentence(ja="ページ", en="Pages")
    memories = Sentence(ja="メモリ", en="Memories")
    conversations = Sentence(ja="会話", en="Chats")
    reminders = Sentence(ja="お知らせ", en="Reminders")
    usage = Sentence(ja="使用量", en="Usage")
    settings = Sentence(ja="設定", en="Settings")
    privacy = Sentence(ja="プライバシー", en="Privacy")
    console = Sentence(ja="管理", en="Console")
    search = Sentence(ja="検索", en="Search")
    search_all = Sentence(ja="すべてから探す", en="Search everything")
    search_none = Sentence(ja="「{words}」は見つかりませんでした。", en="Nothing matches “{words}”.")
    search_hint = Sentence(ja="短い言葉や別の書き方にしたり、1語ずつ探したりすると、見つかることがあります。", en="A shorter word, another spelling or one word at a time may find it.")
    search_more = Sentence(ja="{page}をすべて見る", en="See all: {page}")
    sign_out = Sentence(ja="サインアウト", en="Sign out")
    signed_out = Sentence(ja="サインアウトしました", en="You are signed out")
    welcome = Sentence(ja="{name} が覚えたこと、ぜんぶここに", en="See and change what {name} remembers")
    welcome_what = Sentence(ja="覚えてくれる Discord アシスタントです。\n会話やお知らせも、ここで見られます。\n見えるのは、ご自分のものだけです。", en="It is a Discord assistant that remembers.\nChats and reminders are here too.\nYou see only your own.")
    steps = Both(
        ja=("Discord の入力欄に `</web>` と書いて送ります。", "ボットから届いた「自分のページを開く」を押します。リンクは10分間、1回だけ使えます。", "ページが開きます。このブラウザでは、次からそのまま見られます。"),
        en=("Type `</web>` on Discord and send it.", "Press “Open my pages” in the bot's reply. The link works once, within 10 minutes.", "Your pages open, and stay open in this browser."),
    )
    app_badge = Sentence(ja="アプリ", en="APP")
    open_discord = Sentence(ja="Discord を開く", en="Open Discord")
    missing_title = Sentence(ja="見つかりません", en="Not found")
    link_title = Sentence(ja="このリンクは使えません", en="This link doesn't work")
    failure_title = Sentence(ja="できませんでした", en="That didn't work")
    undo = Sentence(ja="元に戻す", en="Undo")
    close = Sentence(ja="閉じる", en="Close")
    theme = Sentence(ja="画面の明るさ", en="Appearance")
    themes = by_key({"": Sentence(ja="自動", en="Auto"), "light": Sentence(ja="ライト", en="Light"), "dark": Sentence(ja="ダーク", en="Dark")})
    back = Sentence(ja="戻る", en="Back")
    bot_unreachable = Sentence(ja="ボットに届きません。つながるまで、少しお待ちください。", en="The bot can't be reached. Please wait until it is back.")
    unsaved = Sentence(ja="まだ保存していない文章があります。保存せずに進みますか？", en="What you typed is not saved yet. Go on without saving it?")
    command = Sentence(ja="</web>", en="</web>")
    account = Sentence(ja="アカウント", en="Account")
    sign_in_whose = Sentence(ja="{name}さんのページ", en="{name}'s pages")
    sign_in_what = Sentence(ja="{bot} が覚えていることや会話を、このブラウザで開きます。", en="See your chats and what {bot} remembers, in this browser.")
    sign_in_own = Sentence(ja="ご自分の名前でなければ、押さずに閉じてください。", en="Not you? Close this page and press nothing.")
    sign_in_shared = Sentence(ja="ほかの人も使うブラウザでは、最後にサインアウトしてください。", en="In a browser that others use too, sign out when you are done.")
    sign_in_press = Sentence(ja="ページを開く", en="Open my pages")
    terminal_user = Sentence(ja="ターミナル", en="the terminal's user")
    done = by_key(
        {
            "session_ended": Sentence(ja="サインアウトしました。", en="That browser is signed out."),
            "sessions_ended": Sentence(ja="ほかのブラウザをすべてサインアウトしました。", en="All other browsers are signed out."),
            "settings_saved": Sentence(ja="設定を保存しました。", en="Your settings are saved."),
            "erase_too_late": Sentence(ja="時間がたったので、何も消していません。もう一度確かめてください。", en="You waited too long, so nothing was erased. Please look through it and confirm again."),
            "conversation_restored": Sentence(ja="元に戻しました。続きを話すと、新しい会話になります。", en="Undone. What you say next begins a new chat."),
            "conversation_deleted": Sentence(ja="会話を消しました。", en="The chat is deleted."),
            "memories_none_chosen": Sentence(ja="何も選ばれていません。左のチェックで選んでください。", en="Nothing is selected. Tick the memories that you want."),
            "memories_none": Sentence(ja="メモリはまだありません。", en="There are no memories yet."),
            "memories_more": Sentence(ja="そのあとにメモリが増えたので、まだ何も消していません。もう一度確かめてください。", en="There are more memories now, so nothing was erased. Please check again."),
            "canvas_cleared": Sentence(ja="キャンバスを空にしました。会話の内容はそのままです。", en="The canvas is empty now. The chat stays as it is."),
            "undone": Sentence(ja="元に戻しました。", en="Undone."),
            "undo_too_late": Sentence(ja="もう元に戻せません。時間がたったか、そのあとに何かを消しています。", en="This can't be undone any more: too much time has passed, or something was erased since."),
            "element_removed": Sentence(ja="キャンバスから外しました。", en="Taken off the canvas."),
            "reminder_gone": Sentence(ja="このお知らせは、もうありません。", en="This reminder is gone already."),
            "agent_used": Sentence(ja="エージェントを切り替えました。次の質問から、このエージェントが答えます。", en="Switched. This agent answers from the next question on."),
        }
    )


class WebCommandTexts(Area):
    link = Sentence(ja="🔗 あなたのページを開くリンクです。10分間、1回だけ使えます。人には見せないでください。", en="🔗 A link to your own pages. It works once, within 10 minutes. Don't show it to anyone.")
    open = Sentence(ja="自分のページを開く", en="Open my pages")
    not_served = Sentence(ja="このボットでは、ブラウザのページは使えません。ボットの管理者にご相談ください。", en="This bot has no pages for a browser. Its operator can set them up.")
    end_one = Sentence(ja="ブラウザをサインアウトする（{count}）", en="Sign out a browser ({count})")
    end_choice = Sentence(ja="{browser}（{made} から）", en="{browser}, since {made}")
    end_all = Sentence(ja="すべてサインアウトする", en="Sign out everywhere")
    ended = Sentence(ja="✅ {count}件のブラウザをサインアウトしました。", en="✅ Browsers signed out: {count}.")
    ended_already = Sentence(ja="そのブラウザはもうサインアウトしています。", en="That browser is signed out already.")


class WebSettingsTexts(Area):
    language_default = Sentence(ja="Discord・ブラウザの言語に合わせる", en="Same as Discord and your browser")
    timezone_hint = Sentence(ja="いま {time} です。「東京」のような都市の名前でも書けます。変えると、繰り返すお知らせは新しい時刻に合わせます。1回だけのお知らせは、届くときが変わりません。", en="It is {time} there. A city such as Tokyo works too. Repeating reminders follow a change; one-time ones keep their moment.")
    general = Sentence(ja="言葉と時刻", en="Language and time")
    voice_hint = Sentence(ja="短い回答に、読み上げた音声を付けます。", en="Short answers also come as audio.")
    save = Sentence(ja="保存する", en="Save")
    privacy_hint = Sentence(ja="あなたについて保存しているものを見る、受け取る、すべて消すことができます。", en="See what is stored about you, download it, or erase all of it.")
    browsers = Sentence(ja="サインイン中のブラウザ", en="Signed-in browsers")
    browsers_hint = Sentence(ja="心当たりのないものがあれば、サインアウトしてください。", en="If you don't know one of them, sign it out.")
    this_browser = Sentence(ja="このブラウザ", en="This browser")
    since = Sentence(ja="サインイン: {time}", en="signed in on {time}")
    privacy_open = Sentence(ja="見る・消す", en="See or erase it")
    unknown_browser = Sentence(ja="名前の分からないブラウザ", en="Unknown browser")
    used = Sentence(ja="最後の利用: {time}", en="Last used {time}")
    end_of = Sentence(ja="{made} からのブラウザをサインアウト", en="Sign out the browser that signed in on {made}")
    end_others = Sentence(ja="ほかをすべてサインアウト", en="Sign out all others")


class WebConversationTexts(Area):
    hint = Sentence(ja="ボットとのあなたの会話です。ほかの人には見えません。", en="Your own chats with the bot. Nobody else sees this page.")
    none = Sentence(ja="会話はまだありません。Discord で </ask> と書いて話しかけると、ここに残ります。", en="No chats yet. Talk to the bot with </ask> on Discord, and you find them here.")
    search = Sentence(ja="会話を検索", en="Search chats")
    found = Sentence(ja="「{words}」をふくむ会話: {count}件", en="Chats with “{words}”: {count}")
    show_all = Sentence(ja="すべての会話", en="All chats")
    channel_and_agent = Sentence(ja="チャンネルとエージェント", en="Channel and agent")
    everywhere = Sentence(ja="すべて", en="All")
    choice = Sentence(ja="{channel}・{agent}", en="{channel}, {agent}")
    copy = Sentence(ja="コピー", en="Copy")
    copied = Sentence(ja="コピーしました", en="Copied")
    more = Sentence(ja="この会話のその他の操作", en="More for this chat")
    export = Sentence(ja="Markdown で書き出す", en="Export as Markdown")
    export_name = Sentence(ja="会話-{day}", en="chat-{day}")
    in_discord = Sentence(ja="Discord で開く", en="Open in Discord")
    deleted = Sentence(ja="消した会話（10分間は元に戻せます）", en="Deleted (can be undone for 10 minutes)")
    restore = Sentence(ja="「{title}」を元に戻す", en="Undo deleting “{title}”")
    terminal = Sentence(ja="ターミナル", en="Terminal")
    dm = Sentence(ja="ボットとのDM", en="DM with the bot")
    unknown_channel = Sentence(ja="名前の分からないチャンネル（{made} 作成）", en="Unknown channel (made {made})")
    open = Sentence(ja="続いています", en="Active")
    ages = Both(ja=("過去7日間", "それより前"), en=("Past 7 days", "Older"))  # after today and yesterday
    messages = Sentence(ja="{count}件", en="{count:message|messages}")
    no_words = Sentence(ja="（本文なし）", en="(no text)")
    summary = Sentence(ja="この場所での会話の要約", en="Summary of the chats here")
    you = Sentence(ja="あなた", en="You")
    private = Sentence(ja="自分だけ", en="only you")
    files = Sentence(ja="添付: {names}", en="Attached: {names}")
    statuses = by_key({"stopped": Sentence(ja="途中で止めました", en="stopped by you"), "cut": Sentence(ja="途中で切れました", en="cut off")})
    delete = Sentence(ja="この会話を消す", en="Delete this chat")
    delete_hint = Sentence(
        ja="発言、ファイル、要約と、最新の会話ならキャンバスも消えます。Discord のメッセージとメモリは残ります。10分間は元に戻せます。", en="Its messages, files and summaries go, and the canvas if this is the newest chat there. Messages on Discord and memories stay. You can undo this for 10 minutes."
    )
    pages = Sentence(ja="ページ送り", en="Pages of this list")
    page = Sentence(ja="{page} / {pages} ページ", en="Page {page} of {pages}")
    first = Sentence(ja="最初", en="First")
    previous = Sentence(ja="前へ", en="Previous")
    next = Sentence(ja="次へ", en="Next")
    last = Sentence(ja="最後", en="Last")


class WebUsageTexts(Area):
    roles = Sentence(ja="ロールごとに上限があるサーバーでは、Discord の </usage> で残りをたしかめてください。", en="If a server has limits by role, </usage> on Discord shows what you have left there.")
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
    chart = Sentence(ja="使ったトークン（{by}）", en="Tokens used {by}")
    asked = Sentence(ja="質問 {count}件", en="{count:question|questions}")
    average = Sentence(ja="1日平均 {tokens}", en="{tokens} a day")
    cost = Sentence(ja="金額", en="Cost")
    sound = Sentence(ja="音声", en="Audio")
    sound_s = Sentence(ja="音声（秒）", en="Audio (s)")
    download = Sentence(ja="CSV で受け取る", en="Download as CSV")
    file_name = Sentence(ja="使用量-{days}日間", en="usage-{days}-days")
    today = Sentence(ja="今日", en="Today")
    this_month = Sentence(ja="今月", en="This month")
    left = Sentence(ja="残り {left}（{percent}%）", en="{left} left ({percent}%)")
    total = Sentence(ja="合計", en="Total")
    nothing = Sentence(ja="この期間には、何も使っていません。", en="Nothing was used in this period.")
    purposes = by_key({"turn": Sentence(ja="質問への回答", en="Answers"), "summary": Sentence(ja="会話の要約", en="Summaries"), "heartbeat": Sentence(ja="声かけ", en="Checking in"), "schedule": Sentence(ja="時刻を読み取ること", en="Understanding dates and times"), "speech": Sentence(ja="読み上げ", en="Reading aloud")})
    server = Sentence(ja="サーバー: {name}", en="Server: {name}")
    server_hint = Sentence(ja="このサーバーを管理しているあなたに表示しています。全員の合計で、だれが何に使ったかは分かりません。", en="You see this because you manage the server. It is the total of all members and does not show who used what.")
