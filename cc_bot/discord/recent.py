"""A mapping that forgets what was not used for longest, so that memory does not grow with a bot's years."""

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    def __init__(self, most: int) -> None:
        """`most` entries at a time."""
        self._most = most
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def discard(self, key: Key) -> None:
        self._entries.pop(key, None)

    def __setitem__(self, key: Key, value: Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
