"""What the command line says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CliTexts:
    description: str
    run: str
    chat: str
    migrate: str
    chat_user: str
    chat_channel: str
    chat_agent: str
    no_id: str
    migration: str
    """Parameters: version, description."""
    migrated: str
    """Parameter: path."""
    up_to_date: str
    """Parameter: path."""
    ready: str
    """Parameter: name (the bot's)."""
    mentions_only: str
    stopping: str
    """Parameter: seconds."""
    offline_model: str
    broke: str
    """Parameter: error (its type)."""


CLI_JA = CliTexts(
    description="Discord で、覚えていてくれるアシスタント。",
    run="Discord ボットを動かします（DISCORD_TOKEN が必要です）",
    chat="ターミナルで話します（トークンも API キーもいりません）",
    migrate="データベースの形式を最新にします",
    chat_user="この利用者として話します（既定: 0）",
    chat_channel="このチャンネルとして話します（既定: 0）",
    chat_agent="このエージェントと話します（agents.toml の名前）",
    no_id="Discord の ID（数字）で書いてください",
    migration="適用します: {version:04d} {description}",
    migrated="データベースを最新にしました: {path}",
    up_to_date="データベースは最新です: {path}",
    ready="{name} として Discord につながりました。止めるには Ctrl-C を押してください。",
    mentions_only=(
        "CC_BOT_CHANNELS=all ですが、Message Content Intent が有効になっていないため、"
        "ボット宛てのメッセージだけを読みます。すべて読むには、Developer Portal の Bot で "
        "Message Content Intent を有効にして、起動し直してください。"
    ),
    stopping="止めています。答えている途中の質問を最長{seconds}秒待ちます…",
    offline_model="オフラインモデル",
    broke="思わぬエラーで止まりました（{error}）。上の記録を添えて、開発者にお知らせください。",
)

CLI_EN = CliTexts(
    description="A Discord assistant that remembers.",
    run="run the Discord bot (needs DISCORD_TOKEN)",
    chat="chat in the terminal (needs neither a token nor an API key)",
    migrate="bring the database's schema up to date",
    chat_user="chat as this user (default: 0)",
    chat_channel="chat in this channel (default: 0)",
    chat_agent="chat with this agent (a name in agents.toml)",
    no_id="must be an id of Discord, which is a number",
    migration="Applying {version:04d} {description}",
    migrated="The database is up to date now: {path}",
    up_to_date="The database is up to date: {path}",
    ready="Connected to Discord as {name}. Press Ctrl-C to stop.",
    mentions_only=(
        "CC_BOT_CHANNELS=all, but the Message Content Intent is not switched on: I read only messages that "
        "are addressed to me. To have me read all, switch it on in the Developer Portal under Bot, and "
        "start me again."
    ),
    stopping="Stopping. Waiting up to {seconds} seconds for answers on their way…",
    offline_model="offline model",
    broke="Stopped by an unexpected error ({error}). Please report it together with the record above.",
)

# ---- backup ----------------------------------------------------------------------------------------------
# What the commands around backups say: `backup`, `restore` and `wipe`.


@dataclass(frozen=True, slots=True)
class BackupTexts:
    backup: str
    backup_to: str
    keep: str
    keep_days: str
    no_count: str
    restore: str
    restore_file: str
    yes: str
    without_erasures: str
    rows_only: str
    any_file: str
    wipe: str
    backed_up: str
    """Parameters: path, size, version, messages, memories."""
    deleted: str
    """Parameter: count."""
    offer: str
    """Parameters: path, made_at, messages, memories, database."""
    origin: str
    unknown_time: str
    go_on: str
    restored: str
    """Parameters: path, database."""
    replaced: str
    """Parameter: path."""
    replaced_days: str
    """Parameters: path, days."""
    forgotten: str
    """Parameters: users, memories, deleted."""
    erasures_unknown: str
    doomed: str
    wiped: str
    """Parameter: count."""
    nothing_to_wipe: str
    """Parameter: path."""
    stays: str
    copying: str
    checking: str
    hashing: str
    upgrading: str
    erasing: str
    """Stages, shown while they last."""


BACKUP_JA = BackupTexts(
    backup="データベースを安全にコピーします（動作中でも使えます）",
    backup_to="コピーを置くフォルダ（既定: CC_BOT_BACKUP_FOLDER、なければ backup）",
    keep="新しいものから N 個だけ残し、それより古いバックアップを消します",
    keep_days="D 日より古いバックアップを消します（最新の1個は残ります）",
    no_count="1 から 2147483647 までの整数で書いてください",
    restore="バックアップを確かめて、データベースと入れ替えます（ボットを止めてから使います）",
    restore_file="バックアップのファイル",
    yes="確認せずに実行します",
    without_erasures="消去の記録がなくても続けます（消した人のデータが戻ることがあります）",
    rows_only="cc-bot のものではないトリガーやビューがあっても、それを置いて、中のデータだけを戻します",
    any_file="今あるファイルが cc-bot のデータベースに見えなくても続けます（壊れたときのため）",
    wipe="データベースと、その控えをすべて消します（ボットを止めてから使います）",
    backed_up="バックアップしました: {path}（{size}、版 {version}、メッセージ {messages}件、メモリ {memories}件）",
    deleted="古いバックアップを {count}個 消しました。",
    offer="{path}（{made_at}、メッセージ {messages}件、メモリ {memories}件）を {database} に復元します。",
    origin="壊れていないことと形は確かめました。だれが作ったかは、ファイルからはわかりません。中のデータは、そのまま信じて使います。",
    unknown_time="作成日時は不明",
    go_on="実行しますか？ [y/N] ",
    restored="{path} を {database} に復元しました。",
    replaced="それまでのデータベースは {path} に残してあります。要らなくなったら消してください。",
    replaced_days="それまでのデータベースは、{days}日のあいだ {path} に残します。",
    forgotten="バックアップのあとに消去されたものを、もう一度消しました（利用者 {users}人、メモリ {memories}件、Discord で削除されたもの {deleted}件）。",
    erasures_unknown="消去の記録がないため、消した人のデータが戻っているかもしれません。",
    doomed="次のファイルを消します。元には戻せません。",
    wiped="{count}個のファイルを消しました。",
    nothing_to_wipe="消すものはありません: {path}",
    stays="設定ファイル、バックアップ、消去の記録は残っています。要らなければ、ご自分で消してください。",
    copying="コピーしています…",
    checking="中身を確かめています…",
    hashing="照合用の値を計算しています…",
    upgrading="形式を最新にしています…",
    erasing="消去をやり直しています…",
)

BACKUP_EN = BackupTexts(
    backup="make a safe copy of the database, also while the bot runs",
    backup_to="folder for the copy (default: CC_BOT_BACKUP_FOLDER, or else backup)",
    keep="keep the newest N backups and delete the older ones",
    keep_days="delete backups that are older than D days (the newest one always stays)",
    no_count="must be a whole number from 1 to 2147483647",
    restore="check a backup and put it in the database's place (stop the bot first)",
    restore_file="the backup's file",
    yes="do not ask",
    without_erasures="go on without a record of erasures (people who were forgotten may come back)",
    rows_only="leave triggers, views and whatever else cc-bot did not make behind, and take the rows alone",
    any_file="go on even if the file that is there does not look like a database of cc-bot (for a damaged one)",
    wipe="delete the database and every copy beside it (stop the bot first)",
    backed_up="Backed up to {path} ({size}, version {version}, messages: {messages}, memories: {memories})",
    deleted="Old backups deleted: {count}.",
    offer="{path} ({made_at}, messages: {messages}, memories: {memories}) will take the place of {database}.",
    origin="It is whole, and of cc-bot's own form. Who made it can't be told from the file, and what its rows say is believed.",
    unknown_time="made at an unknown time",
    go_on="Go on? [y/N] ",
    restored="Restored {path} to {database}.",
    replaced="The database that was there is kept as {path}. Delete it when you no longer need it.",
    replaced_days="The database that was there is kept for {days} days as {path}.",
    forgotten="What was erased after the backup was made is erased again (users: {users}, memories: {memories}, deleted on Discord: {deleted}).",
    erasures_unknown="There is no record of erasures, so people who were forgotten may be back.",
    doomed="These files will be deleted for good:",
    wiped="Files deleted: {count}.",
    nothing_to_wipe="There is nothing to delete: {path}",
    stays="Settings, backups and the record of erasures are still there. Delete them yourself if you don't need them.",
    copying="Copying…",
    checking="Checking…",
    hashing="Computing the checksum…",
    upgrading="Upgrading…",
    erasing="Erasing again…",
)

# ---- storage ---------------------------------------------------------------------------------------------
# What the operator is told when a command ends because of the database. Parameter everywhere: path.


@dataclass(frozen=True, slots=True)
class StorageTexts:
    locked: str
    full: str
    read_only: str
    damaged: str
    unreadable: str


STORAGE_JA = StorageTexts(
    locked="データベース {path} にほかのプログラムが書き込み続けています。そちらを終えてから、もう一度お試しください。",
    full="データベース {path} に書き込むための空きがディスクにありません。空きを作って、もう一度お試しください。",
    read_only="データベース {path} に書き込めません。ファイルとフォルダの書き込みの権限を確かめてください。",
    damaged=(
        "データベース {path} が壊れています。動いているボットがあれば止めて、"
        "cc-bot restore でバックアップから戻してください。"
    ),
    unreadable="データベース {path} を読み書きできませんでした。ディスクの状態を確かめてください。",
)

STORAGE_EN = StorageTexts(
    locked="Another program keeps writing to the database {path}. End that program, then try again.",
    full="There is no room to write the database {path}. Make room on its disk, then try again.",
    read_only="The database {path} can't be written to. Check the permission to write the file and its folder.",
    damaged=(
        "The database {path} is damaged. Stop the bot if it is running, and put a backup in its place with "
        "cc-bot restore."
    ),
    unreadable="The database {path} could not be read or written. Check the disk.",
)
