"""Shows the changes that features' tools report, for front ends."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Protocol

from cc_bot.chat.reply import Action, Caller
from cc_bot.domain.change import Change, with_change
from cc_bot.domain.message import ToolCall
from cc_bot.domain.tool_calls import is_of_server
from cc_bot.features import modules
from cc_bot.texts import Texts

if TYPE_CHECKING:
    from cc_bot.chat.stores.opening import Stores


class ShownChanges(Protocol):
    """Shows changes of one kind of item. CHANGES of a feature's `changes` has one for each `Change.what`."""

    table: str  # the table of the items

    def read(self, result: Mapping[str, Any]) -> Iterable[Change]:
        """Yield the changes that the result of a stored call reports."""

    def line(self, change: Change, caller: Caller, *, limit: int, public: bool, numbered: bool) -> str:
        """`limit`: characters of the text. `public`: others may read it. `numbered`: with its number."""

    def undo(self, change: Change, words: Texts, *, only_button: bool, public: bool) -> Action | None:
        """Return the action that undoes it, if any. `only_button`: no other change has one."""

    async def refresh(self, changes: Sequence[Change], user_id: int, stores: "Stores") -> Sequence[Change]:
        """Return the changes with the current state of their items."""


@cache
def shown_changes() -> Mapping[str, ShownChanges]:
    return {what: each for module in modules("changes") for what, each in module.CHANGES.items()}


async def with_current_state(changes: Sequence[Change], user_id: int, stores: "Stores") -> tuple[Change, ...]:
    """Update the state of the changes; undone if their feature was taken out."""
    now = dict[Change, Change]()
    for what, shown in shown_changes().items():
        own = [each for each in changes if each.what == what]
        now.update(zip(own, await shown.refresh(own, user_id, stores), strict=True))
    return tuple(now.get(each) or replace(each, state="undone") for each in changes)


def read_changes(calls: Iterable[ToolCall]) -> tuple[Change, ...]:
    """Return the changes that stored calls report, merged by item."""
    results = [parse_result(call) for call in calls]
    found = (each for result in results for shown in shown_changes().values() for each in shown.read(result))
    return reduce(with_change, found, tuple[Change, ...]())


def parse_result(call: ToolCall) -> dict[str, Any]:
    """Return the result; empty if the call failed, was erased, or is of a server's tool."""
    try:
        result = json.loads(call.result) if call.ok and not is_of_server(call.name) else {}
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}
