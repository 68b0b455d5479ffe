"""What a chunk of a Chat Completions stream says, read as the JSON it is.

Servers differ: `choices` is empty or missing, `delta` is null, usage comes in a chunk of its own or
never, fields are added. So nothing is taken for granted here, and what is not understood is skipped.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.events import Usage
from cc_bot.llm.model import MAX_CALLS

MOST_TOKENS: Final = 100_000_000
"""Of one request: more than any model reads. A server that tells more is mistaken."""


_THOUGHTS: Final = {"<think>": "</think>", "<thinking>": "</thinking>", "[think]": "[/think]"}
"""How models begin to think aloud, and how they end. Mistral's have brackets."""
_ENDS: Final = frozenset(_THOUGHTS.values())
_MARKS: Final = (*_THOUGHTS, *_ENDS)
_BEGINNINGS: Final = frozenset(mark[:length] for mark in _MARKS for length in range(1, len(mark)))
_LONGEST_MARK: Final = max(map(len, _MARKS))
_SPECIAL: Final = re.compile(r"[`<\[\n]")
_FENCE: Final = 3
"""So many backticks begin code that goes on over lines; fewer end with theirs."""
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


class Thoughts:
    """Takes out of an answer what the model thinks aloud, in whatever pieces it comes.

    In code the marks are text: between backticks on one line, and within a fence. What is begun and not ended
    is all thought. An end without a beginning means that all before it was thought: some servers' templates
    write the beginning themselves.
    """

    def __init__(self) -> None:
        self._held = ""
        """What may become a mark."""
        self._end = ""
        """The mark that ends the thought; empty outside of one."""
        self._code = 0
        """How many backticks have begun the code that is being read."""
        self._ticks = 0
        """How many have just been read."""
        self.begun_before = False
        """Whether all that was said up to the last piece was thought."""

    @property
    def thinking(self) -> bool:
        return bool(self._end)

    def add(self, piece: str) -> str:
        """What of it is said, as far as that is known by now."""
        text, self._held, self.begun_before = self._held + piece, "", False
        lowered = text.lower() if len(text.lower()) == len(text) else text
        said: list[str] = []
        at = 0
        while at < len(text):
            if self._end:
                at = self._skip(lowered, at)
                continue
            found = _SPECIAL.search(text, at)
            stop = found.start() if found else len(text)
            if stop > at:
                self._read(text[at])
                said.append(text[at:stop])
                at = stop
                continue
            ahead = lowered[at : at + _LONGEST_MARK]
            mark = "" if self._in_code(text[at]) else next(filter(ahead.startswith, _MARKS), "")
            if mark in _ENDS:
                said.clear()
                self.begun_before = True
                at += len(mark)
            elif mark:
                self._end = _THOUGHTS[mark]
                at += len(mark)
            elif not self._in_code(text[at]) and at + len(ahead) == len(text) and ahead in _BEGINNINGS:
                self._held = text[at:]
                break
            else:
                self._read(text[at])
                said.append(text[at])
                at += 1
        return "".join(said)

    def rest(self) -> str:
        """What was held back and became no mark."""
        return "" if self._end else self._held

    def _skip(self, lowered: str, at: int) -> int:
        """Where to read on after what is thought there."""
        found = lowered.find(self._end, at)
        if found >= 0:
            found, self._end = found + len(self._end), ""
            return found
        tails = (lowered[start:] for start in range(max(at, len(lowered) - len(self._end) + 1), len(lowered)))
        self._held = next(filter(self._end.startswith, tails), "")
        return len(lowered)

    def _in_code(self, letter: str) -> bool:
        """Whether a letter is code, as it comes after the backticks that were just read."""
        if letter != "`" and self._ticks:
            ticks, self._ticks = self._ticks, 0
            if not self._code:
                self._code = ticks
            elif ticks == self._code or ticks >= self._code >= _FENCE:
                self._code = 0
        return self._code > 0

    def _read(self, letter: str) -> None:
        self._in_code(letter)
        if letter == "`":
            self._ticks += 1
        elif letter == "\n" and self._code < _FENCE:
            self._code = 0


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
