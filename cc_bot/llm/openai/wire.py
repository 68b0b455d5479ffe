"""The thoughts that a model thinks aloud, taken out of what it says.

Most mark it like `<think>…</think>`, with other words and brackets from family to family. gpt-oss writes
channels (`<|channel|>analysis<|message|>…<|end|>`), which servers that do not know them pass on as they are.
"""

import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from secrets import token_hex
from typing import Any, Final, assert_never

from pydantic_core import from_json

from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import (
    MAX_CALLS,
    AssistantPart,
    ChatRequest,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

# ---- thoughts ------------------------------------------------------------------------------------------


_TAGS: Final = (
    "<think>",
    "<thinking>",
    "<reasoning>",
    "<thought>",  # Gemma
    "[think]",  # Mistral
    "\u25c1think\u25b7",  # Kimi
)
_ENDS: Final = frozenset(f"{tag[0]}/{tag[1:]}" for tag in _TAGS)
_HEADER: Final = "<|start|>assistant"
_FINAL: Final = "<|channel|>final"
_BETWEEN: Final = frozenset({"<|message|>", "<|end|>", "<|return|>", "<|call|>"})
"""What stands between the messages of gpt-oss; from other models it may be text."""
_ENDS_CHANNEL: Final = frozenset({"<|end|>", "<|return|>", "<|call|>", _HEADER, _FINAL})
_BEGINNINGS: Final = {
    **{tag: frozenset({f"{tag[0]}/{tag[1:]}"}) for tag in _TAGS},
    "<|channel|>analysis": _ENDS_CHANNEL,
    "<|channel|>commentary": _ENDS_CHANNEL,
    _FINAL: frozenset({"<|message|>"}),
}
"""What begins something that is not said, and the marks that end it."""
_MARKS: Final = frozenset((*_BEGINNINGS, *_ENDS, *_BETWEEN, _HEADER))
_BEGUN: Final = frozenset(mark[:length] for mark in _MARKS for length in range(1, len(mark)))
_MARK: Final = re.compile(
    r"[<\[\u25c1][ \t]{0,2}/?[ \t]{0,2}[a-z]{5,9}[ \t]{0,2}[>\]\u25b7]"
    r"|<\|(?:start\|>assistant|channel\|>(?:analysis|commentary|final)|message\|>|end\|>|return\|>|call\|>)",
    re.IGNORECASE | re.ASCII,
)
_LONGEST: Final = max(map(len, _MARKS)) + 6
_SPECIAL: Final = re.compile(r"[`~<\[\u25c1\n]")
_BRACKETS: Final = "<[\u25c1"
_FENCE: Final = 3
"""So many backticks begin code that goes on over lines; fewer end with theirs. Tildes begin it at the
beginning of a line."""


class Thoughts:
    """Takes out of an answer what the model thinks aloud, in whatever pieces it comes.

    In code the marks are text: between backticks on one line, and within a fence. What is begun and not ended
    is all thought. An end without a beginning means that all before it was thought: some servers' templates
    write the beginning themselves.
    """

    def __init__(self) -> None:
        self._held = ""
        """What may become a mark."""
        self._ends = frozenset[str]()
        """The marks that end the thought; empty outside of one."""
        self._channels = False
        """Whether it has written one of its channels."""
        self._code = ""
        """The backticks or tildes that have begun the code that is being read."""
        self._run = ""
        """Those that have just been read."""
        self._at_line = True
        """Whether the line holds nothing yet but blanks and marks of a quotation."""
        self.begun_before = False
        """Whether all that was said up to the last piece was thought."""

    @property
    def thinking(self) -> bool:
        return bool(self._ends)

    def add(self, piece: str) -> str:
        """Return what of a text is said, as far as that is known by now."""
        text, self._held, self.begun_before = self._held + piece, "", False
        said: list[str] = []
        at = 0
        while at < len(text):
            if self._ends:
                at = self._skip(text, at)
                continue
            found = _SPECIAL.search(text, at)
            stop = found.start() if found else len(text)
            if stop == at:
                stop = at + 1
                if text[at] in _BRACKETS and not self._in_code(text[at]):
                    match = _MARK.match(text, at)
                    mark = _plain(match[0]) if match else ""
                    if match and self._is_mark(mark):
                        at = match.end()
                        self._take(mark, said)
                        continue
                    ahead = text[at : at + _LONGEST]
                    if not match and at + len(ahead) == len(text) and _plain(ahead) in _BEGUN:
                        self._held = ahead
                        break
            self._read(text[at:stop])
            said.append(text[at:stop])
            at = stop
        return "".join(said)

    def rest(self) -> str:
        """Return what was held back and became no mark."""
        return "" if self._ends else self._held

    def _is_mark(self, mark: str) -> bool:
        return mark in _MARKS and (mark not in _BETWEEN or self._channels)

    def _take(self, mark: str, said: list[str]) -> None:
        """Read on after a mark."""
        channels = "|" in mark
        if mark in _ENDS or (mark in {_HEADER, _FINAL} and not self._channels):
            said.clear()
            self.begun_before = self._at_line = True
        self._channels = self._channels or channels
        self._ends = _BEGINNINGS.get(mark, frozenset())

    def _skip(self, text: str, at: int) -> int:
        """Find where to read on after what is thought there."""
        for match in _MARK.finditer(text, at):
            if (mark := _plain(match[0])) in self._ends:
                self._ends = _BEGINNINGS.get(mark, frozenset())
                return match.end()
        for start in range(max(at, len(text) - _LONGEST + 1), len(text)):
            if text[start] in _BRACKETS and _plain(text[start:]) in _BEGUN:
                self._held = text[start:]
                break
        return len(text)

    def _in_code(self, letter: str) -> bool:
        """Return whether a letter is code, as it comes after the marks of code that were just read."""
        if self._run and letter != self._run[0]:
            run, self._run = self._run, ""
            if not self._code:
                self._code = "" if run[0] == "~" and len(run) < _FENCE else run
            elif run[0] == self._code[0] and (
                len(run) == len(self._code) or len(run) >= len(self._code) >= _FENCE
            ):
                self._code = ""
        return bool(self._code)

    def _read(self, said: str) -> None:
        """Take note of something that is said: a letter that means something here, or others."""
        letter = said[0]
        self._in_code(letter)
        if letter == "`" or (letter == "~" and (self._at_line or self._run)):
            self._run += letter
        elif letter == "\n" and len(self._code) < _FENCE:
            self._code = ""
        self._at_line = letter == "\n" or (self._at_line and not said.strip(" \t>"))


def _plain(mark: str) -> str:
    """A mark as it is listed here."""
    return mark.replace(" ", "").replace("\t", "").lower()


# ---- chat messages -------------------------------------------------------------------------------------
# A request in the words of the Chat Completions API: prompt parts and tools become JSON.
#
# Where the API leaves a choice, this takes the form that most servers accept: plain strings where no image
# is sent, no `tools` key when there are none, and never malformed JSON in a call that is sent back
# (llama.cpp and others parse the arguments of earlier calls and fail on them).


Json = dict[str, Any]

_LEFT_OUT: Final = "[An image that was here is too long ago to be shown again.]"
MAX_CACHE_MARKS = 4
"""As Anthropic's API has it: a fifth `cache_control` in a request is refused."""


def request_body(model: str, request: ChatRequest, *, cache_control: bool = False) -> Json:
    """The body of a streamed request, without options that some servers refuse. In place of the URL of an
    image stands the image itself: see RequestBody.

    With `cache_control` the ends of what is stable are marked: the first, which is the same in the most
    requests, and the last ones.
    """
    messages = [_message(part) for part in _with_few_images(request.prompt)]
    if cache_control:
        for index in _marked(request.stable):
            messages[index] = _with_mark(messages[index])
    body: Json = {"model": model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return body


def is_json_object(text: str) -> bool:
    """Read strictly: NaN, half a surrogate pair or endless brackets are none."""
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def _message(part: PromptPart) -> Json:
    match part:
        case SystemPart(text):
            return {"role": "system", "content": text}
        case UserPart(text, images):
            return {"role": "user", "content": _content(text, images)}
        case AssistantPart(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantPart(text, requests):
            calls = [_call(request) for request in requests]
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        case ToolResultPart():
            return {"role": "tool", "tool_call_id": part.request_id, "content": part.text}
        case _:
            assert_never(part)


def _with_few_images(prompt: Sequence[PromptPart]) -> Sequence[PromptPart]:
    """The prompt with its newest images, as many as there is room for; a line says where one is left out."""
    room = MAX_REQUEST_IMAGE_BYTES
    parts = list[PromptPart]()
    for part in reversed(prompt):
        kept = part
        if isinstance(part, UserPart):
            images = list[Attachment]()
            for image in reversed(part.images):
                room -= len(image.data)
                if image.data and room >= 0:
                    images.append(image)
            if len(images) < len(part.images):
                kept = UserPart(f"{part.text}\n\n{_LEFT_OUT}".strip(), tuple(reversed(images)))
        parts.append(kept)
    return parts[::-1]


def _marked(stable: Sequence[int]) -> Sequence[int]:
    return (*stable[:1], *stable[1:][-(MAX_CACHE_MARKS - 1) :])


def _with_mark(message: Json) -> Json:
    """The message, as one up to which everything can be cached. What has no text of its own can't carry a
    mark, and empty text must not."""
    content = message["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not parts or not parts[-1].get("text", "image"):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]}


def _content(text: str, images: Sequence[Attachment]) -> str | list[Json]:
    if not images:
        return text
    words: list[Json] = [{"type": "text", "text": text}] if text else []
    return words + [{"type": "image_url", "image_url": {"url": image}} for image in images]


def _call(request: ToolRequest) -> Json:
    arguments = request.arguments if is_json_object(request.arguments) else "{}"
    return {
        "id": request.id,
        "type": "function",
        "function": {"name": request.name, "arguments": arguments},
    }


def _tool(tool: ToolSchema) -> Json:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


# ---- encoded body ----------------------------------------------------------------------------------------

_ENCODED_BYTES: Final = 48 * 1024
"""Bytes of an image that are encoded at a time: a multiple of 3, so that the pieces join to one base64."""


class RequestBody:
    """The bytes of a request. Images are encoded to base64 while they are sent, so no copy of them is held.

    The client sends a body again only if it can be rewound like a file, so this has a file's methods.
    """

    def __init__(self, body: Json) -> None:
        """`body` as `request_body` makes it."""
        mark, self._images = token_hex(16), list[bytes]()

        def data_url(image: Attachment) -> str:
            self._images.append(image.data)
            return f"data:{image.content_type};base64,{mark}"

        def dumps(value: object) -> bytes:
            encoded = json.dumps(
                value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=data_url
            )
            return encoded.encode()

        # Message by message: each is one call that holds the interpreter's lock.
        fields = {name: dumps(value) for name, value in body.items() if name != "messages"}
        fields["messages"] = b"[" + b",".join(map(dumps, body["messages"])) + b"]"
        encoded = b"{" + b",".join(dumps(name) + b":" + value for name, value in fields.items()) + b"}"
        self._texts = encoded.split(mark.encode())

    def __len__(self) -> int:
        return sum(map(len, self._texts)) + sum(-(-len(image) // 3) * 4 for image in self._images)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks():
            yield chunk

    def read(self) -> bytes:
        return b"".join(self._chunks())

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0

    def seek(self, position: int) -> int:
        """Do nothing: each iteration begins at the start."""
        return position

    def _chunks(self) -> Iterator[bytes]:
        for text, image in zip_longest(self._texts, self._images, fillvalue=b""):
            yield text
            for start in range(0, len(image), _ENCODED_BYTES):
                yield b64encode(image[start : start + _ENCODED_BYTES])


# ---- chat chunks -----------------------------------------------------------------------------------------
# What a chunk of a Chat Completions stream says, read as the JSON it is.
#
# Servers differ: `choices` is empty or missing, `delta` is null, usage comes in a chunk of its own or
# never, fields are added. So nothing is taken for granted here, and what is not understood is skipped.

MOST_TOKENS: Final = 100_000_000
"""Of one request: more than any model reads. A server that tells more is mistaken."""


_REASONING: Final = ("reasoning_content", "reasoning", "thinking")
"""Fields in which servers with a parser tell what the model thinks."""


@dataclass(frozen=True, slots=True)
class CallFragment:
    """A piece of a tool call; empty where the server sent nothing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of an answer."""

    text: str = ""
    fragments: tuple[CallFragment, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasons: bool = False
    """Whether the model thinks: of that nothing is an answer."""
    alive: bool = False
    """Whether the model did something: text, a call, reasoning, the end. A bare role or an empty
    chunk only shows that the server is there."""


def read_chunk(chunk: object) -> Piece:
    """Read a chunk. Never raises, whatever it is."""
    choice = _first(_mapping(chunk).get("choices"))
    delta = _mapping(choice.get("delta"))
    finish_reason = _text(choice.get("finish_reason")) or None
    usage = _usage(_mapping(chunk).get("usage"))
    return Piece(
        text=_text(delta.get("content")) or _text(delta.get("refusal")),
        fragments=tuple(_fragment(_mapping(item)) for item in _items(delta.get("tool_calls"))[:MAX_CALLS]),
        finish_reason=finish_reason,
        usage=usage,
        reasons=any(map(delta.get, _REASONING)),
        alive=bool(finish_reason or usage or any(value for key, value in delta.items() if key != "role")),
    )


class TextJoiner:
    """Makes text that can be shown and stored out of pieces as servers cut them.

    White space is held back until a word follows, so that nothing counts as an answer that a user can't
    see; so is half of a UTF-16 surrogate pair (an escaped emoji cut in two), until its other half comes.
    """

    def __init__(self) -> None:
        self._held = ""
        self.begun = False
        """Whether anything visible came."""

    def add(self, piece: str) -> str:
        """The text that can go out now; often the piece itself, sometimes nothing."""
        text, self._held = self._held + piece, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        if not self.begun and not text.strip():
            self._held = text + self._held
            return ""
        self.begun = True
        return join_surrogates(text)


def join_surrogates(text: str) -> str:
    """The text with surrogate pairs joined, and lone halves replaced by U+FFFD: neither can be stored."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _fragment(call: Mapping[str, Any]) -> CallFragment:
    function = _mapping(call.get("function"))
    index, arguments = call.get("index"), function.get("arguments")
    return CallFragment(
        index=index if isinstance(index, int) else None,
        id=_text(call.get("id")),
        name=_text(function.get("name")),
        # Some servers send the arguments as an object instead of its text.
        arguments=json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, Mapping)
        else _text(arguments),
    )


def _usage(value: object) -> Usage | None:
    """Read the usage; None where a number can't be right: what is charged then is an estimate, and not
    nonsense."""
    if not isinstance(value, Mapping):
        return None
    prompt, completion = (_count(value.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    if prompt is None or completion is None:
        return None
    cached = _count(_mapping(value.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(prompt, completion, min(cached or 0, prompt))


def _count(value: object) -> int | None:
    """0 where nothing is told; None for what is no number of tokens."""
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _first(value: object) -> Mapping[str, Any]:
    return _mapping(next(iter(_items(value)), None))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# ---- context length --------------------------------------------------------------------------------------
# Recognises a refusal that means 'too long for the model', which each server words in its own way.
#
# OpenAI has a code for it, which some imitate; the rest is prose. The patterns below are what llama.cpp,
# vLLM, SGLang, TGI, LM Studio, Ollama, Mistral, Gemini, xAI and gateways to Anthropic send. A false match
# costs one more request with a shorter history; a missed one costs the user the answer. So they are broad.

_CODES: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
)

_TOO_LONG: Final = re.compile(
    r"""
      context_length_exceeded
    | (?:maximum|model'?s?|available|exceed\w{0,3}|the|greater\ than)\ (?:\w+\ ){0,3}
      context\ (?:length|size|window)\b
    | context\ (?:length|size|window)\ (?:has\ been\ |is\ |was\ |limit\ )?(?:exceeded|of\ only|reached)
    | exceeds?\ (?:the\ )?(?:max\w{0,5}\ )?context
    | exceeds?\ context\ (?:length|size|window|limit)
    | when\ context\ the\ overflows
    | (?:prompt|input|request)\ (?:\w+\ )?(?:is\ )?too\ (?:long|large)\b
    | too\ large\ for\ model\ with
    | longer\ than\ the\ (?:maximum\ model|model's\ context)\ length
    | maximum\ prompt\ length
    | greater\ than\ max_seq_len
    | input\ token\ count\b.{0,40}\bexceeds
    | inputs?`?\ tokens\ \+\ `?max_new_tokens
    | must\ have\ less\ than\ \d+\ tokens
    """,
    re.IGNORECASE | re.VERBOSE,
)

_LIMIT: Final = re.compile(
    r"""
    (?: (?:context|prompt|model)\ (?:length|size|window)\ (?:is|of)\ (?:only\ )?
      | context\ (?:length|size|window)\ \(
      | maximum\ model\ length\ of\ | must\ be\ <=\ | max_seq_len\ | with\ | tokens\ >\ | allowed\ \(
      | context\ length\ \(
    )
    (\d{3,8})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_LONGEST_MESSAGE: Final = 2000
"""Characters that are looked at: what comes later quotes the request."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """The limit as the server said it, in tokens; None where it did not say."""

    limit: int | None = None


def read_refusal(body: object, message: str) -> TooLong | None:
    """Read what an error says about the length of the request; None when it is about something else.

    `body` is the error as JSON, in whatever form it came; `message` its text.
    """
    error = _error(body)
    text = _text(error.get("message")) or _text(error.get("error")) or message
    text = text[:_LONGEST_MESSAGE]
    coded = {_text(error.get("code")), _text(error.get("type"))} & _CODES
    if not coded and not _TOO_LONG.search(text):
        return None
    told = error.get("n_ctx")
    found = _LIMIT.search(text)
    return TooLong(told if isinstance(told, int) else int(found[1]) if found else None)


def _error(body: object) -> Mapping[str, object]:
    """The innermost object of `{"error": {…}}`, `{"error": "…"}` or `{"message": …}`."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {}
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body
