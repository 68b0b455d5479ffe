"""Renders messages as parts of a prompt, and estimates their tokens.

Further lines of a message are indented and quoted lines begin with `>`, so that no text can look like a line
by another speaker. Real tokenizers are megabytes large, so the estimate weights runs of one kind of
character. The weights were fitted to o200k on Japanese and English prose, chat, code and tool schemas.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from cc_bot.chat.context.attachments import MAX_TEXT_BYTES, as_prompt_texts
from cc_bot.chat.context.recordings import BYTES_PER_AUDIO_SECOND
from cc_bot.domain.message import Message, Reference, ReferenceKind, ToolCall, is_recording, remove_row_ids
from cc_bot.domain.text import shorten
from cc_bot.domain.usage import TOKENS_PER_AUDIO_SECOND
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    PromptPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

MAX_NAME_CHARACTERS: Final = 40  # Discord allows 32
EMPTY_NAME: Final = "?"
YOU: Final = "you"  # names the model; users' names end in a mark, so none can be equal
MAX_REFERENCE_CHARACTERS: Final = 4000
_NOT_IN_NAMES: Final = frozenset(":：#＃﹟♯⌗")
"""A colon ends a name and `#` begins a mark; the other characters look like these."""
_MAX_QUOTATION_CHARACTERS: Final = 50


def with_author(name: str, author_id: int, text: str) -> str:
    first, *others = text.splitlines() or [""]
    labelled = f"{format_speaker(name, author_id)}: {first}"
    return "\n".join((labelled, *(f"  {line}".rstrip() for line in others))) if others else labelled


@lru_cache(maxsize=4096)
def format_speaker(name: str, author_id: int) -> str:
    """Return a name on one line, without colons, and its user's mark, which no name can contain."""
    letters = (
        " " if unicodedata.category(letter)[0] in "CZ" or letter in _NOT_IN_NAMES else letter
        for letter in name
    )
    shown = " ".join("".join(letters).split())[:MAX_NAME_CHARACTERS].strip() or EMPTY_NAME
    return f"{shown}{user_mark(author_id)}"


def user_mark(author_id: int) -> str:
    """Return `#` and six digits (two tokens in most models); empty if the id is unknown (0)."""
    if not author_id:
        return ""
    digest = blake2b(author_id.to_bytes(8, "big"), digest_size=8).digest()
    return f"#{int.from_bytes(digest) % 10**6:06}"


def shorten_quotation(text: str) -> str:
    return shorten(" ".join(text.split()), _MAX_QUOTATION_CHARACTERS)


_HEADINGS: Final[dict[ReferenceKind, str]] = {
    "reply": "In reply to {whose}:",
    "reply_of_reply": "Which replies to {whose}:",
    "link": "The link leads to {whose}:",
    "picture_above": "Just above it is {whose}:",
    "menu": "About {whose}:",
    "since": "The conversation from {whose} on:",
}
_NOT_SHOWN: Final[dict[ReferenceKind, str]] = {
    "reply": "In reply to a message that is not shown to you.",
    "reply_of_reply": "Which replies to a message that is not shown to you.",
    "link": "The link leads to a message that is not shown to you.",
    "picture_above": "Just above it is a picture that is not shown to you.",
    "menu": "About a message that is not shown to you.",
    "since": "The conversation from here on begins with a message that is not shown to you.",
}


def quote_references(references: Sequence[Reference]) -> str:
    return "\n\n".join(map(_quote, references))


def _quote(reference: Reference) -> str:
    if not reference.is_visible:
        return f"[{_NOT_SHOWN[reference.kind]}]"
    whose = "your own answer"
    if reference.author_name:
        whose = f"a message of {format_speaker(reference.author_name, reference.author_id)}"
    heading = _HEADINGS[reference.kind].format(whose=whose)
    content = reference.content
    if reference.kind != "since":
        content = shorten(content, MAX_REFERENCE_CHARACTERS)
    return "\n".join((f"[{heading}]", *(f"> {line}" for line in content.splitlines())))


EMPTY_ANSWER: Final = "…"  # sent in place of an empty answer


def message_parts(message: Message) -> Iterator[PromptPart]:
    """Yield a message's parts. An answer's text comes after its calls, as many servers refuse a tool result
    that is directly followed by the next question."""
    if message.role == "user":
        yield user_part(message)
        return
    yield from call_parts(message)
    yield AssistantPart(message.content or EMPTY_ANSWER, tainted=message.tainted)


def user_part(message: Message) -> UserPart:
    if not (message.attachments or message.references):
        return UserPart(message.content, tainted=message.is_tainting)
    referenced = (file for reference in message.references for file in reference.attachments)
    files = (*referenced, *message.attachments)
    texts = (quote_references(message.references), message.content, *as_prompt_texts(files, estimate_tokens))
    images = tuple(file for file in files if file.is_image)
    return UserPart("\n\n".join(filter(None, texts)), images, message.is_tainting)


def call_parts(message: Message) -> Iterator[PromptPart]:
    """Yield the calls of each round and their results. Most servers refuse a call without a result."""
    # `native`: the provider's own data of a request, sent back unchanged. Only a round's first call has it.
    rounds = list[list[tuple[str, ToolCall]]]()
    for index, call in enumerate(message.tool_calls):
        if call.native or not rounds:
            rounds.append([])
        rounds[-1].append((_call_id(message, index), call))
    for calls in rounds:
        requests = (ToolRequest(id_, call.name, call.arguments) for id_, call in calls)
        yield AssistantPart("", tuple(requests), message.tainted, calls[0][1].native)
        for id_, call in calls:
            yield ToolResultPart(id_, call.name, remove_row_ids(call.result), message.tainted)


def _call_id(message: Message, index: int) -> str:
    """Return a stable id of our own: the model's ids may repeat, and Mistral accepts only nine letters and
    digits."""
    return blake2b(f"{message.id}:{index}".encode()).hexdigest()[:9]


MESSAGE_TOKENS: Final = 4  # overhead of each message, call and tool
_NATIVE_CHARACTERS_PER_TOKEN: Final = 4  # native data, as the provider sent it, is mostly base64 or English
IMAGE_TOKENS: Final = 800


@dataclass(frozen=True, slots=True, eq=False)
class _CharacterKind:
    """The tokens of runs of one kind of character. A pattern must not backtrack, to take linear time."""

    pattern: re.Pattern[str]
    tokens_per_run: float = 0.0
    tokens_per_character: float = 0.0


_KANA_AND_KANJI: Final = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff々〆〇"
_JAPANESE_MARKS: Final = "\u3000-\u3004\u3008-\u3020・！-／：-＠［-｀｛-･"

_KINDS: Final = (
    _CharacterKind(re.compile("[A-Z]?[a-z]+"), 1.0),
    _CharacterKind(re.compile("(?<=[a-z]{6})[a-z]+"), 0.0, 0.07),  # long words are several tokens
    _CharacterKind(re.compile("[A-Z]+(?![a-z])"), 0.9, 0.03),
    _CharacterKind(re.compile("[0-9]{1,3}"), 1.5),  # includes the space before, a token of its own
    _CharacterKind(re.compile("[!-/:-@\\[-`{-~]+"), 0.45, 0.22),  # ASCII marks
    _CharacterKind(re.compile(r"[\r\n][\r\n \t]*"), 1.2),  # with the indentation after it
    _CharacterKind(re.compile("[ \t\r\n]{16}"), 0.3),  # further spaces of a deep indentation
    _CharacterKind(re.compile("[\u3041-\u309f]+"), 0.03, 0.56),  # hiragana
    _CharacterKind(re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+"), 1.55, 0.27),  # katakana
    _CharacterKind(re.compile("[\u3400-\u4dbf\u4e00-\u9fff々〆〇]+"), 0.1, 0.99),  # kanji
    _CharacterKind(re.compile(f"[{_JAPANESE_MARKS}]"), 1.07),
    # Latin with accents, Greek, Cyrillic, Arabic, Thai …
    _CharacterKind(re.compile("[\u00c0-\u06ff\u0900-\u1fff]"), 0.45),
    _CharacterKind(re.compile("[\uac00-\ud7a3]"), 0.85),  # hangul
    _CharacterKind(  # emoji and all others
        re.compile(f"[^\0-\u007f\u00c0-\u06ff\u0900-\u1fff\uac00-\ud7a3{_KANA_AND_KANJI}{_JAPANESE_MARKS}]"),
        1.35,
    ),
    _CharacterKind(re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]"), 1.0),
)
_ASCII: Final = re.compile("[\0-\x7f]+")
_ASCII_SAMPLE: Final = "".join(map(chr, range(128))) + " " * 16  # with a match of each kind that is in ASCII
_ASCII_KINDS: Final = tuple(kind for kind in _KINDS if kind.pattern.search(_ASCII_SAMPLE))


def estimate_tokens(text: str) -> int:
    """Return 0 only for an empty text."""
    kinds, ascii_text = _ASCII_KINDS, text
    if not text.isascii():
        # \x80, which no ASCII kind matches, keeps the runs apart.
        kinds, ascii_text = _KINDS, "\x80".join(_ASCII.findall(text))
    total = 0.0
    for kind in kinds:
        if runs := kind.pattern.findall(ascii_text if kind in _ASCII_KINDS else text):
            per_character = kind.tokens_per_character
            total += kind.tokens_per_run * len(runs) + (per_character and per_character * len("".join(runs)))
    return max(round(total), bool(text))


def request_tokens(request: ChatRequest) -> int:
    return sum(map(part_tokens, request.prompt)) + tools_tokens(request.tools)


def tools_tokens(tools: Iterable[ToolSchema]) -> int:
    return sum(MESSAGE_TOKENS + _schema_tokens(_schema_text(tool)) for tool in tools)


def message_tokens(message: Message) -> int:
    return sum(map(part_tokens, message_parts(message)))


def max_message_tokens(message: Message) -> int:
    """Return a quick upper bound: no character counts more than two tokens."""
    if message.attachments or message.references or message.tool_calls:
        return message_tokens(message)
    return MESSAGE_TOKENS + 2 * len(message.content or EMPTY_ANSWER)


def part_tokens(part: PromptPart) -> int:
    tokens = MESSAGE_TOKENS + estimate_tokens(part.text)
    if isinstance(part, UserPart):
        tokens += IMAGE_TOKENS * len(part.images)
    elif isinstance(part, AssistantPart):
        tokens += len(part.native) // _NATIVE_CHARACTERS_PER_TOKEN
        for call in part.tool_requests:
            tokens += MESSAGE_TOKENS + estimate_tokens(call.name) + estimate_tokens(call.arguments)
    return tokens


def has_images(prompt: Sequence[PromptPart]) -> bool:
    return any(isinstance(part, UserPart) and part.images for part in prompt)


_schema_tokens: Final = lru_cache(maxsize=256)(estimate_tokens)


def _schema_text(tool: ToolSchema) -> str:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))


def max_file_tokens(media_type: str, size: int) -> int:
    if media_type.startswith("image/"):
        return IMAGE_TOKENS
    if is_recording(media_type):
        return TOKENS_PER_AUDIO_SECOND * size // BYTES_PER_AUDIO_SECOND
    return min(size, MAX_TEXT_BYTES) // 3  # a Japanese character has three bytes
