"""One press at a time, of each user on each message; and a press that comes twice is one wish.

Phones send a press twice, and people press again while nothing seems to happen. Where one press is acted on,
the next of the same user on the same message waits, and is accepted meanwhile: Discord waits 3 s for that.
What it was to do may be done by then: if its button no longer stands there, the message shows what came of
it. Nobody waits for other users, nor for other messages, nor for an answer that is on its way.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

import hikari

from cc_bot.discord.in_order import InOrder
from cc_bot.discord.interactions import accept_ahead, defer_update
from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    RetryButton,
    SeeProposalsButton,
    StopButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.memory_ids import MemoryButton, OpenMenu, parse_memory_id

ONE_WISH_S: Final = 1.0
"""Who presses the same again so soon has not seen yet what came of it."""
REMEMBERED: Final = 1000
"""Messages on which somebody pressed last."""

_AT_ONCE: Final = (StopButton, UsedMemoriesButton, UntellButton, SeeProposalsButton, OpenMenu)
"""What stops an answer that is on its way, and what shows something in a message of its own."""

_Place = tuple[int, int, bool]
"""A message, who presses there, and whether it is for an answer."""
_Wish = tuple[str, ...]
"""What was pressed, and what was chosen of it."""


class Presses:
    def __init__(self) -> None:
        self._order = InOrder()
        self._last: OrderedDict[_Place, tuple[_Wish, float]] = OrderedDict()

    async def one_by_one(
        self, interaction: hikari.ComponentInteraction, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Act on a press when it is its turn, unless what it wants is done, or being done."""
        pressed = parse_custom_id(interaction.custom_id) or parse_memory_id(interaction.custom_id)
        if isinstance(pressed, _AT_ONCE) or _opens_form(pressed):
            await act()
            return
        answer = isinstance(pressed, AnswerButton | RetryButton)
        place = (int(interaction.message.id), int(interaction.user.id), answer)
        if self._is_again(place, interaction) or (answer and self._order.joined(place)):
            await defer_update(interaction)
        else:
            await self._in_turn(place, interaction, act)

    async def _in_turn(
        self, place: _Place, interaction: hikari.ComponentInteraction, act: Callable[[], Awaitable[object]]
    ) -> None:
        waits = self._order.joined(place) > 0
        if waits:
            await accept_ahead(interaction)
        async with self._order.after(place):
            if not waits or await _stands_there(interaction):
                await act()

    def _is_again(self, place: _Place, interaction: hikari.ComponentInteraction) -> bool:
        """Whether its user pressed the same there last, and that is still acted on or was a moment ago."""
        wish, now = (interaction.custom_id, *interaction.values), asyncio.get_running_loop().time()
        before, at = self._last.get(place, ((), 0.0))
        if wish == before and (self._order.joined(place) or now - at < ONE_WISH_S):
            return True
        self._last[place] = wish, now
        self._last.move_to_end(place)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
        return False


def _opens_form(pressed: object) -> bool:
    """A form must be the first response, and changes nothing."""
    return isinstance(pressed, MemoryButton) and pressed.action == "edit"


async def _stands_there(interaction: hikari.ComponentInteraction) -> bool:
    """Whether the button of an accepted press is still in its message."""
    message = await interaction.fetch_initial_response()
    return any(
        getattr(component, "custom_id", None) == interaction.custom_id
        for row in message.components
        if isinstance(row, hikari.ActionRowComponent)
        for component in row.components
    )
