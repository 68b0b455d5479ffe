"""Proposals: tool calls that wait for their user's approval.

A model that has read text by others than its user changes nothing by itself. Its call is stored with the text
shown to the user and the state that it depends on. Approval runs the same tool with the same arguments, once.
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
"""Per answer: each has a row of buttons, and a Discord message has five."""
OPEN_FOR: Final = timedelta(days=7)
CALL_OPEN_FOR: Final = timedelta(minutes=10)
"""For calls whose result the model continues with: later, users no longer know their purpose."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time within a line; each front end formats it."""

    at: datetime
    ends_day: bool = False
    """Whether it is the end of a day, shown without the time."""
    repeat: str = ""
    """In words; then `at` is the next time. Empty for once."""
    timezone: str = ""
    """The time zone of the repeat; empty for the reader's own."""
    place: Place | None = None
    """Where the reminder is sent; None if that is not shown."""


Value = str | Moment | None


@dataclass(frozen=True, slots=True)
class Part:
    """A line of a proposal, and the text or chart below it."""

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
    """Its name for the user, one line."""
    yes: str
    """The label of the approval button."""
    no: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """A tool call that was not made."""

    name: str
    arguments: str
    """A JSON object; relative values of the model's arguments are made absolute."""
    held: str = "{}"
    """State that must be unchanged when the call is made, as JSON."""
    asked: tuple[str, str] = field(default=("", ""), compare=False)
    """The tool's name and its arguments as the model wrote them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The context of the turn that a tool needs when the call is made."""

    locale: Locale
    timezone: str
    place: Place = "channel"
    guild_id: int | None = None
    in_dm: bool = False


@dataclass(frozen=True, slots=True)
class ProposedCalls:
    """Calls that are approved or declined together. Only drawings have more than one."""

    calls: tuple[DeferredCall, ...]
    shown: Shown
    origin: Origin
    goes_on: bool = False
    """Whether the model continues with the result."""
    server: str = ""
    """The tool's server; empty for the bot's own tools."""
    approvers: Approvers = "asker"
    memory_id: int | None = None
    """The memory that the calls change or delete."""
    position: int = 0
    """Among the answer's proposals, from 1; 0 for a single one."""

    def joined(self, later: "ProposedCalls") -> "ProposedCalls":
        """Return these calls and the later ones, under the headline of these."""
        parts = (*self.shown.parts, *later.shown.parts[1:])
        return replace(self, calls=(*self.calls, *later.calls), shown=replace(self.shown, parts=parts))


def numbered(proposals: Sequence[ProposedCalls]) -> tuple[ProposedCalls, ...]:
    if len(proposals) < 2:
        return tuple(proposals)
    return tuple(replace(each, position=number) for number, each in enumerate(proposals, 1))


CallState = Literal["open", "claimed", "done", "failed", "unknown"]
"""open: undecided. claimed: being made, or was when the program died. done, failed: made or refused. unknown:
interrupted, may have been made."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The Discord message that shows an approved call. All fields stay unset outside Discord."""

    place_id: int | None = None
    """The channel."""
    shown_in: int | None = None
    token: str | None = None
    """Of the press: it can edit the message until `token_until`."""
    token_until: datetime | None = None
    ephemeral: bool = False

    def token_at(self, now: datetime) -> str | None:
        """Return the token if it is still valid then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Stored calls, kept until their user knows the outcome."""

    id: int
    key: SessionKey
    """Its user, channel and agent."""
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
    """The press that claimed it; names differ between runs of the program."""
    message: CallMessage = CallMessage()

    @property
    def title(self) -> str:
        return self.content.shown.title


def is_expired(proposal: Proposal, now: datetime) -> bool:
    open_for = CALL_OPEN_FOR if proposal.content.goes_on else OPEN_FOR
    return proposal.state == "open" and now >= proposal.made_at + open_for
