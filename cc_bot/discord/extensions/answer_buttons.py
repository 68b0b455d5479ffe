"""The buttons under a finished answer: Answer again, and Continue.

What a button needs stands in its custom id, so one that was shown before a restart still works. Like a
command, a press stands in the ledger before Discord is told that it was taken.
"""

from dataclasses import dataclass, replace
from functools import partial

import hikari
import lightbulb
from hikari.impl import MessageActionRowBuilder

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.correlation import begin_turn
from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.agents import Chooser, Chosen, words_under
from cc_bot.discord.delivery.answer_pages import note_pages
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.entries import Entries, Entry
from cc_bot.discord.delivery.interaction_outlet import reply_following, reply_in_place
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import rows_of
from cc_bot.discord.delivery.taken_down import TakenDown, delete_all
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import (
    author_name,
    can_write,
    defer_update,
    is_ephemeral,
    message_link,
    roles_of,
    visibility_of,
)
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import AnswerButton, parse_custom_id
from cc_bot.domain.ledger import AskedQuestion
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore

loader = lightbulb.Loader()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What presses need, whoever's they are."""

    assistant: Assistant
    running: RunningTurns
    channels: ChannelStore
    receipts: ReceiptUpkeep
    boards: CanvasBoards
    taken_down: TakenDown
    chooser: Chooser
    entries: Entries


@dataclass(frozen=True, slots=True)
class _Press:
    """Of a button under a finished answer, by whom it is for, and in the ledger."""

    parts: _Parts
    interaction: hikari.ComponentInteraction
    button: AnswerButton
    reader: Reader
    chosen: Chosen
    """Who gave the answer, and in which session."""
    entry: Entry
    in_place: bool
    """Whether a new answer is shown where the old one is."""


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    *,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
    taken_down: TakenDown,
    channels: ChannelStore,
    receipts: ReceiptUpkeep,
    boards: CanvasBoards,
    chooser: Chooser,
    entries: Entries,
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, AnswerButton):
        return
    begin_turn()
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.answer.not_yours)
            return
        parts = _Parts(*(assistant, running, channels, receipts, boards, taken_down, chooser, entries))
        await _act(parts, interaction, button, reader)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _act(
    parts: _Parts, interaction: hikari.ComponentInteraction, button: AnswerButton, reader: Reader
) -> None:
    press, _ = await parts.entries.acknowledged(
        _entered(parts, interaction, button, reader),
        partial(defer_update, interaction),
        undo=lambda press: press.entry.settle(),
    )
    async with press.entry:
        await (_regenerate(press) if button.action == "again" else _continue(press))


async def _entered(
    parts: _Parts, interaction: hikari.ComponentInteraction, button: AnswerButton, reader: Reader
) -> _Press:
    chosen = await parts.chooser.of_answer(interaction, button.answer_id)
    again, ephemeral = button.action == "again", is_ephemeral(interaction.message)
    in_place = again and (not button.earlier_messages or (not ephemeral and _may_delete(interaction)))
    turn = parts.entries.of_interaction(
        interaction,
        chosen.key,
        "again" if again else "continue",
        reader,
        visibility=visibility_of(interaction, ephemeral=ephemeral),
        ephemeral=ephemeral,
    )
    turn = replace(turn, below=not in_place, shown_in=int(interaction.message.id))
    if again:
        turn = replace(turn, replaces=button.answer_id, earlier=button.earlier_messages)
    else:
        words = reader.words.answer
        turn = replace(turn, question=AskedQuestion(words.continue_question, author_name(interaction)))
    return _Press(parts, interaction, button, reader, chosen, await parts.entries.accept(turn), in_place)


async def _regenerate(press: _Press) -> None:
    interaction, button, reader = press.interaction, press.button, press.reader
    assistant = press.parts.assistant
    key = press.chosen.key
    await assistant.check_newest(key, button.answer_id)
    ephemeral = is_ephemeral(interaction.message)
    in_place, noting = press.in_place, press.entry.posted
    parts = press.parts
    before = (
        await parts.receipts.carried(interaction.message, reader.user_id, reader.words) if in_place else None
    )
    reply = (
        reply_in_place(interaction, before, ephemeral=ephemeral, noting=noting)
        if before
        else reply_following(interaction, ephemeral=ephemeral, noting=noting)
    )
    options = _options(press, message_id=int(interaction.message.id) if in_place else None)
    ended = await show_turn(
        lambda stop: press.parts.boards.noting(
            key, assistant.regenerate(key, button.answer_id, options, stop), interaction
        ),
        reply,
        reader,
        press.parts.running,
        words=words_under(press.chosen, reader),
        before=(before,) if before else (),
        name=press.entry.id,
    )
    if in_place:
        await note_pages(press.parts.channels, ended, (int(interaction.message.id), *reply.further_ids))
    else:
        await note_pages(press.parts.channels, ended, await reply.message_ids())
    if ended.text.strip():
        if in_place:
            rest, above = interaction.app.rest, button.earlier_messages
            await delete_all(rest, interaction.channel_id, above, press.parts.taken_down)
        else:
            await interaction.edit_initial_response(components=_memory_rows(press))
    await press.entry.ended(ended)
    if ended.canvas_changed:
        await press.parts.boards.changed(key, interaction, ephemeral=ephemeral)


async def _continue(press: _Press) -> None:
    interaction, button, reader = press.interaction, press.button, press.reader
    assistant = press.parts.assistant
    key, boards = press.chosen.key, press.parts.boards
    await assistant.check_newest(key, button.answer_id)
    await interaction.edit_initial_response(components=_memory_rows(press))
    ephemeral = is_ephemeral(interaction.message)
    message = Message(
        "user",
        reader.words.answer.continue_question,
        visibility=visibility_of(interaction, ephemeral=ephemeral),
        author_id=reader.user_id,
        author_name=author_name(interaction),
    )
    reply = reply_following(interaction, ephemeral=ephemeral, noting=press.entry.posted)
    options = _options(press, message_id=None)

    async def opened() -> None:
        """The answer is stored under the id of its message."""
        nonlocal options
        message_id = (await reply.message_ids())[0]
        options = replace(_options(press, message_id=message_id), answer_discord_id=message_id)

    stored = False
    try:
        ended = await show_turn(
            lambda stop: press.parts.boards.noting(
                key, assistant.ask(key, message, options, stop), interaction
            ),
            reply,
            reader,
            press.parts.running,
            words=words_under(press.chosen, reader),
            opened=None if ephemeral else opened,
            name=press.entry.id,
        )
        stored = ended.done is not None and ended.done.answer.id is not None
        await note_pages(press.parts.channels, ended, reply.further_ids)
        await press.entry.ended(ended)
        if ended.canvas_changed:
            await boards.changed(key, interaction, ephemeral=ephemeral)
    finally:
        if not stored:  # nothing came: it may be tried once more
            page = page_of(interaction.message, press.reader.locale)
            await interaction.edit_initial_response(components=rows_of(page))


def _may_delete(interaction: hikari.ComponentInteraction) -> bool:
    """Whether all of an answer can be taken down. Where the bot is only installed by the user, and for
    ephemeral messages, Discord lets nobody but the reader dismiss the messages above the button's: there
    the old answer stays whole, and the new one comes below it."""
    return hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners


def _options(press: _Press, *, message_id: int | None) -> TurnOptions:
    """`message_id`: where the answer will stand, if that is known."""
    interaction, reader = press.interaction, press.reader
    known = None if is_ephemeral(interaction.message) else message_id
    return TurnOptions(
        reader.locale,
        reader.timezone,
        memory_paused=reader.memory_paused,
        link=message_link(interaction.guild_id, int(interaction.channel_id), known),
        agent=press.chosen.agent,
        guild_id=None if interaction.guild_id is None else int(interaction.guild_id),
        can_write_there=can_write(interaction),
        role_ids=roles_of(interaction.member),
        entry=press.entry.id,
    )


def _memory_rows(press: _Press) -> list[MessageActionRowBuilder]:
    """What stays under an answer that goes on elsewhere: what it did to memories can still be taken back."""
    page = page_of(press.interaction.message, press.reader.locale)
    return rows_of(replace(page, buttons=()))
