"""The ledger, for those who show answers: what they begin, post and end is put on record.

Nothing here keeps an answer from its user. A database that does not take a note is waited for only so long,
and a turn whose entry could not be written goes on without one. What could not be shown to its end is owed:
the running program tries again (discord/unfinished), and so does its next start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Final, TypeVar

import hikari
import structlog

from cc_bot.context.attachments import MAX_TEXT_BYTES
from cc_bot.context.recordings import BYTES_A_SECOND
from cc_bot.context.speakers import REFERENCE_CHARACTERS
from cc_bot.context.tokens import IMAGE_TOKENS
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.interactions import Answerable, is_fault
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import LimitReached, StorageError
from cc_bot.domain.member import TOKENS_A_SECOND, UsageSubject
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import TOKEN_LIVES, AskedFile, AskedQuestion, PendingTurn, TurnKind
from cc_bot.spending import Spending
from cc_bot.stores import ChannelStore, Reservation, TurnLedger

_log = structlog.get_logger(__name__)

Prepared = TypeVar("Prepared")
Acknowledged = TypeVar("Acknowledged")

NOTING_S: Final = 1.0
"""How long a note is waited for. Of the 3 s that Discord gives an acknowledgement, the rest is for that."""


class TurnDeliveries:
    def __init__(
        self,
        ledger: TurnLedger,
        channels: ChannelStore,
        spending: Spending,
        running: RunningTurns,
        clock: Clock,
        *,
        noting_s: float = NOTING_S,
    ) -> None:
        self._ledger = ledger
        self._channels = channels
        self.spending = spending
        self._running = running
        self._clock = clock
        self._noting_s = noting_s
        self._writing: set[asyncio.Task[None] | asyncio.Task[Reservation]] = set()
        self._open: set[str] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()
        self.owed = asyncio.Event()
        """Set when there is something in `unseen` or `unsettled`."""
        self.unseen: set[str] = set()
        """Turns of this run of the program whose end Discord has not taken."""
        self.unsettled: dict[str, int] = {}
        """Turns that are over, with their users, of which the database does not know."""

    def of_interaction(
        self,
        interaction: Answerable,
        key: SessionKey,
        kind: TurnKind,
        recipient: Recipient,
        *,
        visibility: Visibility,
        ephemeral: bool,
    ) -> PendingTurn:
        """A turn that is answered by the token of an interaction. A question that everybody reads stands in
        the channel where its interaction came."""
        now = self._clock()
        return PendingTurn(
            self._running.new_name(),
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

    def of_message(self, message: hikari.Message, key: SessionKey, recipient: Recipient) -> PendingTurn:
        """A turn that is answered by messages of the bot's own."""
        return PendingTurn(
            self._running.new_name(),
            key,
            "message",
            "private" if message.guild_id is None else "public",
            self._clock(),
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
        """Prepare a turn, with its entry in the ledger, and then acknowledge the interaction: what is said
        to be on its way is on record. A slow database is waited for no longer than Discord waits.

        Raises what either raises; `undo` is called for what was prepared when Discord did not take the
        acknowledgement.
        """
        task = asyncio.create_task(preparing)
        await asyncio.wait((task,), timeout=self._noting_s)
        try:
            outcome = await acknowledge()
        except BaseException:
            await asyncio.wait((task,))
            if not task.cancelled() and task.exception() is None:
                await undo(task.result())
            raise
        return await task, outcome

    async def accept(self, turn: PendingTurn) -> "Delivery":
        """Enter a turn; a database that does not take it in time does not hold anybody up."""
        await self.write_note(self._ledger.accept(turn))
        return Delivery(self, turn)

    async def admit(self, turn: PendingTurn, payer: UsageSubject, model: str) -> "Delivery":
        """Enter a turn as `accept` does, with what it is likely to use of `model`. Where that is refused it
        is not entered, and whoever waits for `admitted` is told why."""
        tokens = _at_most(turn.question)
        admission = asyncio.create_task(
            self.spending.reserve(payer, "turn", model=model, tokens=tokens, turn=turn)
        )
        self._writing.add(admission)
        admission.add_done_callback(self._on_admitted)
        await asyncio.wait((admission,), timeout=self._noting_s)
        return Delivery(self, turn, admission)

    def entry(self, turn: PendingTurn) -> "Delivery":
        """Make the delivery of a turn that was entered already."""
        return Delivery(self, turn)

    async def take(
        self, entry: str, user_id: int, renewed: Callable[[PendingTurn], PendingTurn]
    ) -> "Delivery | None":
        """Take up an interrupted turn: see TurnLedger.take. Raises StorageError."""
        turn = await self._ledger.take(entry, user_id, renewed)
        return Delivery(self, turn) if turn else None

    async def untake(self, entry: "Delivery") -> None:
        """Give a turn back, since nobody heard that it was taken up. Raises StorageError."""
        await self._ledger.untake(entry.id, entry.user_id)

    async def note_moved(self, entry: "Delivery", place_id: int) -> None:
        await self.write_note(self._ledger.move(entry.turn, place_id, ()))

    async def note_calls(self, turn: PendingTurn) -> None:
        """Note what is known of the tools of a turn before it begins: a kill does not lose it."""
        await self.write_note(self._ledger.note_calls(turn.id, turn.key.user_id, turn.calls))

    async def write_note(self, writing: Coroutine[None, None, None]) -> None:
        """Wait for something to be written, but not for long."""
        task = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._on_written)
        await asyncio.wait((task,), timeout=self._noting_s)

    async def note_shown_in(self, entry: "Delivery", message_id: int) -> None:
        await self.write_note(self._ledger.note_message(entry.id, entry.user_id, message_id))

    async def note_page(self, entry: "Delivery", message_id: int) -> None:
        await self.write_note(self._ledger.add_page(entry.id, entry.user_id, message_id))

    async def interrupt(self, entry: "Delivery", message_ids: tuple[int, ...]) -> None:
        await self.write_note(self._ledger.offer(entry.turn, message_ids))

    async def note_pages(self, place_id: int, state: AnswerState, message_ids: Iterable[int]) -> None:
        """Put on record that these messages show an answer, if it was stored under the id of its first one:
        whichever of them is deleted, the answer goes. Raises StorageError."""
        answer = state.done.answer if state.done else None
        if answer is None or answer.id is None or answer.discord_id is None:
            return
        pages = [message_id for message_id in message_ids if message_id != answer.discord_id]
        if pages:
            await self._channels.add_pages(place_id, answer.discord_id, pages)

    async def settle(self, entry: "Delivery") -> None:
        try:
            await entry.release()
            await self._ledger.mark_settled(entry.id, entry.user_id)
        except StorageError as error:
            _log.warning("turn_not_noted", error=type(error).__name__)
            self.unsettled[entry.id] = entry.user_id
            self.owed.set()

    def leave(self, entry: "Delivery") -> None:
        self.unseen.add(entry.id)
        self.owed.set()

    def open(self, entry: "Delivery") -> None:
        """Note that somebody shows it from now on."""
        self._open.add(entry.id)
        self._none_open.clear()

    def close(self, entry: "Delivery") -> None:
        self._open.discard(entry.id)
        if not self._open:
            self._none_open.set()

    async def quiet(self) -> None:
        """Wait until nobody shows anything, and nothing is being written."""
        await self._none_open.wait()
        await asyncio.gather(*self._writing, return_exceptions=True)

    def _on_admitted(self, task: asyncio.Task[Reservation]) -> None:
        """Forget the task: whoever answers the turn is told how it went."""
        self._writing.discard(task)
        if not task.cancelled():
            task.exception()

    def _on_written(self, task: asyncio.Task[None]) -> None:
        self._writing.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StorageError):
            _log.warning("turn_not_noted", error=type(error).__name__)
        elif error is not None:
            _log.error("turn_not_noted", exc_info=error)


class Delivery:
    """A turn of the ledger, while this run of the program shows it. As a context manager it is settled by an
    error of which its user is told; by one of Discord's it is left to be shown later."""

    def __init__(
        self,
        entries: TurnDeliveries,
        turn: PendingTurn,
        admission: asyncio.Task[Reservation] | None = None,
    ) -> None:
        self.turn = turn
        self._entries = entries
        self._admission = admission

    @property
    def id(self) -> str:
        return self.turn.id

    @property
    def user_id(self) -> int:
        return self.turn.key.user_id

    async def take_reservation(self) -> Reservation | None:
        """Return what is reserved for it, for whoever will settle that; None where that has still to be done.
        Raises LimitReached, StorageError."""
        admission, self._admission = self._admission, None
        return await asyncio.shield(admission) if admission else None

    async def release(self) -> None:
        """Release what is reserved, if nobody took it. Raises StorageError."""
        with suppress(LimitReached):
            if reservation := await self.take_reservation():
                await self._entries.spending.release(reservation)

    async def note_shown_in(self, message_id: int | None) -> None:
        """The interaction's own message, or the first one of an answer to a message."""
        if message_id is not None:
            await self._entries.note_shown_in(self, message_id)

    async def note_page(self, message_id: int) -> None:
        """Note that one more message of it stands there."""
        await self._entries.note_page(self, message_id)

    async def note_moved(self, place_id: int) -> None:
        """Note that it is shown in another channel from now on."""
        await self._entries.note_moved(self, place_id)

    @property
    def may_be_offered(self) -> bool:
        """Return whether its question may be kept, to be asked again."""
        return self.turn.question is not None and not self.turn.temporary

    async def finish(self, state: AnswerState, reply: Reply | None = None) -> None:
        """Settle it if its end can be seen, else leave it: it will be shown later. A failure that offers to
        ask again stays."""
        if state.unseen:
            self._entries.leave(self)
        elif state.may_be_asked_again and self.may_be_offered:
            await self._offer_again(reply)
        else:
            await self.settle()

    async def _offer_again(self, reply: Reply | None) -> None:
        """Leave it to be asked again. Its button stands there already: until this is noted, a kill leaves a
        turn that is told of at the next start."""
        with suppress(StorageError):
            await self.release()
        ids: tuple[int, ...] = ()
        if reply and reply.further_ids:
            with suppress(hikari.HikariError):
                ids = await reply.message_ids()
        await self._entries.interrupt(self, ids)

    async def settle(self) -> None:
        """Take it off the ledger: its user knows how it ended. Never raises: what can't be noted is owed."""
        await self._entries.settle(self)

    async def untake(self) -> None:
        """Give it back as it was before `TurnDeliveries.take`. Raises StorageError."""
        await self._entries.untake(self)

    async def __aenter__(self) -> "Delivery":
        self._entries.open(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, hikari.HTTPError) and is_fault(error):
                self._entries.leave(self)
            elif isinstance(error, Exception):
                await self.settle()
        finally:
            self._entries.close(self)


def _at_most(question: AskedQuestion | None) -> int:
    """Tokens of a question, counted in no time: a character is at most about one."""
    if question is None:
        return 0
    pointed_at = len(question.forwards) + (question.reply_to is not None)
    return len(question.text) + sum(map(_file_at_most, question.files)) + pointed_at * REFERENCE_CHARACTERS


def _file_at_most(file: AskedFile) -> int:
    if (file.media_type or "").startswith("image/"):
        return IMAGE_TOKENS
    if file.is_recording:
        return TOKENS_A_SECOND * file.size // BYTES_A_SECOND
    return min(file.size // 3, MAX_TEXT_BYTES // 3)  # more is shown of no file, whatever it is
