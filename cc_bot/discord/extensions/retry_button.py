"""The button under a turn that was cut off: its question is asked once more, in the same message.

The question stands in the ledger of turns, not in the button, so it waits through every restart. The press
takes it out and enters the new turn in one transaction: of two presses one wins, and no kill loses it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import hikari
import lightbulb

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.correlation import begin_turn
from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.agents import Chooser
from cc_bot.discord.attachments import fetch_asked
from cc_bot.discord.delivery.answer_pages import note_pages
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.entries import Entries
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.failures import tell, tell_after_all, tell_failure
from cc_bot.discord.interactions import can_write, defer_update, is_ephemeral, message_link, roles_of
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.messages.question_files import Attached, with_files
from cc_bot.discord.pages.answer import unanswered_page
from cc_bot.discord.pages.custom_ids import RetryButton, parse_custom_id
from cc_bot.discord.pages.page import Button
from cc_bot.domain.events import CallsResumed, FilesLeftOut, TurnEvent
from cc_bot.domain.ledger import PendingTurn
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore, TurnLedger

loader = lightbulb.Loader()


@dataclass(frozen=True, slots=True)
class _Press:
    interaction: hikari.ComponentInteraction
    reader: Reader
    assistant: Assistant
    running: RunningTurns
    channels: ChannelStore
    boards: CanvasBoards
    chooser: Chooser
    entries: Entries


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    *,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
    channels: ChannelStore,
    boards: CanvasBoards,
    chooser: Chooser,
    ledger: TurnLedger,
    entries: Entries,
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, RetryButton):
        return
    begin_turn()
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.answer.not_yours)
            return
        renewed = partial(_renewed, interaction=interaction, reader=reader, entries=entries)
        taking = ledger.take(button.entry, button.user_id, renewed)

        async def undo(turn: PendingTurn | None) -> None:
            """Discord did not hear of the press, and the question is not to be lost by that."""
            if turn is not None:
                await ledger.untaken(turn.id, turn.key.user_id)

        turn, _ = await entries.acknowledged(taking, partial(defer_update, interaction), undo)
        if turn is None:
            await tell_after_all(interaction, reader.words.unfinished.asked_already)
            return
        press = _Press(interaction, reader, assistant, running, channels, boards, chooser, entries)
        await _ask(press, turn)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


def _renewed(
    turn: PendingTurn, *, interaction: hikari.ComponentInteraction, reader: Reader, entries: Entries
) -> PendingTurn:
    """The same question, answered by the token of the press."""
    ephemeral, pressed_in = is_ephemeral(interaction.message), int(interaction.channel_id)
    kind = "ask" if turn.kind == "message" else turn.kind
    fresh = entries.of_interaction(
        interaction, turn.key, kind, reader, visibility=turn.visibility, ephemeral=ephemeral
    )
    return replace(
        fresh,
        guild_id=turn.guild_id,
        question=turn.question,
        question_id=turn.question_id,
        former=turn.id,
        shown_in=int(interaction.message.id),
        place_id=None if pressed_in == turn.key.channel_id else pressed_in,
    )


async def _ask(press: _Press, turn: PendingTurn) -> None:
    """What can't be asked again says so in the same place; what only can't be now keeps its button."""
    interaction, reader, key = press.interaction, press.reader, turn.key
    async with press.entries.entry(turn) as entry:
        reply = reply_to_deferred(interaction, ephemeral=turn.ephemeral, noting=entry.posted)
        ended = await show_turn(partial(_events, press, turn), reply, reader, press.running, name=entry.id)
        await note_pages(press.channels, ended, reply.further_ids)
        if ended.passing and not ended.unseen and not ended.text.strip():
            retry = RetryButton(reader.user_id, turn.id)
            button = Button(reader.words.unfinished.ask_again, retry.custom_id(), primary=True)
            # The button first: until it stands there, a kill leaves a turn that is told of at the next start.
            resumed = CallsResumed(turn.calls)
            page = unanswered_page(
                ended.failure or "", resumed, reader.words, reader.user_id, turn.visibility
            )
            await reply.show((replace(page, buttons=(button,)),))
            await entry.waits()
        else:
            await entry.ended(ended)
    if ended.canvas_changed:
        await press.boards.changed(key, interaction, ephemeral=turn.ephemeral)


async def _events(press: _Press, turn: PendingTurn, stop: Stop) -> AsyncGenerator[TurnEvent, None]:
    interaction, reader, key = press.interaction, press.reader, turn.key
    chosen = await press.chooser.of_session(key, turn.guild_id)
    attached = await _question(turn)
    [question] = attached.questions
    if attached.left_out:
        yield FilesLeftOut(attached.left_out)
    here = int(interaction.channel_id) == key.channel_id and not turn.ephemeral
    shown_in = turn.shown_in if here else None
    options = TurnOptions(
        reader.locale,
        reader.timezone,
        welcomed=reader.welcomed,
        answer_discord_id=shown_in,
        memory_paused=reader.memory_paused,
        link=message_link(turn.guild_id, key.channel_id, shown_in),
        agent=chosen.agent,
        guild_id=turn.guild_id,
        can_write_there=can_write(interaction),
        entry=turn.id,
        earlier_calls=turn.calls,
        role_ids=roles_of(interaction.member) if interaction.guild_id == turn.guild_id else None,
    )
    asked = press.assistant.ask(key, question, options, stop)
    async with aclosing(press.boards.noting(key, asked, interaction)) as events:
        async for event in events:
            yield event


async def _question(turn: PendingTurn) -> Attached:
    """As it was asked, with its files fetched once more. Raises InputError when all of those are gone."""
    if turn.question is None:
        raise ValueError("only a turn whose question is kept can be asked again")
    fetched = await fetch_asked(turn.question.files)
    question = Message(
        "user",
        turn.question.text,
        visibility=turn.visibility,
        author_id=turn.key.user_id,
        author_name=turn.question.author_name,
        discord_id=turn.question_id,
        tainted=turn.question.tainted,
    )
    return Attached((with_files(question, fetched),), fetched.left_out)
