"""The buttons under an answer: Answer again, Continue, and Ask again under a turn that was cut off.

What a button needs stands in its custom id, or in the ledger of turns, so one that was shown before a restart
still works.
"""

from dataclasses import replace

import hikari
import lightbulb

from cc_bot.discord.access.ways_in import ButtonPress
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.failures import tell, tell_after_all, tell_failure
from cc_bot.discord.interactions import (
    defer,
    defer_update,
)
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    AnswerButton,
    RetryButton,
    StopButton,
    UndoButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.facts import NO_FACTS, Facts
from cc_bot.discord.pages.memory_card import erase_question, used_list, within
from cc_bot.discord.pages.memory_view import EphemeralView
from cc_bot.discord.pages.page import Page
from cc_bot.stores import MemoryRemovalStore, Stores

loader = lightbulb.Loader()


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_answer_press(event: ButtonPress, *, readers: Readers, answers: Answers) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, AnswerButton | RetryButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.answer.not_yours)
        elif isinstance(button, RetryButton):
            if not await answers.ask_again(interaction, button, reader):
                await tell_after_all(interaction, reader.words.unfinished.asked_already)
        elif button.action == "again":
            await answers.regenerate(interaction, button, reader)
        else:
            await answers.go_on(interaction, button, reader)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


# ---- receipt buttons -------------------------------------------------------------------------------------
# The buttons of receipts: take back what an answer did to a memory, and see which memories it used.
#
# What a button needs stands in its custom id, so one that was shown before a restart still works. The message
# it stands under may be public: replies are for the memories' owner alone.


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_receipt_press(
    event: ButtonPress, *, stores: Stores, readers: Readers, upkeep: ReceiptUpkeep
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, UndoButton | UntellButton | UsedMemoriesButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.receipt.not_yours)
            return
        if isinstance(button, UndoButton):
            await defer_update(interaction)
            said = await _undo(button, reader, stores)
            await upkeep.pressed(interaction, reader.user_id, reader.words)
            await interaction.execute(said, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
        elif isinstance(button, UntellButton):
            await defer(interaction, ephemeral=True)
            views = [await _still_told(each, reader, stores.memory_removal) for each in button.memory_ids]
            reply = reply_to_deferred(interaction, ephemeral=True)
            await reply.show([Page(view.content, view.buttons) for view in views])
        else:
            await defer(interaction, ephemeral=True)
            await interaction.edit_initial_response(await _used(button, reader, stores), **NO_PINGS)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _undo(button: UndoButton, reader: Reader, stores: Stores) -> str:
    """Do it, and say what came of it; of what is done already the same."""
    words, user_id, memory_id = reader.words.receipt, reader.user_id, button.memory_id
    memory = await stores.memories.get(user_id, memory_id)
    if button.action == "deleted":
        restored = memory or await stores.memory_removal.undelete(user_id, memory_id)
        return within(words.undone_deleted, restored) if restored else words.gone
    if memory is None:
        hidden = await stores.memory_removal.hidden(user_id, memory_id)
        return within(words.undone_added, hidden.memory) if hidden else words.gone
    if (memory.supersedes or 0) != button.former_id:
        return words.changed_since.format(id=memory.number)
    if button.action == "added":
        undone = await stores.memory_history.undo_add(user_id, memory_id)
        return within(words.undone_added, memory) if undone else words.gone
    before = await stores.memory_history.undo_update(user_id, memory_id, button.former_id)
    return within(words.undone_updated, before) if before else words.changed_since.format(id=memory.number)


async def _still_told(memory_id: int, reader: Reader, removal: MemoryRemovalStore) -> EphemeralView:
    """Where a forgotten memory is told all the same, with a way to erase it there."""
    words, hidden = reader.words, await removal.hidden(reader.user_id, memory_id)
    if hidden is None:
        return EphemeralView(words.erasure.out_of_reach)
    told_in = await removal.told_in(reader.user_id, memory_id)
    if not told_in:
        return EphemeralView(words.erasure.not_told)
    return erase_question(reader.user_id, memory_id, told_in, words)


async def _used(button: UsedMemoriesButton, reader: Reader, stores: Stores) -> str:
    found = [await stores.memories.get(reader.user_id, memory_id) for memory_id in button.memory_ids]
    return used_list([memory for memory in found if memory is not None], reader.words)


# ---- stop button -----------------------------------------------------------------------------------------
# The button under an answer that streams: Stop. One of an earlier run of the program tells that it no longer
# runs.


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_stop(event: ButtonPress, *, readers: Readers, running: RunningTurns) -> None:
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
