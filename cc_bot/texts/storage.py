"""What the operator is told when a command ends because of the database. Parameter everywhere: path."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StorageTexts:
    locked: str
    full: str
    read_only: str
    damaged: str
    unreadable: str


JA = StorageTexts(
    locked="データベース {path} にほかのプログラムが書き込み続けています。そちらを終えてから、もう一度お試しください。",
    full="データベース {path} に書き込むための空きがディスクにありません。空きを作って、もう一度お試しください。",
    read_only="データベース {path} に書き込めません。ファイルとフォルダの書き込みの権限を確かめてください。",
    damaged=(
        "データベース {path} が壊れています。動いているボットがあれば止めて、"
        "cc-bot restore でバックアップから戻してください。"
    ),
    unreadable="データベース {path} を読み書きできませんでした。ディスクの状態を確かめてください。",
)

EN = StorageTexts(
    locked="Another program keeps writing to the database {path}. End that program, then try again.",
    full="There is no room to write the database {path}. Make room on its disk, then try again.",
    read_only="The database {path} can't be written to. Check the permission to write the file and its folder.",
    damaged=(
        "The database {path} is damaged. Stop the bot if it is running, and put a backup in its place with "
        "cc-bot restore."
    ),
    unreadable="The database {path} could not be read or written. Check the disk.",
)
