"""The buttons under a finished answer: Answer again, and Continue.

What a button needs stands in its custom id, so one that was shown before a restart still works. Like a
command, a press stands in the ledger before Discord is told that it was taken.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import hikari
import lightbulb
from hikari.impl import MessageActionRowBuilder

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.correlation import begin_turn
from cc_bot.discord.access.ways_in import ButtonPress
from cc_bot.discord.agents import Chooser, Chosen, words_under
from cc_bot.discord.attachments import fetch_asked
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.entries import Delivery, TurnDeliveries
from cc_bot.discord.delivery.interaction_outlet import reply_following, reply_in_place, reply_to_deferred
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS, TakenDown, delete_all, rows_of
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.delivery.undone import note_pages
from cc_bot.discord.failures import tell, tell_after_all, tell_failure
from cc_bot.discord.interactions import (
    author_name,
    can_write,
    defer,
    defer_update,
    is_ephemeral,
    message_link,
    roles_of,
    visibility_of,
)
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.messages.incoming import Attached, with_files
from cc_bot.discord.pages.answer import page_of, unanswered_page
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
from cc_bot.discord.pages.page import Button, Page
from cc_bot.domain.events import CallsResumed, FilesLeftOut, TurnEvent
from cc_bot.domain.ledger import AskedQuestion, PendingTurn
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore, MemoryRemovalStore, Stores, TurnLedger

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
    entries: TurnDeliveries


@dataclass(frozen=True, slots=True)
class _Press:
    """Of a button under a finished answer, by whom it is for, and in the ledger."""

    parts: _Parts
    interaction: hikari.ComponentInteraction
    button: AnswerButton
    reader: Reader
    chosen: Chosen
    """Who gave the answer, and in which session."""
    entry: Delivery
    in_place: bool
    """Whether a new answer is shown where the old one is."""


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_answer_press(
    event: ButtonPress,
    *,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
    taken_down: TakenDown,
    channels: ChannelStore,
    receipts: ReceiptUpkeep,
    boards: CanvasBoards,
    chooser: Chooser,
    entries: TurnDeliveries,
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


# ---- retry button ----------------------------------------------------------------------------------------
# The button under a turn that was cut off: its question is asked once more, in the same message.
#
# The question stands in the ledger of turns, not in the button, so it waits through every restart. The press
# takes it out and enters the new turn in one transaction: of two presses one wins, and no kill loses it.


@dataclass(frozen=True, slots=True)
class _Retry:
    interaction: hikari.ComponentInteraction
    reader: Reader
    assistant: Assistant
    running: RunningTurns
    channels: ChannelStore
    boards: CanvasBoards
    chooser: Chooser
    entries: TurnDeliveries


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_retry(
    event: ButtonPress,
    *,
    assistant: Assistant,
    readers: Readers,
    running: RunningTurns,
    channels: ChannelStore,
    boards: CanvasBoards,
    chooser: Chooser,
    ledger: TurnLedger,
    entries: TurnDeliveries,
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
        press = _Retry(interaction, reader, assistant, running, channels, boards, chooser, entries)
        await _ask(press, turn)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


def _renewed(
    turn: PendingTurn, *, interaction: hikari.ComponentInteraction, reader: Reader, entries: TurnDeliveries
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


async def _ask(press: _Retry, turn: PendingTurn) -> None:
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


async def _events(press: _Retry, turn: PendingTurn, stop: Stop) -> AsyncGenerator[TurnEvent, None]:
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
