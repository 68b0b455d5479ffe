"""The messages, and the tool calls and attachments that belong to them."""

import json
import re
import unicodedata
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cc_bot.domain.document import Document
from cc_bot.domain.locale import Locale

Role = Literal["user", "assistant"]

Reasoning = Literal["", "none", "minimal", "low", "medium", "high"]
"""How much a model thinks before it answers; empty: as it does by itself."""
REASONING: Final = ("none", "minimal", "low", "medium", "high")

Visibility = Literal["public", "private"]
"""Who can see a message: everyone in its channel, or its user alone (an ephemeral reply, a DM)."""

Status = Literal["complete", "stopped", "cut", "replaced"]
"""How an answer ended: as meant, by its user's Stop, in mid-sentence, or regenerated since."""


_QUOTATION: Final = (">", "＞")
"""How a line begins that is marked as somebody's words, as Discord and mail do it."""

_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0\u034f\ufe0e\ufe0f"
"""Letters and marks by their category, blanks by their look (Hangul fillers, the empty Braille cell, a joiner
and selectors of other characters)."""


# What a screen shows nothing of, or shows elsewhere than it stands: control characters, those that Unicode
# lets a reader ignore (DerivedCoreProperties.txt, Default_Ignorable_Code_Point) or turn, and letters that are
# blank. Variation selectors and joiners belong to kanji and emoji, where they follow one.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![^\x00-\xff\u2000-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0e\U000e0100-\U000e01ef]"
    "|(?<![^\x00-\xff\u2000-\u200f])\u200d"
)


def spell_out(text: str) -> str:
    """The text with all that a screen would not show written as its number (⟨U+202E⟩), for whoever must know
    exactly what it says."""
    return _UNSEEN.sub(lambda unseen: f"⟨U+{ord(unseen[0]):04X}⟩", text.replace("\r\n", "\n"))


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: white space, format and control characters, letters that look
    blank."""
    return all(
        character in _BLANK_LETTERS or unicodedata.category(character)[0] in "CZ" for character in text
    )


_NOT_TYPED: Final = (*_QUOTATION, "[file: ", "[sticker: ")
"""How a line begins that its author did not type: a quotation, or the name of a file or sticker."""
_REST_QUOTED: Final = re.compile(r"^[^\S\n]*>>>", re.MULTILINE)
"""Makes a quotation of all that follows (Discord's help, "Markdown Text 101", block quotes)."""


def typed_part(text: str) -> str:
    """Return the lines of a message that its author typed, without quotations and names of files."""
    own = _REST_QUOTED.split(text, 1)[0]
    return "\n".join(line for line in own.splitlines() if not line.lstrip().startswith(_NOT_TYPED))


def has_quotation(text: str) -> bool:
    """Return whether a line of it is marked as somebody's words."""
    return any(line.lstrip().startswith(_QUOTATION) for line in text.splitlines())


_ROWS: Final = re.compile(r', "(?:former_)?ref": \d+')
"""Within a text of a JSON value the quotation marks would have backslashes before them."""


def result_for_model(result: str) -> str:
    """Return a tool's result without the ids of rows, which only this program uses."""
    return _ROWS.sub("", result)


MAYBE_DONE: Final = "maybe_done"
"""The key of a result that tells of a call which may have been made or not."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool and what came of it, kept inside the assistant message that made it."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""
    result: str
    ok: bool = True
    """False when the result tells the model of an error."""
    native: str = ""
    """Of the first call of each step: what the provider wants back with the step's calls."""

    @property
    def told(self) -> str:
        """The result as the model is told it."""
        return result_for_model(self.result)

    @property
    def in_doubt(self) -> bool:
        """Return whether nobody knows if it was done: without a result, or with one that says so."""
        if not self.result or self.ok:
            return not self.result
        try:
            told = json.loads(self.result)
        except (ValueError, RecursionError):
            return False
        return isinstance(told, dict) and MAYBE_DONE in told


MAX_REQUEST_IMAGE_BYTES: Final = 20 * 2**20
"""Of all images in one request, as of all files of one message. Each request brings those of its history
along again, the newest first: twenty questions with the largest images would be 160 MB."""
FORWARD_NAME: Final = "forwarded message"
"""What the text of a forward is called as a file."""


@dataclass(frozen=True, slots=True)
class FileQuota:
    """How many bytes of files are kept; beyond that the oldest go."""

    user_bytes: int = 100 * 2**20
    total_bytes: int = 2 * 2**30
    """Of all users together: it is taken from those who hold the most."""


FILE_QUOTA: Final = FileQuota()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a question. It is kept: Discord's URLs expire."""

    name: str
    content_type: str
    """A media type: `image/png`, or `text/plain` for text, which is kept as UTF-8."""
    data: bytes = field(repr=False)
    """Of a document: nothing. Its text is all that is read. Nor of an image in a history that is too long ago
    to be shown (MAX_REQUEST_IMAGE_BYTES)."""
    document: Document | None = field(default=None, repr=False)
    """What was read of it, where it is a document."""
    source_id: int | None = None
    """Discord's id of the forward that showed it; None for what came with the question itself."""
    seconds: float = 0.0
    """The length of a recording; 0 where it does not tell."""
    own_words: bool = False
    """Whether it is a voice message: what is heard there, its sender says."""

    @property
    def is_forward(self) -> bool:
        """Return whether it is the text of a message that was forwarded, and no file in that."""
        return self.source_id is not None and self.name == FORWARD_NAME

    @property
    def is_image(self) -> bool:
        return self.content_type.startswith("image/")

    @property
    def is_recording(self) -> bool:
        return is_recording(self.content_type)


def is_recording(media_type: str | None) -> bool:
    return (media_type or "").startswith("audio/")


Pointing = Literal["reply", "above", "link", "picture", "menu", "since"]
"""How a question points at a message: replies to it, or to one that replies to it, links to it, or stands
below the picture that it shows; or was asked in its menu, about it or about all that was said from it on."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A message that a question points at, as a request shows it. It is stored with no question: what is
    deleted where it stands is gone from later requests."""

    pointing: Pointing
    content: str = ""
    author_name: str = ""
    """Empty where the answer is the assistant's own."""
    author_id: int = 0
    attachments: tuple[Attachment, ...] = ()
    shown: bool = True
    """False for what is deleted, or not for the asker or the bot to see."""
    tainted: bool = True
    """Whether its words are somebody else's than the asker's and the assistant's."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user or the assistant."""

    role: Role
    content: str
    _: KW_ONLY
    tool_calls: tuple[ToolCall, ...] = ()
    status: Status = "complete"
    visibility: Visibility = "public"
    author_id: int = 0
    author_name: str = ""
    discord_id: int | None = None
    attachments: tuple[Attachment, ...] = ()
    heard: str = ""
    """What was heard in its recordings: the end of its content."""
    tainted: bool = False
    """Whether it holds words that its user did not write; of an answer: whether its model had read such."""
    reply_to: int | None = None
    """Discord's id of the message that it replies to, or in whose menu it was asked."""
    pointing: Pointing = "reply"
    """How it points at that one."""
    references: tuple[Reference, ...] = ()
    """The messages that it points at, oldest first; not stored."""
    created_at: datetime | None = None
    """When it was stored (UTC); None until then."""
    id: int | None = field(default=None, compare=False)
    """Its row in the archive; None until it is stored."""

    def __post_init__(self) -> None:
        if self.created_at is not None and self.created_at.tzinfo is None:
            raise ValueError("created_at needs a time zone")

    @property
    def typed(self) -> str:
        """What its author typed."""
        return typed_part(self.content.removesuffix(self.heard))

    @property
    def own_words(self) -> str:
        """What its author typed or said: what was heard counts where nothing of the message is others'."""
        return with_heard(self.typed, "" if self.tainted else self.heard)

    def below(self, last_id: int | None) -> "Message":
        """The message where the one with this id of Discord's is the last before it: a reply to an answer
        that stands there need not say to which."""
        answered = [
            each
            for each in self.references
            if each.pointing == "reply" and each.shown and not each.author_name
        ]
        if self.reply_to is None or self.reply_to != last_id or not answered:
            return self
        linked = (each for each in self.references if each.pointing not in ("reply", "above"))
        return replace(self, references=tuple(linked))

    @property
    def taints(self) -> bool:
        """True if a turn that reads it has read words which its user did not write: files and quotations are
        somebody else's, whoever sent them. What an answer quotes, its model wrote: that is as tainted as what
        the model had read."""
        pointed = any(reference.tainted and reference.shown for reference in self.references)
        quotes = self.role == "user" and has_quotation(self.content)
        return self.tainted or pointed or bool(self.attachments) or quotes


def with_heard(content: str, heard: str) -> str:
    """Return what a question says, with what was heard in its recordings."""
    return "\n".join(filter(None, (content, heard)))


# ---- agent -----------------------------------------------------------------------------------------------
# Agents: who answers. A persona with a name, its own instructions, model and tools.

DEFAULT_AGENT: Final = "default"
"""The name of the agent that always exists."""


@dataclass(frozen=True, slots=True)
class AgentPlaces:
    """The places where an agent may be used; nothing named means everywhere."""

    guilds: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()
    """A channel stands for its threads as well."""
    dms: bool = True

    def allow(self, *, guild_id: int | None, channel_ids: frozenset[int]) -> bool:
        """`guild_id` is None in a DM; `channel_ids` are the channel, and of a thread also its parent."""
        if guild_id is None:
            return self.dms
        if not self.guilds and not self.channels:
            return True
        return guild_id in self.guilds or not self.channels.isdisjoint(channel_ids)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str = DEFAULT_AGENT
    """What commands and the database know it by: lower-case letters, digits, `-` and `_`, 32 at most."""
    display_names: dict[Locale, str] = field(default_factory=dict, hash=False)
    descriptions: dict[Locale, str] = field(default_factory=dict, hash=False)
    """What it is good for, for those who choose."""
    prompt: str = ""
    """Its persona; empty: cc-bot's own."""
    models: tuple[str, ...] = ()
    """The chain that is asked; empty: the operator's."""
    temperature: float | None = None
    """From 0 to 2; None: the model's own."""
    reasoning: Reasoning = ""
    """How much it thinks first; empty: as the operator set it."""
    tools: frozenset[str] | None = None
    """The names of the tools that it may use; None: all."""
    places: AgentPlaces = AgentPlaces()

    def display_name(self, locale: Locale) -> str:
        return self.display_names.get(locale) or self.name

    def description(self, locale: Locale) -> str:
        return self.descriptions.get(locale, "")


THE_DEFAULT: Final = Agent()

# ---- channel ---------------------------------------------------------------------------------------------
# Channels: a conversation of several people, found by its place and owned by nobody.

Reading = Literal["off", "mentions", "all"]
"""Which messages of servers the bot reads: none, those that are addressed to it, or all."""


@dataclass(frozen=True, slots=True)
class ChannelKey:
    """The place of a channel conversation."""

    channel_id: int
    """The channel; of a thread, the channel that it belongs to."""
    thread_id: int = 0
    """The thread; 0 is the channel itself."""

    @property
    def place_id(self) -> int:
        """The channel or thread as Discord counts them: a thread is a channel of its own there."""
        return self.thread_id or self.channel_id

    @property
    def parent(self) -> "ChannelKey":
        """The channel that a thread belongs to; a channel itself."""
        return ChannelKey(self.channel_id)


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A channel or thread of a server, or a DM. It never becomes another's."""

    key: ChannelKey
    guild_id: int | None = None
    is_dm: bool = False
    """Whether it is no server's: a DM with one user, who alone reads along."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of messages whose place in requests is frozen: it stays as it is until it leaves as a whole."""

    key: ChannelKey
    """Where its messages stand: in a thread's context the first blocks are its channel's."""
    first_id: int
    """Discord's id of its first message, and of its last."""
    last_id: int
    tokens: int
    """As the model counted tokens when it was frozen: later corrections do not move it."""


class ContextMessage(NamedTuple):
    """A channel's message, as much as a request shows of it.

    A tuple, since a context has hundreds of them: as rows they come, and as rows they are read.
    """

    id: int
    """Discord's."""
    role: Role
    name: str
    """The author's, as it was when they wrote it."""
    content: str
    author_id: int = 0
    """0 where it is not known."""
    reply_to: int | None = None
    """Discord's id of what it replies to."""
    replied: str | None = None
    """The beginning of that; None where it is not in the archive."""
    replied_name: str | None = None
    """Who said that; None where it was this bot."""
    replied_id: int = 0
    tainted: bool = True
    """As `Message.tainted`, of the message or of the beginning that is shown of what it replies to."""

    def is_foreign_to(self, user_id: int | None) -> bool:
        """Return whether a request shows words with it that this user did not write. An answer to them is
        theirs as their question is."""
        if self.tainted or user_id is None:
            return True
        author_id = self.replied_id if self.role == "assistant" else self.author_id
        quotes_others = self.replied_name is not None and self.replied_id != user_id
        return author_id != user_id or quotes_others


# ---- settings --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UserSettings:
    """A user's own choices; None where they left it to the default."""

    locale: Locale | None = None
    timezone: str | None = None
    """An IANA name such as `Asia/Tokyo`."""
    welcomed: bool = False
    """Whether the line about /help was shown once."""
    memory_paused: bool = False
    """Whether nothing is to be stored in or recalled from their memories for now."""
    spoken: bool = False
    """Whether short answers are to be read aloud as well."""

    def zone(self, default: ZoneInfo) -> ZoneInfo:
        """The user's time zone. A name that the time zone database no longer has counts as not chosen."""
        try:
            return ZoneInfo(self.timezone) if self.timezone else default
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return default


def image_type(data: bytes) -> str | None:
    """The media type of an image that models read, by its first bytes; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None
