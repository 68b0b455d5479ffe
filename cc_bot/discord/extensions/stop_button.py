"""The button under an answer that streams: Stop. One of an earlier run of the program tells that it no longer
runs."""

from dataclasses import replace

import hikari
import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import ANY_ASKER, StopButton, parse_custom_id
from cc_bot.discord.pages.facts import NO_FACTS, Facts

loader = lightbulb.Loader()


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, *, readers: Readers, running: RunningTurns) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, StopButton):
        return
    try:
        reader = await readers.of(interaction)
        if _may_press(button, reader.user_id, running):
            await _stop(interaction, button, reader, running)
        else:
            await tell(interaction, reader.words.answer.not_yours)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


def _may_press(button: StopButton, user_id: int, running: RunningTurns) -> bool:
    if button.user_id == ANY_ASKER:
        return running.asked_by(button.turn, user_id) or not running.runs(button.turn)
    return button.user_id == user_id


async def _stop(
    interaction: hikari.ComponentInteraction, button: StopButton, reader: Reader, running: RunningTurns
) -> None:
    ended = running.began_here(button.turn) or button.user_id == ANY_ASKER  # a channel's is taken up again
    if running.stop(button.turn) or ended:
        await defer_update(interaction)
        return
    # The program was restarted in between: the answer will never come to its end.
    words, content = reader.words.answer, interaction.message.content or ""
    before = Facts.read(interaction.message.embeds)
    facts = replace(before, notices=(words.no_longer_running,))
    if content.startswith(words.thinking):
        content, facts = words.lost, NO_FACTS
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, content, embeds=facts.embeds(), components=[]
    )
