"""The buttons under an answer: Answer again, Continue, and Ask again under a turn that was cut off."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import hikari
import lightbulb

from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.commands.memories import hidden_reply
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.approved_calls import CallDelivery
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.forms import OpenForms
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.outlets import reply_by_token, reply_in_place
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.reply import Sent
from cc_bot.discord.failures import tell, tell_after_all
from cc_bot.discord.interactions import (
    defer,
    defer_update,
    is_accepted_ahead,
    is_ephemeral,
    visibility_of,
)
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.owners import Owners
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    AnswerButton,
    CallButton,
    FormButton,
    FormSheet,
    ProposalButton,
    RetryButton,
    SeeProposalsButton,
    StopButton,
    UndoButton,
    UntellButton,
    UsedMemoriesButton,
)
from cc_bot.discord.pages.forms import entered_in, form_buttons, sheet, sheet_id, sheet_title
from cc_bot.discord.pages.memory import EphemeralView, used_list, within
from cc_bot.discord.pages.page import NO_FACTS, NO_PINGS, Facts, Page, components, rows_of
from cc_bot.discord.pages.proposals import left_line, proposal_page, without
from cc_bot.discord.pages.replies import reply_view
from cc_bot.discord.presses import on_press, whisper
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.errors import (
    CallExpired,
    CallGone,
    CallOutdated,
    CcBotError,
    InputError,
    ProposalGone,
    ProposalOutdated,
    StorageError,
    ToolGone,
    WhenPassed,
)
from cc_bot.domain.form import read_form
from cc_bot.domain.memory import MemoryChange, receipt_of
from cc_bot.domain.proposal import CallTool, Proposal
from cc_bot.domain.schedule import ScheduleReceipt
from cc_bot.domain.session import SessionKey
from cc_bot.log import begin_turn
from cc_bot.stores import MemoryRemovalStore, MemoryStore, ProposalStore, Stores, TurnLedger, asked_in
from cc_bot.texts import explain

loader = lightbulb.Loader()

# ---- answer buttons ------------------------------------------------------------------------------------


@on_press(loader, AnswerButton, RetryButton, not_yours=lambda words: words.answer.not_yours)
async def answer_once_more(
    interaction: hikari.ComponentInteraction,
    button: AnswerButton | RetryButton,
    recipient: Recipient,
    *,
    answers: Answers,
    messages: Messages,
) -> None:
    if isinstance(button, RetryButton):
        if asked_in(button.entry) is None:
            taken = await answers.ask_again(interaction, button, recipient)
        else:
            await defer_update(interaction)
            taken = await messages.ask_again(button.entry, button.user_id, int(interaction.message.id))
        if not taken:
            await tell_after_all(interaction, recipient.words.unfinished.asked_already)
    elif button.action == "again":
        await answers.regenerate(interaction, button, recipient)
    else:
        await answers.go_on(interaction, button, recipient)


# ---- receipt buttons -------------------------------------------------------------------------------------
# The buttons of receipts: take back what an answer did to a memory, and see which memories it used.
#
# The message that a button stands under may be public: replies are for the memories' owner alone.


@on_press(loader, UndoButton, not_yours=lambda words: words.receipt.not_yours)
async def undo(
    interaction: hikari.ComponentInteraction,
    button: UndoButton,
    recipient: Recipient,
    *,
    stores: Stores,
    upkeep: ReceiptUpkeep,
) -> None:
    await defer_update(interaction)
    said = await _undo(button, recipient, stores)
    await upkeep.refresh_pressed(interaction, recipient.user_id, recipient.words)
    await whisper(interaction, said)


@on_press(loader, UntellButton, not_yours=lambda words: words.receipt.not_yours, response="message")
async def untell(
    interaction: hikari.ComponentInteraction,
    button: UntellButton,
    recipient: Recipient,
    *,
    removal: MemoryRemovalStore,
) -> None:
    await defer(interaction, ephemeral=True)
    found = [await removal.get_hidden(recipient.user_id, memory_id) for memory_id in button.memory_ids]
    gone = EphemeralView(recipient.words.erasure.out_of_reach)
    views = [reply_view(hidden_reply(each, recipient), recipient) if each else gone for each in found]
    reply = reply_by_token(interaction, Sent(None), ephemeral=True)
    await reply.show([Page(view.content, view.buttons) for view in views])


@on_press(loader, UsedMemoriesButton, not_yours=lambda words: words.receipt.not_yours, response="message")
async def list_used(
    interaction: hikari.ComponentInteraction,
    button: UsedMemoriesButton,
    recipient: Recipient,
    *,
    memories: MemoryStore,
) -> None:
    await defer(interaction, ephemeral=True)
    found = [await memories.get(recipient.user_id, memory_id) for memory_id in button.memory_ids]
    told = used_list([memory for memory in found if memory is not None], recipient.words)
    await interaction.edit_initial_response(told, **NO_PINGS)


async def _undo(button: UndoButton, recipient: Recipient, stores: Stores) -> str:
    """Do it, and say what came of it; of what is done already the same."""
    words, user_id, memory_id = recipient.words.receipt, recipient.user_id, button.memory_id
    memory = await stores.memories.get(user_id, memory_id)
    if button.action == "deleted":
        restored = memory or await stores.memory_removal.undelete(user_id, memory_id)
        return within(words.undone_deleted, restored) if restored else words.gone
    if memory is None:
        hidden = await stores.memory_removal.get_hidden(user_id, memory_id)
        return within(words.undone_added, hidden.memory) if hidden else words.gone
    if (memory.supersedes or 0) != button.former_id:
        return words.changed_since.format(id=memory.number)
    if button.action == "added":
        undone = await stores.memory_history.undo_add(user_id, memory_id)
        return within(words.undone_added, memory) if undone else words.gone
    before = await stores.memory_history.undo_update(user_id, memory_id, button.former_id)
    return within(words.undone_updated, before) if before else words.changed_since.format(id=memory.number)


# ---- stop button -----------------------------------------------------------------------------------------
# The button under an answer that streams: Stop. One of an earlier run of the program tells that it no longer
# runs; one whose turn another process goes on with, since it held the shard before, is left alone.

_LOOKED_UP_WITHIN_S: Final = 1.0
"""Discord waits 3 s, and the database may be away."""


@on_press(loader, StopButton, not_yours=lambda words: words.answer.not_yours, response="own")
async def stop(
    interaction: hikari.ComponentInteraction,
    button: StopButton,
    recipient: Recipient,
    *,
    running: RunningTurns,
    ledger: TurnLedger,
) -> None:
    shared = button.user_id == ANY_ASKER
    if shared and running.runs(button.turn) and not running.asked_by(button.turn, recipient.user_id):
        await tell(interaction, recipient.words.answer.not_yours)
        return
    ended = running.began_here(button.turn) or shared  # a channel's is taken up again
    if running.stop(button.turn) or ended:
        await defer_update(interaction)
        return
    if await _runs_elsewhere(button, ledger):
        await tell(interaction, recipient.words.answer.runs_elsewhere)
        return
    # The program was restarted in between: the answer will never come to its end.
    words, page = recipient.words.answer, page_of(interaction.message, recipient.locale)
    page = replace(page, buttons=(), facts=Facts(notices=(words.no_longer_running,)))
    if page.content.startswith(words.thinking):
        page = replace(page, content=words.lost, facts=NO_FACTS)
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, page.content, embeds=page.embeds, components=rows_of(page)
    )


async def _runs_elsewhere(button: StopButton, ledger: TurnLedger) -> bool:
    with suppress(StorageError, TimeoutError):
        async with asyncio.timeout(_LOOKED_UP_WITHIN_S):
            return await ledger.runs_elsewhere(button.turn, button.user_id)
    return False


# ---- forms ---------------------------------------------------------------------------------------------
# What a server asks back while a call is made: answer it, or don't. One of an earlier run of the program is
# over, and so is one that somebody has answered on another device.


@on_press(loader, FormButton, not_yours=lambda words: words.form.not_yours)
async def open_form(
    interaction: hikari.ComponentInteraction,
    button: FormButton,
    recipient: Recipient,
    *,
    forms: OpenForms,
) -> None:
    words, found = recipient.words, forms.find(button.form)
    if is_accepted_ahead(interaction):
        return  # pressed twice: what the first press does is seen
    if found is None:
        await _put(interaction, words.form.over)
    elif button.action == "skip":
        found.answer(None)
        await _put(interaction, words.form.declined.format(server=found.form.server))
    else:
        fields = sheet(found.form, found.entered, words)
        shown = sheet_id(button.form, recipient.user_id)
        await interaction.create_modal_response(sheet_title(found.form, words), shown, components=fields)


@on_press(loader, FormSheet, not_yours=lambda words: words.form.not_yours)
async def take_form(
    interaction: hikari.ModalInteraction,
    sent: FormSheet,
    recipient: Recipient,
    *,
    forms: OpenForms,
) -> None:
    words, found = recipient.words, forms.find(sent.form)
    if found is None and interaction.message and not interaction.message.components:
        await tell(interaction, words.form.over)  # what stands there tells how it ended
        return
    if found is None:
        await _put(interaction, words.form.over)
        return
    values = {each.custom_id: each.value or "" for row in interaction.components for each in row}
    entered = entered_in(found.form, values)
    try:
        read_form(found.form, entered)
    except InputError as error:
        found.entered = entered
        await interaction.create_initial_response(
            hikari.ResponseType.MESSAGE_CREATE,
            explain(error, words),
            components=components(form_buttons(sent.form, recipient.user_id, words)),
            flags=hikari.MessageFlag.EPHEMERAL,
            **NO_PINGS,
        )
        return
    found.answer(entered)
    await _put(interaction, words.form.answered.format(server=found.form.server))


async def _put(interaction: hikari.ComponentInteraction | hikari.ModalInteraction, sentence: str) -> None:
    """Put a sentence in the place of the message that asked."""
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, sentence, components=[], **NO_PINGS
    )


# ---- proposal buttons ----------------------------------------------------------------------------------
# The buttons of proposals: have it done, leave it, or see what there was no room for.
#
# A proposal is claimed where it is carried out (stores/proposals.py), so that it is done once.


_OVER = (ProposalGone, ProposalOutdated, WhenPassed)
"""After these there is nothing left to decide."""


@dataclass(frozen=True, slots=True)
class _Press:
    """A press of one of the two buttons of a proposal, by whom it is for."""

    interaction: hikari.ComponentInteraction
    button: ProposalButton
    recipient: Recipient
    proposals: Proposals
    upkeep: ReceiptUpkeep


@on_press(loader, ProposalButton, not_yours=lambda words: words.proposal.not_yours)
async def decide(
    interaction: hikari.ComponentInteraction,
    button: ProposalButton,
    recipient: Recipient,
    *,
    proposals: Proposals,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    begin_turn()
    await defer_update(interaction)
    async with upkeep.changes.after(int(interaction.message.id)):
        drawing = await _decide(_Press(interaction, button, recipient, proposals, upkeep))
    if drawing:
        await boards.update(drawing, interaction, ephemeral=is_ephemeral(interaction.message))


@on_press(
    loader,
    SeeProposalsButton,
    not_yours=lambda words: words.proposal.not_yours,
    anybody=True,
    response="message",
)
async def list_proposals(
    interaction: hikari.ComponentInteraction,
    button: SeeProposalsButton,
    recipient: Recipient,
    *,
    store: ProposalStore,
    owners: Owners,
    upkeep: ReceiptUpkeep,
) -> None:
    """Show each in a message of its own, for whoever decides on it alone."""
    await defer(interaction, ephemeral=True)
    found, words = await store.list_for_answer(button.user_id, button.answer_id), recipient.words.proposal
    if recipient.user_id != button.user_id:
        found = tuple([each for each in found if await _is_owners(each, recipient, owners)])
    if not found:
        theirs = recipient.user_id == button.user_id
        await interaction.edit_initial_response(words.none_open if theirs else words.not_yours, **NO_PINGS)
        if theirs and not is_ephemeral(interaction.message):
            await _take_see(interaction, recipient, upkeep)
        return
    reply = reply_by_token(interaction, Sent(None), ephemeral=True)
    await reply.show([proposal_page(each, recipient.words) for each in found])


async def _take_see(
    interaction: hikari.ComponentInteraction, recipient: Recipient, upkeep: ReceiptUpkeep
) -> None:
    """Take the button off an answer of which everything is decided, where the bot may change that by
    itself: the press was answered with a message of its own."""
    rest, channel_id, message_id = interaction.app.rest, interaction.channel_id, interaction.message.id
    with suppress(hikari.ForbiddenError, hikari.NotFoundError):
        async with upkeep.changes.after(int(message_id)):
            page = page_of(await rest.fetch_message(channel_id, message_id), recipient.locale)
            left = tuple(each for each in page.buttons if each.custom_id != interaction.custom_id)
            await rest.edit_message(channel_id, message_id, components=rows_of(replace(page, buttons=left)))


@on_press(loader, CallButton, not_yours=lambda words: words.proposal.not_yours, anybody=True)
async def decide_on_call(
    interaction: hikari.ComponentInteraction,
    button: CallButton,
    recipient: Recipient,
    *,
    delivery: CallDelivery,
    owners: Owners,
) -> None:
    begin_turn()
    await defer_update(interaction)
    page = page_of(await interaction.fetch_initial_response(), recipient.locale)
    pressed = _CallPressed(interaction, button, recipient, delivery)
    await delivery.until_begun(lambda begun: _decide_on_call(pressed, page, owners, begun))


@dataclass(frozen=True, slots=True)
class _CallPressed:
    """A press of one of the two buttons of a call, by anybody."""

    interaction: hikari.ComponentInteraction
    button: CallButton
    recipient: Recipient
    delivery: CallDelivery


async def _decide_on_call(pressed: _CallPressed, page: Page, owners: Owners, begun: asyncio.Event) -> None:
    interaction, button, recipient = pressed.interaction, pressed.button, pressed.recipient
    delivery = pressed.delivery
    try:
        proposal, call = await delivery.assistant.calls.find(button.user_id, button.proposal_id)
        if refusal := await _refusal(proposal, call, recipient, owners):
            await whisper(interaction, refusal)
            return
        press = await delivery.press(interaction, proposal, call, recipient, page)
        await (delivery.make(press, begun) if button.action == "do" else delivery.decline(press))
    except (CallGone, CallExpired, CallOutdated, ToolGone) as error:
        # Who waited for the server and has decided otherwise since knows that.
        known = isinstance(error, CallGone) and begun.is_set()
        await _close(pressed, explain(error, recipient.words), known=known)
    except CcBotError as error:  # it may be tried again
        await whisper(interaction, explain(error, recipient.words))


async def _refusal(proposal: Proposal, call: CallTool, recipient: Recipient, owners: Owners) -> str:
    """Return a sentence for who may not decide on a call; empty for who may."""
    words, is_asker = recipient.words.proposal, recipient.user_id == proposal.key.user_id
    if call.approvers == "owners":
        return "" if await _is_owners(proposal, recipient, owners) else words.owners_decide
    return "" if is_asker else words.not_yours


async def _is_owners(proposal: Proposal, recipient: Recipient, owners: Owners) -> bool:
    """Return whether owners decide on it, and this is one."""
    call = proposal.change
    if not isinstance(call, CallTool) or call.approvers != "owners":
        return False
    return recipient.user_id in await owners.ids(fresh=True)


async def _close(pressed: _CallPressed, sentence: str, *, known: bool) -> None:
    """Say that there is nothing left to decide, in the message as long as that still offers it, else to who
    pressed, unless that is known. While the call is made, what the message says is up to whoever makes it."""
    interaction, button, recipient = pressed.interaction, pressed.button, pressed.recipient
    delivery = pressed.delivery
    own = recipient.user_id == button.user_id and not await delivery.makes(button.user_id, button.proposal_id)
    noted = own and await delivery.note(interaction, recipient.locale, button.proposal_id, sentence)
    if not noted and not known:
        await whisper(interaction, sentence)


async def _decide(press: _Press) -> SessionKey | None:
    """Do it or leave it, and say in the message what came of it. Return whose canvas it changed."""
    words, interaction = press.recipient.words, press.interaction
    message = await interaction.fetch_initial_response()
    page = await press.upkeep.page_of(message, press.recipient.user_id, words)
    user_id, proposal_id = press.recipient.user_id, press.button.proposal_id
    decided = without(page, proposal_id)
    drawing: SessionKey | None = None
    try:
        if decided == page:  # it was decided by a press before, or never stood there
            raise ProposalGone
        if press.button.action == "do":
            proposal = await press.proposals.stores.proposals.get(user_id, proposal_id)
            done = await press.proposals.accept(user_id, proposal_id)
            drawing = proposal.key if proposal and isinstance(done, Canvas) else None
            decided = await _page_after(press, decided, done)
        else:
            left = await press.proposals.decline(user_id, proposal_id)
            decided = replace(decided, facts=decided.facts.noting(left_line(left, words)))
    except CcBotError as error:
        sentence = explain(error, press.recipient.words)
        if not isinstance(error, _OVER) or decided == page:  # it may be tried again
            await whisper(press.interaction, sentence)
            return None
        decided = replace(decided, facts=decided.facts.noting(sentence))
    reply = reply_in_place(interaction, page)
    await reply.show((decided,))
    await press.upkeep.record(reply, decided.receipts, words)
    return drawing


async def _page_after(press: _Press, page: Page, done: ProposalResult) -> Page:
    """The message with what was done among its facts, and a way to take it back."""
    interaction, words, user_id = press.interaction, press.recipient.words, press.recipient.user_id
    if isinstance(done, Canvas):
        return replace(page, facts=page.facts.noting(words.canvas.changed))
    receipt = receipt_of(done) if isinstance(done, MemoryChange) else ScheduleReceipt.of(done)
    if receipt is None:
        return page
    private = visibility_of(interaction, ephemeral=is_ephemeral(interaction.message)) == "private"
    return await press.upkeep.with_more(page, receipt, user_id, words, private=private)
