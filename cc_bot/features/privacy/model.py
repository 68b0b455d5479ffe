"""The kinds of data stored about a user, in the user's terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

DataKind = Literal[
    "settings",
    "conversations",
    "messages",
    "channel_messages",
    "channel_answers",
    "files",
    "summaries",
    "memories",
    "schedules",
    "deliveries",
    "choices",
    "proposals",
    "receipts",
    "turns",
    "usage",
    "counts",
    "rules",
    "decisions",
    "sign_ins",
]
"""messages: in the user's own conversations, with the answers. channel_messages: the user's messages in
channels; channel_answers: the answers to them. deliveries: when reminders and heartbeats were sent. choices:
agents, and where canvases are shown. proposals: calls awaiting approval. receipts: messages that show
changes. turns: unfinished ones. counts: tokens used before an erasure. rules: an operator's decisions about
the user. decisions: the user's decisions for others. sign_ins: signed-in browsers."""

NOT_ERASED: Final[frozenset[DataKind]] = frozenset({"counts", "rules"})
"""Otherwise users could lift limits and denials by erasing their data."""

CONFIRM_WITHIN: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """The number of rows of a kind, and their first and last time if known."""

    count: int
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Holdings:
    kinds: Mapping[DataKind, StoredAmount] = field(default_factory=dict)  # without kinds that have no rows
    file_bytes: int = 0
    on_server: bool = False  # True if a database server holds it, whose operator manages the files

    def count(self, kind: DataKind) -> int:
        return self.kinds[kind].count if kind in self.kinds else 0

    @property
    def is_empty(self) -> bool:
        return not self.kinds

    @property
    def has_nothing_to_erase(self) -> bool:
        return self.kinds.keys() <= NOT_ERASED


@dataclass(frozen=True, slots=True)
class Retention:
    """Days that each kind of data is kept; 0: until the user erases it."""

    archive_days: int = 0  # messages that no open conversation shows
    session_days: int = 0  # after a conversation's end
    usage_days: int = 0
    copy_days: int = 0  # copies next to the database, made before an upgrade or a restore
