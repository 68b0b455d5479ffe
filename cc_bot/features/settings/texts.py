from cc_bot.texts.area import Area, Both, Sentence
from cc_bot.texts.commands import CommandTexts, CoreCommandTexts


class SessionTexts(Area):
    cleared = Sentence(ja="🧹 会話をまっさらにし、キャンバスも空にしました。メモリは残っています。", en="🧹 Started afresh, and your canvas is empty too. Your memories are still there.")
    reset = Sentence(
        ja="🧹 ここまでの会話を区切りました。ここにこれより前に書かれたことは、もう読みません。</ask> での会話は人ごとに別です。それぞれ </clear> で区切れます。", en="🧹 A fresh start: I no longer read what was written here before. What you each have going with </ask> is your own; </clear> starts that afresh."
    )
    reset_refused = Sentence(ja="区切れるのは、「メッセージの管理」の権限がある人と、このスレッドを作った人だけです。", en="Only members who may manage messages, and whoever started this thread, can do that.")
    reset_unsure = Sentence(ja="あなたがこのスレッドを作ったかどうか、Discord に確かめられませんでした。少し待って、もう一度お試しください。", en="Discord did not tell me whether you started this thread. Please try again in a moment.")
    settings_title = Sentence(ja="あなたの設定", en="Your settings")
    settings_language = Sentence(ja="言語", en="Language")
    settings_timezone = Sentence(ja="タイムゾーン", en="Time zone")
    settings_default = Sentence(ja="{value}（既定）", en="{value} (default)")
    settings_saved = Sentence(ja="⚙️ 設定を保存しました。", en="⚙️ Saved.")
    settings_voice = Sentence(ja="読み上げ", en="Read aloud")
    voice_on = Sentence(ja="オン", en="on")
    voice_off = Sentence(ja="オフ", en="off")
    voice_unset = Sentence(ja="🔈 このボットには読み上げる声がないので、回答は文字だけになります。", en="🔈 This bot has no voice to read answers aloud: they come in writing alone.")
    language_ja = Sentence(ja="日本語", en="Japanese")
    language_en = Sentence(ja="英語 (English)", en="English")
    help = Sentence(
        ja=(
            "**できること**\n"
            "- `</ask>` 質問に答えます。このチャンネルでの前の会話も踏まえます。画像・テキスト・文書（PDFなど）・音声も5つまで添付できます。"
            "`自分だけ` は回答を自分だけに表示し、`保存しない` は何も保存しません。\n"
            "{mention}"
            "- `</memory add>` 覚えてほしいことを保存します。「〜を覚えておいて」と話しかけても大丈夫です。\n"
            "- `</memory list>`・`</memory search>` メモリを見る、探す。選ぶと、なぜ知っているのかも分かります。\n"
            "- `</memory show>`・`</memory edit>`・`</memory pin>`・`</memory delete>` 1件をくわしく見る、書き直す、目印を付ける、消す。消しても10分以内なら元に戻せます。\n"
            "- `</memory export>`・`</memory import>`・`</memory pause>`・`</memory resume>`・`</memory stats>`・`</memory delete-all>` メモリをまとめて扱います。\n"
            "- `</clear>` このチャンネルでのあなたとの会話をまっさらにします（メモリは残ります）。\n"
            "- `</summary>` このチャンネルでの会話の要約を見ます。消すこともできます。\n"
            "- `</reset>` みんなとの会話をここで区切り、これより前に書かれたことをもう読みません。「メッセージの管理」の権限がある人と、スレッドを作った人が使えます。\n"
            "- `</remind add>`・`</remind list>`・`</remind delete>`・`</remind resume>` 決めた時刻にお知らせします。「明日9時に知らせて」と話しかけても大丈夫です。\n"
            "- `</heartbeat on>`・`</heartbeat off>`・`</heartbeat status>` お知らせしたほうがよいことがあるとき、こちらから声をかけます（ふだんはオフです）。\n"
            "- `</canvas show>`・`</canvas clear>` 出してあるカードや文章、グラフを見る、片付ける。\n"
            "- `</web>` キャンバスやメモリ、会話、使った量を、ブラウザの自分のページで見ます。\n"
            "- `</agent list>`・`</agent use>`・`</agent default>` 答える相手を選びます。`</agent default>` はサーバーを管理する人が使えます。\n"
            "- `</settings>` 自分の言語とタイムゾーン、回答の読み上げを決めます。\n"
            "- `</usage>` 使ったトークンと、残りを見ます。\n"
            "- `</privacy show>`・`</privacy export>`・`</privacy erase>` あなたについて保存しているものを見る、受け取る、すべて消す。\n"
            "- メッセージを長押し（右クリック）→ アプリ →"
            f"「{CoreCommandTexts.ask_about_this.ja}」「{CoreCommandTexts.translate_this.ja}」「{CoreCommandTexts.summarise_from_here.ja}」「{CoreCommandTexts.remember_this.ja}」"
            "も使えます。\n"
            "{admin}"
            "\n"
            "**保存されるもの**\n"
            "会話とメモリは、このボットを動かしている人のサーバーに保存されます。ほかの利用者には、あなたのメモリは見えません。"
            "{stored}"
        ),
        en=(
            "**What I can do**\n"
            "- `</ask>` answers a question, with what was said before in this channel. Attach up to five images, text files, documents or recordings if you like. "
            "`private` shows the answer to you alone, `temporary` stores nothing.\n"
            "{mention}"
            "- `</memory add>` keeps something for you. Saying “remember that …” works too.\n"
            "- `</memory list>`, `</memory search>` show and find memories. Choose one to see why I know it.\n"
            "- `</memory show>`, `</memory edit>`, `</memory pin>`, `</memory delete>` are for one of them. A deletion can be undone for ten minutes.\n"
            "- `</memory export>`, `</memory import>`, `</memory pause>`, `</memory resume>`, `</memory stats>`, `</memory delete-all>` are for all of them.\n"
            "- `</clear>` starts your conversation in this channel afresh (memories stay).\n"
            "- `</summary>` shows what I wrote down of our conversation in this channel, and deletes it if you like.\n"
            "- `</reset>` starts everybody's afresh: nothing that was written here before is read again. For members who "
            "may manage messages, and for whoever started the thread.\n"
            "- `</remind add>`, `</remind list>`, `</remind delete>`, `</remind resume>`: be told at a time you choose. “Remind me tomorrow at 9 …” works too.\n"
            "- `</heartbeat on>`, `</heartbeat off>`, `</heartbeat status>`: I speak to you when something is worth telling (off unless you want it).\n"
            "- `</canvas show>`, `</canvas clear>`: the cards, texts and charts that are up.\n"
            "- `</web>`: your own pages in a browser, with canvas, memories, conversations and usage.\n"
            "- `</agent list>`, `</agent use>`, `</agent default>`: who answers. `</agent default>` is for those who manage the server.\n"
            "- `</settings>` sets your own language and time zone, and has answers read aloud.\n"
            "- `</usage>` shows the tokens you used, and what is left.\n"
            "- `</privacy show>`, `</privacy export>`, `</privacy erase>`: what is stored about you.\n"
            "- Long-press (right-click) a message → Apps → "
            f"{CoreCommandTexts.ask_about_this.en}, {CoreCommandTexts.translate_this.en}, {CoreCommandTexts.summarise_from_here.en}, {CoreCommandTexts.remember_this.en}.\n"
            "{admin}"
            "\n"
            "**What is stored**\n"
            "Conversations and memories are kept on the server of whoever runs this bot. No other user sees your memories."
            "{stored}"
        ),
    )
    help_mention = Sentence(ja="- チャンネルやスレッドで私にメンションするか、私のメッセージに返信すると、その場の会話を踏まえて答えます。DM では、普通に話しかけてください。\n", en="- Mention me in a channel or thread, or reply to me, and I answer with what was said there. In a DM, just write.\n")
    help_admin = Sentence(
        ja="- `</admin status>`・`</admin limits show>`・`</admin access list>`・`</admin model list>`・`</admin maintenance on>` 私の管理です（管理者のあなただけに表示しています）。\n",
        en="- `</admin status>`, `</admin limits show>`, `</admin access list>`, `</admin model list>`, `</admin maintenance on>` look after me (shown to owners alone).\n",
    )
    help_stored_mentions = Sentence(
        ja="\nチャンネルのメッセージで保存されるのは、私へのメンションと返信だけです。Discord で消せば、保存されたものも、それへの私の回答も消えます。", en=("\nOf messages in channels, those that mention me or reply to me are stored. What you delete on Discord is deleted there too, with my answer to it.")
    )
    help_stored_all = Sentence(
        ja=("\n私が見られるチャンネルでは、みなさんのメッセージがすべて保存され、答えるときに使われます。Discord で消せば、保存されたものも、それへの私の回答も消えます。"),
        en=("\nIn channels that I can see, everybody's messages are stored and used for my answers. What you delete on Discord is deleted there too, with my answer to it."),
    )


class SettingsCommandTexts(CommandTexts):
    help = Both(ja=("ヘルプ", "できることの一覧です"), en=("help", "What I can do"))
    settings = Both(ja=("設定", "自分の言語とタイムゾーン、読み上げを決めます"), en=("settings", "Your own language and time zone, and whether answers are read aloud"))
    settings_voice = Sentence(ja="読み上げ", en="voice")
    settings_voice_on_choice = Sentence(ja="オン", en="on")
    settings_voice_off_choice = Sentence(ja="オフ", en="off")
    settings_voice_description = Sentence(ja="短い回答に、読み上げた音声を付けるかどうか", en="Whether short answers come as a recording as well")
    settings_language = Both(ja=("言語", "ボットがあなたに話す言語"), en=("language", "The language I speak to you"))
    settings_timezone = Both(ja=("タイムゾーン", "あなたのタイムゾーン（例: Asia/Tokyo）"), en=("timezone", "Your time zone, such as Europe/London"))
    web = Both(ja=("マイページ", "キャンバスやメモリを、ブラウザの自分のページで見ます"), en=("web", "Open your own pages in a browser: canvas, memories, usage"))
    usage = Both(ja=("使用量", "使ったトークンと金額、残りを見ます（自分だけに見えます）"), en=("usage", "See the tokens you used, what they cost and what is left (only you see it)"))
    usage_server = Both(ja=("サーバー", "このサーバー全体の合計を見ます（サーバーを管理できる人だけ）"), en=("server", "See the totals of this server (for those who manage it)"))
