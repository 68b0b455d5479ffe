"""Puts tool calls together from the deltas in which they are streamed.

The API sends a call's id and name once and its arguments piece by piece, under one index. Other servers leave
out ids or the index, give every call index 0, repeat the name in each delta, or send whole calls at once.
"""

from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from pydantic_core import from_json

from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, MAX_CALLS, ToolRequest

_MAX_NAME: Final = 256
_MAX_CHECKS: Final = 64


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call; empty where the server sent nothing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None
    """Other fields that the provider wants back with the call."""


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    length: int = 0
    extra: Any = None
    checks: int = 0

    def add(self, delta: ToolCallDelta) -> None:
        name = delta.name[:_MAX_NAME]
        self.id = self.id or delta.id[:_MAX_NAME]
        self.extra = self.extra or delta.extra
        if name.startswith(self.name):  # the first, a repeated, or a longer name
            self.name = name
        elif not self.length:
            self.name = (self.name + name)[:_MAX_NAME]
        text = delta.arguments[: MAX_ARGUMENTS_CHARACTERS + 1 - self.length]
        if text:
            self.parts.append(text)
            self.length += len(text)

    @property
    def arguments(self) -> str:
        self.parts = ["".join(self.parts)]
        return self.parts[0]

    @property
    def complete(self) -> bool:
        """Whether the arguments are a JSON object. Parsed only if they end like one, and not endlessly."""
        if not self.length or self.parts[-1].rstrip()[-1:] != "}" or self.checks == _MAX_CHECKS:
            return False
        self.checks += 1
        return is_json_object(self.arguments)


class ToolCallAssembler:
    """Takes deltas in the order in which they came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._last: dict[int | None, _Call] = {}
        """The last call of each index, and of all under None."""
        self._by_id: dict[tuple[int | None, str], _Call] = {}

    def add(self, delta: ToolCallDelta) -> None:
        call = self._continued(delta)
        if call is None:
            if len(self._calls) == MAX_CALLS:
                return
            call = _Call(delta.index)
            self._calls.append(call)
            self._last[call.index] = self._last[None] = call
        call.add(delta)
        if call.id:
            self._by_id[call.index, call.id] = self._by_id[None, call.id] = call

    def requests(self) -> tuple[tuple[ToolRequest, Any], ...]:
        """The calls in the order in which they began, each with a unique id, and their `extra`. A call
        without a name is left out."""
        requests: dict[str, tuple[ToolRequest, Any]] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else uuid4().hex[:9]
                arguments = join_surrogates(call.arguments) or "{}"
                requests[call_id] = (ToolRequest(call_id, call.name, arguments), call.extra)
        return tuple(requests.values())

    def _continued(self, delta: ToolCallDelta) -> _Call | None:
        """The call that the delta belongs to; None if it begins a new one."""
        by_id = self._by_id.get((delta.index, delta.id[:_MAX_NAME])) if delta.id else None
        last = by_id or self._last.get(delta.index)
        return None if last is None or _begins_another(delta, last) else last


def _begins_another(delta: ToolCallDelta, last: _Call) -> bool:
    if not delta.name:
        return False
    if delta.id and last.id and delta.id[:_MAX_NAME] != last.id:
        return True
    if delta.index is None and last.name not in ("", delta.name[:_MAX_NAME]):
        return True
    return bool(delta.arguments) and last.complete


def is_json_object(text: str) -> bool:
    """Read strictly: NaN, half a surrogate pair or endless brackets make it false."""
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def join_surrogates(text: str) -> str:
    """The text with surrogate pairs joined, and lone halves replaced by U+FFFD: neither can be stored."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
