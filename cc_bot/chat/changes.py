"""Shows the changes that features' tools report, for front ends."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
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
    """A feature's `changes` has CHANGES: these, by `Change.what`."""

    table: str
    """The table of the items."""

    def read(self, result: Mapping[str, Any]) -> Change | None:
        """Read the result of a stored call."""

    def line(self, change: Change, caller: Caller, *, limit: int = ...) -> str:
        """`limit`: characters of its text."""

    def undo(self, change: Change, words: Texts, *, only_button: bool) -> Action | None:
        """`only_button`: whether no other change is shown with a button."""

    async def now(self, change: Change, user_id: int, stores: "Stores") -> Change:
        """Return it with the item's current state."""


@cache
def shown_changes() -> Mapping[str, ShownChanges]:
    return {what: each for module in modules("changes") for what, each in module.CHANGES.items()}


async def current(change: Change, user_id: int, stores: "Stores") -> Change:
    """Return it with the item's current state; if its feature was taken out, it is undone."""
    shown = shown_changes().get(change.what)
    return await shown.now(change, user_id, stores) if shown else replace(change, state="undone")


def changes_in(calls: Iterable[ToolCall]) -> tuple[Change, ...]:
    found: tuple[Change, ...] = ()
    for call in calls:
        result = result_of(call)
        for change in filter(None, (each.read(result) for each in shown_changes().values())):
            found = with_change(found, change)
    return found


def result_of(call: ToolCall) -> dict[str, Any]:
    """Empty for tools of servers, and if it failed or was erased."""
    try:
        result = json.loads(call.result) if call.ok and not is_of_server(call.name) else {}
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}
