"""What all `/memory` commands share: the group, how a reply is shown, and whose button it is."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import hikari
import lightbulb

from cc_bot.discord.delivery.reply import components
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_ids import MemoryControl, parse_memory_id
from cc_bot.discord.pages.memory_view import View

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

Owned = TypeVar("Owned", bound=MemoryControl)


async def show(interaction: Answerable, view: View) -> None:
    """Put a view in the place of what the acknowledged reply says."""
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons, menu=view.menu),
    )


async def answer_press(
    interaction: hikari.ComponentInteraction | hikari.ModalInteraction,
    kind: type[Owned],
    readers: Readers,
    act: Callable[[Owned, Reader], Awaitable[None]],
    *,
    only: Callable[[Owned], bool] = lambda _: True,
) -> None:
    """Let a button, menu or form of this kind act, for its owner alone; `only` those that are the caller's.

    Never raises: hikari would only log it, and the user would not know.
    """
    pressed = parse_memory_id(interaction.custom_id)
    if not isinstance(pressed, kind) or not only(pressed):
        return
    try:
        reader = await readers.of(interaction)
        if pressed.user_id != reader.user_id:
            await tell(interaction, reader.words.receipt.not_yours)
        else:
            await act(pressed, reader)
    except Exception as error:  # noqa: BLE001 - see above
        await tell_failure(interaction, error, readers)
