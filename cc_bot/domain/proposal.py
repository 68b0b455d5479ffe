"""Proposals: tool calls that wait for their user's approval.

A model that has read what its user did not write changes nothing by itself. Its call is stored with what its
user is shown, and with what that depends on. Approving it runs the same tool with the same arguments, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import Place
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import Approvers

MAX_PROPOSALS: Final = 5
"""Of one answer. Each has a row of buttons below it, and a message takes five."""
OPEN_FOR: Final = timedelta(days=7)
CALL_OPEN_FOR: Final = timedelta(minutes=10)
"""For calls whose result the model goes on with: later, users no longer know what they were for."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time within a line: each front end writes it in its own way."""

    at: datetime
    ends_day: bool = False
    """Whether it is the end of a day, which is shown without a time."""
    repeat: str = ""
    """In words; then `at` is the next time. Empty for once."""
    timezone: str = ""
    """Where it counts; empty for the reader's own."""
    place: Place | None = None
    """Where the reminder arrives; None if that is not shown."""


Value = str | Moment | None


@dataclass(frozen=True, slots=True)
class Part:
    """A line of a proposal, and the text or chart below it."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None

    def line(self, write: Callable[[Value], str]) -> str:
        """The line, with each value as a front end writes it."""
        return self.template.format(**{name: write(value) for name, value in self.values.items()})


@dataclass(frozen=True, slots=True)
class Shown:
    """What the user is shown of a proposal, in their language."""

    title: str
    """What the user knows it by, on one line."""
    yes: str
    """The label of the button that approves it."""
    no: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """A tool call that was not made."""

    name: str
    arguments: str
    """A JSON object. What was relative in the model's arguments is absolute here."""
    held: str = "{}"
    """What the tool must find unchanged when the call is made, as JSON."""
    asked: tuple[str, str] = field(default=("", ""), compare=False)
    """The tool's name and its arguments, as the model wrote them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The circumstances of the turn that a tool needs again when the call is made."""

    locale: Locale
    timezone: str
    place: Place = "channel"
    guild_id: int | None = None
    in_dm: bool = False


@dataclass(frozen=True, slots=True)
class ProposedCalls:
    """Calls that are approved or declined as one. There is more than one only of a drawing."""

    calls: tuple[DeferredCall, ...]
    shown: Shown
    origin: Origin
    goes_on: bool = False
    """Whether the model goes on with the result."""
    server: str = ""
    """The server of the tool; empty for the bot's own."""
    approvers: Approvers = "asker"
    memory_id: int | None = None
    """The memory that the calls change or delete."""
    position: int = 0
    """Among several of an answer, from 1; 0 if there is one."""

    def joined(self, later: "ProposedCalls") -> "ProposedCalls":
        """Return these calls followed by others, under these ones' headline."""
        parts = (*self.shown.parts, *later.shown.parts[1:])
        return replace(self, calls=(*self.calls, *later.calls), shown=replace(self.shown, parts=parts))


def numbered(proposals: Sequence[ProposedCalls]) -> tuple[ProposedCalls, ...]:
    """Return the proposals of an answer with their positions."""
    if len(proposals) < 2:
        return tuple(proposals)
    return tuple(replace(each, position=number) for number, each in enumerate(proposals, 1))


CallState = Literal["open", "claimed", "done", "failed", "unknown"]
"""open: not decided. claimed: it is being made, or was when the program ended. done, failed: it was made or
refused. unknown: it was cut off, and may have been made."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The Discord message that shows an approved call. All fields are empty outside of Discord."""

    place_id: int | None = None
    """The channel."""
    shown_in: int | None = None
    token: str | None = None
    """Of the press: it can edit the message until `token_until`."""
    token_until: datetime | None = None
    ephemeral: bool = False

    def token_at(self, now: datetime) -> str | None:
        """The token, if it still works then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed calls as they are stored, from the answer until their user knows the outcome."""

    id: int
    key: SessionKey
    """Whose it is, where it was made, and by which agent."""
    answer_id: int
    visibility: Visibility
    """Of the turn that made it."""
    content: ProposedCalls
    _: KW_ONLY
    made_at: datetime
    number: int = 0
    """Each user's proposals count from 1."""
    state: CallState = "open"
    claimed_by: str = ""
    """The name of the press that claimed it: another run of the program has other names."""
    message: CallMessage = CallMessage()

    @property
    def title(self) -> str:
        return self.content.shown.title


def is_expired(proposal: Proposal, now: datetime) -> bool:
    """Return whether it is too late to decide."""
    open_for = CALL_OPEN_FOR if proposal.content.goes_on else OPEN_FOR
    return proposal.state == "open" and now >= proposal.made_at + open_for
