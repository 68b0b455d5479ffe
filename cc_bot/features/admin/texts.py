"""`/admin` and the owners' console."""

from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts


class AdminTexts(Area):
    under_maintenance = Sentence(ja="🚧 メンテナンス中です。</admin maintenance off> で終わります。", en="🚧 Maintenance is on. </admin maintenance off> ends it.")
    limits_title = Sentence(ja="今の制限", en="Current limits")
    limit_set = Sentence(ja="決めました。{subject}の{limit}: {value}（次の質問から）", en="{subject}: {limit} {value}, from the next question on.")
    limit_unset = Sentence(ja="取り消しました。設定ファイルにあれば、それが効きます。", en="Removed. If the policy file has such a limit, it applies.")
    limit_was_not_set = Sentence(ja="ここで決めた制限の中に、それはありません。</admin limits show> で確かめてください。", en="No such limit was set here. See </admin limits show>.")
    everyone = Sentence(ja="全員（1人あたり）", en="Everyone (each user)")
    no_limit = Sentence(ja="制限なし", en="no limit")
    limit_sources = by_key({"owner": Sentence(ja="✏️ ここで決めたもの", en="✏️ set here"), "file": Sentence(ja="📄 設定ファイルのもの", en="📄 from the policy file")})
    limits = by_key(
        {
            "turns_per_minute": Sentence(ja="1分あたりの質問", en="Questions a minute"),
            "memories": Sentence(ja="メモリの件数", en="Memories"),
            "memory_bytes": Sentence(ja="メモリの文字の量", en="Size of memories"),
            "imports_per_hour": Sentence(ja="1時間あたりの取り込み", en="Imports an hour"),
            "commands_per_minute": Sentence(ja="1分あたりの操作", en="Commands and buttons a minute"),
            "tokens_per_day": Sentence(ja="1日のトークン", en="Tokens a day"),
            "tokens_per_month": Sentence(ja="1か月のトークン", en="Tokens a month"),
            "concurrent": Sentence(ja="同時の質問", en="Questions at a time"),
        }
    )
    access_open = Sentence(ja="だれでも、どこでも使えます。", en="Everyone may use the bot everywhere.")
    access_owners = Sentence(ja="👑 管理者: {owners}", en="👑 Owners: {owners}")
    allowed = Sentence(ja="✅ 許可: {subject}", en="✅ Allowed: {subject}")
    denied = Sentence(ja="⛔ 拒否: {subject}", en="⛔ Denied: {subject}")
    access_allowed = Sentence(ja="✅ {subject} を許可しました。これから cc-bot を使えるのは、許可した{kind}だけです。", en="✅ {subject} is allowed. Any {kind} that is not allowed is now shut out.")
    access_denied = Sentence(ja="⛔ {subject} を拒否しました。もう cc-bot は使えません。", en="⛔ {subject} is denied, and can no longer use the bot.")
    access_removed = Sentence(ja="{subject} のルールを取り消しました。", en="The rule for {subject} is gone.")
    access_had_no_rule = Sentence(ja="{subject} には、ここで決めたものがありません。</admin access list> で確かめてください。", en="{subject} has no rule that was set here. See </admin access list>.")
    access_also_in_file = Sentence(ja="設定ファイルにもルールがあり、そちらは効いたままです。", en="The policy file also has a rule, which still applies.")
    owners_stay = Sentence(ja="管理者は、いつでも使えます。", en="Owners may always use the bot.")
    models_set = Sentence(ja="{channel} では、これから {models} に聞きます。決まったモデルがあるエージェントは、これまでどおりです。", en="In {channel} I now ask {models}. Agents that have models of their own keep those.")
    models_unknown = Sentence(ja="⚠️ {models} というモデルは、サーバーにありません。名前を確かめてください。", en="⚠️ The server has no model named {models}. Please check the name.")
    models_unset = Sentence(ja="{channel} では、いつものモデルに戻しました。", en="The usual models answer in {channel} again.")
    models_were_not_set = Sentence(ja="{channel} には、決めたモデルがありません。", en="{channel} has no models of its own.")
    models_none = Sentence(ja="まだ決めたものはありません。</admin model set> で、チャンネルごとに決められます。", en="None are set yet. Set them for a channel with </admin model set>.")
    maintenance_begun = Sentence(ja="🚧 メンテナンスを始めました。管理者だけに答えます。</admin maintenance off> で終わります。", en="🚧 Maintenance has begun: I answer only owners. </admin maintenance off> ends it.")
    maintenance_ended = Sentence(ja="✅ メンテナンスを終えました。またみんなに答えます。", en="✅ Maintenance is over. I answer everybody again.")
    maintenance_was_off = Sentence(ja="メンテナンス中ではありません。", en="Maintenance is not on.")


class ConsoleTexts(Area):
    status = Sentence(ja="状態", en="Status")
    limits = Sentence(ja="制限", en="Limits")
    access = Sentence(ja="アクセス", en="Access")
    models = Sentence(ja="モデル", en="Models")
    log = Sentence(ja="記録", en="Log")
    doctor = Sentence(ja="点検", en="Doctor")
    state_at = Sentence(ja="{time} の状態（10秒ごとに新しくなります）", en="As of {time}, updated every 10 seconds")
    all_well = Sentence(ja="すべて正常です。", en="All is well.")
    attention = Sentence(ja="確かめてください", en="Needs attention")
    fixes = by_key({"backup": Sentence(ja="バックアップする", en="Back up now"), "doctor": Sentence(ja="点検する", en="Run the doctor"), "log": Sentence(ja="記録を見る", en="See the log")})
    how_to_fix = Sentence(ja="{what}には `cc-bot {command}`", en="{what}: `cc-bot {command}`")
    backup_made = Sentence(ja="バックアップしました。", en="The backup has been made.")
    verdicts = by_key({"ok": Sentence(ja="正常", en="OK"), "warning": Sentence(ja="注意", en="Warning"), "failed": Sentence(ja="異常", en="Failed"), "off": Sentence(ja="オフ", en="Off")})
    recent = Sentence(ja="この1時間の記録", en="Last hour's log")
    recent_count = Sentence(ja="エラー\N{NO-BREAK SPACE}{errors}件・警告\N{NO-BREAK SPACE}{warnings}件", en="{errors:error|errors}, {warnings:warning|warnings}")

    version = Sentence(ja="バージョン", en="Version")
    version_value = Sentence(ja="cc-bot {version}（データベース {schema}）", en="cc-bot {version} (database {schema})")
    since = Sentence(ja="起動", en="Started")
    connected = Sentence(ja="つながっています（{milliseconds} ms）", en="Connected ({milliseconds} ms)")
    connected_just_now = Sentence(ja="つながったところです", en="Just connected")
    disconnected = Sentence(ja="つながっていません", en="Not connected")
    database = Sentence(ja="データベース", en="Database")
    disk = Sentence(ja="ディスクの空き", en="Disk space")
    unknown = Sentence(ja="分かりません", en="Unknown")
    processes = Sentence(ja="プロセス", en="Process")
    last_backup = Sentence(ja="バックアップ", en="Last backup")
    no_backup = Sentence(ja="まだありません", en="None yet")

    turns = Sentence(ja="進行中の質問", en="In progress")
    of_this_process = Sentence(ja="（このプロセス）", en="(in this process)")
    turns_count = Sentence(ja="回答中 {running}・待ち {waiting}", en="{running} running, {waiting} waiting")
    latency = Sentence(ja="モデルが答え始めるまで（秒）", en="Seconds until the model begins to answer")
    turns_caption = Sentence(ja="番号は、記録の turn と同じものです。だれの何の質問かは、ここには出ません。", en="The same numbers as “turn” in the log. Who asks, and what, is not shown here.")
    turn_id = Sentence(ja="番号", en="Number")
    this_answer = Sentence(ja="この回答の記録", en="Log of this answer")
    phase = Sentence(ja="段階", en="Phase")
    phases = by_key(
        {
            "queue": Sentence(ja="順番待ち", en="Waiting in line"),
            "hearing": Sentence(ja="音声を聞いています", en="Hearing"),
            "store": Sentence(ja="読み書き中", en="Reading or storing"),
            "model_first_token": Sentence(ja="モデルが回答中", en="The model is answering"),
            "model": Sentence(ja="モデルが回答中", en="The model is answering"),
            "tools": Sentence(ja="ツールを使用中", en="Using tools"),
            "discord": Sentence(ja="Discord に表示中", en="Being shown on Discord"),
        }
    )
    seconds = Sentence(ja="経過（秒）", en="Seconds")

    maintenance = Sentence(ja="メンテナンス", en="Maintenance")
    maintenance_off = Sentence(ja="いまは、みんなに答えています。", en="The bot answers everyone at the moment.")
    maintenance_on = Sentence(ja="メンテナンス中です。管理者だけに答えています。", en="Maintenance is on: the bot answers only owners.")
    note = Sentence(ja="利用者へのメッセージ（任意）", en="Notice to users (optional)")
    begin = Sentence(ja="メンテナンスを始める", en="Begin maintenance")
    end = Sentence(ja="メンテナンスを終える", en="End maintenance")

    subject = Sentence(ja="対象", en="For")
    limit = Sentence(ja="制限", en="Limit")
    value = Sentence(ja="値", en="Value")
    sources = by_key({"owner": Sentence(ja="変更済み", en="Changed"), "file": Sentence(ja="設定ファイル", en="Policy file")})
    action = Sentence(ja="操作", en="Action")
    change_of = Sentence(ja="変える: {what}", en="Change: {what}")
    take_back = Sentence(ja="取り消す", en="Remove")
    to_default = Sentence(ja="既定に戻す", en="Reset to default")
    exceptions = Sentence(ja="人・ロール・サーバーごとの例外", en="Exceptions for one person, role or server")
    add_exception = Sentence(ja="例外を追加", en="Add an exception")
    value_hint = Sentence(ja="1以上の整数です（文字の量はバイト単位）。空のままなら、制限なしになります。", en="A whole number, at least 1 (sizes in bytes); leave it empty for no limit.")
    set = Sentence(ja="決める", en="Set")
    kind = Sentence(ja="区分", en="Kind")
    choose = Sentence(ja="選んでください", en="Choose")
    by_id = Sentence(ja="一覧にないもの（IDで指定する）", en="Not in the list (give its ID)")
    id_hint = Sentence(ja="Discord の「IDをコピー」で分かる数字です。", en="The number that Discord's “Copy ID” gives.")

    access_hint = Sentence(ja="「許可」のある区分では、許可した相手だけが使えます。「拒否」は許可より優先します。管理者は、いつでも使えます。", en="Once a user is allowed, only allowed users may use the bot; the same goes for roles, channels and servers. “Denied” overrides “allowed”. Owners may always use the bot.")
    rule = Sentence(ja="ルール", en="Rule")
    rules = by_key({"allow": Sentence(ja="許可", en="Allowed"), "deny": Sentence(ja="拒否", en="Denied")})
    add_rule = Sentence(ja="許可・拒否を追加", en="Allow or deny someone")
    allow = Sentence(ja="許可する", en="Allow")
    deny = Sentence(ja="拒否する", en="Deny")

    models_caption = Sentence(ja="決まったモデルがあるエージェントは、チャンネルのモデルではなくそれを使います。", en="Agents that have models of their own keep those.")
    usual_models = Sentence(ja="いつものモデル", en="Usual models")
    usual_hint = Sentence(ja="上から順に聞き、答えられなければ次に聞きます。CC_BOT_MODEL で変えられます。", en="Asked from the top: if a model can't answer, the next one is asked. CC_BOT_MODEL sets them.")
    offline_model = Sentence(ja="内蔵のオフラインモデルが答えています。", en="The built-in offline model answers.")
    channel_models = Sentence(ja="チャンネルごとのモデル", en="Channel models")
    chain = Sentence(ja="モデル（聞く順に）", en="Models (in the order they are asked)")
    set_channel_models = Sentence(ja="チャンネルを追加", en="Add a channel")
    models_hint = Sentence(ja="コンマで区切って、5つまで書けます。例: {example}", en="Up to five, separated by commas. For example: {example}")

    level = Sentence(ja="レベル", en="Level")
    at_least = by_key({"error": Sentence(ja="エラー", en="Errors"), "warning": Sentence(ja="警告以上", en="Warnings and errors"), "debug": Sentence(ja="すべて", en="All")})
    levels = by_key({"debug": Sentence(ja="デバッグ", en="Debug"), "info": Sentence(ja="情報", en="Info"), "warning": Sentence(ja="警告", en="Warning"), "error": Sentence(ja="エラー", en="Error"), "critical": Sentence(ja="重大", en="Critical")})
    containing = Sentence(ja="キーワード", en="Keyword")
    filter = Sentence(ja="絞り込む", en="Filter")
    log_caption = Sentence(ja="新しい順です（最新{max_count}件まで）。人が書いた言葉は入っていません。", en="The newest first, of the last {max_count}. They contain nothing that people wrote.")
    log_empty = Sentence(ja="当てはまる記録はありません。", en="No records match.")
    time = Sentence(ja="時刻", en="Time")
    event = Sentence(ja="出来事", en="Event")
    fields = Sentence(ja="内容", en="Details")
    events = by_key(  # by the beginning of their names
        {
            "access_denied": Sentence(ja="許可のない相手を断りました", en="Someone without access was turned away"),
            "admin_changed": Sentence(ja="管理の設定が変わりました", en="An owner changed a setting"),
            "answer": Sentence(ja="回答の表示", en="Showing an answer"),
            "catch_up": Sentence(ja="停止中に届いたメッセージの確認", en="Catching up on missed messages"),
            "commands": Sentence(ja="コマンドの登録", en="Registering the commands"),
            "database_trouble": Sentence(ja="データベースを読み書きできません", en="The database can't be read or written"),
            "database_works_again": Sentence(ja="データベースがまた使えるようになりました", en="The database works again"),
            "discord_fails": Sentence(ja="Discord がエラーを返しています", en="Discord is returning errors"),
            "edit": Sentence(ja="表示中の回答の更新", en="Updating an answer"),
            "erasing": Sentence(ja="データの消去", en="Erasing data"),
            "firing": Sentence(ja="お知らせの配信", en="Delivering a reminder"),
            "flood_dropped": Sentence(ja="続けざまの操作を無視しました", en="A flood of requests was ignored"),
            "interaction": Sentence(ja="コマンドやボタンへの応答", en="Answering a command or button"),
            "message": Sentence(ja="メッセージへの返答", en="Answering a message"),
            "page": Sentence(ja="ページの読み込み", en="Loading a page"),
            "receipt": Sentence(ja="変更のお知らせの更新", en="Updating a notice of changes"),
            "summary": Sentence(ja="会話の要約", en="Summarizing a conversation"),
            "tool": Sentence(ja="ツールの実行", en="Running a tool"),
            "tool_server": Sentence(ja="ツールのサーバーとの接続", en="Connecting to a tool server"),
            "turn": Sentence(ja="質問への回答", en="Answering a question"),
            "turn_done": Sentence(ja="質問に答えました", en="A question was answered"),
            "user_not_told": Sentence(ja="利用者に知らせられませんでした", en="A user could not be notified"),
        }
    )
    went_wrong = Sentence(ja="{subject}がうまくいきませんでした", en="{subject} failed")
    other_event = Sentence(ja="内部の処理", en="Internal work")
    errors = by_key(
        {
            "ClientHTTPResponseError": Sentence(ja="Discord が受け付けませんでした", en="Discord refused it"),
            "ForbiddenError": Sentence(ja="Discord での権限が足りません", en="A permission on Discord is missing"),
            "NotFoundError": Sentence(ja="Discord にもうありません", en="It is gone from Discord"),
            "RateLimitTooLongError": Sentence(ja="Discord の回数制限にかかりました", en="Discord's rate limit was reached"),
            "ModelNotFound": Sentence(ja="この名前のモデルはありません", en="No such model"),
            "ModelRefusedKey": Sentence(ja="APIキーが受け付けられません", en="The API key is refused"),
            "ModelUnreachable": Sentence(ja="サーバーにつながりません", en="The server can't be reached"),
            "TimeoutError": Sentence(ja="時間内に応答がありません", en="No answer in time"),
        }
    )
    of_library = Sentence(ja="ライブラリの記録（内容は残しません）", en="A library's record (its words are not kept)")

    doctor_what = Sentence(ja="cc-bot doctor と同じ点検を、動いているまま行います。30秒ほどかかることがあります。", en="The same checks as cc-bot doctor, while the bot keeps running. They may take half a minute.")
    check_models = Sentence(ja="モデルを点検", en="Check the models")
    see_rest = Sentence(ja="問題のない項目を見る", en="See what is fine")
    run_again = Sentence(ja="もう一度点検する", en="Run again")
    no_report = Sentence(ja="点検の結果がありません。この cc-bot に doctor がないか、途中で止まりました。", en="There is no report: this cc-bot has no doctor, or it was stopped.")
    check = Sentence(ja="項目", en="Check")
    verdict = Sentence(ja="結果", en="Verdict")


class AdminCommandTexts(CommandTexts):
    admin_choices = AdminTexts.limits
    admin = Both(ja=("管理", "ボットの管理（ボットの管理者だけ）"), en=("admin", "Manage the bot (for its owners only)"))
    admin_status = Both(ja=("状態", "ボットの様子を見ます"), en=("status", "How the bot is doing"))
    admin_limits = Both(ja=("制限", "使える量を決めます"), en=("limits", "How much may be used"))
    admin_limits_show = Both(ja=("表示", "今の制限をすべて見ます"), en=("show", "Show all current limits"))
    admin_limits_set = Both(ja=("設定", "制限を決めます（設定ファイルより先に効きます）"), en=("set", "Set a limit, which overrides the policy file"))
    admin_limits_unset = Both(ja=("取消", "ここで決めた制限を取り消します"), en=("unset", "Remove a limit that was set here"))
    admin_limit = Both(ja=("種類", "どの制限か"), en=("limit", "Which limit"))
    admin_value = Both(ja=("値", "上限（省略すると制限なし）"), en=("value", "How much (default: no limit)"))
    admin_for = Both(ja=("対象", "@人、@ロール、またはIDと区分（省略すると全員。区分「サーバー」だけならこのサーバー）"), en=("for", "@user, @role, or an id with its kind (default: everyone; kind “server” alone: this server)"))
    admin_access = Both(ja=("利用", "だれがどこで使えるかを決めます"), en=("access", "Who may use the bot, and where"))
    admin_access_list = Both(ja=("一覧", "決まりをすべて見ます"), en=("list", "List all rules"))
    admin_access_allow = Both(ja=("許可", "許可します（許可のある区分では、許可したものだけが使えます）"), en=("allow", "Allow; anything of the same kind that is not allowed is shut out"))
    admin_access_deny = Both(ja=("拒否", "使えないようにします（許可より先に効きます）"), en=("deny", "Deny, which overrides anything allowed"))
    admin_access_remove = Both(ja=("削除", "ここで決めたものを取り消します"), en=("remove", "Remove a rule that was set here"))
    admin_subject = Both(ja=("相手", "@人、@ロール、#チャンネル、またはIDと区分（区分「サーバー」だけならこのサーバー）"), en=("subject", "@user, @role, #channel, or an id with its kind (kind “server” alone: this server)"))
    admin_kind = Both(ja=("区分", "IDが何のものか"), en=("kind", "Whether the id is of a user, role, channel or server"))
    admin_user_choice = Sentence(ja="人", en="User")
    admin_role_choice = Sentence(ja="ロール", en="Role")
    admin_channel_choice = Sentence(ja="チャンネル", en="Channel")
    admin_guild_choice = Sentence(ja="サーバー", en="Server")
    admin_model = Both(ja=("モデル", "チャンネルごとに答えるAIモデルを決めます"), en=("model", "Which AI model answers in which channel"))
    admin_model_set = Both(ja=("設定", "チャンネルのモデルを決めます（エージェントに決まったモデルがあれば、それが先です）"), en=("set", "Choose models for a channel (an agent's own models come first)"))
    admin_model_unset = Both(ja=("取消", "チャンネルのモデルをいつものものに戻します"), en=("unset", "Go back to the usual models in a channel"))
    admin_model_list = Both(ja=("一覧", "モデルを決めたチャンネルを一覧にします"), en=("list", "List the channels that have models of their own"))
    admin_models = Both(ja=("名前", "モデルの名前（コンマ区切り。先頭に聞き、答えられなければ次に聞きます）"), en=("models", "Names, separated by commas; the first one is asked, the others are its fallbacks"))
    admin_channel = Both(ja=("チャンネル", "#チャンネルかそのID（省略するとこのチャンネル）"), en=("channel", "#channel or its id (default: this channel)"))
    admin_maintenance = Both(ja=("メンテナンス", "しばらくのあいだ、管理者だけに答えます"), en=("maintenance", "Answer only owners for a while"))
    admin_maintenance_on = Both(ja=("開始", "始めます（答えている途中のものは最後まで答えます）"), en=("on", "Begin; answers in progress are finished"))
    admin_maintenance_off = Both(ja=("終了", "終えて、またみんなに答えます"), en=("off", "End, and answer everyone again"))
    admin_tools = Both(ja=("ツール", "ツールのサーバー"), en=("tools", "Servers with tools"))
    admin_tools_show = Both(ja=("表示", "サーバーごとの状態や、そのツールの説明を見ます"), en=("show", "Show each server's state, or the descriptions of its tools"))
    admin_tools_accept = Both(ja=("承認", "前と変わったツールを、使えるようにします"), en=("accept", "Accept a server's new or changed tools"))
    admin_server = Both(ja=("サーバー", "ツールのサーバーの名前"), en=("server", "The name of the server with tools"))
    admin_code = Both(ja=("コード", "「表示」で server を選ぶと出るコード"), en=("code", "The code that “show” gives with the option server"))
    admin_note = Both(ja=("ひとこと", "そのあいだに質問した人へ、ほかに伝えること"), en=("note", "What else to tell users who ask meanwhile"))
