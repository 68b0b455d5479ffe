"""The turns that this process shows on Discord, and their entries in the ledger of unfinished turns.

Answers wait at most LEDGER_TIMEOUT_S for the ledger, and are shown even without an entry.
"""

import asyncio
import secrets
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import hikari
import structlog

from cc_bot.chat.active import Stop
from cc_bot.chat.context.tokens import MAX_REFERENCE_CHARACTERS, max_file_tokens
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.stores.usage import Reservation
from cc_bot.concurrency import KeyedLock
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.attachments import FileBudget
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import DiscordReply
from cc_bot.discord.interactions import Answerable, is_server_or_network_error
from cc_bot.discord.locations import key_of_interaction
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import RetryButton
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.change import Change
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, LimitReached, StorageError
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import Attachment, ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import TOKEN_LIFETIME, AskedQuestion, PendingTurn, TurnKind
from cc_bot.domain.usage import Payer

_log = structlog.get_logger(__name__)

Preparation = TypeVar("Preparation")
Acknowledgement = TypeVar("Acknowledgement")
Result = TypeVar("Result")

LEDGER_TIMEOUT_S: Final = 1.0  # Discord waits 3 s for an acknowledgement


class SpokenAnswers(Protocol):
    """Attaches speech to answers (feature `voice`)."""

    async def begin(
        self, reply: DiscordReply, recipient: Recipient, state: AnswerState, payer: Payer
    ) -> None:
        """Begin to synthesize speech. Never raises."""

    async def stop(self, message_id: int) -> bool:
        """Stop synthesizing. Returns whether speech is attached already."""
        ...

    async def close(self) -> None: ...


@dataclass(eq=False, slots=True)
class RunningTurn:
    """A turn or approved call until its end is shown."""

    id: str  # of a turn: its ledger id
    stop: Stop = field(default_factory=Stop)
    author_ids: frozenset[int] = frozenset()  # who may press Stop, unless the button names one
    channel_conversation: ChannelKey | None = None  # None for a user's session
    question_ids: frozenset[int] = frozenset()  # of the questions that are not deleted
    call_message_id: int | None = None  # of an approved call
    answer_message_id: int | None = None  # of the answer's first message, if known
    reply: DiscordReply | None = None
    is_withdrawn: bool = False  # the answer is to be deleted
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def handle_deletion(self, message_ids: Collection[int]) -> None:
        """Withdraw the turn if one of its messages was deleted, or the last of its questions."""
        lost_all_questions = bool(self.question_ids) and self.question_ids <= frozenset(message_ids)
        self.question_ids -= frozenset(message_ids)
        lost_message = self.reply is not None and any(map(self.reply.includes, message_ids))
        if lost_all_questions or lost_message or self.call_message_id in message_ids:
            self.withdraw()

    def withdraw(self) -> None:
        self.is_withdrawn = True
        if self.reply:
            self.reply.no_dm = True
        self.stop.request()


@dataclass(eq=False)
class RunningTurns:
    ledger: TurnLedger
    channels: ChannelStore
    spending: Spending
    clock: Clock
    receipt_updater: ReceiptUpdater
    meter: Meter = NULL_METER
    spoken_answers: SpokenAnswers | None = None
    file_budget: FileBudget = field(default_factory=FileBudget)
    recovery_due: asyncio.Event = field(default_factory=asyncio.Event)  # wakes `Recovery`
    unshown_ids: set[str] = field(default_factory=set)  # of turns whose end Discord refused
    entries_to_delete: dict[str, int] = field(default_factory=dict)  # user ids by ledger id
    entry_locks: KeyedLock = field(default_factory=KeyedLock)  # by ledger id
    _id_prefix: str = field(default_factory=lambda: secrets.token_hex(3))
    _turns: dict[str, RunningTurn] = field(default_factory=dict)
    _writes: set[asyncio.Task[Any]] = field(default_factory=set)

    def new_id(self) -> str:
        return self._id_prefix + secrets.token_hex(4)

    def is_of_this_process(self, turn_id: str) -> bool:
        return turn_id.startswith(self._id_prefix)

    @contextmanager
    def track(self, turn: RunningTurn) -> Iterator[None]:
        self._turns[turn.id] = turn
        try:
            yield
        finally:
            del self._turns[turn.id]
            turn.ended.set()

    def count_concurrent(self, turn: RunningTurn) -> int:
        """Return how many answers share the channel, and so Discord's limit of edits."""
        key = turn.channel_conversation
        return 1 if key is None else sum(key == each.channel_conversation for each in self._turns.values())

    def get(self, turn_id: str) -> RunningTurn | None:
        return self._turns.get(turn_id)

    async def wait_recorded(self, answer_message_id: int) -> None:
        """Wait until the messages of a shown answer are recorded."""
        for turn in [*self._turns.values()]:
            if turn.answer_message_id == answer_message_id:
                await turn.ended.wait()

    def handle_deletion(self, message_ids: Collection[int]) -> None:
        for turn in self._turns.values():
            turn.handle_deletion(message_ids)

    def withdraw_channel(self, deleted: ChannelKey) -> None:
        for turn in self._turns.values():
            key = turn.channel_conversation
            if key and (key == deleted or (key.channel_id == deleted.channel_id and not deleted.thread_id)):
                turn.withdraw()

    async def wait_idle(self) -> None:
        while self._turns:
            await next(iter(self._turns.values())).ended.wait()
        await asyncio.gather(*self._writes, return_exceptions=True)

    def make_entry(
        self, interaction: Answerable, key: SessionKey, kind: TurnKind, recipient: Recipient, **fields: Any
    ) -> PendingTurn:
        """`fields`: other fields of PendingTurn."""
        now = self.clock()
        return PendingTurn(
            self.new_id(),
            key,
            kind,
            accepted_at=now,
            locale=recipient.locale,
            interaction_id=int(interaction.id),
            token=interaction.token,
            token_until=now + TOKEN_LIFETIME,
            **{
                "guild_id": None if interaction.guild_id is None else int(interaction.guild_id),
                # A public question is in the channel's conversation by this id.
                "question_id": int(interaction.id) if fields["visibility"] == "public" else None,
                **fields,
            },
        )

    async def acknowledge(
        self,
        preparation: Coroutine[None, None, Preparation],
        acknowledge: Callable[[], Awaitable[Acknowledgement]],
        undo: Callable[[Preparation], Awaitable[None]],
    ) -> tuple[Preparation, Acknowledgement]:
        """Wait LEDGER_TIMEOUT_S at most for the preparation, then acknowledge; undo if that fails."""
        task = asyncio.create_task(preparation)
        await asyncio.wait((task,), timeout=LEDGER_TIMEOUT_S)
        try:
            acknowledgement = await acknowledge()
        except BaseException:
            await asyncio.wait((task,))
            if not task.cancelled() and task.exception() is None:
                await undo(task.result())
            raise
        return await task, acknowledgement

    async def claim(
        self, turn_id: str, user_id: int, renew: Callable[[PendingTurn], PendingTurn]
    ) -> PendingTurn | None:
        """Claim an interrupted turn's entry. Returns None if it is gone."""
        if turn := self._turns.get(turn_id):  # the button appears shortly before the end
            await turn.ended.wait()
        async with self.entry_locks.hold(turn_id):
            return await self.ledger.claim(turn_id, user_id, renew)

    async def write(self, write: Coroutine[None, None, Result]) -> asyncio.Task[Result]:
        """Wait at most LEDGER_TIMEOUT_S for a write, which goes on in the background. Errors are logged."""
        task = asyncio.create_task(write)
        self._writes.add(task)
        task.add_done_callback(self._on_written)
        await asyncio.wait((task,), timeout=LEDGER_TIMEOUT_S)
        return task

    async def record_page(self, entry: PendingTurn, message_id: int) -> None:
        await self.write(self.ledger.add_page(entry.id, entry.key.user_id, message_id))

    async def record_pages(self, entry: PendingTurn, answer: Message | None, ids: Iterable[int]) -> None:
        """Record an answer's messages: if one is deleted, so is the answer."""
        if answer is None or answer.discord_id is None:
            return
        if further_ids := [id_ for id_ in ids if id_ != answer.discord_id]:
            channel_id = entry.location_id or entry.key.channel_id
            await self.channels.add_pages(channel_id, answer.discord_id, further_ids)

    def mark_unshown(self, turn_id: str) -> None:
        """Leave a turn's end to recovery."""
        self.unshown_ids.add(turn_id)
        self.recovery_due.set()

    def _on_written(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StorageError):
            _log.warning("turn_not_noted", error=type(error).__name__)
        elif error is not None and not isinstance(error, CcBotError):
            _log.error("turn_not_noted", exc_info=error)


class DiscordTurn(RunningTurn):
    def __init__(
        self,
        running_turns: RunningTurns,
        entry: PendingTurn,
        recipient: Recipient,
        selected_agent: SelectedAgent | None = None,
        *,
        interaction: Answerable | None = None,
        role_ids: tuple[int, ...] | None = (),
        channel: ChannelKey | None = None,
        mentions: tuple[Message, ...] = (),
    ) -> None:
        """`selected_agent`: looked up if None. `channel`: of the question, if there is no `interaction`.
        `mentions`: oldest first."""
        self.running_turns, self.entry, self.recipient = running_turns, entry, recipient
        self.selected_agent, self.interaction, self.role_ids = selected_agent, interaction, role_ids
        self.channel = key_of_interaction(interaction.channel) if interaction else channel
        self.mentions = mentions
        self.pictures: tuple[Attachment, ...] = ()
        self._admission: asyncio.Task[Reservation] | None = None
        self.replaced_pages: Sequence[Page] = ()
        self.replaced_card: Card | None = None
        self.inherited: tuple[Change, ...] = ()  # changes of the replaced answer
        self.question_was_edited = False  # a mention's answer replaces the stored one
        # Called with the id of the first message, which is then posted before the turn begins.
        self.on_first_message: Callable[[int], Awaitable[None]] | None = None
        self.is_left_to_next_process = False  # the next process answers the question
        conversation, author_ids = None, frozenset[int]()
        question_ids = frozenset(each.discord_id or 0 for each in mentions)
        if entry.kind == "mention":
            conversation, author_ids = channel, frozenset({recipient.user_id})
        elif entry.kind == "message":
            question_ids = frozenset({entry.question_id or 0})
        super().__init__(
            entry.id, author_ids=author_ids, channel_conversation=conversation, question_ids=question_ids
        )

    @property
    def payer(self) -> Payer:
        return Payer(self.entry.key.user_id, self.entry.guild_id or 0, self.role_ids)

    @property
    def retry_button(self) -> RetryButton | None:
        entry = self.entry
        is_stored = entry.question is not None or entry.kind == "mention"
        return RetryButton(entry.key.user_id, entry.id) if is_stored and not entry.temporary else None

    @property
    def public_channel(self) -> ChannelKey | None:
        entry = self.entry
        if entry.ephemeral or entry.temporary or entry.visibility == "private" or entry.guild_id is None:
            return None
        if self.channel_conversation or entry.question_id is None:
            return None
        pressed_elsewhere = self.channel and self.channel.location_id != entry.key.channel_id
        return None if self.interaction and pressed_elsewhere else self.channel

    @asynccontextmanager
    async def track_delivery(self) -> AsyncIterator[None]:
        """Track the turn. After an error, deletes its entry, or leaves it to recovery if Discord fails."""
        with self.running_turns.track(self):
            try:
                yield
            except hikari.HTTPError as error:
                if is_server_or_network_error(error):
                    self.running_turns.mark_unshown(self.id)
                else:
                    await self.delete_entry()
                raise
            except Exception:
                await self.delete_entry()
                raise

    async def admit(self, model: str) -> None:
        """Write the entry, and reserve the cost. `take_reservation` raises a refusal."""
        spending, tokens = self.running_turns.spending, _max_tokens(self.entry.question)
        reserve = spending.reserve(self.payer, "turn", model=model, tokens=tokens, turn=self.entry)
        self._admission = await self.running_turns.write(reserve)

    async def take_reservation(self) -> Reservation | None:
        """Return the reservation, to be settled. Raises LimitReached and StorageError."""
        admission, self._admission = self._admission, None
        return await asyncio.shield(admission) if admission else None

    async def finish(self, state: AnswerState, reply: DiscordReply | None = None) -> None:
        """Delete the entry, unless recovery must show the end or there is a retry button."""
        if not (state.unshown or (state.may_be_asked_again and self.retry_button)):
            await self.delete_entry()
            return
        with suppress(StorageError):
            await self._release_reservation()
        if state.unshown:
            self.running_turns.mark_unshown(self.id)
            return
        # After a crash here, recovery reports the turn.
        ids: tuple[int, ...] = ()
        if reply and reply.further_ids:
            with suppress(hikari.HikariError):
                ids = await reply.message_ids()
        await self.running_turns.write(self.running_turns.ledger.record_retryable_failure(self.entry, ids))

    async def delete_entry(self) -> None:
        """Never raises."""
        try:
            await self._release_reservation()
            await self.running_turns.ledger.delete(self.id, self.entry.key.user_id)
        except StorageError as error:
            _log.warning("turn_not_noted", error=type(error).__name__)
            self.running_turns.entries_to_delete[self.id] = self.entry.key.user_id
            self.running_turns.recovery_due.set()

    async def _release_reservation(self) -> None:
        with suppress(LimitReached):
            if reservation := await self.take_reservation():
                await self.running_turns.spending.release(reservation)


def _max_tokens(question: AskedQuestion | None) -> int:
    """Estimated as one token per character."""
    if question is None:
        return 0
    file_tokens = sum(max_file_tokens(file.media_type or "", file.size) for file in question.files)
    reference_count = len(question.forwards) + (question.reply_to is not None)
    return len(question.text) + file_tokens + reference_count * MAX_REFERENCE_CHARACTERS
