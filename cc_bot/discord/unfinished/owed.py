"""What a turn of the ledger still owes to its user, and how that looks.

An answer that is stored is shown. A turn without one says that it was cut off, and offers to ask the same
again; where it was to take the place of an older answer, that one is back.
"""

from dataclasses import dataclass, replace

from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.localization import Reader
from cc_bot.discord.pages.answer import (
    AnswerState,
    advance,
    answer_buttons,
    final_pages,
    memory_buttons,
    unanswered_page,
)
from cc_bot.discord.pages.custom_ids import RetryButton, StopButton
from cc_bot.discord.pages.page import Button, Page
from cc_bot.discord.pages.proposals import with_proposals
from cc_bot.domain.events import CallsResumed, Done, Usage
from cc_bot.domain.ledger import PendingTurn
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import Proposal
from cc_bot.stores import ProposalStore, TurnLedger


@dataclass(frozen=True, slots=True)
class Owed:
    turn: PendingTurn
    reader: Reader
    answer: Message | None = None
    """As it was stored; without one there is a sentence."""
    older: Message | None = None
    """The answer that this one takes the place of, or was to."""
    proposals: tuple[Proposal, ...] = ()
    """What the answer leaves to its user, or else the older one."""
    receipts: ReceiptUpkeep | None = None
    """Keeps what it tells true."""

    @property
    def may_be_asked_again(self) -> bool:
        return self.answer is None and self.turn.question is not None

    @property
    def brings_back(self) -> bool:
        """Whether it shows an older answer again, in the message where that was."""
        return self.answer is None and self.older is not None and not self.turn.below

    @property
    def touched_nothing(self) -> bool:
        """Whether all stands as it was, if nobody heard of the press of a button: the older answer, or the
        message that offers to ask again."""
        return self.answer is None and (self.older is not None or self.turn.former is not None)

    def pages(self) -> tuple[Page, ...]:
        """How it looks, as far as that is known before it is sent."""
        if self.answer is not None:
            return final_pages(_state(self.answer), self.reader.words)
        return (self._brought_back(self.older) if self.older and self.brings_back else self._sentence(),)

    async def show(self, reply: Reply, *, one_message: bool, elsewhere: bool = False) -> None:
        """Make a reply look like it. `elsewhere`: it is not where it was asked, so nothing there works on.

        Raises hikari's errors.
        """
        words, user_id = self.reader.words, self.turn.key.user_id
        if self.answer is None:
            page = self._sentence() if elsewhere else self.pages()[0]
            await reply.show((await self.receipts.as_it_is(page, words) if self.receipts else page,))
            if self.receipts:
                self.receipts.shown(reply, user_id, self.turn.visibility, words)
            return
        live = LiveAnswer(
            reply,
            words,
            StopButton(user_id, self.turn.id),
            asker_id=user_id,
            before=() if self.older is None else (_last_page(self.older, self.reader),),
            one_message=one_message,
            receipts=self.receipts,
        )
        live.feed(Done(self.answer, Usage(), proposals=self.proposals))
        note = words.unfinished.late if elsewhere else ""
        await live.finish(None if elsewhere else user_id, temporary=False, note=note)

    def _sentence(self) -> Page:
        words, buttons = self.reader.words.unfinished, tuple[Button, ...]()
        if self.turn.temporary:
            sentence = words.temporary
        elif self.older is not None:
            sentence = words.no_new_one
        elif not self.may_be_asked_again:
            sentence = words.lost
        else:
            sentence, retry = words.cut_off, RetryButton(self.turn.key.user_id, self.turn.id)
            buttons = (Button(words.ask_again, retry.custom_id(), primary=True),)
        done = CallsResumed(self.turn.calls)
        turn, all_words = self.turn, self.reader.words
        page = unanswered_page(sentence, done, all_words, turn.key.user_id, turn.visibility)
        return replace(page, buttons=buttons)

    def _brought_back(self, older: Message) -> Page:
        """The message with its buttons as it was; those above it were never touched."""
        state = advance(_state(older), CallsResumed(self.turn.calls))
        words, earlier = self.reader.words, self.turn.earlier
        pages = final_pages(state, words, note=words.unfinished.kept)
        if len(pages) != len(earlier) + 1:  # it came as a file
            pages = final_pages(state, words, note=words.unfinished.kept, as_file=True)
        buttons = answer_buttons(state, words, self.turn.key.user_id, earlier)
        last = replace(_with_receipts(pages[-1], state, self.reader), buttons=buttons)
        return with_proposals(last, self.proposals, words)


async def owed(
    turn: PendingTurn,
    reader: Reader,
    ledger: TurnLedger,
    proposals: ProposalStore,
    receipts: ReceiptUpkeep | None = None,
) -> Owed:
    """What is owed for a turn that is not interrupted yet. Raises StorageError."""
    older = await ledger.replaced(turn) if turn.replaces is not None else None
    answer = await ledger.stored(turn) if turn.state == "answered" else None
    shown = answer or older
    left = await proposals.of_answer(turn.key.user_id, shown.id) if shown and shown.id else ()
    return Owed(turn, reader, answer, older, left, receipts)


def _state(answer: Message) -> AnswerState:
    return advance(AnswerState(), Done(answer, Usage()))


def _last_page(answer: Message, reader: Reader) -> Page:
    state = _state(answer)
    return _with_receipts(final_pages(state, reader.words)[-1], state, reader)


def _with_receipts(page: Page, state: AnswerState, reader: Reader) -> Page:
    return replace(page, receipts=memory_buttons(state, reader.words, reader.user_id))
