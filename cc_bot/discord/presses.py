"""Pressed buttons, choices in menus and sent forms: acted on for whom they were made for, and answered.

What any of them needs stands in its custom id, so one that was shown before a restart still works.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import hikari
import lightbulb

from cc_bot.discord.access import Press
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.pages.custom_ids import ANY_ASKER, Control, StopButton
from cc_bot.discord.pages.memory import EphemeralView
from cc_bot.discord.pages.page import NO_PINGS, components
from cc_bot.discord.recipients import Recipients
from cc_bot.texts import Texts

Act = Callable[..., Awaitable[None]]
"""Takes the interaction, the button, menu or form, and who reads the reply; the rest is injected."""


def on_press(
    loader: lightbulb.Loader,
    *kinds: type[Control],
    not_yours: Callable[[Texts], str],
    only: Callable[[Any], bool] = lambda _: True,
    anybody: bool = False,
    at_once: bool = False,
) -> Callable[[Act], Act]:
    """Have a function act on presses of these kinds, for their owner alone; `only` those that are its own.
    With `anybody` the function itself decides who may. One that acts `at_once` needs the words of whoever
    reads the reply, and no more of what they chose: the database is not waited for.

    Others are told that it is not theirs. What goes wrong is told as well: hikari would only log it.
    """

    def listen(act: Act) -> Act:
        given = lightbulb.di.with_di(act)

        @loader.listener(Press)
        async def press(event: Press, recipients: Recipients) -> None:
            interaction, pressed = event.interaction, event.made
            if not isinstance(pressed, kinds) or not only(pressed):
                return
            try:
                find = recipients.soon if at_once else recipients.of
                recipient = await find(interaction, event.chosen)
                shared = anybody or (isinstance(pressed, StopButton) and pressed.user_id == ANY_ASKER)
                if shared or pressed.user_id == recipient.user_id:
                    await given(interaction, pressed, recipient)
                else:
                    await tell(interaction, not_yours(recipient.words))
            except Exception as error:  # noqa: BLE001 - see above
                await tell_failure(interaction, error, recipients)

        return act

    return listen


async def show_view(interaction: Answerable, view: EphemeralView) -> None:
    """Put a view in the place of what the acknowledged reply says."""
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons, menu=view.menu),
    )


async def whisper(interaction: hikari.ComponentInteraction, sentence: str) -> None:
    """Tell the user of an acknowledged press alone, below its message."""
    await interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
