"""The events of a turn, in the order in which front ends show them, and its row in the ledger."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.change import Change
from cc_bot.domain.message import Attachment, Message, ReferenceKind, ToolCall, Visibility, is_recording
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.tool_calls import is_server_tool


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts are zero where the server reported none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0  # prompt tokens from the server's cache
    seconds: int = 0  # seconds of audio

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
    awaits_approval: bool = False


@dataclass(frozen=True, slots=True)
class CallsResumed:
    """The calls of the interrupted turn, or of the answer that is replaced. Precedes all changes."""

    calls: tuple[ToolCall, ...]

    @property
    def outcome_unknown(self) -> bool:
        """Return whether a memory or reminder may have been changed."""
        return any(call.outcome_unknown and not is_server_tool(call.name) for call in self.calls)

    @property
    def server_outcome_unknown(self) -> bool:
        return any(call.outcome_unknown and is_server_tool(call.name) for call in self.calls)

    @property
    def done_server_calls(self) -> tuple[str, ...]:
        return tuple(
            call.name for call in self.calls if call.ok and call.result and is_server_tool(call.name)
        )


@dataclass(frozen=True, slots=True)
class ServerCallInterrupted:
    """The turn ended during a call of a server's tool."""


@dataclass(frozen=True, slots=True)
class MemoriesRecalled:
    memory_ids: tuple[int, ...]
    numbers: tuple[int, ...]  # the numbers by which users refer to the memories


@dataclass(frozen=True, slots=True)
class ToolsUnavailable:
    """The model supports no tools."""


@dataclass(frozen=True, slots=True)
class ReplyWithheld:
    """Discord hides from the bot the message that the question replies to. At most once a day for a user."""


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """A public answer is about the message at this link."""

    link: str


@dataclass(frozen=True, slots=True)
class MessagesRead:
    """The model sees only some of the messages."""

    read: int
    total: int
    has_more: bool = False  # True if there are more than `total`


@dataclass(frozen=True, slots=True)
class FilesLeftOut:
    """Files that the model does not see. Precedes all other events."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesDeleted:
    """The user's oldest files were deleted to make room. Comes right before Done."""

    count: int


@dataclass(frozen=True, slots=True)
class ScansShown:
    names: tuple[str, ...]
    pages: int


@dataclass(frozen=True, slots=True)
class Heard:
    """The transcript of the question's recordings. Precedes all output of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagesShown:
    """Images that a tool returned to the model, shown below the answer and not stored."""

    images: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class CanvasChanged:
    """The canvas change is committed. Comes right before Done."""

    empty: bool  # True if the readers of the answer see no element


NoticeKind = Literal["queued", "started", "hearing", "fallback", "thinking"]


@dataclass(frozen=True, slots=True)
class Notice:
    kind: NoticeKind
    ahead: int | None = None
    """How many turns wait before this one; None while an earlier turn with the same key is unfinished."""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the turn; the answer is stored unless the turn was temporary."""

    answer: Message  # `id` is None for a temporary turn
    usage: Usage
    is_first: bool = False  # True once for a user: the hint about /help is due
    proposals: tuple[Proposal, ...] = ()


TurnEvent = (
    TextDelta
    | ToolStarted
    | ToolFinished
    | MemoriesRecalled
    | CallsResumed
    | ServerCallInterrupted
    | ToolsUnavailable
    | Change
    | FilesLeftOut
    | FilesDeleted
    | ReplyWithheld
    | ScansShown
    | Heard
    | AskedAbout
    | MessagesRead
    | ImagesShown
    | CanvasChanged
    | Notice
    | Done
)


# The ledger row of a turn is `accepted` before the user sees the acknowledgement, `answered` with the answer,
# and deleted once the answer is shown. After a crash without an answer it is `interrupted`.


TurnState = Literal["accepted", "answered", "interrupted"]
TurnKind = Literal["ask", "again", "continue", "message", "mention"]
"""ask: a command; again, continue: buttons below an answer; message: a DM, or a reply to one's own answer;
mention: a question in a channel's conversation."""

TOKEN_LIFETIME: Final = timedelta(minutes=14)
"""Discord accepts a token for 15 minutes. One minute is the margin for clock skew."""
INTERRUPTED_LIFETIME: Final = timedelta(days=7)  # how long an interrupted turn may be asked again


@dataclass(frozen=True, slots=True)
class AskedFile:
    name: str
    url: str
    size: int
    media_type: str | None = None
    own_words: bool = False  # True for a voice message: its transcript counts as typed by the author

    @property
    def is_recording(self) -> bool:
        return is_recording(self.media_type)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    text: str
    author_name: str
    files: tuple[AskedFile, ...] = ()
    tainted: bool = False
    reply_to: int | None = None
    forwards: tuple[int, ...] = ()  # the forwarded messages of the same DM that the question is about
    heard: str = ""  # the transcript of the question's recordings, once known
    pointing: ReferenceKind = "reply"  # how the question refers to `reply_to`: `Message.reference_kind`
    links_in: str = ""  # if set, the text whose message links are followed instead of those in `text`


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
    question: AskedQuestion | None = None  # None if the question may not be stored, or is archived
    question_id: int | None = None  # the question's message, or the interaction of a public command
    replaces: int | None = None  # the row of the answer that this turn replaces
    interaction_id: int | None = None
    token: str | None = None
    token_until: datetime | None = None
    ephemeral: bool = False
    below: bool = False  # True if the answer is shown in follow-ups alone, below the interaction's message
    shown_in: int | None = None
    """The id of the interaction's message, or of the first message of an answer; None if unknown."""
    location_id: int | None = None
    """The channel where the bot posts without a token, or the button was pressed; None: the session's."""
    pages: tuple[int, ...] = ()  # the follow-ups so far; without a valid token, all messages
    earlier: tuple[int, ...] = ()  # the replaced answer's messages above the one with the button
    answer_id: int | None = None
    former: str | None = None  # the id of the interrupted turn that this one asks again
    calls: tuple[ToolCall, ...] = ()
    """The calls with changes before the turn was interrupted. Without a result, the outcome is unknown."""

    def token_at(self, now: datetime) -> str | None:
        is_valid = self.token_until is not None and now < self.token_until
        return self.token if is_valid else None
