"""Ledger entries of the turns shown on Discord.

Answers wait for the ledger for at most NOTE_TIMEOUT_S, and are shown even without an entry. An end that
Discord or the database refused is left to discord/delivery/recovery, in this process or the next.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, TypeVar

import hikari
import structlog

from cc_bot.context.attachments import MAX_TEXT_BYTES
from cc_bot.context.recordings import BYTES_A_SECOND
from cc_bot.context.speakers import REFERENCE_CHARACTERS
from cc_bot.context.tokens import IMAGE_TOKENS
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.delivery.running import RunningTurns
from cc_bot.discord.interactions import Answerable, is_fault
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, LimitReached, StorageError
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import TOKEN_LIVES, AskedFile, AskedQuestion, PendingTurn, TurnKind
from cc_bot.domain.usage import TOKENS_A_SECOND, UsageSubject
from cc_bot.in_order import KeyedLock
from cc_bot.spending import Spending
from cc_bot.stores import ChannelStore, Reservation, TurnLedger

_log = structlog.get_logger(__name__)

Prepared = TypeVar("Prepared")
Acknowledged = TypeVar("Acknowledged")
Written = TypeVar("Written")

NOTE_TIMEOUT_S: Final = 1.0
"""Discord waits 3 s for an acknowledgement."""


@dataclass(eq=False)
class Deliveries:
    """Begins deliveries, and keeps pending writes and unshown turns of this process."""

    ledger: TurnLedger
    channels: ChannelStore
    spending: Spending
    running: RunningTurns
    clock: Clock
    note_timeout_s: float = NOTE_TIMEOUT_S
    retry_due: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when `unshown` or `unsettled` has entries."""
    unshown: set[str] = field(default_factory=set)
    """Turns of this process whose end Discord refused."""
    unsettled: dict[str, int] = field(default_factory=dict)
    """Ended turns still in the ledger, with their users."""
    recovering: KeyedLock = field(default_factory=KeyedLock)
    """By entry: serializes recovery and presses of its button."""
    _writes: set[asyncio.Task[Any]] = field(default_factory=set)
    open: dict[str, asyncio.Event] = field(default_factory=dict)
    """By turn, an event set at its end."""

    def turn_of_interaction(
        self,
        interaction: Answerable,
        key: SessionKey,
        kind: TurnKind,
        recipient: Recipient,
        *,
        visibility: Visibility,
        ephemeral: bool,
    ) -> PendingTurn:
        """A public question belongs to the interaction's channel."""
        now = self.clock()
        return PendingTurn(
            self.running.new_name(),
            key,
            kind,
            visibility,
            now,
            guild_id=None if interaction.guild_id is None else int(interaction.guild_id),
            locale=recipient.locale,
            question_id=int(interaction.id) if visibility == "public" else None,
            interaction_id=int(interaction.id),
            token=interaction.token,
            token_until=now + TOKEN_LIVES,
            ephemeral=ephemeral,
        )

    def turn_of_message(self, message: hikari.Message, key: SessionKey, recipient: Recipient) -> PendingTurn:
        return PendingTurn(
            self.running.new_name(),
            key,
            "message",
            "private" if message.guild_id is None else "public",
            self.clock(),
            guild_id=None if message.guild_id is None else int(message.guild_id),
            locale=recipient.locale,
            question_id=int(message.id),
            place_id=int(message.channel_id),
        )

    async def acknowledge(
        self,
        preparing: Coroutine[None, None, Prepared],
        acknowledge: Callable[[], Awaitable[Acknowledged]],
        undo: Callable[[Prepared], Awaitable[None]],
    ) -> tuple[Prepared, Acknowledged]:
        """Prepare a turn with its ledger entry, for at most NOTE_TIMEOUT_S, then acknowledge the interaction.
        Raises the errors of both; `undo` is called if the acknowledgement fails."""
        task = asyncio.create_task(preparing)
        await asyncio.wait((task,), timeout=self.note_timeout_s)
        try:
            outcome = await acknowledge()
        except BaseException:
            await asyncio.wait((task,))
            if not task.cancelled() and task.exception() is None:
                await undo(task.result())
            raise
        return await task, outcome

    async def accept(self, turn: PendingTurn) -> "Delivery":
        await self.write(self.ledger.accept(turn))
        return Delivery(self, turn)

    async def admit(self, turn: PendingTurn, payer: UsageSubject, model: str) -> "Delivery":
        """Add a turn to the ledger, and reserve its estimated use of `model`. If that is refused the turn is
        not added, and `Delivery.take_reservation` raises the reason."""
        tokens = _max_tokens(turn.question)
        reserving = self.spending.reserve(payer, "turn", model=model, tokens=tokens, turn=turn)
        return Delivery(self, turn, await self.write(reserving))

    async def claim(
        self, entry: str, user_id: int, renewed: Callable[[PendingTurn], PendingTurn]
    ) -> "Delivery | None":
        """Claim an interrupted turn (see TurnLedger.claim), once it is no longer shown: its button appears
        before the ledger has the interruption. Raises StorageError."""
        if over := self.open.get(entry):
            await over.wait()
        async with self.recovering.after(entry):
            turn = await self.ledger.claim(entry, user_id, renewed)
        return Delivery(self, turn) if turn else None

    async def write(self, writing: Coroutine[None, None, Written]) -> asyncio.Task[Written]:
        """Write for at most NOTE_TIMEOUT_S. Never raises StorageError."""
        task = asyncio.create_task(writing)
        self._writes.add(task)
        task.add_done_callback(self._on_written)
        await asyncio.wait((task,), timeout=self.note_timeout_s)
        return task

    def mark_unshown(self, entry: str) -> None:
        """Leave the end of a turn to recovery."""
        self.unshown.add(entry)
        self.retry_due.set()

    async def wait_idle(self) -> None:
        while self.open:
            await asyncio.gather(*(over.wait() for over in self.open.values()))
        await asyncio.gather(*self._writes, return_exceptions=True)

    def _on_written(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StorageError):
            _log.warning("turn_not_noted", error=type(error).__name__)
        elif error is not None and not isinstance(error, CcBotError):
            _log.error("turn_not_noted", exc_info=error)


@dataclass(eq=False, slots=True)
class Delivery:
    """A turn's ledger entry. As a context manager, settles the turn after an error, and leaves it to recovery
    after trouble with Discord."""

    _deliveries: Deliveries
    turn: PendingTurn
    _admission: asyncio.Task[Reservation] | None = None

    @property
    def id(self) -> str:
        return self.turn.id

    @property
    def user_id(self) -> int:
        return self.turn.key.user_id

    @property
    def can_be_asked_again(self) -> bool:
        """Whether its question may be stored."""
        kept = self.turn.question is not None or self.turn.kind == "mention"
        return kept and not self.turn.temporary

    async def take_reservation(self) -> Reservation | None:
        """Return the reservation, which the caller settles; None if there is none. Raises LimitReached and
        StorageError."""
        admission, self._admission = self._admission, None
        return await asyncio.shield(admission) if admission else None

    async def note_first(self, message_id: int) -> None:
        await self._deliveries.write(self._ledger.note_message(self.id, self.user_id, message_id))

    async def note_page(self, message_id: int) -> None:
        await self._deliveries.write(self._ledger.add_page(self.id, self.user_id, message_id))

    async def note_moved(self, channel_id: int) -> None:
        """Record that it is now shown in another channel."""
        await self._deliveries.write(self._ledger.move(self.turn, channel_id, ()))

    async def record_pages(self, answer: Message | None, message_ids: Iterable[int]) -> None:
        """Record the messages of an answer: if one is deleted, so is the answer. Raises StorageError."""
        if answer is None or answer.discord_id is None:
            return
        pages = [message_id for message_id in message_ids if message_id != answer.discord_id]
        if pages:
            channel_id = self.turn.place_id or self.turn.key.channel_id
            await self._deliveries.channels.add_pages(channel_id, answer.discord_id, pages)

    async def finish(self, state: AnswerState, reply: Reply | None = None) -> None:
        """Settle it if its end was shown, else leave it to recovery. A failure with a retry button stays in
        the ledger."""
        if state.unseen:
            self._deliveries.mark_unshown(self.id)
        elif state.may_be_asked_again and self.can_be_asked_again:
            await self._mark_interrupted(reply)
        else:
            await self.settle()

    async def settle(self) -> None:
        """Remove it from the ledger. Never raises; recovery retries."""
        try:
            await self._release()
            await self._ledger.mark_settled(self.id, self.user_id)
        except StorageError as error:
            _log.warning("turn_not_noted", error=type(error).__name__)
            self._deliveries.unsettled[self.id] = self.user_id
            self._deliveries.retry_due.set()

    async def release_claim(self) -> None:
        """Undo `Deliveries.claim`. Raises StorageError."""
        await self._ledger.release_claim(self.id, self.user_id)

    async def __aenter__(self) -> "Delivery":
        self._deliveries.open[self.id] = asyncio.Event()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, hikari.HTTPError) and is_fault(error):
                self._deliveries.mark_unshown(self.id)
            elif isinstance(error, Exception):
                await self.settle()
        finally:
            self._deliveries.open.pop(self.id).set()

    @property
    def _ledger(self) -> TurnLedger:
        return self._deliveries.ledger

    async def _mark_interrupted(self, reply: Reply | None) -> None:
        # Its button is already shown. After a crash here, recovery reports the turn.
        with suppress(StorageError):
            await self._release()
        ids: tuple[int, ...] = ()
        if reply and reply.further_ids:
            with suppress(hikari.HikariError):
                ids = await reply.message_ids()
        await self._deliveries.write(self._ledger.offer(self.turn, ids))

    async def _release(self) -> None:
        with suppress(LimitReached):
            if reservation := await self.take_reservation():
                await self._deliveries.spending.release(reservation)


def _max_tokens(question: AskedQuestion | None) -> int:
    """An upper estimate: a character is at most about one token."""
    if question is None:
        return 0
    pointed_at = len(question.forwards) + (question.reply_to is not None)
    return len(question.text) + sum(map(_max_file_tokens, question.files)) + pointed_at * REFERENCE_CHARACTERS


def _max_file_tokens(file: AskedFile) -> int:
    if (file.media_type or "").startswith("image/"):
        return IMAGE_TOKENS
    if file.is_recording:
        return TOKENS_A_SECOND * file.size // BYTES_A_SECOND
    return min(file.size // 3, MAX_TEXT_BYTES // 3)  # the rest of a file is never shown
