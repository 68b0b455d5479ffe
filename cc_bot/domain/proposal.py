"""Proposals: tool calls that wait for their user's approval, as a model that has read text by others changes
nothing by itself. Approval runs the same tool with the same arguments, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.chart import Chart
from cc_bot.domain.message import Target, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale

MAX_PROPOSALS: Final = 5  # per message: each proposal needs one of five rows of buttons
OPEN_FOR: Final = timedelta(days=7)
CALL_OPEN_FOR: Final = timedelta(minutes=10)
"""If the model continues with the result: users soon forget what the call is for."""

Approvers = Literal["asker", "owners"]  # who approves a pending call


@dataclass(frozen=True, slots=True)
class Moment:
    """A time in a proposal; front ends format it."""

    at: datetime
    ends_day: bool = False  # True if only the date is shown
    repeat: str = ""  # how often, in words; `at` is then the next time
    timezone: str = ""  # the time zone of the repeat; empty for the reader's own
    place: Target | None = None  # the reminder's destination; None if not shown


Value = str | Moment | None


@dataclass(frozen=True, slots=True)
class ProposalLine:
    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None

    def line(self, write: Callable[[Value], str]) -> str:
        """Return the line, with values formatted by the front end."""
        return self.template.format(**{name: write(value) for name, value in self.values.items()})


@dataclass(frozen=True, slots=True)
class ProposalText:
    title: str
    yes: str
    no: str
    parts: tuple[ProposalLine, ...]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    name: str
    arguments: str  # a JSON object, with relative values made absolute
    held: str = "{}"  # the expected state, as JSON: if it has changed, the call is not made
    asked: tuple[str, str] = field(default=("", ""), compare=False)
    """The name and arguments of the model's call in the answer."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The context of the turn, which the tool needs."""

    locale: Locale
    timezone: str
    place: Target = "channel"
    guild_id: int | None = None
    in_dm: bool = False


@dataclass(frozen=True, slots=True)
class ProposedCalls:
    """The calls of one proposal. Only drawings have more than one."""

    calls: tuple[DeferredCall, ...]
    shown: ProposalText
    origin: Origin
    goes_on: bool = False  # the model continues with the result
    server: str = ""  # empty for the bot's own tools
    approvers: Approvers = "asker"
    memory_id: int | None = None  # the memory that the calls change or delete
    position: int = 0  # number among the proposals of the answer, from 1; 0 if it is the only one

    def join(self, later: "ProposedCalls") -> "ProposedCalls":
        """Return one proposal of these calls and later ones, under this headline."""
        parts = (*self.shown.parts, *later.shown.parts[1:])
        return replace(self, calls=(*self.calls, *later.calls), shown=replace(self.shown, parts=parts))


def number_proposals(proposals: Sequence[ProposedCalls]) -> tuple[ProposedCalls, ...]:
    if len(proposals) < 2:
        return tuple(proposals)
    return tuple(replace(each, position=number) for number, each in enumerate(proposals, 1))


CallState = Literal["open", "claimed", "done", "failed", "unknown"]
"""claimed: the call is running, or was when the process died. failed: includes refused calls. unknown: the
call was interrupted, and may have been made."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """Empty in front ends other than Discord."""

    location_id: int | None = None
    shown_in: int | None = None  # the message's id
    token: str | None = None
    """The button press's token, which can edit the message until `token_until`."""
    token_until: datetime | None = None
    ephemeral: bool = False

    def token_at(self, now: datetime) -> str | None:
        is_valid = self.token_until is not None and now < self.token_until
        return self.token if is_valid else None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Stored until its user knows the outcome."""

    id: int
    key: SessionKey
    answer_id: int
    visibility: Visibility  # the visibility of the turn that made it
    content: ProposedCalls
    _: KW_ONLY
    made_at: datetime
    number: int = 0
    state: CallState = "open"
    claimed_by: str = ""  # the name of the press; unique in all processes
    message: CallMessage = CallMessage()

    @property
    def title(self) -> str:
        return self.content.shown.title


def is_expired(proposal: Proposal, now: datetime) -> bool:
    open_for = CALL_OPEN_FOR if proposal.content.goes_on else OPEN_FOR
    return proposal.state == "open" and now >= proposal.made_at + open_for
