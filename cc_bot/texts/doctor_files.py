"""What `cc-bot doctor` finds out about the operator's files, and how each of it is mended."""

from dataclasses import dataclass


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


JA = DoctorFileTexts(
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


EN = DoctorFileTexts(
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
