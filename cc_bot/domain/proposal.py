"""Proposals: changes that a model asked for, and that wait for their user's word.

A model that has read what its user did not write changes nothing by itself. What it calls is kept as it would
be done, with what is there now, and its user decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.canvas import Canvas, CanvasCommand, CanvasRefused, Drawn, SetMode, reduce, reduce_all
from cc_bot.domain.memory import Audience
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import Place
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import one_line
from cc_bot.domain.tool_server import Approvers

MAX_PROPOSALS: Final = 5
"""Of one answer; each has a row of buttons below it, of which Discord takes five a message."""
OPEN_FOR: Final = timedelta(days=7)
"""So long its user can decide; then a proposal is dropped."""
CALL_OPEN_FOR: Final = timedelta(minutes=10)
"""So long somebody can have a tool of a server called: later nobody has in mind what it was for."""

AS_IT_IS: Final = "as it is"
NEVER: Final = "never"


@dataclass(frozen=True, slots=True)
class KeepMemory:
    """Keep a new memory."""

    content: str
    category: str
    tags: tuple[str, ...]
    audience: Audience
    expires_at: datetime | None = None
    supersedes: int | None = None
    """The memory whose place it takes."""
    before: str = ""
    """The text of that one."""
    number: int = 0
    """What its user calls that one by, here and below; 0 in what was stored before users had numbers."""
    kind: Literal["keep"] = "keep"


@dataclass(frozen=True, slots=True)
class ChangeMemory:
    """Change a memory: None, and AS_IT_IS, leave what they name."""

    memory_id: int
    before: str
    content: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    audience: Audience | None = None
    expires_at: datetime | Literal["as it is", "never"] = AS_IT_IS
    category_before: str = ""
    tags_before: tuple[str, ...] = ()
    expires_before: datetime | None = None
    number: int = 0
    kind: Literal["change"] = "change"


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    """Delete a memory."""

    memory_id: int
    before: str
    number: int = 0
    kind: Literal["forget"] = "forget"


@dataclass(frozen=True, slots=True)
class AddReminder:
    """Remind the user at a time."""

    text: str
    due_at: datetime
    repeat: str
    """A cron expression; empty for once."""
    timezone: str
    place: Place
    guild_id: int | None = None
    locale: str = ""
    kind: Literal["remind"] = "remind"


@dataclass(frozen=True, slots=True)
class CancelReminder:
    """Cancel a reminder."""

    schedule_id: int
    before: str
    due_at: datetime | None = None
    repeat: str = ""
    number: int = 0
    kind: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw on the canvas: all that one turn wanted to."""

    commands: tuple[CanvasCommand, ...]
    before: Canvas = Canvas()
    """What was up, as far as the turn saw it."""
    kind: Literal["draw"] = "draw"


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a tool of a server."""

    server: str
    tool: str
    """As its server calls it."""
    arguments: str
    """All of them, as a JSON object."""
    approvers: Approvers = "asker"
    called: str = ""
    """The name that the model calls it by."""
    kind: Literal["call"] = "call"

    @property
    def what(self) -> str:
        """The name of the tool, for people."""
        return f"{self.server} · {self.tool}"

    @property
    def known_as(self) -> str:
        """The name of the tool, for the model: nothing in it can end what it stands in."""
        return self.called or one_line(self.what)


ProposedChange = KeepMemory | ChangeMemory | ForgetMemory | AddReminder | CancelReminder | Draw | CallTool


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits for its user's word, as it is stored."""

    id: int
    key: SessionKey
    """Whose it is, where it was made, and by which agent."""
    answer_id: int
    """The row of the answer that it stands below."""
    visibility: Visibility
    """Of the turn that it was made in."""
    change: ProposedChange
    _: KW_ONLY
    made_at: datetime
    number: int = 0
    """What its user calls it by: each user's proposals count from 1."""


def is_open(proposal: Proposal, now: datetime) -> bool:
    """Return whether there is still time to decide."""
    open_for = CALL_OPEN_FOR if isinstance(proposal.change, CallTool) else OPEN_FOR
    return now < proposal.made_at + open_for


def memory_of(change: ProposedChange) -> int | None:
    """The memory that is changed or deleted; None for none."""
    match change:
        case ChangeMemory() | ForgetMemory():
            return change.memory_id
        case KeepMemory():
            return change.supersedes
        case _:
            return None


def text_before(change: ProposedChange) -> str | None:
    """The text that `memory_of` had when it was proposed; None where there is no such memory."""
    match change:
        case ChangeMemory() | ForgetMemory():
            return change.before
        case KeepMemory(supersedes=int()):
            return change.before
        case _:
            return None


def steps(draw: Draw, visibility: Visibility) -> Iterator[tuple[CanvasCommand, Canvas]]:
    """Yield each command, with what is up before it."""
    canvas = draw.before
    for command in draw.commands:
        yield command, canvas
        canvas = reduce_all(canvas, [Drawn(command, visibility)])


def still_fits(draw: Draw, canvas: Canvas, visibility: Visibility) -> bool:
    """Return whether a drawing would do to this canvas what it would have done to the one it was made on:
    what it changes is as it was, `clear` takes nothing else, and each command can be done."""
    up = canvas.visible_in(visibility)
    clears = any(isinstance(command, SetMode) and command.mode == "clear" for command in draw.commands)
    if clears and (canvas.elements != up.elements or up.elements != draw.before.elements):
        return False
    after = reduce_all(draw.before, [Drawn(command, visibility) for command in draw.commands])
    changed = [each for each in draw.before.elements if after.element(each.id) != each]
    if any(up.element(each.id) != each for each in changed):
        return False
    try:
        for command in draw.commands:
            canvas = reduce(canvas, Drawn(command, visibility))
    except CanvasRefused:
        return False
    return True


def collect(changes: Sequence[ProposedChange], drawing: Draw | None) -> tuple[ProposedChange, ...]:
    """Collect what one turn proposes: each change once, and one drawing."""
    once = tuple(dict.fromkeys(changes))
    return (*once, drawing) if drawing else once
