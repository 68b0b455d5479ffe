"""What a chunk of a Chat Completions stream says, read as the JSON it is.

Servers differ: `choices` is empty or missing, `delta` is null, usage comes in a chunk of its own or
never, fields are added. So nothing is taken for granted here, and what is not understood is skipped.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.events import Usage
from cc_bot.llm.model import MAX_CALLS

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
    """One chunk."""

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
    """Never raises, whatever the chunk is."""
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
    """None where a number can't be right: what is charged then is an estimate, and not nonsense."""
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
