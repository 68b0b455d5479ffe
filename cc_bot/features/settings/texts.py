from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts, CoreCommandTexts


class SessionTexts(Area):
    cleared = Sentence(ja="🧹 会話をまっさらにし、キャンバスも空にしました。メモリは残っています。", en="🧹 Your conversation starts over, and your canvas is empty too. Your memories are still there.")
    reset = Sentence(
        ja="🧹 ここまでの会話を区切りました。ここにこれより前に書かれたことは、もう読みません。</ask> での会話は人ごとに別です。それぞれ </clear> で区切れます。", en="🧹 A fresh start: I no longer read what was written here before. Conversations with </ask> belong to each person; </clear> starts yours over."
    )
    reset_refused = Sentence(ja="区切れるのは、「メッセージの管理」の権限がある人と、このスレッドを作った人だけです。", en="Only members who may manage messages, and the person who started this thread, can do that.")
    reset_unsure = Sentence(ja="あなたがこのスレッドを作ったかどうか、Discord に確かめられませんでした。少し待って、もう一度お試しください。", en="Discord did not tell me whether you started this thread. Please try again in a moment.")
    settings_title = Sentence(ja="あなたの設定", en="Your settings")
    settings_language = Sentence(ja="言語", en="Language")
    settings_timezone = Sentence(ja="タイムゾーン", en="Time zone")
    settings_default = Sentence(ja="{value}（既定）", en="{value} (default)")
    settings_saved = Sentence(ja="⚙️ 設定を保存しました。", en="⚙️ Saved.")
    settings_voice = Sentence(ja="読み上げ", en="Read aloud")
    voice_on = Sentence(ja="オン", en="on")
    voice_off = Sentence(ja="オフ", en="off")
    voice_unset = Sentence(ja="🔈 このボットには読み上げる声がないので、回答は文字だけになります。", en="🔈 This bot has no voice to read answers aloud, so they are text only.")
    language_ja = Sentence(ja="日本語", en="Japanese")
    language_en = Sentence(ja="英語 (English)", en="English")
    settings_now = Sentence(ja="{zone}・いま {time}", en="{zone}, now {time}")
    reminders_stay = Sentence(ja="1回だけのお知らせが届くのは、これまでと同じ瞬間です（時刻の表示は変わります）。「毎日7時」のようなお知らせは、新しいタイムゾーンの7時に届きます。", en="One-time reminders come at the same moment as before; only the time shown changes. “Every day at 7” is at 7 in the new time zone.")
    settings_usage_in_terminal = Sentence(ja="変えるには: /settings --language en --timezone Tokyo", en="To change them: /settings --language ja --timezone Tokyo")
    language_needed = Sentence(ja="言語は ja か en で書いてください。", en="Write the language as ja or en.")
    change = Sentence(ja="変える", en="Change")
    change_language = Sentence(ja="English", en="日本語")
    turn_on = Sentence(ja="オンにする", en="Turn on")
    turn_off = Sentence(ja="オフにする", en="Turn off")
    timezone_form = Sentence(ja="都市名か Asia/Tokyo の形（空なら既定）", en="A city, or Europe/London (empty: default)")
    help_title = Sentence(ja="できること", en="What I can do")
    help_buttons = by_key({"memory": Sentence(ja="一覧", en="List"), "remind": Sentence(ja="一覧", en="List"), "canvas": Sentence(ja="開く", en="Open"), "settings": Sentence(ja="変える", en="Change"), "privacy": Sentence(ja="見る", en="See")})
    help_all = Sentence(ja="すべてのコマンド", en="All commands")
    help_first = Sentence(  # the button beside a line is that of its first command
        ja="💬 **話す**\n-# `</ask>` で質問。画像や文書も添付できます。\n\n🧠 **メモリ**\n-# 「〜を覚えておいて」か `</memory add>`\n\n⏰ **お知らせ**\n-# 「明日9時に知らせて」か `</remind add>`\n\n🎨 **キャンバス**\n-# `</canvas show>` でカードやグラフ\n\n⚙️ **設定**\n-# 言語と時刻は `</settings>`\n\n🔒 **自分のデータ**\n-# 保存の内容は `</privacy show>`",
        en="💬 **Talk**\n-# `</ask>` a question, with images or documents.\n\n🧠 **Memories**\n-# “remember that …” or `</memory add>`\n\n⏰ **Reminders**\n-# “remind me tomorrow at 9 …” or `</remind add>`\n\n🎨 **Canvas**\n-# `</canvas show>`: cards and charts\n\n⚙️ **Settings**\n-# language and time: `</settings>`\n\n🔒 **Your data**\n-# what is stored: `</privacy show>`",
    )
    help = Sentence(
        ja=(
            "**話す**\n"
            "`</ask>` で質問できます。画像・文書・音声も5つまで添付できます。`自分だけ` は回答をあなただけに見せ、`保存しない` は何も残しません。\n"
            "{mention}"
            "メッセージを長押し（右クリック）→ アプリ → "
            f"「{CoreCommandTexts.ask_about_this.ja}」「{CoreCommandTexts.translate_this.ja}」「{CoreCommandTexts.summarise_from_here.ja}」「{CoreCommandTexts.remember_this.ja}」"
            "も使えます。\n"
            "-# 会話をまっさらにする `</clear>`、要約を見る `</summary>`、みんなとの会話を区切る `</reset>`\n"
            "\n"
            "**メモリ**\n"
            "「〜を覚えておいて」と話しかけるか、`</memory add>` で保存します。消しても10分以内なら元に戻せます。\n"
            "-# 探す `</memory list>` `</memory search>`、1件を扱う `</memory show>` `</memory edit>` `</memory pin>` `</memory delete>`\n"
            "-# まとめて扱う `</memory export>` `</memory import>` `</memory pause>` `</memory resume>` `</memory delete-all>`\n"
            "\n"
            "**お知らせ**\n"
            "「明日9時に知らせて」と話しかけるか、`</remind add>` で予約します。\n"
            "-# 見る、消す、再開する `</remind list>` `</remind delete>` `</remind resume>`\n"
            "`</heartbeat on>` で、お知らせしたほうがよいことがあるとき、こちらから声をかけます。\n"
            "-# 止める、確かめる `</heartbeat off>` `</heartbeat status>`\n"
            "\n"
            "**キャンバス・ページ・相手**\n"
            "`</canvas show>` カードや文章、グラフを見ます（片付けるには `</canvas clear>`）。\n"
            "`</web>` キャンバスや会話、使った量を、ブラウザの自分のページで見ます。\n"
            "`</agent list>`・`</agent use>` 答える相手を選びます。`</agent default>` はサーバーを管理する人が使えます。\n"
            "\n"
            "**設定**\n"
            "`</settings>` 言語とタイムゾーン、読み上げを決めます。`</usage>` 使ったトークンと、残りを見ます。\n"
            "{admin}\n"
            "\n"
            "**保存されるもの**\n"
            "`</privacy show>` で見る、`</privacy export>` で受け取る、`</privacy erase>` ですべて消す。\n"
            "会話とメモリは、このボットを動かしている人のサーバーに保存されます。ほかの利用者には、あなたのメモリは見えません。"
            "{stored}"
        ),
        en=(
            "**Talk**\n"
            "`</ask>` a question. Attach up to five images, documents or recordings. `private` shows the answer to you alone, `temporary` stores nothing.\n"
            "{mention}"
            "Long-press (right-click) a message → Apps → "
            f"{CoreCommandTexts.ask_about_this.en}, {CoreCommandTexts.translate_this.en}, {CoreCommandTexts.summarise_from_here.en}, {CoreCommandTexts.remember_this.en}.\n"
            "-# Start over `</clear>`, see the summary `</summary>`, start over for everybody `</reset>`\n"
            "\n"
            "**Memories**\n"
            "Say “remember that …”, or use `</memory add>`. A deletion can be undone for ten minutes.\n"
            "-# Find them `</memory list>` `</memory search>`, one of them `</memory show>` `</memory edit>` `</memory pin>` `</memory delete>`\n"
            "-# All of them `</memory export>` `</memory import>` `</memory pause>` `</memory resume>` `</memory delete-all>`\n"
            "\n"
            "**Reminders**\n"
            "Say “remind me tomorrow at 9 …”, or use `</remind add>`.\n"
            "-# See, cancel, resume `</remind list>` `</remind delete>` `</remind resume>`\n"
            "With `</heartbeat on>` I write to you when there is something you should know.\n"
            "-# Stop, check `</heartbeat off>` `</heartbeat status>`\n"
            "\n"
            "**Canvas, pages, agents**\n"
            "`</canvas show>` shows cards, texts and charts (`</canvas clear>` clears them).\n"
            "`</web>` opens your own pages in a browser, with conversations and usage.\n"
            "`</agent list>`, `</agent use>`: who answers. `</agent default>` is for those who manage the server.\n"
            "\n"
            "**Settings**\n"
            "`</settings>`: language, time zone, answers read aloud. `</usage>`: tokens used, and what is left.\n"
            "{admin}\n"
            "\n"
            "**What is stored**\n"
            "`</privacy show>` shows it, `</privacy export>` sends it to you, `</privacy erase>` erases it.\n"
            "Conversations and memories are kept on the server of the person who runs this bot. No other user sees your memories."
            "{stored}"
        ),
    )
    help_mention = Sentence(ja="チャンネルやスレッドで私にメンションするか、私のメッセージに返信すると、その場の会話を踏まえて答えます。DM では、普通に話しかけてください。\n", en="Mention me in a channel or thread, or reply to me, and I answer with what was said there. In a DM, just write.\n")
    help_admin = Sentence(
        ja="`</admin status>`・`</admin limits show>`・`</admin access list>`・`</admin model list>`・`</admin maintenance on>` 私の管理です（管理者のあなただけに表示しています）。\n",
        en="`</admin status>`, `</admin limits show>`, `</admin access list>`, `</admin model list>`, `</admin maintenance on>` manage me (shown only to owners).\n",
    )
    help_stored_mentions = Sentence(
        ja="\nチャンネルのメッセージで保存されるのは、私へのメンションと返信だけです。Discord で消せば、保存されたものも、それへの私の回答も消えます。", en=("\nOf the messages in channels, only those that mention me or reply to me are stored. If you delete one on Discord, I delete it and my answer too.")
    )
    help_stored_all = Sentence(
        ja=("\n私が見られるチャンネルでは、みなさんのメッセージがすべて保存され、答えるときに使われます。Discord で消せば、保存されたものも、それへの私の回答も消えます。"),
        en=("\nIn channels that I can see, everybody's messages are stored and used for my answers. If you delete one on Discord, I delete it and my answer too."),
    )


class SettingsCommandTexts(CommandTexts):
    help = Both(ja=("ヘルプ", "できることの一覧です"), en=("help", "What I can do"))
    settings = Both(ja=("設定", "自分の言語とタイムゾーン、読み上げを決めます"), en=("settings", "Your own language and time zone, and whether answers are read aloud"))
    settings_voice = Sentence(ja="読み上げ", en="voice")
    settings_voice_on_choice = Sentence(ja="オン", en="on")
    settings_voice_off_choice = Sentence(ja="オフ", en="off")
    settings_voice_description = Sentence(ja="短い回答に、読み上げた音声を付けるかどうか", en="Whether short answers also come as audio")
    settings_language = Both(ja=("言語", "ボットがあなたに話す言語"), en=("language", "The language I speak to you"))
    settings_timezone = Both(ja=("タイムゾーン", "あなたのタイムゾーン（例: Asia/Tokyo）"), en=("timezone", "Your time zone, such as Europe/London"))
    web = Both(ja=("マイページ", "キャンバスやメモリを、ブラウザの自分のページで見ます"), en=("web", "Open your own pages in a browser: canvas, memories, usage"))
    usage = Both(ja=("使用量", "使ったトークンと金額、残りを見ます（自分だけに見えます）"), en=("usage", "See the tokens you used, what they cost and what is left (only you see it)"))
    usage_server = Both(ja=("サーバー", "このサーバー全体の合計を見ます（サーバーを管理できる人だけ）"), en=("server", "See the totals of this server (only for members who manage it)"))
