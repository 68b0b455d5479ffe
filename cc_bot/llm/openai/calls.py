"""Assembles tool calls from the deltas in which they are streamed.

The API sends a call's id and name once and its arguments in pieces, under one index. Other servers leave out
the id or the index, give every call index 0, repeat the name in each delta, or send whole calls at once.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, MAX_CALLS, ToolRequest
from cc_bot.llm.openai.events import ToolCallDelta, is_json_object, join_surrogates

_MAX_NAME: Final = 256
_MAX_CHECKS: Final = 64


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None
    checks: int = 0

    def add(self, delta: ToolCallDelta) -> None:
        self.id = self.id or delta.id[:_MAX_NAME]
        self.extra = self.extra or delta.extra
        if delta.name.startswith(self.name):  # the first, a repeated or a longer name
            self.name = delta.name[:_MAX_NAME]
        elif not self.arguments:
            self.name = (self.name + delta.name)[:_MAX_NAME]
        self.arguments += delta.arguments[: MAX_ARGUMENTS_CHARACTERS + 1 - len(self.arguments)]

    def ends_before(self, delta: ToolCallDelta) -> bool:
        """Whether the delta begins another call under the same index."""
        if not delta.name:
            return False
        other_id = delta.id and self.id and delta.id[:_MAX_NAME] != self.id
        other_name = delta.index is None and self.name not in ("", delta.name[:_MAX_NAME])
        return bool(other_id or other_name or (delta.arguments and self._is_whole()))

    def _is_whole(self) -> bool:
        if not self.arguments.endswith("}") or self.checks == _MAX_CHECKS:
            return False
        self.checks += 1
        return is_json_object(self.arguments)


class ToolCallAssembler:
    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._newest: dict[int | None, _Call] = {}
        """The newest call of each index, and of all under None."""

    def add(self, delta: ToolCallDelta) -> None:
        call = self._newest.get(delta.index)
        if call is None or call.ends_before(delta):
            if len(self._calls) == MAX_CALLS:
                return
            call = self._newest[delta.index] = self._newest[None] = _Call()
            self._calls.append(call)
        call.add(delta)

    def requests(self) -> tuple[tuple[ToolRequest, Any], ...]:
        """The calls that have a name, in order, each with a unique id and its `extra`."""
        requests: dict[str, tuple[ToolRequest, Any]] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else uuid4().hex[:9]
                arguments = join_surrogates(call.arguments) or "{}"
                requests[call_id] = (ToolRequest(call_id, call.name, arguments), call.extra)
        return tuple(requests.values())
