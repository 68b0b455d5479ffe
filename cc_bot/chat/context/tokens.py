"""Renders messages as parts of a prompt, and estimates their tokens.

Others' text is indented or quoted line by line, so that it can't pass for the author's.

A tokenizer is specific to a model family and weighs megabytes. So text is split into runs of one kind,
weighted by number and length. The weights were fitted to the o200k tokenizer on Japanese and English prose,
chat, code and tool schemas. 90,000 Japanese characters take about 15 ms.
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
from cc_bot.chat.context.recordings import BYTES_A_SECOND
from cc_bot.domain.message import Message, Pointing, Reference, ToolCall, is_recording, result_for_model
from cc_bot.domain.text import shorten
from cc_bot.domain.usage import TOKENS_A_SECOND
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    PromptPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

NAME_CHARACTERS: Final = 40
"""Discord's display names have 32."""
NAMELESS: Final = "?"
YOU: Final = "you"
"""The model itself; users' names always have a mark."""
REFERENCE_CHARACTERS: Final = 4000
_NOT_IN_NAMES: Final = frozenset(":：#＃﹟♯⌗")
"""Characters that end a name, begin a mark, or look like it."""
_BEGINNING: Final = 50


def spoken(name: str, author_id: int, text: str) -> str:
    """Return a text after its author's name; further lines are indented."""
    first, *others = text.splitlines() or [""]
    said = f"{speaker(name, author_id)}: {first}"
    return "\n".join((said, *(f"  {line}".rstrip() for line in others))) if others else said


@lru_cache(maxsize=4096)
def speaker(name: str, author_id: int) -> str:
    """Return a name on one line without colons, and the mark of its user, which no name can imitate."""
    letters = (
        " " if unicodedata.category(letter)[0] in "CZ" or letter in _NOT_IN_NAMES else letter
        for letter in name
    )
    shown = " ".join("".join(letters).split())[:NAME_CHARACTERS].strip() or NAMELESS
    return f"{shown}{mark_of(author_id)}"


def mark_of(author_id: int) -> str:
    """Return `#` and six digits, two tokens in most models; empty for an unknown id."""
    if not author_id:
        return ""
    digest = blake2b(author_id.to_bytes(8, "big"), digest_size=8).digest()
    return f"#{int.from_bytes(digest) % 10**6:06}"


def beginning(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return shorten(" ".join(text.split()), _BEGINNING)


_HEADINGS: Final[dict[Pointing, str]] = {
    "reply": "In reply to {whose}:",
    "above": "Which replies to {whose}:",
    "link": "The link leads to {whose}:",
    "picture": "Just above it stands {whose}:",
    "menu": "About {whose}:",
    "since": "The conversation from {whose} on:",
}
_NOT_SHOWN: Final[dict[Pointing, str]] = {
    "reply": "In reply to a message that is not shown to you.",
    "above": "Which replies to a message that is not shown to you.",
    "link": "The link leads to a message that is not shown to you.",
    "picture": "Just above it stands a picture that is not shown to you.",
    "menu": "About a message that is not shown to you.",
    "since": "The conversation from a message on that is not shown to you.",
}


def quote(references: Sequence[Reference]) -> str:
    return "\n\n".join(map(_quoted, references))


def _quoted(reference: Reference) -> str:
    if not reference.shown:
        return f"[{_NOT_SHOWN[reference.pointing]}]"
    named = bool(reference.author_name)
    whose = (
        f"a message of {speaker(reference.author_name, reference.author_id)}" if named else "your own answer"
    )
    heading = _HEADINGS[reference.pointing].format(whose=whose)
    said = reference.content
    if reference.pointing != "since":
        said = shorten(said, REFERENCE_CHARACTERS)
    return "\n".join((f"[{heading}]", *(f"> {line}" for line in said.splitlines())))


UNSAID: Final = "…"
"""Stands for an answer without text."""


def message_parts(message: Message) -> Iterator[PromptPart]:
    """An answer's calls come first: many servers refuse a result followed by a question."""
    if message.role == "user":
        yield user_part(message)
        return
    yield from call_parts(message)
    yield AssistantPart(message.content or UNSAID, tainted=message.tainted)


def user_part(message: Message) -> UserPart:
    if not (message.attachments or message.references):
        return UserPart(message.content, tainted=message.taints)
    pointed_at = (file for reference in message.references for file in reference.attachments)
    files = (*pointed_at, *message.attachments)
    texts = (quote(message.references), message.content, *as_prompt_texts(files, estimate_tokens))
    images = tuple(file for file in files if file.is_image)
    return UserPart("\n\n".join(filter(None, texts)), images, message.taints)


def call_parts(message: Message) -> Iterator[PromptPart]:
    """Each call is followed by its result: most servers refuse a call without one."""
    steps = list[list[tuple[str, ToolCall]]]()
    for index, call in enumerate(message.tool_calls):
        if call.native or not steps:
            steps.append([])
        steps[-1].append((_call_id(message, index), call))
    for calls in steps:
        requests = (ToolRequest(id_, call.name, call.arguments) for id_, call in calls)
        yield AssistantPart("", tuple(requests), message.tainted, calls[0][1].native)
        for id_, call in calls:
            yield ToolResultPart(id_, call.name, result_for_model(call.result), message.tainted)


def _call_id(message: Message, index: int) -> str:
    """The model's own ids may repeat, and Mistral accepts only nine letters and digits."""
    return blake2b(f"{message.id}:{index}".encode()).hexdigest()[:9]


MESSAGE_TOKENS: Final = 4
"""Overhead of a message, a tool call or a tool."""
_NATIVE_CHARACTERS: Final = 4
"""Provider data is mostly base64, or English."""
IMAGE_TOKENS: Final = 800


@dataclass(frozen=True, slots=True)
class _Kind:
    """The patterns never backtrack, so all take linear time."""

    pattern: re.Pattern[str]
    per_run: float = 0.0
    per_character: float = 0.0


_KANA_AND_KANJI: Final = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff々〆〇"
_JAPANESE_MARKS: Final = "\u3000-\u3004\u3008-\u3020・！-／：-＠［-｀｛-･"

_KINDS: Final = (
    _Kind(re.compile("[A-Z]?[a-z]+"), 1.0),
    _Kind(re.compile("(?<=[a-z]{6})[a-z]+"), 0.0, 0.07),  # long words are in more than one piece
    _Kind(re.compile("[A-Z]+(?![a-z])"), 0.9, 0.03),
    _Kind(re.compile("[0-9]{1,3}"), 1.5),  # with the space before it, which is no part of a number
    _Kind(re.compile("[!-/:-@\\[-`{-~]+"), 0.45, 0.22),
    _Kind(re.compile(r"[\r\n][\r\n \t]*"), 1.2),  # with the indentation that follows
    _Kind(re.compile("[ \t\r\n]{16}"), 0.3),
    _Kind(re.compile("[\u3041-\u309f]+"), 0.03, 0.56),
    _Kind(re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+"), 1.55, 0.27),
    _Kind(re.compile("[\u3400-\u4dbf\u4e00-\u9fff々〆〇]+"), 0.1, 0.99),
    _Kind(re.compile(f"[{_JAPANESE_MARKS}]"), 1.07),
    _Kind(
        re.compile("[\u00c0-\u06ff\u0900-\u1fff]"), 0.45
    ),  # Latin with accents, Greek, Cyrillic, Arabic, Thai …
    _Kind(re.compile("[\uac00-\ud7a3]"), 0.85),
    _Kind(  # emoji and whatever else there is
        re.compile(f"[^\0-\u007f\u00c0-\u06ff\u0900-\u1fff\uac00-\ud7a3{_KANA_AND_KANJI}{_JAPANESE_MARKS}]"),
        1.35,
    ),
    _Kind(re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]"), 1.0),
)
_ASCII: Final = re.compile("[\0-\x7f]+")
_ALL_OF_ASCII: Final = "".join(map(chr, range(128))) + " " * 16
_RUNS: Final = tuple(
    (kind.pattern.search(_ALL_OF_ASCII) is not None, kind.pattern.findall, kind.per_run, kind.per_character)
    for kind in _KINDS
)
_ASCII_RUNS: Final = tuple(run for run in _RUNS if run[0])


def estimate_tokens(text: str) -> int:
    """Never 0 for a non-empty text."""
    kinds, ascii_ = (_ASCII_RUNS, text) if text.isascii() else (_RUNS, "\x80".join(_ASCII.findall(text)))
    total = 0.0
    for of_ascii, find, per_run, per_character in kinds:
        if runs := find(ascii_ if of_ascii else text):
            total += per_run * len(runs) + (per_character and per_character * len("".join(runs)))
    return max(round(total), bool(text))


def request_tokens(request: ChatRequest) -> int:
    """Tools included."""
    return sum(map(part_tokens, request.prompt)) + tools_tokens(request.tools)


def tools_tokens(tools: Iterable[ToolSchema]) -> int:
    return sum(MESSAGE_TOKENS + _schema_tokens(_schema_text(tool)) for tool in tools)


def message_tokens(message: Message) -> int:
    return sum(map(part_tokens, message_parts(message)))


def max_message_tokens(message: Message) -> int:
    """Return a quick upper bound of `message_tokens`: no character is estimated at more than two."""
    if message.attachments or message.references or message.tool_calls:
        return message_tokens(message)
    return MESSAGE_TOKENS + 2 * len(message.content or UNSAID)


def part_tokens(part: PromptPart) -> int:
    tokens = MESSAGE_TOKENS + estimate_tokens(part.text)
    if isinstance(part, UserPart):
        tokens += IMAGE_TOKENS * len(part.images)
    elif isinstance(part, AssistantPart):
        tokens += len(part.native) // _NATIVE_CHARACTERS
        for call in part.tool_requests:
            tokens += MESSAGE_TOKENS + estimate_tokens(call.name) + estimate_tokens(call.arguments)
    return tokens


def has_images(prompt: Sequence[PromptPart]) -> bool:
    """The cost of pictures is a guess."""
    return any(isinstance(part, UserPart) and part.images for part in prompt)


@lru_cache(maxsize=256)
def _schema_tokens(schema: str) -> int:
    return estimate_tokens(schema)


def _schema_text(tool: ToolSchema) -> str:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))


def max_file_tokens(media_type: str, size: int) -> int:
    """A quick upper estimate."""
    if media_type.startswith("image/"):
        return IMAGE_TOKENS
    if is_recording(media_type):
        return TOKENS_A_SECOND * size // BYTES_A_SECOND
    return min(size, MAX_TEXT_BYTES) // 3
