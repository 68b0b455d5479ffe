"""Proposals: tool calls that wait for their user's approval.

A model that has read text by others changes nothing by itself. Its call is stored with the text shown and the
state that it depends on. Approval runs the same tool with the same arguments, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.chart import Chart
from cc_bot.domain.message import Place, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale

MAX_PROPOSALS: Final = 5
"""Each has a row of buttons, and a message has five."""
OPEN_FOR: Final = timedelta(days=7)
CALL_OPEN_FOR: Final = timedelta(minutes=10)
"""If the model continues with the result: later, users no longer know the purpose."""

Approvers = Literal["asker", "owners"]
"""Who approves a pending call."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Front ends format it."""

    at: datetime
    ends_day: bool = False
    """Shown without the time."""
    repeat: str = ""
    """In words; then `at` is the next time."""
    timezone: str = ""
    """For the repeat; empty: the reader's own."""
    place: Place | None = None
    """Where the reminder is sent, if shown."""


Value = str | Moment | None


@dataclass(frozen=True, slots=True)
class Part:
    """A line, and the text or chart below it."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None

    def line(self, write: Callable[[Value], str]) -> str:
        """Return the line, with values formatted by the front end."""
        return self.template.format(**{name: write(value) for name, value in self.values.items()})


@dataclass(frozen=True, slots=True)
class Shown:
    """A proposal's text in its user's language."""

    title: str
    yes: str
    no: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """A tool call that was not made."""

    name: str
    arguments: str
    """A JSON object, with relative values made absolute."""
    held: str = "{}"
    """State that must be unchanged, as JSON."""
    asked: tuple[str, str] = field(default=("", ""), compare=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """The turn's context that the tool needs."""

    locale: Locale
    timezone: str
    place: Place = "channel"
    guild_id: int | None = None
    in_dm: bool = False


@dataclass(frozen=True, slots=True)
class ProposedCalls:
    """Calls that are decided together. Only drawings have more than one."""

    calls: tuple[DeferredCall, ...]
    shown: Shown
    origin: Origin
    goes_on: bool = False
    """The model continues with the result."""
    server: str = ""
    """Empty for the bot's own tools."""
    approvers: Approvers = "asker"
    memory_id: int | None = None
    """Changed or deleted by the calls."""
    position: int = 0

    def joined(self, later: "ProposedCalls") -> "ProposedCalls":
        """Return these calls and the later ones, under this headline."""
        parts = (*self.shown.parts, *later.shown.parts[1:])
        return replace(self, calls=(*self.calls, *later.calls), shown=replace(self.shown, parts=parts))


def numbered(proposals: Sequence[ProposedCalls]) -> tuple[ProposedCalls, ...]:
    if len(proposals) < 2:
        return tuple(proposals)
    return tuple(replace(each, position=number) for number, each in enumerate(proposals, 1))


CallState = Literal["open", "claimed", "done", "failed", "unknown"]
"""claimed: being made, or was when the program died. failed: also refused. unknown: interrupted, may have
been made."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The Discord message that shows an approved call; unset elsewhere."""

    place_id: int | None = None
    shown_in: int | None = None
    token: str | None = None
    """The press's, which can edit the message until `token_until`."""
    token_until: datetime | None = None
    ephemeral: bool = False

    def token_at(self, now: datetime) -> str | None:
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Kept until their user knows the outcome."""

    id: int
    key: SessionKey
    answer_id: int
    visibility: Visibility
    """As in the turn that made it."""
    content: ProposedCalls
    _: KW_ONLY
    made_at: datetime
    number: int = 0
    state: CallState = "open"
    claimed_by: str = ""
    """The press; names differ between runs."""
    message: CallMessage = CallMessage()

    @property
    def title(self) -> str:
        return self.content.shown.title


def is_expired(proposal: Proposal, now: datetime) -> bool:
    open_for = CALL_OPEN_FOR if proposal.content.goes_on else OPEN_FOR
    return proposal.state == "open" and now >= proposal.made_at + open_for
