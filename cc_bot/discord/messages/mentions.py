"""Mentions: who waits for an answer in which channel, and that everyone gets one.

Each channel and thread is served by itself, one answer at a time; what comes meanwhile waits in the database
and is answered together. Nothing of that is in memory alone: what still waits when the program ends, however
it ends, is answered after the next start, and what was answered and not yet shown is shown.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.access import Gate, error_of
from cc_bot.discord.gateway import EVERYWHERE
from cc_bot.discord.messages.channel_answers import ChannelAnswers
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.member import Refusal
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import MentionStore
from cc_bot.texts import explain

# ---- typing signs ----------------------------------------------------------------------------------------
# '… is typing' for those who wait in a channel while others there are being answered.
#
# Whoever is answered sees it in the message of the answer. The others would see nothing until it is their
# turn, which may take as long as an answer does.

_log = structlog.get_logger(__name__)

INTERVAL_S = 9.0
"""Discord shows a sign for ten seconds, or until the bot posts something."""


class TypingSigns:
    def __init__(self, rest: hikari.api.RESTClient) -> None:
        self._rest = rest
        self._typing: dict[ChannelKey, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    def begin(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        """Show it there as long as it is `wanted`, which may raise StorageError."""
        if key not in self._typing and not self._closed.is_set():
            self._typing[key] = asyncio.create_task(self._type(key, wanted))

    def close(self) -> None:
        """Show no more of them."""
        self._closed.set()

    async def finish(self) -> None:
        """Wait, after `close`, until nothing is on its way."""
        await asyncio.gather(*self._typing.values())

    async def _type(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        try:
            while not self._closed.is_set() and await wanted():
                await self._show(key)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), INTERVAL_S)
        except StorageError as error:
            _log.info("typing_ended", error=type(error).__name__)
        finally:
            del self._typing[key]

    async def _show(self, key: ChannelKey) -> None:
        """A sign that is not seen does no harm."""
        try:
            await self._rest.trigger_typing(key.place_id)
        except hikari.HikariError as error:
            _log.info("typing_not_shown", error=type(error).__name__)


# ---- mentions --------------------------------------------------------------------------------------------

TOO_LONG_AGO = timedelta(hours=1)
"""The asker no longer waits for an answer."""
IN_USE_S: Final = 1.0
"""Before an answer that a tool is at work for is looked at again: nobody else waits for that."""
RETRY_S = 30.0
"""After the database or Discord failed."""


class Mentions:
    def __init__(
        self,
        store: MentionStore,
        answers: ChannelAnswers,
        typing: TypingSigns,
        gate: Gate,
        clock: Clock,
        *,
        retry_s: float = RETRY_S,
    ) -> None:
        self._store = store
        self._answers = answers
        self._typing = typing
        self._gate = gate
        self._clock = clock
        self._retry_s = retry_s
        self._workers: dict[ChannelKey, asyncio.Task[None]] = {}
        self._woken: set[ChannelKey] = set()
        self._in_use: set[ChannelKey] = set()
        self._closed = asyncio.Event()

    async def resume(self, serves: Callable[[int], Awaitable[bool]] = EVERYWHERE.has) -> None:
        """See to what was left waiting when the program last ended, in the places that it serves."""
        for key in await self._store.list_places():
            if await serves(key.place_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        """Have answered what waits there. While others are being answered, their own answer's message is
        not there yet: they see at least that the bot is at work."""
        if key in self._workers:
            self._typing.begin(key, lambda: self._store.has_unattended(key))
        self._set_to_work(key)

    async def follow_edit(self, message_id: int) -> None:
        """A message says another thing now: if it is a question, and answered already or just being answered,
        that answer is no longer right. Raises StorageError."""
        key = await self._store.get_place(message_id)
        if key is not None:
            self._set_to_work(key)

    async def is_question(self, message_id: int) -> bool:
        """Return whether a message waits for an answer in a channel, or did. Raises StorageError."""
        return await self._store.get_place(message_id) is not None

    def close(self) -> None:
        """Begin no further answers: they are for the next start."""
        self._closed.set()
        self._typing.close()

    def _set_to_work(self, key: ChannelKey) -> None:
        self._woken.add(key)
        if key not in self._workers and not self._closed.is_set():
            self._workers[key] = asyncio.create_task(self._serve(key))

    async def finish(self) -> None:
        """Wait, after `close`, until the answers that were begun have been shown and are on record."""
        await asyncio.gather(self._typing.finish(), *self._workers.values())

    async def _serve(self, key: ChannelKey) -> None:
        """Answer until nothing is left to do there."""
        try:
            while key in self._woken and not self._closed.is_set():
                self._woken.discard(key)
                if not await self._try_to_answer(key):
                    self._woken.add(key)
                    await self._pause()
        finally:
            del self._workers[key]  # nothing is awaited since `_woken` was looked at

    async def _try_to_answer(self, key: ChannelKey) -> bool:
        try:
            await self._answers.show_stored(key)
            await self._answer(key)
            return not await self._store.list_unshown(key)
        except (StorageError, hikari.HikariError) as error:
            _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - whatever it is, the questions must not be forgotten
            _log.error("mentions_broke", place=key.place_id, exc_info=True)
            return False

    async def _answer(self, key: ChannelKey) -> None:
        """Edited questions come first: once there is a newer answer, theirs stays as it is."""
        while not self._closed.is_set():
            await self._remake(key)
            if left_behind := await self._store.list_left_behind(key):
                await self._answers.say(
                    key, left_behind, lambda recipient: recipient.words.mention.left_behind
                )
                continue
            waiting = await self._store.list_waiting(key)
            if refused := await self._gate.refusals_in(key, waiting):
                await self._turn_away(key, waiting, refused)
                continue
            late = [question for question in waiting if self._is_late(question)]
            if late:
                await self._answers.say(key, late, lambda recipient: recipient.words.mention.away)
            elif not waiting or not await self._answers.answer(key, waiting):
                return

    async def _remake(self, key: ChannelKey) -> None:
        for question in await self._store.list_edited(key):
            if self._closed.is_set():
                return
            if await self._gate.refusals_in(key, [question]):
                await self._store.mark_read(key, question)
            elif not await self._answers.remake(key, question) and key not in self._in_use:
                self._in_use.add(key)
                asyncio.get_running_loop().call_later(IN_USE_S, self._look_again, key)

    def _look_again(self, key: ChannelKey) -> None:
        self._in_use.discard(key)
        self._set_to_work(key)

    async def _turn_away(
        self, key: ChannelKey, waiting: Sequence[Message], refused: Mapping[int, Refusal]
    ) -> None:
        """Turn away those who may not use the bot: no channel is told of that, but of maintenance."""
        for reason in dict.fromkeys(refused.values()):
            questions = [question for question in waiting if refused.get(question.author_id) == reason]
            if reason.why == "maintenance" or await self._store.get_pending_answer(key):
                error = error_of(reason)
                await self._answers.say(key, questions, partial(_explain, error))
            else:
                await self._store.give_up(key, questions)

    def _is_late(self, question: Message) -> bool:
        asked_at = hikari.Snowflake(question.discord_id or 0).created_at
        return self._clock() - asked_at > TOO_LONG_AGO

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), self._retry_s)


def _explain(error: CcBotError, recipient: Recipient) -> str:
    return explain(error, recipient.words)
