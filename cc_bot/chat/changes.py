"""Reads the changes that tools report in their results, and finds the handlers that show them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Protocol

from cc_bot.chat.reply import Action, Caller
from cc_bot.domain.change import Change, add_change
from cc_bot.domain.message import ToolCall
from cc_bot.domain.tool_calls import is_server_tool
from cc_bot.features import modules
from cc_bot.texts import Texts

if TYPE_CHECKING:
    from cc_bot.chat.stores.opening import Stores


class ChangeHandler(Protocol):
    """Reads and shows the changes of one kind of item. In a feature's module `changes`, CHANGES maps each
    `Change.what` to its handler."""

    table: str  # the table of the items

    def read_changes(self, result: Mapping[str, Any]) -> Iterable[Change]:
        """Yield the changes that the result of a stored call reports."""

    def format_line(self, change: Change, caller: Caller, *, limit: int, public: bool, numbered: bool) -> str:
        """Describe the change. `limit`: characters of its text. `public`: others may read the line.
        `numbered`: with the item's number."""

    def make_undo(self, change: Change, words: Texts) -> Action | None:
        """Return the action that undoes the change, if any."""

    async def refresh(self, changes: Sequence[Change], user_id: int, stores: "Stores") -> Sequence[Change]:
        """Return the changes with the current state of their items."""


@cache
def change_handlers() -> Mapping[str, ChangeHandler]:
    return {what: each for module in modules("changes") for what, each in module.CHANGES.items()}


async def with_current_state(changes: Sequence[Change], user_id: int, stores: "Stores") -> tuple[Change, ...]:
    """Return the changes with their current state; `undone` if their feature was taken out."""
    current = dict[Change, Change]()
    for what, handler in change_handlers().items():
        matching = [each for each in changes if each.what == what]
        current.update(zip(matching, await handler.refresh(matching, user_id, stores), strict=True))
    return tuple(current.get(each) or replace(each, state="undone") for each in changes)


def read_changes(calls: Iterable[ToolCall]) -> tuple[Change, ...]:
    results = [parse_result(call) for call in calls]
    changes = (
        each
        for result in results
        for kind in change_handlers().values()
        for each in kind.read_changes(result)
    )
    return reduce(add_change, changes, tuple[Change, ...]())


def parse_result(call: ToolCall) -> dict[str, Any]:
    """Return the result; empty if the call failed, its result was erased, or its tool is a server's."""
    try:
        result = json.loads(call.result) if call.ok and not is_server_tool(call.name) else {}
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}
