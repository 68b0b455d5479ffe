"""What `cc-bot doctor` finds out, and how each of it is mended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DoctorTexts:
    doctor: str
    as_json: str
    offline_option: str
    label_program: str
    label_token: str
    label_intents: str
    label_commands: str
    label_clock: str
    label_timezone: str
    label_database: str
    label_migrations: str
    label_schema: str
    label_disk: str
    label_backups: str
    label_erasures: str
    label_files: str
    label_agents: str
    label_policy: str
    label_model: str
    label_embedder: str
    label_font: str
    verdict_ok: str
    verdict_warning: str
    verdict_failed: str
    all_well: str
    summary: str
    """Parameters: failed, warnings (counts)."""
    offline: str
    broke: str
    """Parameter: error (its type)."""
    broke_mend: str
    took_too_long: str
    """Parameter: seconds."""
    took_too_long_mend: str
    unfinished: str
    unfinished_mend: str
    program: str
    """Parameters: version, python, sqlite."""
    token_ok: str
    """Parameter: name (the bot's)."""
    token_missing: str
    token_missing_mend: str
    token_refused: str
    token_refused_mend: str
    discord_unreachable: str
    """Parameter: problem."""
    discord_unreachable_mend: str
    intents_ok: str
    """Parameter: reading."""
    intents_missing: str
    intents_missing_mend: str
    commands_ok: str
    """Parameter: count."""
    commands_missing: str
    """Parameter: names."""
    commands_missing_mend: str
    commands_strange: str
    """Parameter: names."""
    clock_ok: str
    """Parameter: seconds."""
    clock_off: str
    """Parameter: seconds."""
    clock_off_mend: str
    clock_unknown: str
    clock_set: str
    """Parameter: seconds."""
    clock_set_mend: str
    timezone_ok: str
    """Parameters: zone, time."""
    model_ok: str
    """Parameters: model, seconds."""
    model_offline: str
    model_refused_key: str
    """Parameter: model."""
    model_refused_key_mend: str
    model_refused_request: str
    """Parameter: model."""
    model_refused_request_mend: str
    model_unavailable: str
    """Parameter: model."""
    model_unavailable_mend: str
    embedder_ok: str
    """Parameter: name."""
    embedder_off: str
    embedder_none: str
    embedder_failed: str
    """Parameter: name."""
    embedder_failed_mend: str
    font_ok: str
    font_none: str
    font_failed: str
    font_failed_mend: str


DOCTOR_JA = DoctorTexts(
    doctor="設定と環境を調べ、直し方を伝えます（動作中でも使えます）",
    as_json="結果を JSON で出します",
    offline_option="ネットワークを使う確認を省きます",
    label_program="プログラム",
    label_token="トークン",
    label_intents="インテント",
    label_commands="コマンド",
    label_clock="時計",
    label_timezone="タイムゾーン",
    label_database="データベース",
    label_migrations="データベースの形式",
    label_schema="表とトリガー",
    label_disk="ディスク",
    label_backups="バックアップ",
    label_erasures="消去の記録",
    label_files="ファイルの権限",
    label_agents="エージェント",
    label_policy="制限とアクセス",
    label_model="モデル",
    label_embedder="意味での検索",
    label_font="グラフの文字",
    verdict_ok="良好",
    verdict_warning="注意",
    verdict_failed="失敗",
    all_well="問題は見つかりませんでした。",
    summary="失敗が {failed} 件、注意が {warnings} 件あります。",
    offline="ネットワークを使う確認（Discord とモデル）は省きました。",
    broke="確認の途中で思わぬエラーが起きました（{error}）。",
    broke_mend="もう一度試しても同じなら、開発者にお知らせください。",
    took_too_long="{seconds} 秒待っても終わりませんでした。",
    took_too_long_mend="少し待ってから、もう一度試してください。",
    unfinished="--json の時間のうちには調べ終わりませんでした。",
    unfinished_mend="--json を付けない cc-bot doctor は、最後まで調べます。",
    program="cc-bot {version} を Python {python}、SQLite {sqlite} で動かしています。",
    token_ok="{name} としてログインできます。",
    token_missing="DISCORD_TOKEN がありません。cc-bot chat だけが使えます。",
    token_missing_mend="Discord で使うなら、Developer Portal の Bot で発行し、.env に書いてください。",
    token_refused="Discord が DISCORD_TOKEN を受け付けません。",
    token_refused_mend="Developer Portal の Bot でトークンを発行し直し、.env を書き換えてください。",
    discord_unreachable="Discord から返事がありません（{problem}）。",
    discord_unreachable_mend="ネットワークとプロキシ、status.discord.com を確かめてください。",
    intents_ok="CC_BOT_CHANNELS={reading} に必要なものは揃っています。",
    intents_missing="CC_BOT_CHANNELS=all ですが、Message Content Intent がオフなので、ボット宛てのものだけを読みます。",
    intents_missing_mend="Developer Portal の Bot でオンにして、起動し直してください。",
    commands_ok="{count} 個が Discord に登録されています。",
    commands_missing="Discord に未登録です: {names}",
    commands_missing_mend="cc-bot run を起動し直すと登録されます。",
    commands_strange="この cc-bot にないコマンドが登録されています: {names}",
    clock_ok="Discord の時計との差は {seconds} 秒です。",
    clock_off="Discord の時計と {seconds} 秒ずれています。",
    clock_off_mend="このマシンの時刻を合わせてください（NTP を有効にします）。リマインダーの時刻が狂います。",
    clock_unknown="Discord が時刻を返さなかったので、比べられませんでした。",
    clock_set="試験用の設定で、時計を {seconds} 秒進めています。",
    clock_set_mend="CC_BOT_TEST_CLOCK_OFFSET を消してください。",
    timezone_ok="{zone} は今 {time} です。",
    model_ok="{model} が答えました（{seconds} 秒）。",
    model_offline="内蔵のオフラインモデルが答えます。AI モデルを使うには OPENAI_API_KEY か OPENAI_BASE_URL を書いてください。",
    model_refused_key="{model} のサーバーが OPENAI_API_KEY を受け付けません。",
    model_refused_key_mend="キーと、その残高や権限を確かめてください。",
    model_refused_request="サーバーは {model} への質問を受け付けません。",
    model_refused_request_mend="CC_BOT_MODEL の名前を確かめてください。",
    model_unavailable="{model} から答えがありません。",
    model_unavailable_mend="OPENAI_BASE_URL とサーバーの状態を確かめてください。",
    embedder_ok="{name} が使えます。",
    embedder_off="使わない設定です（言葉で探します）。",
    embedder_none="エンコーダーは入っていません（言葉で探します）。入れるには make semantic。",
    embedder_failed="{name} が使えません。メモリは言葉だけで探します。",
    embedder_failed_mend="CC_BOT_EMBEDDING_MODEL とサーバーを確かめるか、make semantic で入れ直してください。",
    font_ok="日本語のグラフを画像にできます。",
    font_none="グラフは文字の表で出します。画像にするには make charts。",
    font_failed="グラフを画像にできません。",
    font_failed_mend="make charts で入れ直してください。それまでは文字の表で出します。",
)


DOCTOR_EN = DoctorTexts(
    doctor="look for what is wrong and tell how to mend it, also while the bot runs",
    as_json="write the report as JSON",
    offline_option="leave out what needs the network",
    label_program="Program",
    label_token="Token",
    label_intents="Intents",
    label_commands="Commands",
    label_clock="Clock",
    label_timezone="Time zone",
    label_database="Database",
    label_migrations="Schema",
    label_schema="Tables and triggers",
    label_disk="Disk",
    label_backups="Backups",
    label_erasures="Record of erasures",
    label_files="File modes",
    label_agents="Agents",
    label_policy="Limits and access",
    label_model="Model",
    label_embedder="Search by meaning",
    label_font="Letters in charts",
    verdict_ok="ok",
    verdict_warning="warning",
    verdict_failed="failed",
    all_well="Nothing is wrong.",
    summary="Failed: {failed}. Warnings: {warnings}.",
    offline="Left out: what needs the network (Discord and the model).",
    broke="The check itself broke ({error}).",
    broke_mend="If it does so again, please report it.",
    took_too_long="It was not over after {seconds} seconds.",
    took_too_long_mend="Wait a little, then try again.",
    unfinished="It was not over in the time that --json takes.",
    unfinished_mend="Without --json, cc-bot doctor takes the time that it needs.",
    program="cc-bot {version}, Python {python}, SQLite {sqlite}",
    token_ok="It logs in as {name}.",
    token_missing="DISCORD_TOKEN is not set. Only `cc-bot chat` works.",
    token_missing_mend="For Discord, create one in the Developer Portal under Bot and write it into .env.",
    token_refused="Discord does not accept DISCORD_TOKEN.",
    token_refused_mend="Reset the token in the Developer Portal under Bot, and change .env.",
    discord_unreachable="Discord does not answer ({problem}).",
    discord_unreachable_mend="Check the network, the proxy and status.discord.com.",
    intents_ok="Everything that CC_BOT_CHANNELS={reading} needs is granted.",
    intents_missing="CC_BOT_CHANNELS=all, but the Message Content Intent is off: only what is addressed to the bot is read.",
    intents_missing_mend="Switch it on in the Developer Portal under Bot, then start again.",
    commands_ok="Discord has all {count}.",
    commands_missing="Discord does not have: {names}",
    commands_missing_mend="Start `cc-bot run` again: it registers them.",
    commands_strange="Discord has commands that this cc-bot does not know: {names}",
    clock_ok="It differs from Discord's by {seconds} s.",
    clock_off="It differs from Discord's by {seconds} s.",
    clock_off_mend="Set this machine's clock (switch NTP on). Reminders come at the wrong time.",
    clock_unknown="Discord did not tell the time, so there is nothing to compare with.",
    clock_set="A setting for tests puts the clock {seconds} s ahead.",
    clock_set_mend="Remove CC_BOT_TEST_CLOCK_OFFSET.",
    timezone_ok="In {zone} it is {time}.",
    model_ok="{model} answered in {seconds} s.",
    model_offline="The built-in offline model answers. For another one set OPENAI_API_KEY or OPENAI_BASE_URL.",
    model_refused_key="The server of {model} does not accept OPENAI_API_KEY.",
    model_refused_key_mend="Check the key, its credit and its rights.",
    model_refused_request="The server does not take questions to {model}.",
    model_refused_request_mend="Check the name in CC_BOT_MODEL.",
    model_unavailable="{model} gives no answer.",
    model_unavailable_mend="Check OPENAI_BASE_URL and the server.",
    embedder_ok="{name} works.",
    embedder_off="Switched off; memories are found by words.",
    embedder_none="No encoder is installed; memories are found by words. `make semantic` installs one.",
    embedder_failed="{name} does not work. Memories are found by words alone.",
    embedder_failed_mend="Check CC_BOT_EMBEDDING_MODEL and its server, or install it again with `make semantic`.",
    font_ok="Charts with Japanese can be drawn.",
    font_none="Charts come as text tables. `make charts` makes them pictures.",
    font_failed="Charts can't be drawn.",
    font_failed_mend="Install the extra again with `make charts`. Until then they come as text tables.",
)

# ---- doctor files ----------------------------------------------------------------------------------------
# What `cc-bot doctor` finds out about the operator's files, and how each of it is mended.


@dataclass(frozen=True, slots=True)
class DoctorFileTexts:
    database_ok: str
    """Parameters: path, size."""
    database_unfinished: str
    """Parameters: path, size."""
    database_new: str
    """Parameter: path."""
    database_folder: str
    """Parameter: path."""
    database_folder_mend: str
    database_foreign: str
    """Parameter: path."""
    database_foreign_mend: str
    database_damaged: str
    """Parameter: path."""
    database_damaged_mend: str
    database_unsound: str
    """Parameters: path, table."""
    database_unsound_mend: str
    database_read_only: str
    """Parameter: path."""
    database_read_only_mend: str
    database_locked: str
    database_locked_mend: str
    migrations_ok: str
    """Parameter: version."""
    migrations_pending: str
    """Parameters: version, newest."""
    migrations_pending_mend: str
    migrations_newer: str
    """Parameters: version, newest."""
    migrations_newer_mend: str
    schema_changed: str
    """Parameter: names."""
    schema_changed_mend: str
    schema_more: str
    """Parameter: names."""
    schema_more_mend: str
    disk_ok: str
    """Parameter: free."""
    disk_low: str
    """Parameters: free, wanted."""
    disk_low_mend: str
    disk_unknown: str
    disk_unknown_mend: str
    backups_ok: str
    """Parameters: name, days."""
    backups_none: str
    """Parameter: folder."""
    backups_old: str
    """Parameters: name, days."""
    backups_mend: str
    backups_unreadable: str
    """Parameter: folder."""
    backups_unreadable_mend: str
    erasures_ok: str
    erasures_none: str
    erasures_unusable: str
    """Parameter: names."""
    erasures_mend: str
    files_ok: str
    files_open: str
    """Parameter: names."""
    files_open_mend: str
    """Parameter: names."""
    agents_ok: str
    """Parameter: count."""
    agents_none: str
    policy_ok: str
    policy_none: str
    file_mend: str


DOCTOR_FILES_JA = DoctorFileTexts(
    database_ok="{path}（{size}）は壊れておらず、書き込めます。",
    database_unfinished="{path}（{size}）に書き込めますが、壊れていないかは調べ終えていません。",
    database_new="{path} はまだありません。最初の起動で作られます。",
    database_folder="フォルダ {path} がありません。",
    database_folder_mend="作成するか、CC_BOT_DATABASE_URL を直してください。",
    database_foreign="{path} は cc-bot のデータベースではないか、読めません。",
    database_foreign_mend="CC_BOT_DATABASE_URL とファイルの権限を確かめてください。",
    database_damaged="{path} が壊れています。",
    database_damaged_mend="ボットを止め、cc-bot restore でバックアップから戻してください。",
    database_unsound="{path} の表 {table} に、あるはずのない値の行があります。",
    database_unsound_mend="このデータベースのバックアップは復元できません。手で書き換えたことがあれば直し、なければボットを止めて、cc-bot restore で前のバックアップから戻してください。",
    database_read_only="{path} に書き込めません。",
    database_read_only_mend="ファイルとフォルダの持ち主、権限、ディスクの状態を確かめてください。",
    database_locked="別のプログラムがデータベースに書き込み続けています。",
    database_locked_mend="開いたままの SQLite ツールを閉じて、もう一度試してください。",
    migrations_ok="最新です（版 {version}）。",
    migrations_pending="版 {version} です（最新は {newest}）。",
    migrations_pending_mend="次の起動で更新されます。先に行うなら cc-bot migrate。",
    migrations_newer="新しい cc-bot のものです（版 {version}、この cc-bot は {newest} まで）。",
    migrations_newer_mend="cc-bot を更新してください。",
    schema_changed="足りないか、cc-bot が作る形と違うものがあります: {names}",
    schema_changed_mend="ボットはこのままでは起動しません。ご自分で加えたトリガーや索引なら sqlite3 の DROP で取り除き、そうでなければ cc-bot restore でバックアップから戻してください。cc-bot の表は、中身も消えるため DROP しないでください。",
    schema_more="cc-bot のものではない表・ビュー・索引があります: {names}",
    schema_more_mend="動作に害はありませんが、バックアップから戻すときに --rows-only が要り、そのとき消えます。要らなければ取り除いてください。",
    disk_ok="{free} の空きがあります。",
    disk_low="空きが {free} しかありません（目安は {wanted}）。",
    disk_low_mend="不要なファイルを消すか、広いディスクへ移してください。",
    disk_unknown="空きを調べられませんでした。",
    disk_unknown_mend="データベースのフォルダがあるディスクを確かめてください。",
    backups_ok="最新は {name}（{days} 日前）です。",
    backups_none="{folder} にはまだありません。",
    backups_old="最新の {name} は {days} 日前のものです。",
    backups_mend="cc-bot backup を、cron などで毎日動かしてください（docs/backup.ja.md）。",
    backups_unreadable="{folder} を読めません。",
    backups_unreadable_mend="CC_BOT_BACKUP_FOLDER とフォルダの権限を確かめてください。",
    erasures_ok="読み書きできます。",
    erasures_none="まだありません。最初の起動で作られます。",
    erasures_unusable="読み書きできません: {names}",
    erasures_mend="権限を確かめ、中身が壊れていればバックアップのフォルダにある erasures_….jsonl から戻してください。それまでは、消去かバックアップからの復元ができません。",
    files_ok="ほかの利用者からは読めません。",
    files_open="ほかの利用者からも読めます: {names}",
    files_open_mend="chmod 600 {names}",
    agents_ok="{count} 人が使えます。",
    agents_none="ファイルはありません（既定のエージェントだけです）。",
    policy_ok="ファイルを読めました。",
    policy_none="ファイルはありません（既定の制限だけです）。",
    file_mend="ファイルを直してください。動作中のボットは、直るまで前の内容を使います。",
)


DOCTOR_FILES_EN = DoctorFileTexts(
    database_ok="{path} ({size}) is whole and can be written to.",
    database_unfinished="{path} ({size}) can be written to. There was no time to see whether it is whole.",
    database_new="{path} is not there yet. The first start makes it.",
    database_folder="The folder {path} does not exist.",
    database_folder_mend="Create it or correct CC_BOT_DATABASE_URL.",
    database_foreign="{path} is no database of cc-bot, or can't be read.",
    database_foreign_mend="Check CC_BOT_DATABASE_URL and the file's mode.",
    database_damaged="{path} is damaged.",
    database_damaged_mend="Stop the bot and go back to a backup with `cc-bot restore`.",
    database_unsound="In {path}, the table {table} has a row with values that can't be.",
    database_unsound_mend="A backup of it could not be restored. If you changed the file by hand, mend that row; if not, stop the bot and go back to an earlier backup with `cc-bot restore`.",
    database_read_only="{path} can't be written to.",
    database_read_only_mend="Check owner and mode of the file and its folder, and the disk.",
    database_locked="Another program keeps writing to the database.",
    database_locked_mend="Close SQLite tools that have it open, then try again.",
    migrations_ok="Up to date (version {version}).",
    migrations_pending="Version {version}; the newest is {newest}.",
    migrations_pending_mend="The next start brings it up to date, or `cc-bot migrate` does now.",
    migrations_newer="A newer cc-bot wrote it (version {version}; this one knows {newest}).",
    migrations_newer_mend="Update cc-bot.",
    schema_changed="Missing, or not as cc-bot makes it: {names}",
    schema_changed_mend="The bot does not start like this. A trigger or index that you added yourself can be removed with DROP in sqlite3; otherwise go back to a backup with `cc-bot restore`. Never drop a table of cc-bot: its rows go with it.",
    schema_more="There are tables, views or indexes that are not cc-bot's: {names}",
    schema_more_mend="They do no harm by themselves, but a backup of them is restored with --rows-only alone, which leaves them behind. Remove what you don't need.",
    disk_ok="{free} are free.",
    disk_low="Only {free} are free; {wanted} would be good.",
    disk_low_mend="Delete what is not needed, or move to a larger disk.",
    disk_unknown="The free room can't be told.",
    disk_unknown_mend="Look at the disk that holds the database's folder.",
    backups_ok="The newest is {name}, {days} days old.",
    backups_none="There are none in {folder}.",
    backups_old="The newest, {name}, is {days} days old.",
    backups_mend="Have cron run `cc-bot backup` every day (docs/backup.md).",
    backups_unreadable="{folder} can't be read.",
    backups_unreadable_mend="Check CC_BOT_BACKUP_FOLDER and the folder's mode.",
    erasures_ok="It can be read and added to.",
    erasures_none="There is none yet. The first start makes it.",
    erasures_unusable="Can't be read and added to: {names}",
    erasures_mend="Check the mode, and if the content is spoiled put a copy in its place: erasures_….jsonl from the folder of the backups. Until then nothing can be erased, or no backup restored.",
    files_ok="Nobody else on this machine can read them.",
    files_open="Others on this machine can read: {names}",
    files_open_mend="chmod 600 {names}",
    agents_ok="{count} can be used.",
    agents_none="There is no file; only the default agent.",
    policy_ok="The file can be read.",
    policy_none="There is no file; only the default limits.",
    file_mend="Mend the file. A running bot keeps to what it said before.",
)
