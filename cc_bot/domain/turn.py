"""The events of a turn, in the order in which front ends show them, and its row in the ledger."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.change import Change
from cc_bot.domain.message import Attachment, Message, ReferenceKind, ToolCall, Visibility, is_recording
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.tool_calls import is_of_server


@dataclass(frozen=True, slots=True)
class Usage:
    """Zero where the server did not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0  # prompt tokens from the server's cache
    seconds: int = 0

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
    """Calls of an earlier run of this turn, or of the answer that it replaces. Precedes all changes."""

    calls: tuple[ToolCall, ...]

    @property
    def outcome_unknown(self) -> bool:
        """Return whether a memory or reminder may have been changed."""
        return any(call.outcome_unknown and not is_of_server(call.name) for call in self.calls)

    @property
    def outcome_unknown_outside(self) -> bool:
        return any(call.outcome_unknown and is_of_server(call.name) for call in self.calls)

    @property
    def done_outside(self) -> tuple[str, ...]:
        return tuple(call.name for call in self.calls if call.ok and call.result and is_of_server(call.name))


@dataclass(frozen=True, slots=True)
class ServerCallInterrupted:
    """The turn ended during a call of a server's tool."""


@dataclass(frozen=True, slots=True)
class MemoriesRecalled:
    memory_ids: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ToolsUnavailable:
    pass


@dataclass(frozen=True, slots=True)
class ReplyWithheld:
    """Discord withholds the message that the question replies to, and the user has not seen this today."""


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """The message that a public answer is about."""

    link: str


@dataclass(frozen=True, slots=True)
class MessagesRead:
    """The model sees only some of the messages."""

    read: int
    total: int
    more: bool = False


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
    """Images for the model, shown below the answer. They are not stored."""

    images: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class CanvasChanged:
    """Committed. Comes right before Done."""

    empty: bool  # the readers of the turn see no element of it


NoticeKind = Literal["queued", "started", "hearing", "fallback", "thinking"]


@dataclass(frozen=True, slots=True)
class Notice:
    kind: NoticeKind
    ahead: int | None = None
    """Waiting turns before this one; None while it waits for an earlier question in the same line."""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the turn; the answer is stored unless the turn was temporary."""

    answer: Message  # `id` is None for a temporary turn
    usage: Usage
    first: bool = False
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


# The ledger row of a turn: `accepted` before the user sees the acknowledgement, `answered` with the answer,
# deleted once that is shown. After a crash without an answer: `interrupted`.


TurnState = Literal["accepted", "answered", "interrupted"]
TurnKind = Literal["ask", "again", "continue", "message", "mention"]
"""ask: a command; again, continue: buttons below an answer; message: a DM, or a reply to one's own answer;
mention: a question in a channel's conversation."""

TOKEN_LIFETIME: Final = timedelta(minutes=14)
"""Discord accepts a token for 15 minutes; one is the margin for clock skew."""
INTERRUPTED_LIFETIME: Final = timedelta(days=7)  # how long an interrupted turn may be asked again


@dataclass(frozen=True, slots=True)
class AskedFile:
    name: str
    url: str
    size: int
    media_type: str | None = None
    own_words: bool = False

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
    forwards: tuple[int, ...] = ()  # forwarded messages in the same DM that it is about
    heard: str = ""  # the transcript of its recordings, once known
    pointing: ReferenceKind = "reply"
    links_in: str = ""  # the text whose message links are followed, if not its own


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """An unfinished turn. Ids are Discord's, but for `id`, `replaces` and `answer_id`."""

    id: str
    key: SessionKey
    kind: TurnKind
    visibility: Visibility
    accepted_at: datetime
    state: TurnState = "accepted"
    guild_id: int | None = None
    temporary: bool = False
    locale: Locale | None = None
    question: AskedQuestion | None = None  # None if it may not be stored, or is in the archive
    question_id: int | None = None  # the interaction of a public command
    replaces: int | None = None  # the row of an answer
    interaction_id: int | None = None
    token: str | None = None
    token_until: datetime | None = None
    ephemeral: bool = False
    below: bool = False  # shown only in follow-ups, below the interaction's message
    shown_in: int | None = None
    """The interaction's own message, or the first of an answer to a message; None if unknown."""
    location_id: int | None = None
    """Where the bot posts without a token, or the button was pressed, if not in the session's channel."""
    pages: tuple[int, ...] = ()  # the follow-ups so far; after the token expired, all messages
    earlier: tuple[int, ...] = ()  # the replaced answer's messages above the one with the button
    answer_id: int | None = None
    former: str | None = None  # the interrupted turn that this one asks again
    calls: tuple[ToolCall, ...] = ()
    """The changes before the turn was interrupted. Without a result, the outcome is unknown."""

    def token_at(self, now: datetime) -> str | None:
        alive = self.token_until is not None and now < self.token_until
        return self.token if alive else None
