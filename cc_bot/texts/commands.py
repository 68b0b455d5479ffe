"""Names and descriptions of the commands, by lightbulb's localization keys. Discord's limits are 1-32 characters for
names (lower case, no spaces, but in menus) and 1-100 for descriptions.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from cc_bot.domain.text import Locale
from cc_bot.features.admin.texts import AdminTexts
from cc_bot.texts.area import Area, Both, Sentence, Show, named


class CommandTexts(Area):
    admin = Both(ja=("管理", "ボットの管理（ボットの管理者だけ）"), en=("admin", "Look after the bot (for its owners only)"))
    admin_status = Both(ja=("状態", "ボットの様子を見ます"), en=("status", "How the bot is doing"))
    admin_limits = Both(ja=("制限", "使える量を決めます"), en=("limits", "How much may be used"))
    admin_limits_show = Both(ja=("表示", "今の制限をすべて見ます"), en=("show", "Show all limits that hold"))
    admin_limits_set = Both(ja=("設定", "制限を決めます（設定ファイルより先に効きます）"), en=("set", "Set a limit; it goes before what the policy file says"))
    admin_limits_unset = Both(ja=("取消", "ここで決めた制限を取り消します"), en=("unset", "Take back a limit that was set here"))
    admin_limit = Both(ja=("種類", "どの制限か"), en=("limit", "Which limit"))
    admin_value = Both(ja=("値", "上限（省略すると制限なし）"), en=("value", "How much (without it: no limit)"))
    admin_for = Both(ja=("対象", "@人、@ロール、またはIDと区分（省略すると全員。区分「サーバー」だけならこのサーバー）"), en=("for", "@user, @role, or an id with its kind (without it: everyone; kind “server” alone: this one)"))
    admin_access = Both(ja=("利用", "だれがどこで使えるかを決めます"), en=("access", "Who may use the bot, and where"))
    admin_access_list = Both(ja=("一覧", "決まりをすべて見ます"), en=("list", "List all rules"))
    admin_access_allow = Both(ja=("許可", "許可します（許可のある区分では、許可したものだけが使えます）"), en=("allow", "Allow; of each kind of which something is allowed, only that may"))
    admin_access_deny = Both(ja=("拒否", "使えないようにします（許可より先に効きます）"), en=("deny", "Deny; that goes before anything allowed"))
    admin_access_remove = Both(ja=("削除", "ここで決めたものを取り消します"), en=("remove", "Remove a rule that was set here"))
    admin_subject = Both(ja=("相手", "@人、@ロール、#チャンネル、またはIDと区分（区分「サーバー」だけならこのサーバー）"), en=("subject", "@user, @role, #channel, or an id with its kind (kind “server” alone: this one)"))
    admin_kind = Both(ja=("区分", "IDが何のものか"), en=("kind", "What an id is of"))
    admin_user_choice = Sentence(ja="人", en="User")
    admin_role_choice = Sentence(ja="ロール", en="Role")
    admin_channel_choice = Sentence(ja="チャンネル", en="Channel")
    admin_guild_choice = Sentence(ja="サーバー", en="Server")
    admin_model = Both(ja=("モデル", "チャンネルごとに答えるAIモデルを決めます"), en=("model", "Which AI model answers in which channel"))
    admin_model_set = Both(ja=("設定", "チャンネルのモデルを決めます（エージェントに決まったモデルがあれば、それが先です）"), en=("set", "Choose models for a channel (an agent's own models go before)"))
    admin_model_unset = Both(ja=("取消", "チャンネルのモデルをいつものものに戻します"), en=("unset", "Go back to the usual models in a channel"))
    admin_model_list = Both(ja=("一覧", "モデルを決めたチャンネルを一覧にします"), en=("list", "List the channels that have models of their own"))
    admin_models = Both(ja=("名前", "モデルの名前（コンマ区切り。先頭に聞き、答えられなければ次に聞きます）"), en=("models", "Names, separated by commas; the first one is asked, the others are its fallbacks"))
    admin_channel = Both(ja=("チャンネル", "#チャンネルかそのID（省略するとこのチャンネル）"), en=("channel", "#channel or its id (without it: this one)"))
    admin_maintenance = Both(ja=("メンテナンス", "しばらくのあいだ、管理者だけに答えます"), en=("maintenance", "Answer nobody but owners for a while"))
    admin_maintenance_on = Both(ja=("開始", "始めます（答えている途中のものは最後まで答えます）"), en=("on", "Begin; answers on their way are finished"))
    admin_maintenance_off = Both(ja=("終了", "終えて、またみんなに答えます"), en=("off", "End, and answer everybody again"))
    admin_tools = Both(ja=("ツール", "ツールのサーバー"), en=("tools", "Servers with tools"))
    admin_tools_show = Both(ja=("表示", "サーバーごとの状態や、そのツールの説明を見ます"), en=("show", "See how each server is, or what it says of its tools"))
    admin_tools_accept = Both(ja=("承認", "前と変わったツールを、使えるようにします"), en=("accept", "Let tools be used that are not what they were"))
    admin_server = Both(ja=("サーバー", "ツールのサーバーの名前"), en=("server", "The name of the server with tools"))
    admin_code = Both(ja=("コード", "「表示」で server を選ぶと出るコード"), en=("code", "What show gives with its option server"))
    admin_note = Both(ja=("ひとこと", "そのあいだに質問した人へ、ほかに伝えること"), en=("note", "What else to tell whoever asks meanwhile"))

    agent = Both(ja=("エージェント", "だれが答えるかを選びます"), en=("agent", "Who answers you"))
    agent_list = Both(ja=("一覧", "ここで使えるエージェントを一覧にします"), en=("list", "List the agents that you can use here"))
    agent_use = Both(ja=("使う", "このチャンネルであなたに答えるエージェントを選びます"), en=("use", "Choose who answers you in this channel"))
    agent_default = Both(ja=("既定", "このチャンネルの既定のエージェントを決めます（サーバーを管理する人だけ）"), en=("default", "Choose who answers in this channel by default (for those who manage the server)"))
    agent_name = Both(ja=("名前", "エージェント。名前の一部を入力すると候補が出ます"), en=("name", "An agent; type a part of its name to choose from matches"))

    canvas = Both(ja=("キャンバス", "ボットが出しておくカード・文章・グラフ"), en=("canvas", "Cards, texts and charts that the bot keeps up for you"))
    canvas_show = Both(ja=("表示", "キャンバスを会話のいちばん下に出し直します"), en=("show", "Put the canvas at the bottom of the conversation again"))
    canvas_clear = Both(ja=("空にする", "キャンバスに出ているものをすべて下げます"), en=("clear", "Take everything on the canvas down"))

    ask = Both(ja=("質問", "質問に答えます。このチャンネルでの前の会話も踏まえます。"), en=("ask", "Ask a question. I know what we said before in this channel."))
    ask_question = Both(ja=("内容", "聞きたいこと"), en=("question", "What you would like to know"))
    ask_attachment = Both(ja=("添付", "質問に関わる画像・テキスト・文書（PDF・Word・Excelなど）"), en=("attachment", "An image, a text or a document (PDF, Word, Excel …) that the question is about"))
    ask_attachment2 = Both(ja=("添付2", "2つ目のファイル"), en=("attachment2", "A second file"))
    ask_attachment3 = Both(ja=("添付3", "3つ目のファイル"), en=("attachment3", "A third file"))
    ask_attachment4 = Both(ja=("添付4", "4つ目のファイル"), en=("attachment4", "A fourth file"))
    ask_attachment5 = Both(ja=("添付5", "5つ目のファイル"), en=("attachment5", "A fifth file"))
    ask_private = Both(ja=("自分だけ", "回答を自分だけに表示します（会話には残ります）"), en=("private", "Show the answer to you alone (it is stored)"))
    ask_temporary = Both(ja=("保存しない", "回答を自分だけに表示し、何も保存しません"), en=("temporary", "Show the answer to you alone and store nothing"))
    memory = Both(ja=("メモリ", "あなたのために覚えていること"), en=("memory", "What I keep for you"))
    memory_add = Both(ja=("追加", "覚えてほしいことを保存します（どのチャンネルでも使えます）"), en=("add", "Keep something for you in every channel"))
    memory_content = Both(ja=("内容", "覚えてほしいこと（4000文字まで）"), en=("content", "What to remember (up to 4000 characters)"))
    memory_category = Both(ja=("カテゴリ", "仕事・家族などの分類"), en=("category", "A category, such as work or family"))
    memory_tags = Both(ja=("タグ", "タグ（カンマか空白で区切ります）"), en=("tags", "Tags, separated by commas or spaces"))
    memory_audience = Both(ja=("使う場所", "このメモリを使ってよい場所（DM では自分だけの回答が既定です）"), en=("where", "Where I may use it (in a DM: only where you alone see it)"))
    memory_anywhere_choice = Sentence(ja="どこでも", en="anywhere")
    memory_private_choice = Sentence(ja="自分だけに見える回答でだけ", en="only where I alone see it")
    memory_expires = Both(ja=("期限", "いつまで有効か（例: 12月31日、来週の金曜、3日後、今月末、2026-12-31）"), en=("until", "Until when it holds, such as: Dec 31, next Friday, in 3 days, 2026-12-31"))
    memory_search = Both(ja=("検索", "あなたのメモリを探します"), en=("search", "Find your memories"))
    memory_query = Both(ja=("言葉", "探したい言葉"), en=("query", "Words to look for"))
    memory_list = Both(ja=("一覧", "あなたのメモリの一覧です"), en=("list", "List your memories"))
    memory_order = Both(ja=("並べ方", "どれを先に並べるか"), en=("order", "What comes first"))
    memory_newest_choice = Sentence(ja="新しい順", en="newest first")
    memory_oldest_choice = Sentence(ja="古い順", en="oldest first")
    memory_updated_choice = Sentence(ja="最近変更した順", en="recently changed first")
    memory_show = Both(ja=("表示", "メモリを1件くわしく見ます。なぜ知っているのか、前の内容も分かります"), en=("show", "Show one memory: its text, why I know it, what it said before"))
    memory_edit = Both(ja=("編集", "メモリを1件書き直します"), en=("edit", "Change one of your memories"))
    memory_pin = Both(ja=("ピン留め", "メモリを1件ピン留めします（10件まで。ボタンで外せます）"), en=("pin", "Pin one of your memories (up to ten); a button unpins it"))
    memory_delete = Both(ja=("削除", "メモリを1件消します（10分以内なら元に戻せます）"), en=("delete", "Delete one of your memories (undo for ten minutes)"))
    memory_id = Both(ja=("番号", "メモリの番号。言葉を入力すると候補から選べます"), en=("id", "Its number; type a word to choose from matches"))
    memory_delete_all = Both(ja=("全削除", "あなたのメモリをすべて完全に消します（先に確認します）"), en=("delete-all", "Erase all of your memories for good"))
    memory_export = Both(ja=("書き出し", "あなたのメモリをすべてファイルで受け取ります"), en=("export", "Get all of your memories as a file"))
    memory_format = Both(ja=("形式", "読み込み直せる JSON か、読みやすい Markdown"), en=("format", "JSON to import again, Markdown to read"))
    memory_json_choice = Sentence(ja="JSON（読み込み直せます）", en="JSON (to import again)")
    memory_markdown_choice = Sentence(ja="Markdown（読むため）", en="Markdown (to read)")
    memory_import = Both(ja=("取り込み", "ファイルからメモリを取り込みます（何が起こるか先に確認できます）"), en=("import", "Take over memories from a file; shows first what would happen"))
    memory_file = Both(ja=("ファイル", "</memory export> の JSON か、ChatGPT のメモリなど1行に1件のテキスト"), en=("file", "JSON from </memory export>, or a text with one memory a line, as from ChatGPT"))
    memory_pause = Both(ja=("停止", "メモリを一時停止します（新しく覚えず、回答にも使いません）"), en=("pause", "Keep and use no memories until you resume"))
    memory_resume = Both(ja=("再開", "メモリを再開します"), en=("resume", "Keep and use memories again"))
    memory_stats = Both(ja=("統計", "あなたのメモリを数字で見ます"), en=("stats", "Your memories in numbers"))
    remember_this = Sentence(ja="これを覚える", en="Remember this")
    ask_about_this = Sentence(ja="これについて聞く", en="Ask about this")
    translate_this = Sentence(ja="翻訳する", en="Translate")
    summarise_from_here = Sentence(ja="ここから要約する", en="Summarise from here")
    clear = Both(ja=("クリア", "このチャンネルでの会話をまっさらにします（メモリは残ります）"), en=("clear", "Start this channel's conversation afresh (memories stay)"))
    reset = Both(ja=("リセット", "みんなとの会話をここで区切ります（これより前に書かれたことは、もう読みません）"), en=("reset", "Never read again what was written here so far, whoever wrote it"))
    summary = Both(ja=("要約", "このチャンネルでの会話の要約を見ます。消すこともできます"), en=("summary", "Show or delete what I wrote down of our conversation in this channel"))
    help = Both(ja=("ヘルプ", "できることの一覧です"), en=("help", "What I can do"))
    settings = Both(ja=("設定", "自分の言語とタイムゾーン、読み上げを決めます"), en=("settings", "Your own language and time zone, and whether answers are read aloud"))
    settings_voice = Sentence(ja="読み上げ", en="voice")
    settings_voice_on_choice = Sentence(ja="オン", en="on")
    settings_voice_off_choice = Sentence(ja="オフ", en="off")
    settings_voice_description = Sentence(ja="短い回答に、読み上げた音声を付けるかどうか", en="Whether short answers come as a recording as well")
    settings_language = Both(ja=("言語", "ボットがあなたに話す言語"), en=("language", "The language I speak to you"))
    settings_timezone = Both(ja=("タイムゾーン", "あなたのタイムゾーン（例: Asia/Tokyo）"), en=("timezone", "Your time zone, such as Europe/London"))

    heartbeat = Both(ja=("声かけ", "お知らせしたほうがよいことがあるとき、こちらから声をかけます"), en=("heartbeat", "Have me check in with you when there is something worth telling"))
    heartbeat_on = Both(ja=("オン", "声かけを始めます（近づいた予定や新しいメモリを見ます）"), en=("on", "Start: I look at what is coming up and at new memories"))
    heartbeat_every = Both(ja=("間隔", "何時間ごとに見るか（1〜168）"), en=("every", "Hours between two looks (1-168)"))
    heartbeat_where = Both(ja=("場所", "声をかける場所（省略すると DM）"), en=("where", "Where to speak to you (DM unless you choose)"))
    heartbeat_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    heartbeat_channel_choice = Sentence(ja="このチャンネル", en="This channel")
    heartbeat_quiet_from = Both(ja=("静かな時間の始め", "この時刻から静かにします（省略すると 22:00）"), en=("quiet_from", "Keep quiet from this time on (22:00 unless you choose)"))
    heartbeat_quiet_to = Both(ja=("静かな時間の終わり", "この時刻まで静かにします（省略すると 7:00、始めと同じなら静かな時間なし）"), en=("quiet_to", "Keep quiet until this time (7:00 unless you choose; the same time: never quiet)"))
    heartbeat_off = Both(ja=("オフ", "声かけをやめます"), en=("off", "Stop"))
    heartbeat_status = Both(ja=("状態", "声かけの今の設定と、次の時刻を見ます"), en=("status", "Show how I check in with you, and when next"))

    web = Both(ja=("マイページ", "キャンバスやメモリを、ブラウザの自分のページで見ます"), en=("web", "Open your own pages in a browser: canvas, memories, usage"))
    privacy = Both(ja=("プライバシー", "あなたについて保存しているものを見る・受け取る・消す"), en=("privacy", "See, receive or erase what is stored about you"))
    privacy_show = Both(ja=("表示", "何をどれだけ、いつまで保存しているかを見ます"), en=("show", "Show what is stored, how much, and for how long"))
    privacy_export = Both(ja=("書き出し", "保存しているもののすべてを、JSON ファイルで受け取ります"), en=("export", "Receive everything that is stored, as a JSON file"))
    privacy_where = Both(ja=("場所", "どこで受け取るか（省略すると、ここで自分だけに見えます）"), en=("where", "Where to receive it (here, seen by you alone, unless you choose)"))
    privacy_here_choice = Sentence(ja="ここ（自分だけに見えます）", en="Here (only you see it)")
    privacy_dm_choice = Sentence(ja="DM", en="DM")
    privacy_erase = Both(ja=("消去", "保存しているものをすべて消します（消す前に確認します）"), en=("erase", "Erase everything that is stored (you are asked first)"))

    remind = Both(ja=("リマインド", "決めた時刻にお知らせします"), en=("remind", "Be told at the time you choose"))
    remind_add = Both(ja=("追加", "お知らせを予約します"), en=("add", "Set a reminder"))
    remind_when = Both(ja=("いつ", "例: 10分後、明日9時と18時、来週の金曜の夕方、元日、月水金の7時、隔週の火曜 10時、12月3日の正午、2026-12-03 09:00"), en=("when", "Such as: in 10 minutes, tomorrow at 9 and 18, dec 3 noon, mon/wed/fri 7:00, 2026-12-03 09:00"))
    remind_text = Both(ja=("内容", "お知らせする内容（1000文字まで）"), en=("text", "What to remind you of (up to 1000 characters)"))
    remind_repeat = Both(ja=("繰り返し", "例: 毎朝8時、平日9時、隔週、3日ごと、毎月第2水曜、毎月末、毎年、なし、0 9 * * 1-5"), en=("repeat", "Such as: every weekday at 9, every other week, every 3 days, monthly, none, 0 9 * * 1-5"))
    remind_where = Both(ja=("場所", "お知らせする場所（省略するとこのチャンネル）"), en=("where", "Where to remind you (this channel unless you choose)"))
    remind_here_choice = Sentence(ja="このチャンネル", en="This channel")
    remind_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    remind_list = Both(ja=("一覧", "予約したお知らせを一覧で表示します"), en=("list", "Show your reminders"))
    remind_delete = Both(ja=("削除", "お知らせを取り消します"), en=("delete", "Cancel a reminder"))
    remind_resume = Both(ja=("再開", "止まっているお知らせを再開します"), en=("resume", "Have a paused reminder go on"))
    remind_id = Both(ja=("番号", "お知らせの番号（内容を入力すると候補が出ます）"), en=("id", "The reminder's number (type its text for suggestions)"))

    usage = Both(ja=("使用量", "使ったトークンと金額、残りを見ます（自分だけに見えます）"), en=("usage", "See the tokens you used, what they cost and what is left (only you see it)"))
    usage_server = Both(ja=("サーバー", "このサーバー全体の合計を見ます（サーバーを管理できる人だけ）"), en=("server", "See the totals of this server (for those who manage it)"))


def _wordings(locale: Locale) -> Iterator[tuple[str, str]]:
    """Yield the names, and the descriptions at `{key}_description`."""
    for limit, name in AdminTexts(locale).limits.items():
        yield f"admin_{limit}_choice", f"{name[0].upper()}{name[1:]}"
    for key, wording in CommandTexts(locale).values().items():
        if isinstance(wording, str):
            yield key, wording
        else:
            yield from zip((key, f"{key}_description"), wording, strict=True)


_WORDINGS: Final[Mapping[Locale, Mapping[str, str]]] = {locale: dict(_wordings(locale)) for locale in Locale}


def command_names(locale: Locale) -> dict[str, str]:
    return dict(named(_WORDINGS[locale], plainly(locale)))


def plainly(locale: Locale) -> Show:
    """Return a function that names a command in a language: `/memory add`, `/メモリ 追加`."""
    wordings = _WORDINGS[locale]

    def show(command: str) -> str:
        words = command.split()
        keys = ("_".join(words[: count + 1]).replace("-", "_") for count in range(len(words)))
        return f"/{' '.join(wordings.get(key, word) for key, word in zip(keys, words, strict=True))}"

    return show
