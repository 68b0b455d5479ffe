"""Names and descriptions of the commands, as Discord lists them.

A name here is the key under which lightbulb looks the wording up. English names are the ones that
DESIGN fixes; Discord's limits are 1-32 characters for names (lower case, no spaces, save those of context
menus) and 1-100 for descriptions.
"""

from collections.abc import Mapping
from typing import Final

from cc_bot.domain.locale import Locale
from cc_bot.texts.area import Area, Sentence
from cc_bot.texts.naming import Show, named


class CommandTexts(Area):
    admin = Sentence(ja="管理", en="admin")
    admin_description = Sentence(
        ja="ボットの管理（ボットの管理者だけ）", en="Look after the bot (for its owners only)"
    )
    admin_status = Sentence(ja="状態", en="status")
    admin_status_description = Sentence(ja="ボットの様子を見ます", en="How the bot is doing")
    admin_limits = Sentence(ja="制限", en="limits")
    admin_limits_description = Sentence(ja="使える量を決めます", en="How much may be used")
    admin_limits_show = Sentence(ja="表示", en="show")
    admin_limits_show_description = Sentence(ja="今の制限をすべて見ます", en="Show all limits that hold")
    admin_limits_set = Sentence(ja="設定", en="set")
    admin_limits_set_description = Sentence(
        ja="制限を決めます（設定ファイルより先に効きます）",
        en="Set a limit; it goes before what the policy file says",
    )
    admin_limits_unset = Sentence(ja="取消", en="unset")
    admin_limits_unset_description = Sentence(
        ja="ここで決めた制限を取り消します", en="Take back a limit that was set here"
    )
    admin_limit = Sentence(ja="種類", en="limit")
    admin_limit_description = Sentence(ja="どの制限か", en="Which limit")
    admin_turns_per_minute_choice = Sentence(ja="1分あたりの質問", en="Questions a minute")
    admin_memories_choice = Sentence(ja="メモリの件数", en="Memories")
    admin_memory_bytes_choice = Sentence(ja="メモリの文字の量（バイト）", en="Bytes of memories")
    admin_imports_per_hour_choice = Sentence(ja="1時間あたりの取り込み", en="Imports an hour")
    admin_commands_per_minute_choice = Sentence(ja="1分あたりの操作", en="Commands and buttons a minute")
    admin_tokens_per_day_choice = Sentence(ja="1日のトークン", en="Tokens a day")
    admin_tokens_per_month_choice = Sentence(ja="1か月のトークン", en="Tokens a month")
    admin_concurrent_choice = Sentence(ja="同時の質問", en="Questions at a time")
    admin_value = Sentence(ja="値", en="value")
    admin_value_description = Sentence(ja="上限（省略すると制限なし）", en="How much (without it: no limit)")
    admin_for = Sentence(ja="対象", en="for")
    admin_for_description = Sentence(
        ja="@人、@ロール、またはIDと区分（省略すると全員。区分「サーバー」だけならこのサーバー）",
        en="@user, @role, or an id with its kind (without it: everyone; kind “server” alone: this one)",
    )
    admin_access = Sentence(ja="利用", en="access")
    admin_access_description = Sentence(
        ja="だれがどこで使えるかを決めます", en="Who may use the bot, and where"
    )
    admin_access_list = Sentence(ja="一覧", en="list")
    admin_access_list_description = Sentence(ja="決まりをすべて見ます", en="List all rules")
    admin_access_allow = Sentence(ja="許可", en="allow")
    admin_access_allow_description = Sentence(
        ja="許可します（許可のある区分では、許可したものだけが使えます）",
        en="Allow; of each kind of which something is allowed, only that may",
    )
    admin_access_deny = Sentence(ja="拒否", en="deny")
    admin_access_deny_description = Sentence(
        ja="使えないようにします（許可より先に効きます）", en="Deny; that goes before anything allowed"
    )
    admin_access_remove = Sentence(ja="削除", en="remove")
    admin_access_remove_description = Sentence(
        ja="ここで決めたものを取り消します", en="Remove a rule that was set here"
    )
    admin_subject = Sentence(ja="相手", en="subject")
    admin_subject_description = Sentence(
        ja="@人、@ロール、#チャンネル、またはIDと区分（区分「サーバー」だけならこのサーバー）",
        en="@user, @role, #channel, or an id with its kind (kind “server” alone: this one)",
    )
    admin_kind = Sentence(ja="区分", en="kind")
    admin_kind_description = Sentence(ja="IDが何のものか", en="What an id is of")
    admin_user_choice = Sentence(ja="人", en="User")
    admin_role_choice = Sentence(ja="ロール", en="Role")
    admin_channel_choice = Sentence(ja="チャンネル", en="Channel")
    admin_guild_choice = Sentence(ja="サーバー", en="Server")
    admin_model = Sentence(ja="モデル", en="model")
    admin_model_description = Sentence(
        ja="チャンネルごとに答えるAIモデルを決めます", en="Which AI model answers in which channel"
    )
    admin_model_set = Sentence(ja="設定", en="set")
    admin_model_set_description = Sentence(
        ja="チャンネルのモデルを決めます（エージェントに決まったモデルがあれば、それが先です）",
        en="Choose models for a channel (an agent's own models go before)",
    )
    admin_model_unset = Sentence(ja="取消", en="unset")
    admin_model_unset_description = Sentence(
        ja="チャンネルのモデルをいつものものに戻します", en="Go back to the usual models in a channel"
    )
    admin_model_list = Sentence(ja="一覧", en="list")
    admin_model_list_description = Sentence(
        ja="モデルを決めたチャンネルを一覧にします", en="List the channels that have models of their own"
    )
    admin_models = Sentence(ja="名前", en="models")
    admin_models_description = Sentence(
        ja="モデルの名前（コンマ区切り。先頭に聞き、答えられなければ次に聞きます）",
        en="Names, separated by commas; the first one is asked, the others are its fallbacks",
    )
    admin_channel = Sentence(ja="チャンネル", en="channel")
    admin_channel_description = Sentence(
        ja="#チャンネルかそのID（省略するとこのチャンネル）", en="#channel or its id (without it: this one)"
    )
    admin_maintenance = Sentence(ja="メンテナンス", en="maintenance")
    admin_maintenance_description = Sentence(
        ja="しばらくのあいだ、管理者だけに答えます", en="Answer nobody but owners for a while"
    )
    admin_maintenance_on = Sentence(ja="開始", en="on")
    admin_maintenance_on_description = Sentence(
        ja="始めます（答えている途中のものは最後まで答えます）", en="Begin; answers on their way are finished"
    )
    admin_maintenance_off = Sentence(ja="終了", en="off")
    admin_maintenance_off_description = Sentence(
        ja="終えて、またみんなに答えます", en="End, and answer everybody again"
    )
    admin_tools = Sentence(ja="ツール", en="tools")
    admin_tools_description = Sentence(ja="ツールのサーバー", en="Servers with tools")
    admin_tools_show = Sentence(ja="表示", en="show")
    admin_tools_show_description = Sentence(
        ja="サーバーごとの状態や、そのツールの説明を見ます",
        en="See how each server is, or what it says of its tools",
    )
    admin_tools_accept = Sentence(ja="承認", en="accept")
    admin_tools_accept_description = Sentence(
        ja="前と変わったツールを、使えるようにします", en="Let tools be used that are not what they were"
    )
    admin_server = Sentence(ja="サーバー", en="server")
    admin_server_description = Sentence(ja="ツールのサーバーの名前", en="The name of the server with tools")
    admin_code = Sentence(ja="コード", en="code")
    admin_code_description = Sentence(
        ja="「表示」で server を選ぶと出るコード", en="What show gives with its option server"
    )
    admin_note = Sentence(ja="ひとこと", en="note")
    admin_note_description = Sentence(
        ja="そのあいだに質問した人へ、ほかに伝えること", en="What else to tell whoever asks meanwhile"
    )

    agent = Sentence(ja="エージェント", en="agent")
    agent_description = Sentence(ja="だれが答えるかを選びます", en="Who answers you")
    agent_list = Sentence(ja="一覧", en="list")
    agent_list_description = Sentence(
        ja="ここで使えるエージェントを一覧にします", en="List the agents that you can use here"
    )
    agent_use = Sentence(ja="使う", en="use")
    agent_use_description = Sentence(
        ja="このチャンネルであなたに答えるエージェントを選びます", en="Choose who answers you in this channel"
    )
    agent_default = Sentence(ja="既定", en="default")
    agent_default_description = Sentence(
        ja="このチャンネルの既定のエージェントを決めます（サーバーを管理する人だけ）",
        en="Choose who answers in this channel by default (for those who manage the server)",
    )
    agent_name = Sentence(ja="名前", en="name")
    agent_name_description = Sentence(
        ja="エージェント。名前の一部を入力すると候補が出ます",
        en="An agent; type a part of its name to choose from matches",
    )

    canvas = Sentence(ja="キャンバス", en="canvas")
    canvas_description = Sentence(
        ja="ボットが出しておくカード・文章・グラフ",
        en="Cards, texts and charts that the bot keeps up for you",
    )
    canvas_show = Sentence(ja="表示", en="show")
    canvas_show_description = Sentence(
        ja="キャンバスを会話のいちばん下に出し直します",
        en="Put the canvas at the bottom of the conversation again",
    )
    canvas_clear = Sentence(ja="空にする", en="clear")
    canvas_clear_description = Sentence(
        ja="キャンバスに出ているものをすべて下げます", en="Take everything on the canvas down"
    )

    ask = Sentence(ja="質問", en="ask")
    ask_description = Sentence(
        ja="質問に答えます。このチャンネルでの前の会話も踏まえます。",
        en="Ask a question. I know what we said before in this channel.",
    )
    ask_question = Sentence(ja="内容", en="question")
    ask_question_description = Sentence(ja="聞きたいこと", en="What you would like to know")
    ask_attachment = Sentence(ja="添付", en="attachment")
    ask_attachment_description = Sentence(
        ja="質問に関わる画像・テキスト・文書（PDF・Word・Excelなど）",
        en="An image, a text or a document (PDF, Word, Excel …) that the question is about",
    )
    ask_attachment2 = Sentence(ja="添付2", en="attachment2")
    ask_attachment2_description = Sentence(ja="2つ目のファイル", en="A second file")
    ask_attachment3 = Sentence(ja="添付3", en="attachment3")
    ask_attachment3_description = Sentence(ja="3つ目のファイル", en="A third file")
    ask_attachment4 = Sentence(ja="添付4", en="attachment4")
    ask_attachment4_description = Sentence(ja="4つ目のファイル", en="A fourth file")
    ask_attachment5 = Sentence(ja="添付5", en="attachment5")
    ask_attachment5_description = Sentence(ja="5つ目のファイル", en="A fifth file")
    ask_private = Sentence(ja="自分だけ", en="private")
    ask_private_description = Sentence(
        ja="回答を自分だけに表示します（会話には残ります）", en="Show the answer to you alone (it is stored)"
    )
    ask_temporary = Sentence(ja="保存しない", en="temporary")
    ask_temporary_description = Sentence(
        ja="回答を自分だけに表示し、何も保存しません", en="Show the answer to you alone and store nothing"
    )
    memory = Sentence(ja="メモリ", en="memory")
    memory_description = Sentence(ja="あなたのために覚えていること", en="What I keep for you")
    memory_add = Sentence(ja="追加", en="add")
    memory_add_description = Sentence(
        ja="覚えてほしいことを保存します（どのチャンネルでも使えます）",
        en="Keep something for you in every channel",
    )
    memory_content = Sentence(ja="内容", en="content")
    memory_content_description = Sentence(
        ja="覚えてほしいこと（4000文字まで）", en="What to remember (up to 4000 characters)"
    )
    memory_category = Sentence(ja="カテゴリ", en="category")
    memory_category_description = Sentence(ja="仕事・家族などの分類", en="A category, such as work or family")
    memory_tags = Sentence(ja="タグ", en="tags")
    memory_tags_description = Sentence(
        ja="タグ（カンマか空白で区切ります）", en="Tags, separated by commas or spaces"
    )
    memory_audience = Sentence(ja="使う場所", en="where")
    memory_audience_description = Sentence(
        ja="このメモリを使ってよい場所（DM では自分だけの回答が既定です）",
        en="Where I may use it (in a DM: only where you alone see it)",
    )
    memory_anywhere_choice = Sentence(ja="どこでも", en="anywhere")
    memory_private_choice = Sentence(ja="自分だけに見える回答でだけ", en="only where I alone see it")
    memory_expires = Sentence(ja="期限", en="until")
    memory_expires_description = Sentence(
        ja="いつまで有効か（例: 12月31日、来週の金曜、3日後、今月末、2026-12-31）",
        en="Until when it holds, such as: Dec 31, next Friday, in 3 days, 2026-12-31",
    )
    memory_search = Sentence(ja="検索", en="search")
    memory_search_description = Sentence(ja="あなたのメモリを探します", en="Find your memories")
    memory_query = Sentence(ja="言葉", en="query")
    memory_query_description = Sentence(ja="探したい言葉", en="Words to look for")
    memory_list = Sentence(ja="一覧", en="list")
    memory_list_description = Sentence(ja="あなたのメモリの一覧です", en="List your memories")
    memory_order = Sentence(ja="並べ方", en="order")
    memory_order_description = Sentence(ja="どれを先に並べるか", en="What comes first")
    memory_newest_choice = Sentence(ja="新しい順", en="newest first")
    memory_oldest_choice = Sentence(ja="古い順", en="oldest first")
    memory_updated_choice = Sentence(ja="最近変更した順", en="recently changed first")
    memory_show = Sentence(ja="表示", en="show")
    memory_show_description = Sentence(
        ja="メモリを1件くわしく見ます。なぜ知っているのか、前の内容も分かります",
        en="Show one memory: its text, why I know it, what it said before",
    )
    memory_edit = Sentence(ja="編集", en="edit")
    memory_edit_description = Sentence(ja="メモリを1件書き直します", en="Change one of your memories")
    memory_pin = Sentence(ja="ピン留め", en="pin")
    memory_pin_description = Sentence(
        ja="メモリを1件ピン留めします（10件まで。ボタンで外せます）",
        en="Pin one of your memories (up to ten); a button unpins it",
    )
    memory_delete = Sentence(ja="削除", en="delete")
    memory_delete_description = Sentence(
        ja="メモリを1件消します（10分以内なら元に戻せます）",
        en="Delete one of your memories (undo for ten minutes)",
    )
    memory_id = Sentence(ja="番号", en="id")
    memory_id_description = Sentence(
        ja="メモリの番号。言葉を入力すると候補から選べます",
        en="Its number; type a word to choose from matches",
    )
    memory_delete_all = Sentence(ja="全削除", en="delete-all")
    memory_delete_all_description = Sentence(
        ja="あなたのメモリをすべて完全に消します（先に確認します）", en="Erase all of your memories for good"
    )
    memory_export = Sentence(ja="書き出し", en="export")
    memory_export_description = Sentence(
        ja="あなたのメモリをすべてファイルで受け取ります", en="Get all of your memories as a file"
    )
    memory_format = Sentence(ja="形式", en="format")
    memory_format_description = Sentence(
        ja="読み込み直せる JSON か、読みやすい Markdown", en="JSON to import again, Markdown to read"
    )
    memory_json_choice = Sentence(ja="JSON（読み込み直せます）", en="JSON (to import again)")
    memory_markdown_choice = Sentence(ja="Markdown（読むため）", en="Markdown (to read)")
    memory_import = Sentence(ja="取り込み", en="import")
    memory_import_description = Sentence(
        ja="ファイルからメモリを取り込みます（何が起こるか先に確認できます）",
        en="Take over memories from a file; shows first what would happen",
    )
    memory_file = Sentence(ja="ファイル", en="file")
    memory_file_description = Sentence(
        ja="</memory export> の JSON か、ChatGPT のメモリなど1行に1件のテキスト",
        en="JSON from </memory export>, or a text with one memory a line, as from ChatGPT",
    )
    memory_pause = Sentence(ja="停止", en="pause")
    memory_pause_description = Sentence(
        ja="メモリを一時停止します（新しく覚えず、回答にも使いません）",
        en="Keep and use no memories until you resume",
    )
    memory_resume = Sentence(ja="再開", en="resume")
    memory_resume_description = Sentence(ja="メモリを再開します", en="Keep and use memories again")
    memory_stats = Sentence(ja="統計", en="stats")
    memory_stats_description = Sentence(ja="あなたのメモリを数字で見ます", en="Your memories in numbers")
    remember_this = Sentence(ja="これを覚える", en="Remember this")
    ask_about_this = Sentence(ja="これについて聞く", en="Ask about this")
    translate_this = Sentence(ja="翻訳する", en="Translate")
    summarise_from_here = Sentence(ja="ここから要約する", en="Summarise from here")
    clear = Sentence(ja="クリア", en="clear")
    clear_description = Sentence(
        ja="このチャンネルでの会話をまっさらにします（メモリは残ります）",
        en="Start this channel's conversation afresh (memories stay)",
    )
    reset = Sentence(ja="リセット", en="reset")
    reset_description = Sentence(
        ja="みんなとの会話をここで区切ります（これより前に書かれたことは、もう読みません）",
        en="Never read again what was written here so far, whoever wrote it",
    )
    summary = Sentence(ja="要約", en="summary")
    summary_description = Sentence(
        ja="このチャンネルでの会話の要約を見ます。消すこともできます",
        en="Show or delete what I wrote down of our conversation in this channel",
    )
    help = Sentence(ja="ヘルプ", en="help")
    help_description = Sentence(ja="できることの一覧です", en="What I can do")
    settings = Sentence(ja="設定", en="settings")
    settings_description = Sentence(
        ja="自分の言語とタイムゾーン、読み上げを決めます",
        en="Your own language and time zone, and whether answers are read aloud",
    )
    settings_voice = Sentence(ja="読み上げ", en="voice")
    settings_voice_on_choice = Sentence(ja="オン", en="on")
    settings_voice_off_choice = Sentence(ja="オフ", en="off")
    settings_voice_description = Sentence(
        ja="短い回答に、読み上げた音声を付けるかどうか",
        en="Whether short answers come as a recording as well",
    )
    settings_language = Sentence(ja="言語", en="language")
    settings_language_description = Sentence(ja="ボットがあなたに話す言語", en="The language I speak to you")
    settings_timezone = Sentence(ja="タイムゾーン", en="timezone")
    settings_timezone_description = Sentence(
        ja="あなたのタイムゾーン（例: Asia/Tokyo）", en="Your time zone, such as Europe/London"
    )

    heartbeat = Sentence(ja="声かけ", en="heartbeat")
    heartbeat_description = Sentence(
        ja="お知らせしたほうがよいことがあるとき、こちらから声をかけます",
        en="Have me check in with you when there is something worth telling",
    )
    heartbeat_on = Sentence(ja="オン", en="on")
    heartbeat_on_description = Sentence(
        ja="声かけを始めます（近づいた予定や新しいメモを見ます）",
        en="Start: I look at what is coming up and at new memories",
    )
    heartbeat_every = Sentence(ja="間隔", en="every")
    heartbeat_every_description = Sentence(
        ja="何時間ごとに見るか（1〜168）", en="Hours between two looks (1-168)"
    )
    heartbeat_where = Sentence(ja="場所", en="where")
    heartbeat_where_description = Sentence(
        ja="声をかける場所（省略すると DM）", en="Where to speak to you (DM unless you choose)"
    )
    heartbeat_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    heartbeat_channel_choice = Sentence(ja="このチャンネル", en="This channel")
    heartbeat_quiet_from = Sentence(ja="静かな時間の始め", en="quiet_from")
    heartbeat_quiet_from_description = Sentence(
        ja="この時刻から静かにします（省略すると 22:00）",
        en="Keep quiet from this time on (22:00 unless you choose)",
    )
    heartbeat_quiet_to = Sentence(ja="静かな時間の終わり", en="quiet_to")
    heartbeat_quiet_to_description = Sentence(
        ja="この時刻まで静かにします（省略すると 7:00、始めと同じなら静かな時間なし）",
        en="Keep quiet until this time (7:00 unless you choose; the same time: never quiet)",
    )
    heartbeat_off = Sentence(ja="オフ", en="off")
    heartbeat_off_description = Sentence(ja="声かけをやめます", en="Stop")
    heartbeat_status = Sentence(ja="状態", en="status")
    heartbeat_status_description = Sentence(
        ja="声かけの今の設定と、次の時刻を見ます", en="Show how I check in with you, and when next"
    )

    web = Sentence(ja="マイページ", en="web")
    web_description = Sentence(
        ja="キャンバスやメモリを、ブラウザの自分のページで見ます",
        en="Open your own pages in a browser: canvas, memories, usage",
    )
    privacy = Sentence(ja="プライバシー", en="privacy")
    privacy_description = Sentence(
        ja="あなたについて保存しているものを見る・受け取る・消す",
        en="See, receive or erase what is stored about you",
    )
    privacy_show = Sentence(ja="表示", en="show")
    privacy_show_description = Sentence(
        ja="何をどれだけ、いつまで保存しているかを見ます",
        en="Show what is stored, how much, and for how long",
    )
    privacy_export = Sentence(ja="書き出し", en="export")
    privacy_export_description = Sentence(
        ja="保存しているもののすべてを、JSON ファイルで受け取ります",
        en="Receive everything that is stored, as a JSON file",
    )
    privacy_where = Sentence(ja="場所", en="where")
    privacy_where_description = Sentence(
        ja="どこで受け取るか（省略すると、ここで自分だけに見えます）",
        en="Where to receive it (here, seen by you alone, unless you choose)",
    )
    privacy_here_choice = Sentence(ja="ここ（自分だけに見えます）", en="Here (only you see it)")
    privacy_dm_choice = Sentence(ja="DM", en="DM")
    privacy_erase = Sentence(ja="消去", en="erase")
    privacy_erase_description = Sentence(
        ja="保存しているものをすべて消します（消す前に確認します）",
        en="Erase everything that is stored (you are asked first)",
    )

    remind = Sentence(ja="リマインド", en="remind")
    remind_description = Sentence(ja="決めた時刻にお知らせします", en="Be told at the time you choose")
    remind_add = Sentence(ja="追加", en="add")
    remind_add_description = Sentence(ja="お知らせを予約します", en="Set a reminder")
    remind_when = Sentence(ja="いつ", en="when")
    remind_when_description = Sentence(
        ja="例: 10分後、明日9時と18時、来週の金曜の夕方、元日、月水金の7時、隔週の火曜 10時、12月3日の正午、2026-12-03 09:00",
        en="Such as: in 10 minutes, tomorrow at 9 and 18, dec 3 noon, mon/wed/fri 7:00, 2026-12-03 09:00",
    )
    remind_text = Sentence(ja="内容", en="text")
    remind_text_description = Sentence(
        ja="お知らせする内容（1000文字まで）", en="What to remind you of (up to 1000 characters)"
    )
    remind_repeat = Sentence(ja="繰り返し", en="repeat")
    remind_repeat_description = Sentence(
        ja="例: 毎朝8時、平日9時、隔週、3日ごと、毎月第2水曜、毎月末、毎年、なし、0 9 * * 1-5",
        en="Such as: every weekday at 9, every other week, every 3 days, monthly, none, 0 9 * * 1-5",
    )
    remind_where = Sentence(ja="場所", en="where")
    remind_where_description = Sentence(
        ja="お知らせする場所（省略するとこのチャンネル）",
        en="Where to remind you (this channel unless you choose)",
    )
    remind_here_choice = Sentence(ja="このチャンネル", en="This channel")
    remind_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    remind_list = Sentence(ja="一覧", en="list")
    remind_list_description = Sentence(ja="予約したお知らせを一覧で表示します", en="Show your reminders")
    remind_delete = Sentence(ja="削除", en="delete")
    remind_delete_description = Sentence(ja="お知らせを取り消します", en="Cancel a reminder")
    remind_resume = Sentence(ja="再開", en="resume")
    remind_resume_description = Sentence(
        ja="止まっているお知らせを再開します", en="Have a paused reminder go on"
    )
    remind_id = Sentence(ja="番号", en="id")
    remind_id_description = Sentence(
        ja="お知らせの番号（内容を入力すると候補が出ます）",
        en="The reminder's number (type its text for suggestions)",
    )

    usage = Sentence(ja="使用量", en="usage")
    usage_description = Sentence(
        ja="使ったトークンと金額、残りを見ます（自分だけに見えます）",
        en="See the tokens you used, what they cost and what is left (only you see it)",
    )
    usage_server = Sentence(ja="サーバー", en="server")
    usage_server_description = Sentence(
        ja="このサーバー全体の合計を見ます（サーバーを管理できる人だけ）",
        en="See the totals of this server (for those who manage it)",
    )


_WORDINGS: Final[Mapping[Locale, Mapping[str, str]]] = {
    locale: CommandTexts(locale).values() for locale in Locale
}


def command_names(locale: Locale) -> dict[str, str]:
    """Return every wording by its key."""
    return dict(named(_WORDINGS[locale], plainly(locale)))


def plainly(locale: Locale) -> Show:
    """Return what writes the name that a reader of this language types: `/memory add`, `/メモリ 追加`."""
    wordings = _WORDINGS[locale]

    def show(command: str) -> str:
        words = command.split()
        keys = ("_".join(words[: count + 1]).replace("-", "_") for count in range(len(words)))
        return f"/{' '.join(wordings.get(key, word) for key, word in zip(keys, words, strict=True))}"

    return show
