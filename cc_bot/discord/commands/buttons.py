"""Handles the buttons below an answer."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Final

import hikari
import lightbulb

from cc_bot.chat.stores.ledger import TurnLedger, parse_channel_turn_id
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.discord.approvals import ApprovalHandler
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import reply_by_token
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import SentMessage
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.handlers import Press, on_press
from cc_bot.discord.interactions import defer_update, tell
from cc_bot.discord.messages.listening import MessageListener
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    AnswerButton,
    OfferErasureButton,
    ProposalButton,
    RetryButton,
    SeeProposalsButton,
    StopButton,
    UndoButton,
    UsedMemoriesButton,
)
from cc_bot.discord.pages.page import NO_FACTS, EphemeralView, Page, reply_view, rows_of
from cc_bot.discord.pages.proposals import proposal_page
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import StorageError
from cc_bot.features.memory.service import build_hidden_reply
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.features.memory.views import format_sentence, format_used_memories
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.log import bind_turn_id
from cc_bot.texts.answer import AnswerTexts, UnfinishedTexts
from cc_bot.texts.proposal import ProposalTexts

loader = lightbulb.Loader()  # without one, lightbulb skips the module


@on_press(AnswerButton, RetryButton, not_yours=lambda words: words[AnswerTexts].not_yours, response="later")
async def ask_again_or_continue(
    press: Press[AnswerButton | RetryButton], answers: Answers, messages: MessageListener
) -> None:
    interaction, button, recipient = press
    if isinstance(button, RetryButton):
        if parse_channel_turn_id(button.turn_id) is None:
            is_accepted = await answers.ask_again(interaction, button, recipient)
        else:
            await defer_update(interaction)
            is_accepted = await messages.mentions.ask_again(
                button.turn_id, button.user_id, int(interaction.message.id)
            )
        if not is_accepted:
            await tell(interaction, recipient.words[UnfinishedTexts].cannot_ask_again)
    elif button.action == "again":
        await answers.regenerate(interaction, button, recipient)
    else:
        await answers.continue_answer(interaction, button, recipient)


@on_press(UndoButton, not_yours=lambda words: words[ReceiptTexts].not_yours)
async def undo(press: Press[UndoButton], stores: Stores, updater: ReceiptUpdater) -> str:
    interaction, button, recipient = press
    result = await _undo(button, recipient, stores)
    await updater.redraw_after_undo(interaction, recipient.user_id, recipient.words)
    return result


async def _undo(button: UndoButton, recipient: Recipient, stores: Stores) -> str:
    words, user_id, memory_id = recipient.words[ReceiptTexts], recipient.user_id, button.memory_id
    memory = await stores.memories.get(user_id, memory_id)  # None if it is deleted
    if button.action == "deleted":
        restored = memory or await stores.memory_removal.undelete(user_id, memory_id)
        return format_sentence(words.undone_deleted, restored) if restored else words.gone
    if memory is None:
        hidden = await stores.memory_removal.get_hidden(user_id, memory_id)
        return format_sentence(words.undone_added, hidden.memory) if hidden else words.gone
    if (memory.supersedes or 0) != button.former_id:
        return words.changed_since.format(id=memory.number)
    if button.action == "added":
        undone = await stores.memories.delete(user_id, memory_id)
        return format_sentence(words.undone_added, memory) if undone else words.gone
    before = await stores.memories.undo_update(user_id, memory_id, button.former_id)
    if before is None:
        return words.changed_since.format(id=memory.number)
    return format_sentence(words.undone_updated, before)


@on_press(OfferErasureButton, not_yours=lambda words: words[ReceiptTexts].not_yours, response="message")
async def offer_erasure(press: Press[OfferErasureButton], removal: MemoryRemovalStore) -> None:
    interaction, button, recipient = press
    hidden = [await removal.get_hidden(recipient.user_id, memory_id) for memory_id in button.memory_ids]
    gone = EphemeralView(recipient.words[ErasureTexts].out_of_reach)
    views = [reply_view(build_hidden_reply(each, recipient), recipient) if each else gone for each in hidden]
    reply = reply_by_token(interaction, SentMessage(None), ephemeral=True)
    await reply.show([Page(view.content, view.buttons) for view in views])


@on_press(UsedMemoriesButton, not_yours=lambda words: words[ReceiptTexts].not_yours, response="message")
async def list_used_memories(press: Press[UsedMemoriesButton], memories: MemoryStore) -> EphemeralView:
    _, button, recipient = press
    used = [await memories.get(recipient.user_id, memory_id) for memory_id in button.memory_ids]
    return EphemeralView(format_used_memories([memory for memory in used if memory], recipient.words))


_LOOKUP_TIMEOUT_S: Final = 1.0  # Discord waits three seconds


@on_press(StopButton, not_yours=None, response="by_handler")
async def stop(press: Press[StopButton], running: RunningTurns, ledger: TurnLedger) -> None:
    interaction, button, recipient = press
    is_for_askers, turn = button.user_id == ANY_ASKER, running.get(button.turn_name)
    if is_for_askers and turn and recipient.user_id not in turn.author_ids:
        await tell(interaction, recipient.words[AnswerTexts].not_yours)
        return
    if turn:
        turn.stop.request()
    # A turn that ended in this process edits its message. After a restart, a channel's turn is resumed.
    if turn or is_for_askers or running.is_of_this_process(button.turn_name):
        await defer_update(interaction)
        return
    if await _runs_elsewhere(button, ledger):
        await tell(interaction, recipient.words[AnswerTexts].runs_elsewhere)
        return
    # The program has restarted since.
    words, page = recipient.words[AnswerTexts], page_of(interaction.message)
    page = replace(page, buttons=(), facts=NO_FACTS.with_notes(words.no_longer_running))
    if page.content.startswith(words.thinking):
        page = replace(page, content=words.lost_in_restart, facts=NO_FACTS)
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, page.content, embeds=page.embeds, components=rows_of(page)
    )


async def _runs_elsewhere(button: StopButton, ledger: TurnLedger) -> bool:
    with suppress(StorageError, TimeoutError):
        async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
            return await ledger.runs_elsewhere(button.turn_name, button.user_id)
    return False


@on_press(ProposalButton, not_yours=None)
async def decide(press: Press[ProposalButton], delivery: ApprovalHandler) -> None:
    interaction, button, recipient = press
    bind_turn_id()
    await delivery.decide(interaction, button, recipient)


@on_press(SeeProposalsButton, not_yours=None, response="message")
async def list_proposals(
    press: Press[SeeProposalsButton], store: ProposalStore, delivery: ApprovalHandler
) -> EphemeralView | None:
    """Show each open proposal in its own message, if the user may see it or decide on it."""
    interaction, button, recipient = press
    words, is_author = recipient.words[ProposalTexts], recipient.user_id == button.user_id
    proposals = [
        each
        for each in await store.list_for_answer(button.user_id, button.answer_id)
        if each.state == "open" and (is_author or await delivery.may_decide(each, recipient.user_id))
    ]
    if not proposals:
        return EphemeralView(words.none_open if is_author else words.not_yours)
    reply = reply_by_token(interaction, SentMessage(None), ephemeral=True)
    await reply.show([proposal_page(each, recipient.words) for each in proposals])
    return None
