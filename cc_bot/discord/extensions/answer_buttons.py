"""The buttons under an answer: Stop while it streams; Answer again and Continue after.

What a button needs stands in its custom id, so one that was shown before a restart still works.
"""

import contextlib

import hikari
import lightbulb

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.discord.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import author_name, defer_update, is_ephemeral, session_key, visibility_of
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.page import Button, Page, TextFile
from cc_bot.discord.reply import Reply, components
from cc_bot.discord.turns import RunningTurns, show_turn
from cc_bot.domain.message import Message

loader = lightbulb.Loader()


@loader.listener(hikari.ComponentInteractionCreateEvent)
@lightbulb.di.with_di
async def on_press(
    event: hikari.ComponentInteractionCreateEvent,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, StopButton | AnswerButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.answer.not_yours)
        elif isinstance(button, StopButton):
            await _stop(interaction, button, reader, running)
        else:
            await defer_update(interaction)
            with running.claimed(int(interaction.message.id)) as mine:
                if mine and button.action == "again":
                    await _regenerate(interaction, button, assistant, reader, running)
                elif mine:
                    await _continue(interaction, button, assistant, reader, running)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _stop(
    interaction: hikari.ComponentInteraction, button: StopButton, reader: Reader, running: RunningTurns
) -> None:
    if running.stop(button.turn) or running.began_here(button.turn):  # or it has just come to its end
        await defer_update(interaction)
        return
    # The program was restarted in between: the answer will never come to its end.
    words, content = reader.words.answer, interaction.message.content or ""
    told = f"{content}\n-# {words.no_longer_running}"
    if content.startswith(words.thinking):
        told = words.lost
    await interaction.create_initial_response(hikari.ResponseType.MESSAGE_UPDATE, told[:2000], components=[])


async def _regenerate(
    interaction: hikari.ComponentInteraction,
    button: AnswerButton,
    assistant: Assistant,
    reader: Reader,
    running: RunningTurns,
) -> None:
    key = session_key(interaction)
    await assistant.check_newest(key, button.answer_id)
    ephemeral = is_ephemeral(interaction.message)
    in_place = not button.earlier_messages or (not ephemeral and _may_delete(interaction))
    before = _page_of(interaction.message) if in_place else None
    reply = (
        Reply.in_place(interaction, before, ephemeral=ephemeral)
        if before
        else Reply.following(interaction, ephemeral=ephemeral)
    )
    options = TurnOptions(reader.locale, reader.timezone)
    ended = await show_turn(
        lambda stop: assistant.regenerate(key, button.answer_id, options, stop),
        reply,
        reader,
        running,
        before=before,
    )
    if ended.text.strip() and in_place:
        await _delete(interaction, button.earlier_messages)
    elif ended.text.strip():
        await interaction.edit_initial_response(components=[])


async def _continue(
    interaction: hikari.ComponentInteraction,
    button: AnswerButton,
    assistant: Assistant,
    reader: Reader,
    running: RunningTurns,
) -> None:
    key = session_key(interaction)
    await assistant.check_newest(key, button.answer_id)
    await interaction.edit_initial_response(components=[])
    ephemeral = is_ephemeral(interaction.message)
    message = Message(
        "user",
        reader.words.answer.continue_question,
        visibility=visibility_of(interaction, ephemeral=ephemeral),
        author_id=reader.user_id,
        author_name=author_name(interaction),
    )
    options = TurnOptions(reader.locale, reader.timezone)
    ended = await show_turn(
        lambda stop: assistant.ask(key, message, options, stop),
        Reply.following(interaction, ephemeral=ephemeral),
        reader,
        running,
    )
    if ended.done is None or ended.done.answer.id is None:  # nothing came: it may be tried once more
        buttons = _page_of(interaction.message).buttons
        await interaction.edit_initial_response(components=components(buttons))


def _may_delete(interaction: hikari.ComponentInteraction) -> bool:
    """Whether all of an answer can be taken down. Where the bot is only installed by the user, and for
    ephemeral messages, Discord lets nobody but the reader dismiss the messages above the button's: there
    the old answer stays whole, and the new one comes below it."""
    return hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners


async def _delete(interaction: hikari.ComponentInteraction, message_ids: tuple[int, ...]) -> None:
    """Take down the rest of an answer that was replaced."""
    for message_id in message_ids:
        with contextlib.suppress(hikari.ForbiddenError, hikari.NotFoundError):
            await interaction.app.rest.delete_message(interaction.channel_id, message_id)


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
    return Page(message.content or "", buttons, file)
