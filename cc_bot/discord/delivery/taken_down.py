"""Which messages the bot itself takes down, so that Discord's word of it is not mistaken for somebody's wish.

Whoever deletes an answer wants it forgotten. A page that an answer no longer needs is another matter.
"""

from collections import OrderedDict

REMEMBERED = 1000
"""Deletions whose event never came are forgotten in the end."""


class TakenDown:
    def __init__(self) -> None:
        self._ids: OrderedDict[int, None] = OrderedDict()

    def expect(self, message_id: int) -> None:
        """To be called before the message is deleted."""
        self._ids[message_id] = None
        while len(self._ids) > REMEMBERED:
            self._ids.popitem(last=False)

    def expected(self, message_id: int) -> bool:
        """Whether the bot deleted it. Each deletion is told of once."""
        return self._ids.pop(message_id, self) is None
