"""What the buttons, menus and forms of `/memory` need to know, in their custom ids: see custom_ids.py."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from cc_bot.discord.pages.custom_ids import base36
from cc_bot.domain.memory import Order

MemoryAction = Literal[
    "edit",
    "undo-edit",
    "delete",
    "undelete",
    "erase",
    "erase-alone",
    "erase-said",
    "anywhere",
    "private",
    "restore",
    "pin",
    "unpin",
]
Decision = Literal["erase", "erase-said", "import", "cancel"]


@dataclass(frozen=True, slots=True)
class ListButton:
    """Another page of /memory list."""

    user_id: int
    order: Order
    page: int
    """From 1."""
    category: str = ""
    """Only this category, if any."""

    def custom_id(self) -> str:
        return f"list:{base36(self.user_id)}:{self.order}:{base36(self.page)}:{self.category}"


@dataclass(frozen=True, slots=True)
class SearchButton:
    """Another page of /memory search. What was looked for stands in the message itself: it may be too long
    for here."""

    user_id: int
    page: int
    """From 1."""
    category: str = ""

    def custom_id(self) -> str:
        return f"search:{base36(self.user_id)}:{base36(self.page)}:{self.category}"


@dataclass(frozen=True, slots=True)
class MemoryButton:
    """Something to be done to one memory: a button, or a menu of its former versions."""

    action: MemoryAction
    user_id: int
    memory_id: int
    former_id: int = 0
    """The version that an edit replaced."""

    def custom_id(self) -> str:
        numbers = f"{base36(self.memory_id)}:{base36(self.former_id)}"
        return f"memory:{base36(self.user_id)}:{self.action}:{numbers}"


@dataclass(frozen=True, slots=True)
class OpenMenu:
    """Choose one of the memories of a page, to see all of it."""

    user_id: int

    def custom_id(self) -> str:
        return f"open:{base36(self.user_id)}"


@dataclass(frozen=True, slots=True)
class EditForm:
    """The form in which a memory is changed."""

    user_id: int
    memory_id: int

    def custom_id(self) -> str:
        return f"edit:{base36(self.user_id)}:{base36(self.memory_id)}"


@dataclass(frozen=True, slots=True)
class ConfirmButton:
    """The answer to a question about all memories: erase them, or import those of the attached file."""

    user_id: int
    decision: Decision
    count: int
    """Of how many the question spoke."""
    until: int
    """Unix seconds; after that the question has to be asked again."""

    def custom_id(self) -> str:
        return f"all:{base36(self.user_id)}:{self.decision}:{base36(self.count)}:{base36(self.until)}"


MemoryControl = ListButton | SearchButton | MemoryButton | OpenMenu | EditForm | ConfirmButton


def parse_memory_id(custom_id: str) -> MemoryControl | None:
    """What a custom id stands for; None for anything that is not of /memory."""
    kind, *parts = custom_id.split(":", 2)
    reader = _READERS.get(kind)
    if reader is None or not parts:
        return None
    user, *rest = parts
    try:
        return reader(int(user, 36), rest[0] if rest else "")
    except (KeyError, ValueError):
        return None


def _list(user_id: int, rest: str) -> ListButton:
    order, page, category = rest.split(":", 2)
    return ListButton(user_id, _ORDERS[order], int(page, 36), category)


def _search(user_id: int, rest: str) -> SearchButton:
    page, category = rest.split(":", 1)
    return SearchButton(user_id, int(page, 36), category)


def _memory(user_id: int, rest: str) -> MemoryButton:
    action, memory_id, former_id = rest.split(":")
    return MemoryButton(_ACTIONS[action], user_id, int(memory_id, 36), int(former_id, 36))


def _open(user_id: int, rest: str) -> OpenMenu:
    if rest:
        raise ValueError
    return OpenMenu(user_id)


def _edit(user_id: int, rest: str) -> EditForm:
    return EditForm(user_id, int(rest, 36))


def _all(user_id: int, rest: str) -> ConfirmButton:
    decision, count, until = rest.split(":")
    return ConfirmButton(user_id, _DECISIONS[decision], int(count, 36), int(until, 36))


_ORDERS: Final[Mapping[str, Order]] = {order: order for order in get_args(Order)}
_ACTIONS: Final[Mapping[str, MemoryAction]] = {action: action for action in get_args(MemoryAction)}
_DECISIONS: Final[Mapping[str, Decision]] = {decision: decision for decision in get_args(Decision)}
_READERS: Final[Mapping[str, Callable[[int, str], MemoryControl]]] = {
    "list": _list,
    "search": _search,
    "memory": _memory,
    "open": _open,
    "edit": _edit,
    "all": _all,
}
