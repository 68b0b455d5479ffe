"""Proposals: tool calls that wait for their user's approval. A model that has read text by others changes
nothing without it. Approval runs the same tool with the same arguments, once."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.chart import Chart
from cc_bot.domain.message import Target, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale

MAX_PROPOSALS: Final = 5  # per message: each needs one of its five rows of buttons
PROPOSAL_LIFETIME: Final = timedelta(days=7)
PENDING_CALL_LIFETIME: Final = timedelta(minutes=10)
"""For a call whose result the model continues with: users soon forget what the call is for."""

Approvers = Literal["asker", "owners"]  # who may approve: the question's author, or the bot's owners


@dataclass(frozen=True, slots=True)
class Moment:
    """A time in a proposal, formatted by front ends."""

    at: datetime
    ends_day: bool = False  # True for the end of a day: only the date is shown
    repeat: str = ""  # the repeat in words; `at` is then the first time


Value = str | Moment | None


@dataclass(frozen=True, slots=True)
class ProposalLine:
    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None  # shown below the line

    def format(self, write: Callable[[Value], str]) -> str:
        """Return the line; `write` formats a value."""
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
    held: str = "{}"  # JSON of the state that the call was proposed for: if it changes, the call is refused
    asked: tuple[str, str] = field(default=("", ""), compare=False)
    """The name and arguments as the model wrote them in its call."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the tool needs to know about the turn that made the proposal."""

    locale: Locale
    timezone: str
    place: Target = "channel"
    guild_id: int | None = None
    in_dm: bool = False
    source: str = ""  # names of the question's files, and the pages, that the model has read


@dataclass(frozen=True, slots=True)
class ProposedCalls:
    """The calls of one proposal: a single call, or several that change the canvas."""

    calls: tuple[DeferredCall, ...]
    shown: ProposalText
    origin: Origin
    goes_on: bool = False  # the turn continues with the result: a tool of a server, not of the bot
    server: str = ""  # empty for the bot's own tools
    approvers: Approvers = "asker"
    memory_id: int | None = None  # the memory that the calls change or delete

    def join(self, later: "ProposedCalls") -> "ProposedCalls":
        """Return a proposal of both's calls, with this proposal's title and first line."""
        parts = (*self.shown.parts, *later.shown.parts[1:])
        return replace(self, calls=(*self.calls, *later.calls), shown=replace(self.shown, parts=parts))


CallState = Literal["open", "claimed", "done", "failed", "unknown"]
"""claimed: the call is running, or was when the process died. failed: includes refused calls. unknown: the
call was interrupted, and may have been made."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """The message on Discord with a proposal's buttons; empty in other front ends."""

    location_id: int | None = None
    shown_in: int | None = None  # the message's id
    token: str | None = None  # the token of the button press, which can edit the message until `token_until`
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
    visibility: Visibility  # the same as that of the turn that made the proposal
    content: ProposedCalls
    _: KW_ONLY
    made_at: datetime
    number: int = 0
    state: CallState = "open"
    claimed_by: str = ""  # the name of the button press; unique in all processes
    message: CallMessage = CallMessage()

    @property
    def title(self) -> str:
        return self.content.shown.title


def is_expired(proposal: Proposal, now: datetime) -> bool:
    open_for = PENDING_CALL_LIFETIME if proposal.content.goes_on else PROPOSAL_LIFETIME
    return proposal.state == "open" and now >= proposal.made_at + open_for
