"""Puts tool calls together from the fragments in which they are streamed.

The API sends a call's id and name once and its arguments piece by piece, all under one index. Other
servers leave out ids or the index, give every call index 0, repeat the name in each fragment, or send
whole calls at once. What belongs together is decided here, by what the fragments do say.

Each fragment costs what it is long, however many came before it: calls are found by index and id, and
arguments are joined once.
"""

from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from cc_bot.llm.chat_chunks import CallFragment, join_surrogates
from cc_bot.llm.chat_messages import is_json_object
from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, MAX_CALLS, ToolRequest

_LONGEST_NAME: Final = 256
"""Of a tool, and of a call's id; of what is longer the rest is dropped. No tool of ours has such a name."""


@dataclass(slots=True)
class _Arguments:
    """Text that grows, and is read as far as it must be to tell whether it is a whole JSON object."""

    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False
    _closings: int = 0
    """How often all that was open has been closed: once, in an object."""

    def __bool__(self) -> bool:
        return self._length > 0

    def add(self, text: str) -> None:
        """Of what no call may have one character is kept, by which it is known to be too long."""
        text = text[: MAX_ARGUMENTS_CHARACTERS + 1 - self._length]
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._follow(text)

    def text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def whole(self) -> bool:
        """Whether it is a JSON object. Looked at closely only when brackets say that it can be one: a server
        that repeats the name in each fragment has this asked of each."""
        closed = self._closings == 1 and not self._depth and not self._in_string
        return closed and self._length <= MAX_ARGUMENTS_CHARACTERS and is_json_object(self.text())

    def _follow(self, text: str) -> None:
        for character in text:
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = character == "\\"
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                self._closings += not self._depth


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: _Arguments = field(default_factory=_Arguments)

    def add(self, fragment: CallFragment) -> None:
        name = fragment.name[:_LONGEST_NAME]
        self.id = self.id or fragment.id[:_LONGEST_NAME]
        if name.startswith(self.name):  # the first, a repeated, or a longer name
            self.name = name
        elif not self.arguments:
            self.name = (self.name + name)[:_LONGEST_NAME]
        self.arguments.add(fragment.arguments)


class ToolCallAssembler:
    """Takes fragments in the order in which they came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._last: dict[int | None, _Call] = {}
        """The last call of each index, and of all under None."""
        self._named: dict[tuple[int | None, str], _Call] = {}
        """The last call of each index and id, and of each id under None."""

    def add(self, fragment: CallFragment) -> None:
        call = self._continued_by(fragment)
        if call is None:
            if len(self._calls) == MAX_CALLS:
                return
            call = _Call(fragment.index)
            self._calls.append(call)
            self._last[call.index] = self._last[None] = call
        call.add(fragment)
        if call.id:
            self._named[call.index, call.id] = self._named[None, call.id] = call

    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls in the order in which they began, each with an id of its own.

        A call without a name is left out: nobody could answer it.
        """
        requests: dict[str, ToolRequest] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else _new_id()
                arguments = join_surrogates(call.arguments.text()) or "{}"
                requests[call_id] = ToolRequest(call_id, call.name, arguments)
        return tuple(requests.values())

    def _continued_by(self, fragment: CallFragment) -> _Call | None:
        """The call that the fragment belongs to; None when it begins a new one."""
        named = self._named.get((fragment.index, fragment.id[:_LONGEST_NAME])) if fragment.id else None
        last = named or self._last.get(fragment.index)
        if last is None or _begins_another(fragment, last):
            return None
        return last


def _begins_another(fragment: CallFragment, last: _Call) -> bool:
    if not fragment.name:
        return False
    if fragment.id and last.id and fragment.id[:_LONGEST_NAME] != last.id:
        return True
    if fragment.index is None and last.name not in ("", fragment.name[:_LONGEST_NAME]):
        return True
    return bool(fragment.arguments) and last.arguments.whole()


def _new_id() -> str:
    """Nine letters and digits: the one form that Mistral's API and templates take."""
    return uuid4().hex[:9]
