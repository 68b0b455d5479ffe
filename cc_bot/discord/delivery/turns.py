"""The turns that this process shows on Discord, and their ledger entries.

Answers wait at most NOTE_TIMEOUT_S for the ledger, and are shown even without an entry.
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
from cc_bot.chat.context.tokens import REFERENCE_CHARACTERS, max_file_tokens
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.stores.usage import Reservation
from cc_bot.concurrency import KeyedLock
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.attachments import FileBudget
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import Poster
from cc_bot.discord.interactions import Answerable, is_server_or_network_error
from cc_bot.discord.locations import key_of_interaction
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.custom_ids import RetryButton
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, LimitReached, StorageError
from cc_bot.domain.forms import FormAsker
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import Attachment, ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import TOKEN_LIFETIME, AskedQuestion, PendingTurn, TurnKind
from cc_bot.domain.usage import UsageSubject

_log = structlog.get_logger(__name__)

Prepared = TypeVar("Prepared")
Acknowledged = TypeVar("Acknowledged")
Written = TypeVar("Written")

NOTE_TIMEOUT_S: Final = 1.0  # Discord waits 3 s for an acknowledgement


class FormAskers(Protocol):
    """Makes the forms of running tools (feature `mcp`)."""

    def for_reply(self, reply: Poster, recipient: Recipient) -> FormAsker: ...


class SpokenAnswers(Protocol):
    """Attaches speech to answers (feature `voice`)."""

    async def begin(
        self, reply: Poster, recipient: Recipient, state: AnswerState, payer: UsageSubject
    ) -> None:
        """Begin to synthesize speech. Never raises."""

    async def stop(self, message_id: int) -> bool:
        """Returns whether speech was attached already."""
        ...

    async def close(self) -> None: ...


@dataclass(eq=False, slots=True)
class RunningTurn:
    """A turn or approved call until its end is shown."""

    name: str  # its ledger id, or a new one; used by the Stop button
    stop: Stop = field(default_factory=Stop)
    askers: frozenset[int] = frozenset()
    key: ChannelKey | None = None  # of its channel's conversation; None for a session
    questions: frozenset[int] = frozenset()  # that exist
    answer_id: int | None = None  # the message of an approved call
    reply: Poster | None = None
    withdrawn: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def withdraw(self, deleted: Collection[int]) -> None:
        """Stop it if one of its messages was deleted, or the last of its questions."""
        lost_all_questions = bool(self.questions) and self.questions <= frozenset(deleted)
        self.questions -= frozenset(deleted)
        lost_message = self.reply is not None and any(map(self.reply.shows, deleted))
        if lost_all_questions or lost_message or self.answer_id in deleted:
            self.discard()

    def discard(self) -> None:
        """Stop it, and have its answer deleted."""
        self.withdrawn = True
        if self.reply:
            self.reply.no_dm = True
        self.stop.request()


@dataclass(eq=False)
class RunningTurns:
    """The running turns, pending writes and unshown turns of this process."""

    ledger: TurnLedger
    channels: ChannelStore
    spending: Spending
    clock: Clock
    receipts: ReceiptUpdater
    meter: Meter = NULL_METER
    spoken: SpokenAnswers | None = None
    forms: FormAskers | None = None
    file_budget: FileBudget = field(default_factory=FileBudget)
    retry_due: asyncio.Event = field(default_factory=asyncio.Event)  # wakes recovery
    unshown: set[str] = field(default_factory=set)  # turns whose end Discord refused
    entries_to_delete: dict[str, int] = field(default_factory=dict)  # user ids by ended turn
    recovering: KeyedLock = field(default_factory=KeyedLock)  # by ledger id; presses of its button wait too
    _name_prefix: str = field(default_factory=lambda: secrets.token_hex(3))
    _turns: dict[str, RunningTurn] = field(default_factory=dict)
    _writes: set[asyncio.Task[Any]] = field(default_factory=set)

    def new_name(self) -> str:
        """Return a turn id that names this process."""
        return self._name_prefix + secrets.token_hex(4)

    def is_of_this_process(self, name: str) -> bool:
        return name.startswith(self._name_prefix)

    @contextmanager
    def track(self, turn: RunningTurn) -> Iterator[None]:
        """Count the turn as running during the block."""
        self._turns[turn.name] = turn
        try:
            yield
        finally:
            del self._turns[turn.name]
            turn.ended.set()

    def count_concurrent(self, turn: RunningTurn) -> int:
        """Count the answers shown in a conversation, as they share Discord's limit of edits."""
        return 1 if turn.key is None else sum(other.key == turn.key for other in self._turns.values())

    def stop(self, name: str) -> bool:
        if name in self._turns:
            self._turns[name].stop.request()
        return name in self._turns

    def is_running(self, name: str) -> bool:
        return name in self._turns

    def is_asked_by(self, name: str, user_id: int) -> bool:
        return name in self._turns and user_id in self._turns[name].askers

    def withdraw(self, message_ids: Collection[int]) -> None:
        """Stop deleted answers, and answers to deleted messages."""
        for turn in self._turns.values():
            turn.withdraw(message_ids)

    def withdraw_channel(self, key: ChannelKey) -> None:
        """Stop the answers in a thread, or in a channel with its threads."""
        for turn in self._turns.values():
            in_channel = turn.key is not None and turn.key.channel_id == key.channel_id
            if turn.key == key or (in_channel and not key.thread_id):
                turn.discard()

    async def wait_idle(self) -> None:
        """Wait until no turn runs and nothing is being written."""
        while self._turns:
            await next(iter(self._turns.values())).ended.wait()
        await asyncio.gather(*self._writes, return_exceptions=True)

    def entry_of_interaction(
        self, interaction: Answerable, key: SessionKey, kind: TurnKind, recipient: Recipient, **fields: Any
    ) -> PendingTurn:
        """Make a turn's ledger entry. `fields`: others of PendingTurn."""
        now = self.clock()
        return PendingTurn(
            self.new_name(),
            key,
            kind,
            accepted_at=now,
            locale=recipient.locale,
            interaction_id=int(interaction.id),
            token=interaction.token,
            token_until=now + TOKEN_LIFETIME,
            **{
                "guild_id": None if interaction.guild_id is None else int(interaction.guild_id),
                # Public questions are in the channel's conversation.
                "question_id": int(interaction.id) if fields["visibility"] == "public" else None,
                **fields,
            },
        )

    async def acknowledge(
        self,
        preparing: Coroutine[None, None, Prepared],
        acknowledge: Callable[[], Awaitable[Acknowledged]],
        undo: Callable[[Prepared], Awaitable[None]],
    ) -> tuple[Prepared, Acknowledged]:
        """Prepare for at most NOTE_TIMEOUT_S, then acknowledge; if that fails, undo. Raises their errors."""
        task = asyncio.create_task(preparing)
        await asyncio.wait((task,), timeout=NOTE_TIMEOUT_S)
        try:
            outcome = await acknowledge()
        except BaseException:
            await asyncio.wait((task,))
            if not task.cancelled() and task.exception() is None:
                await undo(task.result())
            raise
        return await task, outcome

    async def claim(
        self, entry: str, user_id: int, renewed: Callable[[PendingTurn], PendingTurn]
    ) -> PendingTurn | None:
        """Claim an interrupted turn once it ended; its button appears before that. Raises StorageError."""
        if running := self._turns.get(entry):
            await running.ended.wait()
        async with self.recovering.hold(entry):
            return await self.ledger.claim(entry, user_id, renewed)

    async def write(self, writing: Coroutine[None, None, Written]) -> asyncio.Task[Written]:
        """Wait at most NOTE_TIMEOUT_S for a write, which goes on in the background. Errors are logged."""
        task = asyncio.create_task(writing)
        self._writes.add(task)
        task.add_done_callback(self._on_written)
        await asyncio.wait((task,), timeout=NOTE_TIMEOUT_S)
        return task

    async def record_page(self, entry: PendingTurn, message_id: int) -> None:
        await self.write(self.ledger.add_page(entry.id, entry.key.user_id, message_id))

    async def record_pages(self, entry: PendingTurn, answer: Message | None, ids: Iterable[int]) -> None:
        """Record an answer's messages: if one is deleted, so is the answer. Raises StorageError."""
        pages = [each for each in ids if answer and each != answer.discord_id]
        if answer and answer.discord_id is not None and pages:
            await self.channels.add_pages(entry.location_id or entry.key.channel_id, answer.discord_id, pages)

    def mark_unshown(self, entry: str) -> None:
        """Leave the end of a turn to recovery."""
        self.unshown.add(entry)
        self.retry_due.set()

    def _on_written(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StorageError):
            _log.warning("turn_not_noted", error=type(error).__name__)
        elif error is not None and not isinstance(error, CcBotError):
            _log.error("turn_not_noted", exc_info=error)


class DiscordTurn(RunningTurn):
    """A turn with its ledger entry and the user who reads the answer."""

    def __init__(
        self,
        turns: RunningTurns,
        entry: PendingTurn,
        recipient: Recipient,
        chosen: SelectedAgent | None = None,
        *,
        interaction: Answerable | None = None,
        role_ids: tuple[int, ...] | None = (),
        location: ChannelKey | None = None,
        mentions: tuple[Message, ...] = (),
    ) -> None:
        """`chosen`: None looks up the agent. `location`: if no `interaction`. `mentions`: oldest first."""
        self.turns, self.entry, self.recipient, self.chosen = turns, entry, recipient, chosen
        self.interaction, self.role_ids = interaction, role_ids
        self.location = key_of_interaction(interaction.channel) if interaction else location
        self.mentions = mentions
        self.pictures: tuple[Attachment, ...] = ()
        self._admission: asyncio.Task[Reservation] | None = None
        self.message_id: int | None = None  # shows the answer, if known
        self.before: Sequence[Page] = ()  # the pages that the answer replaces
        self.is_edit = False  # of a mention: the answer replaces the stored one
        # Called with the id of the answer's message, which is then posted before the turn begins.
        self.on_opened: Callable[[int], Awaitable[None]] | None = None
        self.postponed = False  # the next process answers the mentions
        key, askers, questions = None, frozenset[int](), frozenset(each.discord_id or 0 for each in mentions)
        if entry.kind == "mention":
            key, askers = location, frozenset({recipient.user_id})
        elif entry.kind == "message":
            questions = frozenset({entry.question_id or 0})
        super().__init__(entry.id, askers=askers, key=key, questions=questions)

    @property
    def payer(self) -> UsageSubject:
        return UsageSubject(self.entry.key.user_id, self.entry.guild_id or 0, self.role_ids)

    @property
    def retry(self) -> RetryButton | None:
        entry, stored = self.entry, self.entry.question is not None or self.entry.kind == "mention"
        return RetryButton(entry.key.user_id, entry.id) if stored and not entry.temporary else None

    @property
    def public_location(self) -> ChannelKey | None:
        """Return the channel of a session's public question; None if private or unknown."""
        entry = self.entry
        hidden = entry.ephemeral or entry.temporary or entry.visibility == "private" or entry.guild_id is None
        if self.key or hidden or entry.question_id is None:
            return None
        moved = self.interaction and self.location and self.location.location_id != entry.key.channel_id
        return None if moved else self.location

    @asynccontextmanager
    async def delivered(self) -> AsyncIterator[None]:
        """Track the turn. Deletes its entry after an error; if Discord fails, leaves it to recovery."""
        with self.turns.track(self):
            try:
                yield
            except hikari.HTTPError as error:
                if is_server_or_network_error(error):
                    self.turns.mark_unshown(self.name)
                else:
                    await self.delete_entry()
                raise
            except Exception:
                await self.delete_entry()
                raise

    async def admit(self, model: str) -> None:
        """Add it to the ledger and reserve its use of `model`. `take_reservation` raises any refusal."""
        spending, tokens = self.turns.spending, _max_tokens(self.entry.question)
        reserving = spending.reserve(self.payer, "turn", model=model, tokens=tokens, turn=self.entry)
        self._admission = await self.turns.write(reserving)

    async def take_reservation(self) -> Reservation | None:
        """Return the reservation, which the caller settles. Raises LimitReached and StorageError."""
        admission, self._admission = self._admission, None
        return await asyncio.shield(admission) if admission else None

    async def finish(self, state: AnswerState, reply: Poster | None = None) -> None:
        """Delete its entry, unless recovery must show its end or it has a retry button."""
        if not (state.unshown or (state.may_be_asked_again and self.retry)):
            await self.delete_entry()
            return
        with suppress(StorageError):
            await self._release()
        if state.unshown:
            self.turns.mark_unshown(self.name)
            return
        # After a crash here, recovery reports the turn.
        ids: tuple[int, ...] = ()
        if reply and reply.further_ids:
            with suppress(hikari.HikariError):
                ids = await reply.message_ids()
        await self.turns.write(self.turns.ledger.record_retryable_failure(self.entry, ids))

    async def delete_entry(self) -> None:
        """Delete it from the ledger. Never raises."""
        try:
            await self._release()
            await self.turns.ledger.delete(self.name, self.entry.key.user_id)
        except StorageError as error:
            _log.warning("turn_not_noted", error=type(error).__name__)
            self.turns.entries_to_delete[self.name] = self.entry.key.user_id
            self.turns.retry_due.set()

    async def _release(self) -> None:
        with suppress(LimitReached):
            if reservation := await self.take_reservation():
                await self.turns.spending.release(reservation)


def _max_tokens(question: AskedQuestion | None) -> int:
    # Estimated as one token per character.
    if question is None:
        return 0
    files = sum(max_file_tokens(file.media_type or "", file.size) for file in question.files)
    pointed_at = len(question.forwards) + (question.reply_to is not None)
    return len(question.text) + files + pointed_at * REFERENCE_CHARACTERS
