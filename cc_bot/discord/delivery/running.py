"""Registry of the turns and approved calls that this process shows.

If a user deletes a question, a message of its answer, or the channel, the answer is stopped and deleted.
Discord does not say who deleted a message. Side effects stay, and the author is told of them by DM.
"""

import asyncio
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from cc_bot.assistant import Stop
from cc_bot.discord.attachments import HeldFiles
from cc_bot.discord.delivery.forms import OpenForms
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.delivery.speaking import SpokenAnswers
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import ChannelKey

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class RunningTurn:
    """A turn or approved call until its end is shown. All ids are Discord's."""

    name: str
    """Its ledger id, or a new one; used by the Stop button."""
    stop: Stop = field(default_factory=Stop)
    askers: frozenset[int] = frozenset()
    """Users who may stop it, if several."""
    key: ChannelKey | None = None
    """The channel whose conversation it belongs to; None for a session."""
    questions: frozenset[int] = frozenset()
    """Ids of its questions that were not deleted."""
    answer_id: int | None = None
    """The first message that shows it, once there is one."""
    reply: Reply | None = None
    """None for an approved call."""
    withdrawn: bool = False

    def withdraw(self, deleted: Collection[int]) -> None:
        """Stop it if one of its messages was deleted, or the last of its questions."""
        unasked = bool(self.questions) and self.questions <= frozenset(deleted)
        self.questions -= frozenset(deleted)
        shown = self.reply is not None and any(map(self.reply.shows, deleted))
        if unasked or self.answer_id in deleted or shown:
            self.discard()

    def discard(self) -> None:
        """Stop it, and show nothing of it."""
        self.withdrawn = True
        if self.reply:
            self.reply.unwanted = True
        self.stop.request()


class RunningTurns:
    def __init__(
        self,
        meter: Meter = NULL_METER,
        receipts: ReceiptUpkeep | None = None,
        spoken: SpokenAnswers | None = None,
    ) -> None:
        self._meter = meter
        self.receipts = receipts
        self.spoken = spoken
        self.forms = OpenForms()
        self.held = HeldFiles()
        self._life = secrets.token_hex(3)
        """The prefix of the names of this process's turns."""
        self._turns: dict[str, RunningTurn] = {}
        self._none = asyncio.Event()
        self._none.set()

    def new_name(self) -> str:
        """Return a unique short name for a turn, used by the ledger and the Stop button."""
        return self._life + secrets.token_hex(4)

    @contextmanager
    def track(self, turn: RunningTurn) -> Iterator[None]:
        self._turns[turn.name] = turn
        self._none.clear()
        try:
            yield
        finally:
            del self._turns[turn.name]
            if not self._turns:
                self._none.set()

    def count_beside(self, turn: RunningTurn) -> int:
        """Count the answers being shown in a conversation: they share Discord's limit of five edits in five
        seconds."""
        return 1 if turn.key is None else sum(other.key == turn.key for other in self._turns.values())

    def stop(self, name: str) -> bool:
        """Ask a turn to stop. Returns False if it is not running."""
        if name in self._turns:
            self._turns[name].stop.request()
        return name in self._turns

    def runs(self, name: str) -> bool:
        return name in self._turns

    def asked_by(self, name: str, user_id: int) -> bool:
        """Return whether this user may stop a running turn."""
        return name in self._turns and user_id in self._turns[name].askers

    def began_here(self, name: str) -> bool:
        """Return whether this process began that turn."""
        return name.startswith(self._life)

    def withdraw(self, message_ids: Collection[int]) -> None:
        """Stop the answers to deleted messages, and deleted answers."""
        for turn in self._turns.values():
            turn.withdraw(message_ids)

    def withdraw_channel(self, key: ChannelKey) -> None:
        """Stop the answers in a thread, or in a channel with its threads."""
        for turn in self._turns.values():
            whole = not key.thread_id and turn.key is not None and turn.key.channel_id == key.channel_id
            if whole or turn.key == key:
                turn.discard()

    def record_shown(self, since_s: float, *, ok: bool) -> None:
        """Record whether the end of a turn was shown; it was over at `since_s` (`time.monotonic`)."""
        seconds = round(time.monotonic() - since_s, 3)
        self._meter.record_shown(seconds, ok=ok)
        if ok:
            _log.info("answer_shown", discord_s=seconds)

    async def none_left(self) -> None:
        await self._none.wait()
