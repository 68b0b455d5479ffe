"""What happens during a turn, in the order in which a front end shows it."""

from dataclasses import dataclass
from typing import Literal

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.memory import MemoryChange
from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.schedule import ScheduleChange


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a turn cost; zero where the server did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt that the server had in its cache, and charges less for."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call_id: str
    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory was kept, changed or deleted in this turn, and that is committed."""

    change: MemoryChange


@dataclass(frozen=True, slots=True)
class CallsResumed:
    """An earlier run of the program began this turn, and its tools did this. It comes before all changes."""

    calls: tuple[ToolCall, ...]
    """Those without a result may have been done or not."""

    @property
    def in_doubt(self) -> bool:
        return any(not call.result for call in self.calls)


@dataclass(frozen=True, slots=True)
class MemoriesRecalled:
    """Memories were shown to the model."""

    memory_ids: tuple[int, ...]
    numbers: tuple[int, ...]
    """What their user calls them by."""


@dataclass(frozen=True, slots=True)
class NotSaved:
    """The model promised to remember something, or to remind of it, and nothing was stored."""

    what: Literal["memory", "reminder"] = "memory"


@dataclass(frozen=True, slots=True)
class NotRemoved:
    """The model says that a memory was forgotten, or a reminder cancelled, and nothing was."""

    what: Literal["memory", "reminder"]


@dataclass(frozen=True, slots=True)
class ScheduleChanged:
    """The model made or cancelled a schedule in this turn, and that is committed."""

    change: ScheduleChange


@dataclass(frozen=True, slots=True)
class FilesLeftOut:
    """Files came with the question that the model is not shown. It comes before everything else."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CanvasChanged:
    """The canvas of the session is another one now, and that is committed. It comes right before Done."""

    canvas: Canvas


NoticeKind = Literal["queued", "started", "fallback", "thinking"]
"""queued: waiting for another turn to end; started: no longer waiting; fallback: the next model is asked;
thinking: the model thinks before it speaks."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a waiting user should know of."""

    kind: NoticeKind
    ahead: int | None = None
    """Of a queued turn: how many others that wait come before it; None while it waits for an earlier question
    of the same user or channel."""


@dataclass(frozen=True, slots=True)
class Done:
    """The turn's end. Unless the turn was temporary, the answer is in the database by now."""

    answer: Message
    """`answer.status` tells how it ended; `answer.id` is None for a temporary turn."""
    usage: Usage
    first: bool = False
    """Whether this is the first answer this user ever got."""
    proposals: tuple[Proposal, ...] = ()
    """What the user is to decide on, below the answer."""


TurnEvent = (
    TextDelta
    | ToolStarted
    | ToolFinished
    | MemoryChanged
    | MemoriesRecalled
    | CallsResumed
    | NotSaved
    | NotRemoved
    | ScheduleChanged
    | FilesLeftOut
    | CanvasChanged
    | Notice
    | Done
)
