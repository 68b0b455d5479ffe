"""The buttons under an answer: Stop while it streams; Answer again and Continue after.

What a button needs stands in its custom id, so one that was shown before a restart still works.
"""

import contextlib
from dataclasses import dataclass, replace

import hikari
import lightbulb
from hikari.impl import MessageActionRowBuilder

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.discord.agents import Chooser, Chosen, words_under
from cc_bot.discord.delivery.answer_pages import note_pages
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.interaction_outlet import reply_following, reply_in_place
from cc_bot.discord.delivery.reply import components
from cc_bot.discord.delivery.taken_down import TakenDown
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.delivery.undone import without_undone
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import (
    author_name,
    can_write,
    defer_update,
    is_ephemeral,
    message_link,
    visibility_of,
)
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import ANY_ASKER, AnswerButton, StopButton, parse_custom_id
from cc_bot.discord.pages.page import Button, Page, TextFile
from cc_bot.discord.pages.receipts import is_receipt_button
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore, MemoryStore, ScheduleStore

loader = lightbulb.Loader()


@dataclass(frozen=True, slots=True)
class _Press:
    """Of a button under a finished answer, by whom it is for."""

    interaction: hikari.ComponentInteraction
    button: AnswerButton
    reader: Reader
    assistant: Assistant
    running: RunningTurns
    channels: ChannelStore
    memories: MemoryStore
    schedules: ScheduleStore
    boards: CanvasBoards
    chosen: Chosen
    """Who gave the answer, and in which session."""


@loader.listener(hikari.ComponentInteractionCreateEvent)
@lightbulb.di.with_di
async def on_press(
    event: hikari.ComponentInteractionCreateEvent,
    *,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
    taken_down: TakenDown,
    channels: ChannelStore,
    memories: MemoryStore,
    schedules: ScheduleStore,
    boards: CanvasBoards,
    chooser: Chooser,
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, StopButton | AnswerButton):
        return
    try:
        reader = await readers.of(interaction)
        if not _may_press(button, reader.user_id, running):
            await tell(interaction, reader.words.answer.not_yours)
        elif isinstance(button, StopButton):
            await _stop(interaction, button, reader, running)
        else:
            await defer_update(interaction)
            chosen = await chooser.of_answer(interaction, button.answer_id)
            press = _Press(
                interaction, button, reader, assistant, running, channels, memories, schedules, boards, chosen
            )
            with running.claimed(int(interaction.message.id)) as mine:
                if mine and button.action == "again":
                    if await _regenerate(press):
                        await _delete(interaction, button.earlier_messages, taken_down)
                elif mine:
                    await _continue(press)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


def _may_press(button: StopButton | AnswerButton, user_id: int, running: RunningTurns) -> bool:
    if isinstance(button, StopButton) and button.user_id == ANY_ASKER:
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
    told = f"{content}\n-# {words.no_longer_running}"
    if content.startswith(words.thinking):
        told = words.lost
    await interaction.create_initial_response(hikari.ResponseType.MESSAGE_UPDATE, told[:2000], components=[])


async def _regenerate(press: _Press) -> bool:
    """Whether the answer's earlier messages have nothing to say any more."""
    interaction, button, assistant, reader = press.interaction, press.button, press.assistant, press.reader
    key = press.chosen.key
    await assistant.check_newest(key, button.answer_id)
    ephemeral = is_ephemeral(interaction.message)
    in_place = not button.earlier_messages or (not ephemeral and _may_delete(interaction))
    shown = _page_of(interaction.message)
    before = await without_undone(shown, press.memories, press.schedules) if in_place else None
    reply = (
        reply_in_place(interaction, before, ephemeral=ephemeral)
        if before
        else reply_following(interaction, ephemeral=ephemeral)
    )
    options = _options(press, message_id=int(interaction.message.id) if in_place else None)
    ended = await show_turn(
        lambda stop: press.boards.noting(
            key, assistant.regenerate(key, button.answer_id, options, stop), interaction
        ),
        reply,
        reader,
        press.running,
        words=words_under(press.chosen, reader),
        before=(before,) if before else (),
    )
    if in_place:
        await note_pages(press.channels, ended, (int(interaction.message.id), *reply.further_ids))
    else:
        await note_pages(press.channels, ended, await reply.message_ids())
    if ended.canvas_changed:
        await press.boards.changed(key, interaction, ephemeral=ephemeral)
    anew = bool(ended.text.strip())
    if anew and not in_place:
        await interaction.edit_initial_response(components=_memory_rows(interaction))
    return anew and in_place


async def _continue(press: _Press) -> None:
    interaction, button, assistant, reader = press.interaction, press.button, press.assistant, press.reader
    key = press.chosen.key
    await assistant.check_newest(key, button.answer_id)
    await interaction.edit_initial_response(components=_memory_rows(interaction))
    ephemeral = is_ephemeral(interaction.message)
    message = Message(
        "user",
        reader.words.answer.continue_question,
        visibility=visibility_of(interaction, ephemeral=ephemeral),
        author_id=reader.user_id,
        author_name=author_name(interaction),
    )
    reply = reply_following(interaction, ephemeral=ephemeral)
    options = _options(press, message_id=None)

    async def opened() -> None:
        """The answer is stored under the id of its message."""
        nonlocal options
        message_id = (await reply.message_ids())[0]
        options = replace(_options(press, message_id=message_id), answer_discord_id=message_id)

    stored = False
    try:
        ended = await show_turn(
            lambda stop: press.boards.noting(key, assistant.ask(key, message, options, stop), interaction),
            reply,
            reader,
            press.running,
            words=words_under(press.chosen, reader),
            opened=None if ephemeral else opened,
        )
        stored = ended.done is not None and ended.done.answer.id is not None
        await note_pages(press.channels, ended, reply.further_ids)
        if ended.canvas_changed:
            await press.boards.changed(key, interaction, ephemeral=ephemeral)
    finally:
        if not stored:  # nothing came: it may be tried once more
            page = _page_of(interaction.message)
            await interaction.edit_initial_response(components=components(page.receipts, page.buttons))


def _may_delete(interaction: hikari.ComponentInteraction) -> bool:
    """Whether all of an answer can be taken down. Where the bot is only installed by the user, and for
    ephemeral messages, Discord lets nobody but the reader dismiss the messages above the button's: there
    the old answer stays whole, and the new one comes below it."""
    return hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners


async def _delete(
    interaction: hikari.ComponentInteraction, message_ids: tuple[int, ...], taken_down: TakenDown
) -> None:
    """Take down the rest of an answer that was replaced."""
    for message_id in message_ids:
        taken_down.expect(message_id)
        with contextlib.suppress(hikari.ForbiddenError, hikari.NotFoundError):
            await interaction.app.rest.delete_message(interaction.channel_id, message_id)


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
    )


def _memory_rows(interaction: hikari.ComponentInteraction) -> list[MessageActionRowBuilder]:
    """What stays under an answer that goes on elsewhere: what it did to memories can still be taken back."""
    return components(_page_of(interaction.message).receipts)


def _page_of(message: hikari.Message) -> Page:
    """A message as it was last sent, read back from Discord."""
    buttons = tuple(
        Button(component.label or "", component.custom_id)
        for row in message.components
        if isinstance(row, hikari.ActionRowComponent)
        for component in row.components
        if isinstance(component, hikari.ButtonComponent) and component.custom_id
    )
    file = TextFile(message.attachments[0].filename, "") if message.attachments else None
    return Page(
        message.content or "",
        tuple(button for button in buttons if not is_receipt_button(button)),
        file,
        tuple(button for button in buttons if is_receipt_button(button)),
    )
