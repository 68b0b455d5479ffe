"""What is said: messages, and the tool calls and attachments that belong to them."""

import re
import unicodedata
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Final, Literal

Role = Literal["user", "assistant"]

Visibility = Literal["public", "private"]
"""Who can see a message: everyone in its channel, or its user alone (an ephemeral reply, a DM)."""

Status = Literal["complete", "stopped", "cut", "replaced"]
"""How an answer ended: as meant, by its user's Stop, in mid-sentence, or regenerated since."""


_QUOTATION: Final = re.compile(r"^[ \t\u3000]*+[>＞]", re.MULTILINE)
"""A line that is marked as somebody's words, as Discord and mail do it."""

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


def written_out(text: str) -> str:
    """The text with all that a screen would not show written as its number (⟨U+202E⟩), for whoever must know
    exactly what it says."""
    return _UNSEEN.sub(lambda unseen: f"⟨U+{ord(unseen[0]):04X}⟩", text.replace("\r\n", "\n"))


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: white space, format and control characters, letters that look blank."""
    return all(
        character in _BLANK_LETTERS or unicodedata.category(character)[0] in "CZ" for character in text
    )


def has_quotation(text: str) -> bool:
    """Whether a line of it is marked as somebody's words."""
    return _QUOTATION.search(text) is not None


_ROWS: Final = re.compile(r', "(?:former_)?ref": \d+')
_OLD_IDS: Final = re.compile(
    r', "(?:id|supersedes|superseded|more_before)": \d+'
    r'|"(?:id|supersedes|superseded|more_before)": \d+(?:, )?'
)
"""Within a text of a JSON value the quotation marks would have backslashes before them."""


def told_result(result: str) -> str:
    """What a tool answered without the rows that stand there for us alone. In what was stored before users
    had numbers of their own, the ids are rows too: what a model named by them now would be another thing."""
    told = _ROWS.sub("", result)
    return _OLD_IDS.sub("", result) if told == result else told


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool and what came of it, kept inside the assistant message that made it."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""
    result: str
    ok: bool = True
    """False when the result tells the model of an error."""

    @property
    def told(self) -> str:
        """The result as the model is told it."""
        return told_result(self.result)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a question. The bytes are kept: Discord's URLs expire."""

    name: str
    content_type: str
    """A media type: `image/png`, or `text/plain` for text, which is kept as UTF-8."""
    data: bytes = field(repr=False)

    @property
    def is_image(self) -> bool:
        return self.content_type.startswith("image/")


@dataclass(frozen=True, slots=True)
class Message:
    """One user or assistant message."""

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
    tainted: bool = False
    """Whether it holds words that its user did not write; of an answer: whether its model had read such."""
    created_at: datetime | None = None
    """When it was stored (UTC); None until then."""
    id: int | None = field(default=None, compare=False)
    """Its row in the archive; None until it is stored."""

    def __post_init__(self) -> None:
        if self.created_at is not None and self.created_at.tzinfo is None:
            raise ValueError("created_at needs a time zone")

    @property
    def taints(self) -> bool:
        """Whether a turn that reads it has read words which its user did not write: files and quotations are
        somebody else's, whoever sent them."""
        return self.tainted or bool(self.attachments) or has_quotation(self.content)
