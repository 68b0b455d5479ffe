"""How values are written into columns, where every store must do it alike."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from cc_bot.domain.message import Attachment, Message, ToolCall
from cc_bot.storage import Row, Statement

_BEGINNING_OF_TIME: Final = ""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 221_845_392_000_000  # the year 9000: all clocks of the world can tell it


def to_text(moment: datetime) -> str:
    """UTC in ISO 8601, always with microseconds: of one width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_ms(moment: datetime) -> int:
    """Unix milliseconds, the rest cut off. In integers: a float loses a millisecond now and then."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """What no clock tells, in a file that was changed by hand, is the nearest moment that clocks do tell: one
    row of one user must not break what reads those of all."""
    told = min(max(ms, 0), _LAST_MS)
    return datetime.fromtimestamp(told / 1000, UTC)  # rounds to microseconds: exact until 2242


def idle_since(now: datetime, ttl: timedelta) -> str:
    """The last moment of activity that is too long ago for a session to be open still."""
    try:
        return to_text(now - ttl)
    except OverflowError:  # a time to live of thousands of years: sessions never expire
        return _BEGINNING_OF_TIME


def next_number(noun: Literal["memory", "schedule", "proposal"]) -> str:
    """The number of a new row of a user, as SQL. $1 is the user. By the primary key of `numbers`."""
    last = f"SELECT last FROM numbers WHERE user_id = $1 AND noun = '{noun}'"  # noqa: S608 - one of three words
    return f"1 + coalesce(({last}), 0)"


# ---- message columns -------------------------------------------------------------------------------------
# How a message is written into the columns of `messages`, and read back from them: alike in every store.


def read_message(columns: Row, attachments: tuple[Attachment, ...] = ()) -> Message:
    """The message of these columns: id, role, content, tool_calls, status, visibility, author_id,
    author_name, discord_id, created_at, tainted."""
    id_, role, content, tool_calls, status, visibility, author_id, author_name, discord_id, ms, tainted = (
        columns
    )
    return Message(
        role,
        content,
        tool_calls=tool_calls_of(tool_calls) if tool_calls != "[]" else (),
        status=status,
        visibility=visibility,
        author_id=author_id,
        author_name=author_name,
        discord_id=discord_id,
        attachments=attachments,
        created_at=from_ms(ms),
        tainted=bool(tainted),
        id=id_,
    )


def tool_calls_to_json(calls: tuple[ToolCall, ...]) -> str:
    return json.dumps([asdict(call) for call in calls], ensure_ascii=False) if calls else "[]"


def tool_calls_of(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in json.loads(text))


# ---- value lists -----------------------------------------------------------------------------------------
# Lists of values in SQL that all engines share: `IN ($3, $4, …)` with a parameter for each value.
#
# A statement is prepared once per text, so lists have one of three lengths only; a shorter one repeats its
# last value, which changes nothing.

_LENGTHS: Final = (8, 24, 64)


@dataclass(frozen=True, eq=False)
class ListStatement:
    """SQL with `{list}` where the list stands. `fixed` parameters come before those of the list."""

    sql: str
    fixed: int
    _texts: dict[int, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for length in _LENGTHS:
            marks = ", ".join(f"${self.fixed + number}" for number in range(1, length + 1))
            self._texts[length] = self.sql.replace("{list}", marks)

    @property
    def texts(self) -> frozenset[str]:
        """The SQL of every length."""
        return frozenset(self._texts.values())

    def of(self, fixed: Sequence[Any], values: Sequence[Any]) -> Iterator[Statement]:
        """As many statements as the values need."""
        for at in range(0, len(values), _LENGTHS[-1]):
            part = values[at : at + _LENGTHS[-1]]
            length = next(length for length in _LENGTHS if length >= len(part))
            yield Statement(self._texts[length], (*fixed, *part, *[part[-1]] * (length - len(part))))
