"""The buttons of proposals: have it done, leave it, or see what there was no room for.

What a button needs stands in its custom id, so one that was shown before a restart still works. A proposal is
claimed where it is carried out (stores/proposals.py), so that it is done once.
"""

from dataclasses import dataclass, replace

import hikari
import lightbulb

from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.correlation import begin_turn
from cc_bot.discord.access.ways_in import ButtonPress
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.interaction_outlet import reply_in_place, reply_to_deferred
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer, defer_update, is_ephemeral, visibility_of
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import ProposalButton, SeeProposalsButton, parse_custom_id
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.proposals import left_line, proposal_page, without
from cc_bot.discord.pages.receipts import Carried, receipt_buttons, receipt_facts, receipt_of, takes_back
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.errors import CcBotError, ProposalGone, ProposalOutdated, WhenPassed
from cc_bot.domain.memory import MemoryChange, with_receipt
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.stores import ProposalStore
from cc_bot.texts import explain

loader = lightbulb.Loader()

_OVER = (ProposalGone, ProposalOutdated, WhenPassed)
"""After these there is nothing left to decide."""


@dataclass(frozen=True, slots=True)
class _Press:
    """Of one of the two buttons of a proposal, by whom it is for."""

    interaction: hikari.ComponentInteraction
    button: ProposalButton
    reader: Reader
    proposals: Proposals
    boards: CanvasBoards
    upkeep: ReceiptUpkeep


@loader.listener(ButtonPress)
@lightbulb.di.with_di
async def on_press(
    event: ButtonPress,
    *,
    proposals: Proposals,
    boards: CanvasBoards,
    readers: Readers,
    upkeep: ReceiptUpkeep,
) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, ProposalButton | SeeProposalsButton):
        return
    begin_turn()
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.proposal.not_yours)
        elif isinstance(button, SeeProposalsButton):
            await _see(interaction, button, reader, proposals.stores.proposals)
        else:
            await defer_update(interaction)
            await _decide(_Press(interaction, button, reader, proposals, boards, upkeep))
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _see(
    interaction: hikari.ComponentInteraction, button: SeeProposalsButton, reader: Reader, store: ProposalStore
) -> None:
    """Each in a message of its own, for its user alone."""
    await defer(interaction, ephemeral=True)
    found = await store.of_answer(reader.user_id, button.answer_id)
    if not found:
        await interaction.edit_initial_response(reader.words.proposal.none_open, **NO_PINGS)
        return
    reply = reply_to_deferred(interaction, ephemeral=True)
    await reply.show([proposal_page(each, reader.words) for each in found])


async def _decide(press: _Press) -> None:
    """Do it or leave it, and say in the message what came of it."""
    words = press.reader.words
    page = page_of(await press.interaction.fetch_initial_response(), words.locale)
    user_id, proposal_id = press.reader.user_id, press.button.proposal_id
    decided = without(page, proposal_id)
    drawing: SessionKey | None = None
    try:
        if decided == page:  # it was decided by a press before, or never stood there
            raise ProposalGone
        if press.button.action == "do":
            proposal = await press.proposals.stores.proposals.get(user_id, proposal_id)
            done = await press.proposals.accept(user_id, proposal_id)
            drawing = proposal.key if proposal and isinstance(done, Canvas) else None
            told = _told(press, decided, done)
        else:
            left = await press.proposals.decline(user_id, proposal_id)
            told = replace(decided, facts=decided.facts.noting(left_line(left, words)))
    except CcBotError as error:
        sentence = explain(error, press.reader.words)
        if isinstance(error, _OVER) and decided != page:
            await _show(press, page, replace(decided, facts=decided.facts.noting(sentence)))
        else:  # it may be tried again
            await press.interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
        return
    await _show(press, page, told)
    if drawing:
        ephemeral = is_ephemeral(press.interaction.message)
        await press.boards.changed(drawing, press.interaction, ephemeral=ephemeral)


async def _show(press: _Press, before: Page, page: Page) -> None:
    interaction, reader = press.interaction, press.reader
    ephemeral = is_ephemeral(interaction.message)
    reply = reply_in_place(interaction, before, ephemeral=ephemeral)
    page = await press.upkeep.as_it_is(page, reader.words)
    await reply.show((page,))
    visibility = visibility_of(interaction, ephemeral=ephemeral)
    press.upkeep.shown(reply, reader.user_id, visibility, reader.words)


def _told(press: _Press, page: Page, done: ProposalResult) -> Page:
    """The message with what was done among its facts, and a way to take it back."""
    interaction, words, user_id = press.interaction, press.reader.words, press.reader.user_id
    if isinstance(done, Canvas):
        return replace(page, facts=page.facts.noting(words.canvas.changed))
    receipts = with_receipt((), done) if isinstance(done, MemoryChange) else ()
    schedules = (receipt_of(done),) if isinstance(done, ScheduleChange) else ()
    ephemeral = is_ephemeral(interaction.message)
    private = visibility_of(interaction, ephemeral=ephemeral) == "private"
    carried = Carried.over(page)
    facts = receipt_facts(receipts, carried, words, private=private, schedules=schedules)
    buttons = receipt_buttons(receipts, (), carried, words, user_id, private=private, schedules=schedules)
    others = (button for button in page.receipts if not takes_back(button))
    notices = (*page.facts.notices, *(each for each in facts.notices if each not in page.facts.notices))
    return replace(
        page,
        facts=replace(page.facts, receipts=facts.receipts, notices=notices),
        receipts=(*buttons, *others),
    )
