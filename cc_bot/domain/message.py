"""Messages with their tool calls, attachments and references. Also agents, channels and users' settings."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from cc_bot.domain.text import Locale

Role = Literal["user", "assistant"]

ReasoningEffort = Literal["", "none", "minimal", "low", "medium", "high"]
"""How much a model reasons before it answers; empty: its default."""
REASONING_EFFORTS: Final = ("none", "minimal", "low", "medium", "high")

Visibility = Literal["public", "private"]  # private: only the user sees it (an ephemeral reply, a DM)
Target = Literal["channel", "dm", "terminal"]

Status = Literal["complete", "stopped", "cut", "replaced"]
"""stopped: by its user; cut: by a failure; replaced: by a newer answer to the same question."""

_QUOTATION: Final = (">", "＞")
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0\u034f\ufe0e\ufe0f"
"""Blank-looking letters: Hangul fillers, the empty Braille cell, variation selectors."""


# Invisible or reordering: controls, Default_Ignorable_Code_Point (DerivedCoreProperties.txt), bidirectional
# marks. Variation selectors and joiners are allowed after kanji and emoji.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![^\x00-\xff\u2000-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0e\U000e0100-\U000e01ef]"
    "|(?<![^\x00-\xff\u2000-\u200f])\u200d"
)


def show_invisible(text: str) -> str:
    """Write invisible characters as their numbers (⟨U+202E⟩)."""
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))


def is_blank(text: str) -> bool:
    return all(
        character in _BLANK_LETTERS or unicodedata.category(character)[0] in "CZ" for character in text
    )


_NOT_TYPED: Final = (*_QUOTATION, "[file: ", "[sticker: ")
"""Prefixes of lines that the author did not type: quotations, names of files and stickers."""
_QUOTED_REST: Final = re.compile(r"^[^\S\n]*>>>", re.MULTILINE)  # a quotation until the end of the message


def typed_part(text: str) -> str:
    unquoted = _QUOTED_REST.split(text, 1)[0]
    return "\n".join(line for line in unquoted.splitlines() if not line.lstrip().startswith(_NOT_TYPED))


def has_quotation(text: str) -> bool:
    return any(line.lstrip().startswith(_QUOTATION) for line in text.splitlines())


_REFS: Final = re.compile(r', "(?:former_)?ref": \d+')  # never matches in a text, whose quotes are escaped


def remove_row_ids(result: str) -> str:
    return _REFS.sub("", result)


MAYBE_DONE: Final = "maybe_done"  # a key of results: the call failed, but may have changed something


def parse_json(text: str, change: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return the value, with each object passed through `change`; {} for no text, None if it is not JSON."""
    try:
        return json.loads(text or "{}", object_hook=change)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Stored with the assistant message that made it."""

    id: str
    name: str
    arguments: str
    result: str
    ok: bool = True
    native: str = ""  # on the first call of each round: the provider's data, sent back with its calls

    @property
    def outcome_unknown(self) -> bool:
        """Return whether its effect is unknown: it has no result, or one with MAYBE_DONE."""
        if not self.result or self.ok:
            return not self.result
        content = parse_json(self.result)
        return isinstance(content, dict) and MAYBE_DONE in content


DocumentKind = Literal["pdf", "word", "excel", "powerpoint", "opendocument", "epub", "csv"]
DocumentUnit = Literal["page", "slide", "part"]
"""A part is a range of a sheet, or about a page of a format without pages."""

MEDIA_TYPES: Final[dict[DocumentKind, str]] = {
    "pdf": "application/pdf",
    "word": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "excel": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "powerpoint": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "opendocument": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
    "csv": "text/csv",
}


@dataclass(frozen=True, slots=True)
class DocumentPart:
    name: str  # the sheet and its rows; usually empty
    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    part: int


@dataclass(frozen=True, slots=True)
class Document:
    kind: DocumentKind
    unit: DocumentUnit
    parts: tuple[DocumentPart, ...]
    headings: tuple[Heading, ...] = ()
    pictured: int = 0  # for a scan without text: how many of its first pages are attached as pictures

    @property
    def is_scan(self) -> bool:
        return self.pictured > 0

    def part_label(self, number: int) -> str:
        name = self.parts[number - 1].name
        return f"[{self.unit} {number}{': ' if name else ''}{name}]"

    def text_with_labels(self, numbers: Iterable[int]) -> str:
        return "\n".join(f"{self.part_label(number)}\n{self.parts[number - 1].text}" for number in numbers)


MAX_REQUEST_IMAGE_BYTES: Final = 20 * 2**20  # for all images in one request, and for all files of one message
FORWARD_NAME: Final = "forwarded message"


@dataclass(frozen=True, slots=True)
class FileQuota:
    user_bytes: int = 100 * 2**20
    total_bytes: int = 2 * 2**30  # for all users together; the users with the most bytes lose files first


FILE_QUOTA: Final = FileQuota()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A stored file: Discord's URLs expire."""

    name: str
    content_type: str
    data: bytes = field(repr=False)
    """Empty for a document, and for an image too far back in the history to be sent."""
    document: Document | None = field(default=None, repr=False)
    source_id: int | None = None  # Discord's id of the forward that contained it
    seconds: float = 0.0  # 0 if unknown
    is_voice_message: bool = False  # then its transcript counts as typed by the author

    @property
    def is_forward(self) -> bool:
        return self.source_id is not None and self.name == FORWARD_NAME

    @property
    def is_image(self) -> bool:
        return self.content_type.startswith("image/")

    @property
    def is_recording(self) -> bool:
        return is_recording(self.content_type)


def is_recording(media_type: str | None) -> bool:
    return (media_type or "").startswith("audio/")


ReferenceKind = Literal["reply", "reply_of_reply", "link", "picture_above", "menu", "since"]
"""How a question refers to a message. reply_of_reply: it replies to a reply to it; picture_above: that is the
author's last picture; menu: from the message's menu; since: from the menu, with all later messages."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A message that a question refers to, looked up for each request and never stored."""

    kind: ReferenceKind
    content: str = ""
    author_name: str = ""  # empty if the assistant wrote it
    author_id: int = 0
    attachments: tuple[Attachment, ...] = ()
    is_visible: bool = True  # False if the message was deleted, or the author or the bot may not see it
    tainted: bool = True  # True if others than the question's author and the assistant wrote parts of it


@dataclass(frozen=True, slots=True)
class Message:
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
    heard: str = ""  # the transcript of the recordings; `content` ends with it
    tainted: bool = False
    """True if others may have written parts of it; for an answer, parts of what the model had read."""
    reply_to: int | None = None
    reference_kind: ReferenceKind = "reply"  # how the message refers to `reply_to`
    references: tuple[Reference, ...] = ()
    created_at: datetime | None = None
    id: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.created_at is not None and self.created_at.tzinfo is None:
            raise ValueError("created_at needs a time zone")

    @property
    def typed_text(self) -> str:
        return typed_part(self.content.removesuffix(self.heard))

    @property
    def own_words(self) -> str:
        """Return the author's own text; a transcript only if nothing in the message is by others."""
        return append_transcript(self.typed_text, "" if self.tainted else self.heard)

    def without_repeated_reference(self, last_id: int | None) -> "Message":
        """Return the message without a reference to the bot's answer right above it (`last_id`)."""
        replies = [each for each in self.references if each.kind == "reply" and each.is_visible]
        if self.reply_to is None or self.reply_to != last_id or all(each.author_name for each in replies):
            return self
        linked = (each for each in self.references if each.kind not in ("reply", "reply_of_reply"))
        return replace(self, references=tuple(linked))

    @property
    def is_tainting(self) -> bool:
        """Return whether the message taints a prompt, also by its files, quotations or references."""
        refers_to_others = any(reference.tainted and reference.is_visible for reference in self.references)
        quotes = self.role == "user" and has_quotation(self.content)
        return self.tainted or refers_to_others or bool(self.attachments) or quotes


def append_transcript(content: str, transcript: str) -> str:
    return "\n".join(filter(None, (content, transcript)))


DEFAULT_AGENT: Final = "default"


@dataclass(frozen=True, slots=True)
class AgentScope:
    """Where an agent may answer; empty sets: everywhere."""

    guilds: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()  # includes their threads
    dms: bool = True

    def allows(self, *, guild_id: int | None, channel_ids: frozenset[int]) -> bool:
        if guild_id is None:
            return self.dms
        if not self.guilds and not self.channels:
            return True
        return guild_id in self.guilds or not self.channels.isdisjoint(channel_ids)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str = DEFAULT_AGENT  # lower-case letters, digits, `-` and `_`, at most 32
    display_names: dict[Locale, str] = field(default_factory=dict, hash=False)
    descriptions: dict[Locale, str] = field(default_factory=dict, hash=False)
    prompt: str = ""  # empty: the built-in prompt
    models: tuple[str, ...] = ()
    temperature: float | None = None
    reasoning: ReasoningEffort = ""
    tools: frozenset[str] | None = None  # None: all
    scope: AgentScope = AgentScope()

    def display_name(self, locale: Locale) -> str:
        return self.display_names.get(locale) or self.name

    def description(self, locale: Locale) -> str:
        return self.descriptions.get(locale, "")


BUILT_IN_AGENT: Final = Agent()


ChannelReading = Literal["off", "mentions", "all"]  # which messages of channels the bot reads


@dataclass(frozen=True, slots=True)
class ChannelKey:
    channel_id: int
    thread_id: int = 0

    @property
    def location_id(self) -> int:
        """Return Discord's id of the thread, or else of the channel."""
        return self.thread_id or self.channel_id

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.thread_id, self.channel_id) if self.thread_id else (self.channel_id,)

    @property
    def parent(self) -> "ChannelKey":
        return ChannelKey(self.channel_id)


@dataclass(frozen=True, slots=True)
class Location:
    key: ChannelKey
    guild_id: int | None = None
    is_dm: bool = False  # True for a DM of the bot and one user


@dataclass(frozen=True, slots=True)
class Block:
    """A run of messages that stays unchanged in requests until it is dropped as a whole."""

    key: ChannelKey
    first_id: int
    last_id: int
    tokens: int


class ContextMessage(NamedTuple):
    """A message reduced to what a request shows. A tuple, as a context has hundreds."""

    id: int
    role: Role
    name: str
    content: str
    author_id: int = 0
    reply_to: int | None = None
    replied: str | None = None  # the beginning of the message `reply_to`; None if that is not archived
    replied_name: str | None = None  # the author of that message; None for the assistant
    replied_author_id: int = 0
    tainted: bool = True  # as `Message.tainted`, also for `replied`

    def is_foreign_to(self, user_id: int | None) -> bool:
        """Return whether others than the user wrote parts of it. Answers to the user count as the user's."""
        if self.tainted or user_id is None:
            return True
        author_id = self.replied_author_id if self.role == "assistant" else self.author_id
        quotes_others = self.replied_name is not None and self.replied_author_id != user_id
        return author_id != user_id or quotes_others


@dataclass(frozen=True, slots=True)
class UserSettings:
    """A user's choices. None means the default."""

    locale: Locale | None = None
    timezone: str | None = None
    welcomed: bool = False  # the hint about /help was shown
    memory_paused: bool = False
    spoken: bool = False  # short answers are also read aloud


def detect_image_type(data: bytes) -> str | None:
    """Return the media type of an image that models can read, else None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None
