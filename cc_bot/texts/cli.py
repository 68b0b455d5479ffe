"""The command line, the terminal, and mistakes in the operator's files."""

from collections.abc import Mapping
from typing import Final

from cc_bot.domain.errors import CcBotError, DatabaseCrowded, DatabaseDamaged, DatabaseForbidden, DatabaseFull, DatabaseImpatient, DatabaseLocked, DatabaseReadOnly, DatabaseUnreachable, MemoryPaused, ModelNotFound, ModelRefusedKey, ModelRefusedRequest, ModelUnreachable, PoolerForgets, StorageError
from cc_bot.domain.usage import MAX_LIMIT, MAX_PRICE
from cc_bot.texts.area import Area, Both, Sentence, by_key

ARGPARSE_JA: Final[Mapping[str, str]] = {
    "usage: ": "使い方: ",
    "positional arguments": "コマンドと引数",
    "options": "オプション",
    "show this help message and exit": "この説明を表示します",
    "%(prog)s: error: %(message)s\n": "%(prog)s: %(message)s\n",
    "argument %(argument_name)s: %(message)s": "%(argument_name)s: %(message)s",
    "unrecognized arguments: %s": "知らない引数です: %s",
    "the following arguments are required: %s": "足りない引数があります: %s",
    "expected one argument": "値を書いてください",
    "ambiguous option: %(option)s could match %(matches)s": "%(option)s は、次のどれかわかりません: %(matches)s",
    "invalid choice: %(value)r (choose from %(choices)s)": "%(value)r は使えません。使えるもの: %(choices)s",
}
"""Translations of argparse's own messages."""


class CliTexts(Area):
    description = Sentence(ja="Discord で、覚えていてくれるアシスタント。", en="A Discord assistant that remembers.")
    without_command = Sentence(ja="コマンドを付けずに始めると、足りない設定を尋ねて .env に保存し、ボットを動かします。", en="Without a command it asks for missing settings, saves them to .env and runs the bot.")
    version = Sentence(ja="版を表示します", en="show the version")
    run = Sentence(ja="Discord ボットを動かします（DISCORD_TOKEN が必要です）", en="run the Discord bot (needs DISCORD_TOKEN)")
    web = Sentence(ja="ブラウザで自分のページを開くリンクを表示します（cc-bot run が動いているとき）", en="print a link to your pages in a browser (while cc-bot run is running)")
    chat = Sentence(ja="ターミナルで話します（トークンも API キーもいりません）", en="chat in the terminal (needs neither a token nor an API key)")
    migrate = Sentence(ja="データベースの形式を最新にします", en="bring the database's schema up to date")
    chat_user = Sentence(ja="この利用者として話します（既定: 0）", en="chat as this user (default: 0)")
    chat_agent = Sentence(ja="このエージェントと話します（agents.toml の名前）", en="chat with this agent (a name in agents.toml)")
    id_expected = Sentence(ja="Discord の ID（数字）で書いてください", en="must be a Discord id, which is a number")
    migration = Sentence(ja="適用します: {version:04d} {description}", en="Applying {version:04d} {description}")
    migrated = Sentence(ja="データベースを最新にしました: {path}", en="The database is up to date now: {path}")
    up_to_date = Sentence(ja="データベースは最新です: {path}", en="The database is up to date: {path}")
    ready = Sentence(ja="{name} として Discord につながりました。止めるには Ctrl-C を押してください。", en="Connected to Discord as {name}. Press Ctrl-C to stop.")
    mentions_only = Sentence(
        ja="CC_BOT_CHANNELS=all ですが、Message Content Intent が有効になっていないため、ボット宛てのメッセージだけを読みます。すべて読むには、Developer Portal の Bot で Message Content Intent を有効にして、起動し直してください。",
        en="CC_BOT_CHANNELS=all, but the Message Content Intent is not switched on: I read only messages that are addressed to me. To let me read all messages, switch it on in the Developer Portal under Bot, and start me again.",
    )
    discord_fails = Sentence(ja="Discord が一時的に応答できないようです（{detail}）。つながるまで、間をあけて試します。", en="Discord is not responding at the moment ({detail}). I keep trying until it does.")
    commands_not_registered = Sentence(ja="コマンドをまだ登録できません（{detail}）。登録ずみのコマンド、メンション、DM には答えながら、間をあけて登録をやり直します。", en="The commands could not be registered yet ({detail}). I keep trying. Meanwhile mentions, DMs and the commands that Discord already has work.")
    stopping = Sentence(ja="止めています。答えている途中の質問を最長{seconds}秒待ちます…", en="Stopping. Waiting up to {seconds} seconds for unfinished answers…")
    replaced_by_other_process = Sentence(ja="データベースに届かないあいだに、ほかのプロセスが引き継ぎました。はじめからつなぎ直します。", en="While I could not reach the database, another process took over. I am connecting again from the start.")
    waits_for_process = Sentence(
        ja="{host} の cc-bot（シャード {shards}、* はすべて）が止まっているかどうか、30秒ほど確かめます。止まっていれば引き継ぎ、動いていれば起動をやめます。",
        en="Checking for up to 30 seconds whether the cc-bot on {host} (shards {shards}; * means all) has stopped. If it has, I take over; if it is running, I do not start.",
    )
    offline_model = Sentence(ja="オフラインモデル", en="offline model")
    model_without_server = Sentence(ja="{model} のキーもサーバーもないので、内蔵のオフラインモデルが答えます", en="{model} has neither a key nor a server, so the built-in offline model answers")
    model_without_server_fix = Sentence(ja=".env の OPENAI_API_KEY か OPENAI_BASE_URL、または data/models.toml で設定してください", en="set OPENAI_API_KEY or OPENAI_BASE_URL in .env, or a server in data/models.toml")
    pages_served = Sentence(ja="ブラウザのページ: {url}", en="Pages for browsers: {url}")
    pages_link = Sentence(ja="次のリンクをブラウザで開いてください（10分間、1回だけ使えます）。", en="Open this link in a browser (it works once, within 10 minutes).")
    pages_no_port = Sentence(ja="CC_BOT_WEB_PORT が設定されていません。たとえば CC_BOT_WEB_PORT=8080 と .env に書いて、Discord のトークンを設定した cc-bot run を起動してください。", en="CC_BOT_WEB_PORT is not set. Set it in .env, for example CC_BOT_WEB_PORT=8080, and start cc-bot run, which needs a Discord token.")
    pages_not_served = Sentence(ja="いまは {host}:{port} で何も動いていません。リンクを開く前に cc-bot run を起動してください。", en="Nothing answers at {host}:{port} at the moment. Start cc-bot run before you open the link.")  # for `make run`
    no_token = Sentence(ja="DISCORD_TOKEN が環境変数にも .env にもないので、ターミナルでの会話を始めます。", en="DISCORD_TOKEN is set neither in the environment nor in .env: starting the terminal chat.")  # for `make run`
    crashed = Sentence(ja="思わぬエラーで止まりました（{error}）。上の記録を添えて、開発者にお知らせください。", en="Stopped by an unexpected error ({error}). Please report it together with the log above.")


class BackupTexts(Area):
    """`backup`, `restore`, `copy`, `erasures` and `wipe`."""

    backup = Sentence(ja="データベースを安全にコピーします（動作中でも使えます）", en="make a safe copy of the database, also while the bot runs")
    backup_to = Sentence(ja="コピーを置くフォルダ（既定: CC_BOT_BACKUP_FOLDER、なければ backup）", en="folder for the copy (default: CC_BOT_BACKUP_FOLDER, or else backup)")
    keep = Sentence(ja="新しいものから N 個だけ残し、それより古いバックアップを消します", en="keep the newest N backups and delete the older ones")
    keep_days = Sentence(ja="D 日より古いバックアップを消します（最新の1個は残ります）", en="delete backups that are older than D days (the newest one always stays)")
    path_expected = Sentence(ja="場所を書いてください", en="must be a path")
    count_expected = Sentence(ja="1 から 2147483647 までの整数で書いてください", en="must be a whole number from 1 to 2147483647")
    restore = Sentence(ja="バックアップを確かめて、データベースと入れ替えます（ボットを止めてから使います）", en="check a backup and put it in the database's place (stop the bot first)")
    restore_file = Sentence(ja="バックアップのファイル", en="the backup's file")
    without_asking = Sentence(ja="確認せずに実行します", en="do not ask for confirmation")
    without_erasures = Sentence(ja="消去の記録がなくても続けます（消した人のデータが戻ることがあります）", en="continue without an erasure log (data of erased users may come back)")
    wipe = Sentence(ja="データベースと、その控えをすべて消します（ボットを止めてから使います）", en="delete the database and every copy beside it (stop the bot first)")
    backed_up = Sentence(ja="バックアップしました: {path}（{size}、版 {version}、メッセージ {messages}件、メモリ {memories}件）", en="Backed up to {path} ({size}, version {version}, messages: {messages}, memories: {memories})")
    deleted = Sentence(ja="古いバックアップを {count}個 消しました。", en="Old backups deleted: {count}.")
    will_be_restored = Sentence(ja="{path}（{made_at}、メッセージ {messages}件、メモリ {memories}件）を {database} に復元します。", en="{path} ({made_at}, messages: {messages}, memories: {memories}) will take the place of {database}.")
    origin_unknown = Sentence(ja="壊れていないことと形は確かめました。だれが作ったかは、ファイルからはわかりません。中のデータは、そのまま信じて使います。", en="The file is intact and has the form of a cc-bot database. It does not tell who made it, and its data is trusted as it is.")
    unknown_time = Sentence(ja="作成日時は不明", en="made at an unknown time")
    confirm = Sentence(ja="実行しますか？ [y/N] ", en="Continue? [y/N] ")
    restored = Sentence(ja="{path} を {database} に復元しました。", en="Restored {path} to {database}.")
    replaced = Sentence(ja="それまでのデータベースは {path} に残してあります。要らなくなったら消してください。", en="The database that was there is kept as {path}. Delete it when you no longer need it.")
    replaced_for_days = Sentence(ja="それまでのデータベースは、{days}日のあいだ {path} に残します。", en="The database that was there is kept for {days} days as {path}.")
    erased_again = Sentence(
        ja="バックアップのあとに消去されたものを、もう一度消しました（利用者 {users}人、メモリ {memories}件、会話 {sessions}件、Discord で削除されたもの {deleted}件）。",
        en="Everything erased after the backup was made is erased again (users: {users}, memories: {memories}, conversations: {sessions}, deleted on Discord: {deleted}).",
    )
    erasures_unknown = Sentence(ja="消去の記録がないため、消した人のデータが戻っているかもしれません。", en="There is no erasure log, so data of erased users may be back.")
    will_be_deleted = Sentence(ja="次のファイルを消します。元には戻せません。", en="These files will be deleted for good:")
    wiped = Sentence(ja="{count}個のファイルを消しました。", en="Files deleted: {count}.")
    nothing_to_wipe = Sentence(ja="消すものはありません: {path}", en="There is nothing to delete: {path}")
    not_deleted = Sentence(ja="設定ファイル、バックアップ、消去の記録は残っています。要らなければ、ご自分で消してください。", en="Settings, backups and the erasure log are still there. Delete them yourself if you don't need them.")
    stages = by_key({"copying": Sentence(ja="コピーしています…", en="Copying…"), "checking": Sentence(ja="中身を確かめています…", en="Checking…"), "upgrading": Sentence(ja="形式を最新にしています…", en="Upgrading…"), "erasing": Sentence(ja="消去をやり直しています…", en="Erasing again…")})
    copy = Sentence(ja="データベースの中身を、別の空のデータベースにコピーします（ボットを止めてから使います）", en="copy all of a database into another, empty one (stop the bot first)")
    copy_from = Sentence(ja="コピー元の URL（既定: CC_BOT_DATABASE_URL）", en="the source's URL (default: CC_BOT_DATABASE_URL)")
    copy_to = Sentence(ja="コピー先の URL（sqlite:///… または postgresql://…）", en="the target's URL (sqlite:///… or postgresql://…)")
    copied_table = Sentence(ja="  {name}  {rows}行", en="  {name}  rows: {rows}")
    copied_empty = Sentence(ja="  ほかの{count}個の表は空です", en="  {count} more tables are empty")
    copied = Sentence(ja="{source} を {target} にコピーしました（{rows}行）。", en="Copied {source} to {target}: {rows} rows.")
    copied_left_out = Sentence(ja="このバージョンにない表と列はコピーしていません: {names}", en="These tables and columns do not exist in this version and were not copied: {names}")
    copied_files = Sentence(ja="次のファイルは移していません。使うときは {folder} に置いてください: {files}", en="These files were not moved; if you need them, put them into {folder}: {files}")
    copied_next = Sentence(ja="このデータベースを使うには、.env の CC_BOT_DATABASE_URL に {url} を書いてください。それまでは {former} が使われます。", en="To use it, set CC_BOT_DATABASE_URL in .env to {url}. Until then {former} is used.")
    copied_next_server = Sentence(ja="このデータベースを使うには、.env の CC_BOT_DATABASE_URL に {url} を、パスワードを加えて書いてください。それまでは {former} が使われます。", en="To use it, set CC_BOT_DATABASE_URL in .env to {url}, with its password. Until then {former} is used.")
    erasures = Sentence(ja="消去の記録を使います", en="use erasure logs")
    erasures_apply = Sentence(ja="復元したデータベースから、そのあとに消去されたものをもう一度消します（ボットを止めてから使います）", en="after a restore, erase again what had been erased since (stop the bot first)")
    erasures_files = Sentence(ja="消去の記録（既定: データベースの隣にあるもの）", en="erasure logs (default: the one beside the database)")
    erasures_since = Sentence(ja="いつの時点に復元したか（例: 2026-11-22T04:15。既定: データベースの中のいちばん新しい時刻）", en="the moment that was restored, for example 2026-11-22T04:15 (default: the newest moment in the database)")
    time_expected = Sentence(ja="2026-11-22 か 2026-11-22T04:15 のように書いてください", en="must be written like 2026-11-22 or 2026-11-22T04:15")
    reapplied = Sentence(
        ja="{since} よりあとに消去されたものを、もう一度消しました（利用者 {users}人、メモリ {memories}件、会話 {sessions}件、Discord で削除されたもの {deleted}件）。", en="Everything erased after {since} is erased again (users: {users}, memories: {memories}, conversations: {sessions}, deleted on Discord: {deleted})."
    )
    nothing_reapplied = Sentence(ja="{since} よりあとに消去されたもので、データベースに残っているものはありませんでした。", en="Nothing that was erased after {since} is in the database.")
    unknown_moment = Sentence(ja="いちばん初め", en="the beginning")


class StorageTexts(Area):
    """Reasons why the database failed. StorageError means all others."""

    in_file: Both[Mapping[type[StorageError], str]] = by_key(
        {
            DatabaseLocked: Sentence(ja="データベース {path} にほかのプログラムが書き込み続けています。そちらを終えてから、もう一度お試しください。", en="Another program keeps writing to the database {path}. End that program, then try again."),
            DatabaseFull: Sentence(ja="データベース {path} に書き込むための空きがディスクにありません。空きを作って、もう一度お試しください。", en="There is no space on the disk to write the database {path}. Free some space on its disk, then try again."),
            DatabaseReadOnly: Sentence(ja="データベース {path} に書き込めません。ファイルとフォルダの書き込みの権限を確かめてください。", en="The database {path} can't be written to. Check the permission to write the file and its folder."),
            DatabaseDamaged: Sentence(ja="データベース {path} が壊れています。動いているボットがあれば止めて、cc-bot restore でバックアップから戻してください。", en="The database {path} is damaged. Stop the bot if it is running, and put a backup in its place with cc-bot restore."),
            StorageError: Sentence(ja="データベース {path} を読み書きできませんでした。ディスクの状態を確かめてください。", en="The database {path} could not be read or written. Check the disk."),
        }
    )
    on_server: Both[Mapping[type[StorageError], str]] = by_key(
        {
            DatabaseUnreachable: Sentence(ja="データベースのサーバー {path} につながりません。動いているか、この URL が正しいかを確かめてください。", en="The database server {path} can't be reached. Check that it is running and that this URL is right."),
            DatabaseCrowded: Sentence(ja="データベースのサーバー {path} の接続がいっぱいです。max_connections を増やすか、PgBouncer を置いてください。", en="The database server {path} accepts no more connections. Raise max_connections, or put PgBouncer in front of it."),
            DatabaseFull: Sentence(ja="データベースのサーバー {path} のディスクに空きがありません。空きを作って、もう一度お試しください。", en="The disk of the database server {path} is full. Free some space there, then try again."),
            DatabaseForbidden: Sentence(
                ja="データベースのサーバー {path} で、cc-bot のユーザーの権限が足りません。表を作ることと、すべての表で行を読み、書き、消すことが必要です。"
                "表とデータベースの所有者にする（ALTER DATABASE … OWNER TO、ALTER TABLE … OWNER TO）か、GRANT ALL ON SCHEMA public と "
                "GRANT ALL ON ALL TABLES IN SCHEMA public を実行し、search_path が実在するスキーマを指しているか確かめてください。",
                en="On the database server {path} the role of cc-bot lacks permissions: it must create tables, and read, write and delete rows in "
                "all of them. Make it the owner of the tables and of the database (ALTER TABLE … OWNER TO, ALTER DATABASE … OWNER TO), or "
                "GRANT ALL ON SCHEMA public and GRANT ALL ON ALL TABLES IN SCHEMA public to it. Check, too, that its search_path names an existing "
                "schema.",
            ),
            DatabaseReadOnly: Sentence(
                ja="データベースのサーバー {path} に書き込めません。書き込めるサーバーを指すか、URL に target_session_attrs=read-write を付けてください。主系なら、default_transaction_read_only を off にしてください。",
                en="The database server {path} can't be written to. Use the URL of the primary, or add target_session_attrs=read-write to the URL; if it is the primary, turn default_transaction_read_only off.",
            ),
            PoolerForgets: Sentence(
                ja="データベース {path} の前にある PgBouncer は、準備済みの文を覚えていません。URL の最後に ?prepare=off を付けるか、PgBouncer を 1.21 以上にして max_prepared_statements を設定してください。",
                en="The PgBouncer in front of the database {path} forgets prepared statements. Put ?prepare=off at the end of the URL, or use PgBouncer 1.21 or newer and set max_prepared_statements.",
            ),
            DatabaseImpatient: Sentence(
                ja="データベースのサーバー {path} が、時間のかかる処理を途中で止めました。接続に使うロールの statement_timeout、transaction_timeout、idle_in_transaction_session_timeout を長くするか、0 にしてください。",
                en="The database server {path} cancelled an operation that took too long. Raise statement_timeout, transaction_timeout and idle_in_transaction_session_timeout of your role, or set them to 0.",
            ),
            StorageError: Sentence(ja="データベースのサーバー {path} でうまくいきませんでした。サーバーのログを確かめてください。", en="The database server {path} reported an error. Check its log."),
        }
    )


def storage_problem(error: StorageError, where: object, words: StorageTexts, *, on_server: bool) -> str:
    """Return a database's problem. `where` is its path or URL."""
    sentences = words.on_server if on_server else words.in_file
    return sentences.get(type(error), sentences[StorageError]).format(path=where)


class TerminalTexts(Area):
    commands = by_key(
        {
            "ask": Sentence(ja="質問する（そのまま書けます）", en="Ask (or just type)"),
            "memory": Sentence(ja="覚える、探す、忘れる", en="Remember, find, forget"),
            "remind": Sentence(ja="お知らせを予約する、取り消す", en="Set and cancel reminders"),
            "canvas": Sentence(ja="キャンバスを見る、空にする", en="See or empty the canvas"),
            "usage": Sentence(ja="使った量と、残り", en="What was used, and what is left"),
            "privacy": Sentence(ja="保存したものを見る、書き出す、消す", en="See, export or erase your data"),
            "clear": Sentence(ja="会話を始めから（メモリは残ります）", en="Start afresh (memories stay)"),
            "memory add": Sentence(ja="覚えてほしいことを保存します", en="Save something for me to remember"),
            "memory undo": Sentence(ja="削除（10分以内）か、最後の変更を取り消します", en="Undo a deletion (within ten minutes) or the last change"),
            "settings": Sentence(ja="言語とタイムゾーンを見る、変える", en="Language and time zone"),
            "privacy export": Sentence(ja="保存しているもののすべてを、JSON ファイルに書き出します", en="Write everything that is stored to a JSON file"),
            "exit": Sentence(ja="終わります", en="Exit"),
        }
    )
    no_key = Sentence(ja="AIモデルに答えてもらうには、このフォルダの {path} に OPENAI_API_KEY=sk-… と書いて、cc-bot を起動し直してください。", en="For answers from an AI model, put OPENAI_API_KEY=sk-… into {path} in this folder, then start cc-bot again.")
    secret = Sentence(
        ja="トークンやパスワードのように見えるため、送らず、保存もしませんでした。パスワードやカード番号は専用の管理アプリに、cc-bot が使う API キーは .env に書いてください。",
        en="That looks like a token, key or password, so I neither sent nor stored it. Keep passwords and card numbers in a password manager, and an API key for cc-bot in .env.",
    )
    name = Sentence(ja="cc-bot（{model}）", en="cc-bot ({model})")
    try_this = Sentence(ja="たとえば、こう書けます。", en="For example, write:")
    examples = Both(ja=(("鍵は玄関って覚えて", "メモリに残ります"), ("明日9時に薬って知らせて", "その時刻にお知らせが届きます")), en=(("remember that my key is in the hall", "I keep it as a memory"), ("remind me at 9 to call mom", "I remind you at that time")))
    goodbye = Sentence(ja="またどうぞ。", en="See you.")
    help_title = Sentence(ja="使えるコマンド（右はサブコマンド）", en="Commands (on the right: subcommands)")
    help_more = Sentence(ja="くわしくは /help memory。ふつうの言葉（「〜って覚えて」など）でも頼めます。", en="More about one: /help memory. Plain words do, too: “remember that …”.")
    help_keys = Both(ja=(("Alt+Enter", "改行する"), ("↑", "前の入力に戻る"), ("Tab", "コマンドを補う"), ("Ctrl-C", "回答を止める、入力を消す")), en=(("Alt+Enter", "Start a new line"), ("↑", "Bring back what you entered"), ("Tab", "Complete a command"), ("Ctrl-C", "Stop the answer, or clear the line")))
    send = Sentence(ja="送信", en="send")
    leave = Sentence(ja="終了", en="exit")
    interrupt = Sentence(ja="Ctrl-C で止める", en="Ctrl-C stops")
    tool_used = Sentence(ja="{name} を使いました", en="Used {name}")
    tool_failed = Sentence(ja="{name} はうまくいきませんでした", en="{name} did not work")
    cut = Sentence(ja="✂️ 回答が途中で切れました。「続けて」と書くと続きを書きます。", en="✂️ The answer broke off. Write “go on” for the rest.")
    unknown = Sentence(ja="「{given}」というコマンドはありません。一覧は /help で見られます。質問は / を付けずに書いてください。", en="There is no command “{given}”. /help lists them. A question needs no slash.")
    unknown_near = Sentence(ja="「{given}」というコマンドはありません。{nearest} のことですか？", en="There is no command “{given}”. Did you mean {nearest}?")
    unknown_option = Sentence(ja="{given} という指定はありません。書き方: {usage}", en="There is no option {given}. Write it like this: {usage}")
    usage = Sentence(ja="書き方: {usage}", en="Write it like this: {usage}")
    not_here = Sentence(ja="「{given}」はここでは使えません。使えるものは /help で見られます。", en="“{given}” does not work here. /help lists what does.")
    not_written = Sentence(ja="{path} に書き込めません。フォルダの書き込みの権限を確かめてください。", en="{path} can't be written. Check the permission to write in its folder.")
    errors: Both[Mapping[type[CcBotError], str]] = by_key(
        {
            MemoryPaused: Sentence(ja="メモリは一時停止中です。ボットのページか Discord で再開できます。", en="Memory is paused. Resume it on the bot's pages or on Discord."),
            ModelNotFound: Sentence(ja="AIモデル「{model}」が見つかりません。CC_BOT_MODEL と OPENAI_BASE_URL を確かめてください。", en="There is no AI model “{model}”. Check CC_BOT_MODEL and OPENAI_BASE_URL."),
            ModelUnreachable: Sentence(ja="AIモデルのサーバー {host} につながりません。サーバーが動いているか、OPENAI_BASE_URL（models.toml なら base_url）が正しいかを確かめてください。", en="The AI model's server at {host} can't be reached. Check the server and OPENAI_BASE_URL (or base_url in models.toml)."),
            ModelRefusedKey: Sentence(ja="AIモデルのサーバーがAPIキーを受け付けません。OPENAI_API_KEY（models.toml なら api_key）と、その残高や権限を確かめてください。", en="The AI model's server does not accept the API key. Check OPENAI_API_KEY (or api_key in models.toml), its credit and its permissions."),
            ModelRefusedRequest: Sentence(ja="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、cc-bot doctor で CC_BOT_MODEL の設定を確かめてください。", en="The AI model did not accept this question. Put it another way, or check CC_BOT_MODEL with cc-bot doctor."),
        }
    )
    """Sentences that differ from those on Discord."""
    ask_doctor = Sentence(ja="cc-bot doctor で原因を確かめてください", en="run cc-bot doctor to see why")  # instead of `errors.tell_operator`
    servers_starting = Sentence(ja="ツールのサーバーにつないでいます…（10秒まで）", en="Connecting to tool servers… (up to 10 seconds)")
    images_given = Sentence(ja="🖼️ ツールが画像を {count} 枚返しました。ここでは表示できません。", en="🖼️ A tool gave {count} picture(s), which can't be shown here.")
    more_pages = Sentence(ja="{page}/{pages} ページ。続きは {command}、探すには /memory search", en="Page {page} of {pages}. Next: {command}. To find one: /memory search")
    nothing_to_undo = Sentence(ja="#{id} に取り消せる変更はありません。", en="There is no change of #{id} to undo.")
    erase_conversations = Sentence(ja="会話の記録も消すには /privacy erase（保存しているものがすべて消えます）。", en="/privacy erase erases conversations too, with everything else that is stored.")
    proposal = Sentence(ja="提案: {what}", en="Proposal: {what}")
    confirm = Sentence(ja="実行しますか？（y/N）", en="Do it? (y/N)")


class OperatorFileTexts(Area):
    missing = Sentence(ja="{variable} で指定されたファイルがありません。作成するか、指定を直してください。", en="The file that {variable} names does not exist. Create it or correct the setting.")
    unreadable = Sentence(ja="ファイルを開けません。読み取りの権限を確かめてください。", en="It can't be opened. Check the permission to read it.")
    not_regular = Sentence(ja="ふつうのファイルではありません（フォルダやパイプなどです）。ファイルを置いてください。", en="It is not a regular file but a folder, a pipe or the like. Put a file there.")
    too_large = Sentence(ja="ファイルが大きすぎます（{limit} KB まで）。", en="It is too large (up to {limit} KB).")
    not_utf8 = Sentence(ja="文字コードを UTF-8 にして保存し直してください。", en="Save it in UTF-8.")
    not_toml = Sentence(ja="TOML として読めないところがあります: {problem}", en="It is not valid TOML: {problem}")
    not_a_table = Sentence(ja="{name} は表にしてください（[{name}] の下に書きます）。", en="{name} must be a table (write its keys under [{name}]).")
    unknown_key = Sentence(ja="[{name}] の {key} は知らないキーです。使えるキー: {keys}", en="[{name}] has an unknown key: {key}. Known keys: {keys}")
    wrong = Sentence(ja="[{name}] の {key} を直してください。正しい書き方: {expected}", en="[{name}] {key} has a wrong value. Expected: {expected}")


class ModelsFileTexts(Area):
    no_providers = Sentence(ja="書けるのは [providers.名前] の表だけです。", en="It may contain only tables [providers.name].")
    no_server = Sentence(
        ja="サーバーが1つも書かれておらず、OPENAI_API_KEY も OPENAI_BASE_URL もないので、CC_BOT_MODEL に聞けません。どれかを設定するか、CC_BOT_MODEL を消してください（内蔵の簡易モデルが答えます）。",
        en="It names no server, and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set, so there is no server for CC_BOT_MODEL. Set one of them, or remove CC_BOT_MODEL (then the small built-in model answers).",
    )
    bad_name = Sentence(ja="[providers.{name}] の名前は、半角の英小文字・数字・-・_ で32文字までです。", en="The name of [providers.{name}] may have up to 32 lower-case letters, digits, - and _.")
    wrong = Sentence(ja='[providers.{name}] には base_url = "http://…/v1" と、必要なら api_key = "${{変数}}" だけを書いてください。', en='[providers.{name}] needs base_url = "http://…/v1" and may have api_key = "${{VARIABLE}}", nothing else.')
    unset = Sentence(ja="[providers.{name}] の ${{{variable}}} が設定されていません。.env に書いてください。", en="${{{variable}}} of [providers.{name}] is not set. Put it in .env.")


class PolicyFileTexts(Area):
    """Expected values are quoted as in the file."""

    other_table = Sentence(ja="{key} は知らないキーです。使えるのは [limits]、[prices]、[access] の表です。", en="{key} is not a known key. The tables are [limits], [prices] and [access].")
    bad_id = Sentence(ja='[{name}]: Discord の ID を数字で書いてください（例: [limits.users."123456789012345678"]）。', en='[{name}]: write a Discord id in digits, as in [limits.users."123456789012345678"].')
    limit = Sentence(ja=f'1 から {MAX_LIMIT} までの整数、または "unlimited"（制限なし）', en=f'a whole number from 1 to {MAX_LIMIT}, or "unlimited"')
    price = Sentence(
        ja=f"100万トークンあたりの値段（0 から {MAX_PRICE} までの数）。input と output は必ず書きます。音声のモデルは per_minute（1分あたり）だけでかまいません",
        en=f"the price of a million tokens (a number from 0 to {MAX_PRICE}); input and output are required, except for a speech model, where per_minute (the price of a minute) is enough",
    )
    currency = Sentence(ja='currency = "JPY"（3文字の通貨コード）', en='currency = "USD" (a currency code of three letters)')
    ids = Sentence(ja="[123456789012345678]（ID のリスト）", en="[123456789012345678] (a list of ids)")


class ProcessTexts(Area):
    """For the doctor, `/admin status` and the console."""

    process = Sentence(ja="{host} のプロセスの受け持つシャード: {shards}。全体のための仕事: {duties}。", en="The process on {host} runs shards: {shards}. Work that it does for all processes: {duties}.")
    all_shards = Sentence(ja="すべて", en="all")
    no_duties = Sentence(ja="なし", en="none")
    process_lapsed = Sentence(ja="{host} のプロセス（シャード: {shards}）から、30秒以上便りがありません。", en="The process on {host} (shards: {shards}) has not reported for 30 seconds.")
    process_lapsed_fix = Sentence(ja="止まっていれば、起動し直してください。動いていれば、そこからデータベースに届くか確かめてください。", en="If it has stopped, start it again. If it is running, check whether it can reach the database.")
    process_unconnected = Sentence(ja="{host} のプロセス（シャード: {shards}）が、1分以上 Discord につながっていません。", en="The process on {host} (shards: {shards}) has not been connected to Discord for a minute.")
    process_unconnected_fix = Sentence(ja="そのマシンから Discord に届くか、そこの記録に何が書かれているかを確かめてください。", en="Check whether that machine can reach Discord, and read its log.")
    free_shards = Sentence(ja="シャード {shards} を受け持つプロセスがありません。そのサーバーでは、ボットが応答しません。", en="No process runs shards {shards}, so the bot does not answer in their servers.")
    free_shards_fix = Sentence(ja="受け持っていたプロセスを起動するか、ほかのプロセスの CC_BOT_SHARDS に加えてください。", en="Start the process that ran them, or add them to another process's CC_BOT_SHARDS.")
    differing = Sentence(ja="プロセスによって違うものがあります: {what}。", en="The processes do not all have the same {what}.")
    differing_fix = Sentence(ja="すべてのマシンに同じものを置いてください。", en="Use the same on every machine.")
