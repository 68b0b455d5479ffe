"""The data that is stored about a user, in kinds that mean something to that user."""

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
"""`messages` are those of conversations that are the user's own, answers included; `channel_messages` is what
the user said to everybody, and `channel_answers` what was answered to that. `deliveries` are when reminders
and heartbeats were said, `choices` agents and where canvases are shown, `proposals` what waits for
the user's word, `receipts` where it is told what was done, `turns` those on their way, `counts`
tokens that were used before an erasing, while limits count them, `rules` what an operator decided about the
user, `decisions` what the user decided for others, `sign_ins` browsers that show their pages."""

LEFT_BY_ERASING: Final[frozenset[DataKind]] = frozenset({"counts", "rules"})
"""Else whoever is limited or denied could lift that by having everything erased."""

CONFIRM_WITHIN: Final = timedelta(minutes=5)
"""A question whether to erase everything must not lie around."""


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """The amount of a kind, and from when to when it is, as far as that is known."""

    count: int
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Holdings:
    """The amounts of all that is stored about a user."""

    kinds: Mapping[DataKind, StoredAmount] = field(default_factory=dict)
    """Only those of which there is something."""
    file_bytes: int = 0
    """Of attachments."""
    on_server: bool = False
    """Whether they are in a database on a server, whose files and copies are its operator's own affair."""

    def count(self, kind: DataKind) -> int:
        return self.kinds[kind].count if kind in self.kinds else 0

    @property
    def empty(self) -> bool:
        return not self.kinds

    @property
    def nothing_to_erase(self) -> bool:
        """True if there is nothing but what stays."""
        return self.kinds.keys() <= LEFT_BY_ERASING


@dataclass(frozen=True, slots=True)
class Retention:
    """The number of days for which the operator keeps each kind; 0: until it is erased."""

    archive_days: int = 0
    """Messages, of conversations and channels, unless an open conversation shows them."""
    session_days: int = 0
    """Conversations that are over, since they ended."""
    usage_days: int = 0
    """What was used, by day."""
    copy_days: int = 0
    """Copies of the database beside it, made before an upgrade or a restore."""
