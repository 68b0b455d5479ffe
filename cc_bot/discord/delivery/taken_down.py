"""Which messages the bot itself takes down, so that Discord's word of it is not mistaken for somebody's wish.

Whoever deletes an answer wants it forgotten. A page that an answer no longer needs is another matter.
"""

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress

import hikari

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


async def delete_all(
    rest: hikari.api.RESTClient, channel_id: int, message_ids: Iterable[int], taken_down: TakenDown
) -> None:
    """Take down the rest of an answer that was replaced, as far as that is possible."""
    for message_id in message_ids:
        taken_down.expect(message_id)
        with suppress(hikari.ForbiddenError, hikari.NotFoundError):
            await rest.delete_message(channel_id, message_id)
