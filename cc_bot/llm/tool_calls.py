"""Puts tool calls together from the fragments in which they are streamed.

The API sends a call's id and name once and its arguments piece by piece, all under one index. Other
servers leave out ids or the index, give every call index 0, repeat the name in each fragment, or send
whole calls at once. What belongs together is decided here, by what the fragments do say.
"""

from dataclasses import dataclass
from uuid import uuid4

from cc_bot.llm.chat_chunks import CallFragment, join_surrogates
from cc_bot.llm.chat_messages import is_json_object
from cc_bot.llm.model import ToolRequest


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""

    def add(self, fragment: CallFragment) -> None:
        self.id = self.id or fragment.id
        if fragment.name.startswith(self.name):  # the first, a repeated, or a longer name
            self.name = fragment.name
        elif not self.arguments:
            self.name += fragment.name
        self.arguments += fragment.arguments


class ToolCallAssembler:
    """Takes fragments in the order in which they came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def add(self, fragment: CallFragment) -> None:
        call = self._continued_by(fragment)
        if call is None:
            call = _Call(fragment.index)
            self._calls.append(call)
        call.add(fragment)

    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls in the order in which they began, each with an id of its own.

        A call without a name is left out: nobody could answer it.
        """
        requests: dict[str, ToolRequest] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else _new_id()
                arguments = join_surrogates(call.arguments) or "{}"
                requests[call_id] = ToolRequest(call_id, call.name, arguments)
        return tuple(requests.values())

    def _continued_by(self, fragment: CallFragment) -> _Call | None:
        """The call that the fragment belongs to; None when it begins a new one."""
        calls = [call for call in self._calls if fragment.index is None or call.index == fragment.index]
        named = [call for call in calls if fragment.id and call.id == fragment.id]
        last = next(reversed(named or calls), None)
        if last is None or _begins_another(fragment, last):
            return None
        return last


def _begins_another(fragment: CallFragment, last: _Call) -> bool:
    if not fragment.name:
        return False
    if fragment.id and last.id and fragment.id != last.id:
        return True
    if fragment.index is None and last.name not in ("", fragment.name):
        return True
    return bool(fragment.arguments) and is_json_object(last.arguments)


def _new_id() -> str:
    """Nine letters and digits: the one form that Mistral's API and templates take."""
    return uuid4().hex[:9]
