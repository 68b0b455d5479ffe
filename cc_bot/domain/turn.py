"""The events of a turn, in the order in which front ends show them, and the ledger's records."""

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
    """Tokens used by a turn; zero where the server did not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens from the server's cache, which cost less."""
    seconds: int = 0
    """Of transcribed recordings and synthesized speech."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
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
    """Whether the call was not made but awaits its user's approval."""


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory was added, changed or deleted in this turn; committed."""

    change: MemoryChange


@dataclass(frozen=True, slots=True)
class CallsResumed:
    """Tool calls of an earlier run of this turn, or of the turn whose answer it replaces. Precedes all
    changes."""

    calls: tuple[ToolCall, ...]
    """The outcome of those in doubt is unknown."""

    @property
    def outcome_unknown(self) -> bool:
        """Return whether a change of a memory or reminder has an unknown outcome."""
        return any(call.outcome_unknown and not is_of_server(call.name) for call in self.calls)

    @property
    def in_doubt_outside(self) -> bool:
        """Return whether a server tool's call has an unknown outcome."""
        return any(call.outcome_unknown and is_of_server(call.name) for call in self.calls)

    @property
    def done_outside(self) -> tuple[str, ...]:
        """Names of the server tools that completed a call."""
        return tuple(call.name for call in self.calls if call.ok and call.result and is_of_server(call.name))


@dataclass(frozen=True, slots=True)
class CallInDoubt:
    """The turn ended during a server tool's call: its outcome is unknown."""


@dataclass(frozen=True, slots=True)
class MemoriesRecalled:
    memory_ids: tuple[int, ...]
    numbers: tuple[int, ...]
    """As shown to their user."""


@dataclass(frozen=True, slots=True)
class ToolsUnavailable:
    """The model does not support tools, so it can't remember, remind or search."""


@dataclass(frozen=True, slots=True)
class ScheduleChanged:
    """The model made or cancelled a schedule in this turn; committed."""

    change: ScheduleChange


@dataclass(frozen=True, slots=True)
class ReplyWithheld:
    """The question replies to a message whose content Discord withholds from the bot, and its user has not
    seen the workaround today."""


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """The answer is public, and nothing else on Discord shows which message it is about."""

    link: str


@dataclass(frozen=True, slots=True)
class MessagesRead:
    """The model sees only some of the messages that the question is about."""

    read: int
    total: int
    """Of the messages examined."""
    more: bool = False
    """Whether further messages follow them."""


@dataclass(frozen=True, slots=True)
class FilesLeftOut:
    """The model does not see some of the question's files. Precedes all other events."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesDeleted:
    """The user's oldest files were deleted to make room. Comes right before Done; without names, which may be
    private while others read the answer."""

    count: int


@dataclass(frozen=True, slots=True)
class ScansShown:
    """The question has documents without text; the model sees images of their first pages."""

    names: tuple[str, ...]
    pages: int
    """Of the longest one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The transcription of the question's recordings, made now or for its first answer. Precedes all output
    of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagesGiven:
    """A tool returned images: the model sees them, and they are shown below the answer. They are not
    stored."""

    images: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class CanvasChanged:
    """The session's canvas changed; committed. Comes right before Done."""

    canvas: Canvas


NoticeKind = Literal["queued", "started", "hearing", "fallback", "thinking"]
"""queued: waiting for another turn; started: no longer waiting; hearing: transcribing recordings; fallback:
asking the next model; thinking: the model is reasoning."""


@dataclass(frozen=True, slots=True)
class Notice:
    kind: NoticeKind
    ahead: int | None = None
    """Waiting turns before this one; None while it waits for an earlier question of the same user or
    channel."""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the turn. The answer is stored by now unless the turn was temporary."""

    answer: Message
    """`answer.status` is the outcome; `answer.id` is None for a temporary turn."""
    usage: Usage
    first: bool = False
    """Whether this is the user's first answer ever."""
    proposals: tuple[Proposal, ...] = ()
    """Awaiting the user's approval, below the answer."""


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
# The stored state of a session turn. Each state is reached in one transaction: `accepted` before the user
# sees the acknowledgement, `answered` with the answer; the row is deleted once the answer is delivered. If
# the program is killed, the ledger says which answers are still due. A turn without an answer by then becomes
# `interrupted`: its user is informed, and may have the question asked again.


TurnState = Literal["accepted", "answered", "interrupted"]
TurnKind = Literal["ask", "again", "continue", "message", "mention"]
"""ask: a command; again, continue: buttons below an answer; message: a DM, or a reply to one's own answer;
mention: a question in a channel's conversation."""

TOKEN_LIVES: Final = timedelta(minutes=14)
"""Discord accepts an interaction's token for 15 minutes; one minute is the margin for clock skew."""
KEPT: Final = timedelta(days=7)
"""How long an interrupted turn may be asked again."""


@dataclass(frozen=True, slots=True)
class AskedFile:
    name: str
    url: str
    size: int
    """In bytes."""
    media_type: str | None = None
    own_words: bool = False
    """As `Attachment.own_words`."""

    @property
    def is_recording(self) -> bool:
        return is_recording(self.media_type)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The parts of a question needed to ask it again."""

    text: str
    author_name: str
    files: tuple[AskedFile, ...] = ()
    tainted: bool = False
    """As `Message.tainted`."""
    reply_to: int | None = None
    """As `Message.reply_to`."""
    forwards: tuple[int, ...] = ()
    """Discord's ids of the forwarded messages in the same DM that it is about."""
    heard: str = ""
    """Transcription of its recordings, once known, so that they are transcribed once."""
    pointing: Pointing = "reply"
    """As `Message.pointing`."""
    links_in: str = ""
    """The text whose message links are followed, if not its own: "continue" is about the subject of the
    previous question."""


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """An unfinished turn. All ids but `id`, `replaces` and `answer_id` are Discord's."""

    id: str
    key: SessionKey
    kind: TurnKind
    visibility: Visibility
    accepted_at: datetime
    state: TurnState = "accepted"
    guild_id: int | None = None
    temporary: bool = False
    locale: Locale | None = None
    """None if unknown."""
    question: AskedQuestion | None = None
    """None if nothing may be stored, or if the archive has it."""
    question_id: int | None = None
    """The question's message; for a public command, the interaction."""
    replaces: int | None = None
    """The row of the answer that this one replaces."""
    interaction_id: int | None = None
    token: str | None = None
    """The interaction's; None for a message, or when no longer needed."""
    token_until: datetime | None = None
    ephemeral: bool = False
    """Whether only its user sees the message that shows it."""
    below: bool = False
    """Whether the answer is shown only in follow-ups, below the interaction's own message."""
    shown_in: int | None = None
    """The interaction's own message, or the first message of an answer to a message; None if unknown."""
    place_id: int | None = None
    """The channel where the bot posts the answer itself (to a message, or after the token expired), or where
    the button was pressed, if not the session's channel."""
    pages: tuple[int, ...] = ()
    """The follow-ups so far; if the answer came after the token expired, all its messages."""
    earlier: tuple[int, ...] = ()
    """The replaced answer's messages above the one with the button."""
    answer_id: int | None = None
    """The answer's row, once stored."""
    former: str | None = None
    """The id of the interrupted turn that this one asks again."""
    calls: tuple[ToolCall, ...] = ()
    """Changes made by its tools before it was interrupted. The outcome of one without a result is unknown."""

    def token_at(self, now: datetime) -> str | None:
        """Return the token if it is still valid then."""
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None
