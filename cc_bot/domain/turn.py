"""The events of a turn, in the order in which a front end shows them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import MemoryChange
from cc_bot.domain.message import Attachment, Message, Pointing, ToolCall, Visibility, is_recording
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import is_of_server

# ---- events --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a turn cost; zero where the server did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt that the server had in its cache, and charges less for."""
    seconds: int = 0
    """Of recordings that were heard, and of answers that were read aloud."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.seconds + other.seconds,
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
    waits: bool = False
    """Whether it was not used yet: that is left to its user."""


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory was kept, changed or deleted in this turn, and that is committed."""

    change: MemoryChange


@dataclass(frozen=True, slots=True)
class CallsResumed:
    """An earlier run of the program began this turn, or the answer that it takes the place of did, and its
    tools did this. It comes before all changes."""

    calls: tuple[ToolCall, ...]
    """Those in doubt may have been done or not."""

    @property
    def in_doubt(self) -> bool:
        """Return whether a memory or reminder may have been changed or not."""
        return any(call.in_doubt and not is_of_server(call.name) for call in self.calls)

    @property
    def in_doubt_outside(self) -> bool:
        """Return whether something out there may have been done or not."""
        return any(call.in_doubt and is_of_server(call.name) for call in self.calls)

    @property
    def done_outside(self) -> tuple[str, ...]:
        """The names of the tools of servers that did something out there."""
        return tuple(call.name for call in self.calls if call.ok and call.result and is_of_server(call.name))


@dataclass(frozen=True, slots=True)
class CallInDoubt:
    """The turn was ended during a call that changes something out there: it may have been done or not."""


@dataclass(frozen=True, slots=True)
class MemoriesRecalled:
    """Memories were shown to the model."""

    memory_ids: tuple[int, ...]
    numbers: tuple[int, ...]
    """What their user calls them by."""


@dataclass(frozen=True, slots=True)
class ToolsUnavailable:
    """The model takes no tools, so it can't remember, remind or look anything up."""


@dataclass(frozen=True, slots=True)
class ScheduleChanged:
    """The model made or cancelled a schedule in this turn, and that is committed."""

    change: ScheduleChange


@dataclass(frozen=True, slots=True)
class ReplyWithheld:
    """The question replies to a message that is not shown to the bot, and its user has not been told of a way
    around that today."""


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """The answer is for everybody, and nothing on Discord tells them which message it is about."""

    link: str


@dataclass(frozen=True, slots=True)
class MessagesRead:
    """The model is not shown all messages that the question is about."""

    read: int
    total: int
    """Of those that were looked at."""
    more: bool = False
    """Whether others come after these."""


@dataclass(frozen=True, slots=True)
class FilesLeftOut:
    """Files came with the question that the model is not shown. It comes before everything else."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesDeleted:
    """The user's oldest files are no longer kept: there were too many. It comes right before Done, without
    their names: what was private may be among them, and others may read the answer."""

    count: int


@dataclass(frozen=True, slots=True)
class ScansShown:
    """Documents without text came with the question: the model is shown pictures of their first pages."""

    names: tuple[str, ...]
    pages: int
    """Of the one with the most."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The words of the question's recordings, heard now or when it was first answered. They come before
    everything that the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagesGiven:
    """A tool gave pictures: the model is shown them, and they stand below the answer. Nothing keeps them."""

    images: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class CanvasChanged:
    """The canvas of the session is another one now, and that is committed. It comes right before Done."""

    canvas: Canvas


NoticeKind = Literal["queued", "started", "hearing", "fallback", "thinking"]
"""queued: waiting for another turn to end; started: no longer waiting; hearing: recordings are written down;
fallback: the next model is asked; thinking: the model thinks before it speaks."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that a waiting user should know of."""

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
    | CallInDoubt
    | ToolsUnavailable
    | ScheduleChanged
    | FilesLeftOut
    | FilesDeleted
    | ReplyWithheld
    | ScansShown
    | Heard
    | AskedAbout
    | MessagesRead
    | ImagesGiven
    | CanvasChanged
    | Notice
    | Done
)


# ---- ledger --------------------------------------------------------------------------------------------
# A turn of a session on its way from its question to the eyes of whoever asked.
#
# Three states, each reached in one transaction: `accepted` before anybody is told that it is, `answered`
# with the answer itself, and delivered, which is that the ledger has it no more. Whenever the program is
# killed, the ledger tells what is still owed to whom. A turn that had no answer by then becomes
# `interrupted`: its user was told, and may have the same question asked again.


TurnState = Literal["accepted", "answered", "interrupted"]
TurnKind = Literal["ask", "again", "continue", "message", "mention"]
"""ask: a command; again, continue: buttons under an answer; message: a DM, or a reply to one's own answer;
mention: a question in a channel's conversation."""

TOKEN_LIVES: Final = timedelta(minutes=14)
"""Discord takes an interaction's token for a quarter of an hour; the last minute is left for clocks that
differ."""
KEPT: Final = timedelta(days=7)
"""For how long the question of an interrupted turn waits to be asked again."""


@dataclass(frozen=True, slots=True)
class AskedFile:
    """A file of a question, where Discord has it."""

    name: str
    url: str
    size: int
    """In bytes."""
    media_type: str | None = None
    own_words: bool = False
    """As `Attachment.own_words`."""

    @property
    def is_recording(self) -> bool:
        """Return whether it calls itself one."""
        return is_recording(self.media_type)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The parts of a question that are needed to ask it again."""

    text: str
    author_name: str
    files: tuple[AskedFile, ...] = ()
    tainted: bool = False
    """As `Message.tainted`."""
    reply_to: int | None = None
    """As `Message.reply_to`."""
    forwards: tuple[int, ...] = ()
    """Discord's ids of the forwards in the same DM that it is about."""
    heard: str = ""
    """What was heard in its recordings, once that is known: they are not heard again."""
    pointing: Pointing = "reply"
    """As `Message.pointing`."""
    links_in: str = ""
    """The text whose links to messages are followed, where that is another than its own: a question to go on
    is about what the one before it was about."""


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """A turn that is on its way. All ids but `id`, `replaces` and `answer_id` are Discord's."""

    id: str
    key: SessionKey
    kind: TurnKind
    visibility: Visibility
    accepted_at: datetime
    state: TurnState = "accepted"
    guild_id: int | None = None
    temporary: bool = False
    locale: Locale | None = None
    """None where it is not known."""
    question: AskedQuestion | None = None
    """None where nothing may be kept, or where the archive has it."""
    question_id: int | None = None
    """Of a question that is a message; of a command's that everybody reads, the interaction's."""
    replaces: int | None = None
    """The row of the answer that this one takes the place of."""
    interaction_id: int | None = None
    token: str | None = None
    """Of the interaction; None for a message, and once nothing is shown by it any more."""
    token_until: datetime | None = None
    ephemeral: bool = False
    """Whether its user alone sees the message that shows it."""
    below: bool = False
    """Whether the answer is shown in follow-ups alone, below the interaction's own message."""
    shown_in: int | None = None
    """The interaction's own message, or the first one of an answer to a message, where it is known."""
    place_id: int | None = None
    """Where the bot writes the answer by itself: to a message, and past the token's life; or where the button
    was pressed, if that is not in the channel of the session."""
    pages: tuple[int, ...] = ()
    """The follow-ups so far; of an answer that comes past the token's life, all its messages."""
    earlier: tuple[int, ...] = ()
    """Of the replaced answer, the messages above the one with the button."""
    answer_id: int | None = None
    """The answer's row, once it is stored."""
    former: str | None = None
    """The id of the interrupted turn that this one asks again."""
    calls: tuple[ToolCall, ...] = ()
    """What its tools had changed when it was interrupted. One without a result may have been done or not."""

    def token_at(self, now: datetime) -> str | None:
        """The token, if it still works then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None
