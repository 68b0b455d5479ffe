"""Answers mentions; the waiting questions of each channel are in the database.

Users are answered separately, several at once per channel; what one user asks in the meantime is answered
together. The next process continues after a crash or restart.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.gate import Gate, error_of
from cc_bot.discord.gateway import EVERYWHERE
from cc_bot.discord.messages.channel_answers import ChannelAnswers, id_of
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.access import Refusal
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import Mention, TurnLedger, asked_in
from cc_bot.texts import explain

# ---- typing indicator ------------------------------------------------------------------------------------
# The typing indicator, for users who wait while others in the channel are answered.

_log = structlog.get_logger(__name__)

INTERVAL_S = 9.0
"""Discord shows the indicator for ten seconds, or until the bot posts."""


class TypingSigns:
    def __init__(self, rest: hikari.api.RESTClient) -> None:
        self._rest = rest
        self._typing: dict[ChannelKey, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    def begin(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        """Show the indicator while `wanted`, which may raise StorageError."""
        if key not in self._typing and not self._closed.is_set():
            self._typing[key] = asyncio.create_task(self._type(key, wanted))

    def close(self) -> None:
        self._closed.set()

    async def finish(self) -> None:
        """Wait after `close` until no request is in flight."""
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
        try:
            await self._rest.trigger_typing(key.place_id)
        except hikari.HikariError as error:
            _log.info("typing_not_shown", error=type(error).__name__)


# ---- mentions --------------------------------------------------------------------------------------------

MAX_QUESTION_AGE: Final = timedelta(hours=1)
"""Older questions are not answered."""
EDIT_WITHIN: Final = timedelta(minutes=10)
"""Later edits neither add a mention nor retry a failed question."""
MAX_CONCURRENT_USERS: Final = 5
"""Per channel, where Discord allows five new messages and five edits in five seconds."""
IN_USE_RETRY_S: Final = 1.0
"""While a tool of the answer is running."""
RETRY_S: Final = 30.0
"""After the database or Discord failed, unless a new question arrives."""


@dataclass(eq=False, slots=True)
class _Channel:
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when work may be due."""
    serving: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    """Tasks by user."""
    work: asyncio.Task[None] | None = None


class Mentions:
    def __init__(
        self,
        store: TurnLedger,
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
        self._busy: dict[ChannelKey, _Channel] = {}
        self._asked_again: set[int] = set()
        """Questions asked again by a button: answered at any age."""
        self._closed = False

    async def resume(self, serves: Callable[[int], Awaitable[bool]] = EVERYWHERE.has) -> None:
        """Answer questions left by the last process, in the channels of this one."""
        for key in await self._store.list_places():
            if await serves(key.place_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        """Answer the waiting questions of a channel. Shows typing while others are answered."""
        if key in self._busy and self._busy[key].serving:
            self._typing.begin(key, lambda: self._store.has_unattended(key))
        self._look(key)

    async def follow_edit(self, message_id: int) -> None:
        """Answer an edited message again if it is a question. Raises StorageError."""
        key = await self._store.get_place(message_id)
        if key is not None:
            self._look(key)

    async def is_question(self, message_id: int, user_id: int) -> bool:
        """See TurnLedger. Raises StorageError."""
        return await self._store.is_question(message_id, user_id)

    async def ask_again(self, turn: str, user_id: int, answer_id: int) -> bool:
        """Answer failed questions again, in the message that shows the failure. Returns False if they are
        gone or waiting. Raises StorageError."""
        key = await self._store.get_place(asked_in(turn) or 0)
        reopened = await self._store.reopen(key, user_id, answer_id) if key else frozenset[int]()
        if key and reopened:
            self._asked_again |= reopened
            self.wake(key)
        return bool(reopened)

    def close(self) -> None:
        """Begin no more answers; the next process does."""
        self._closed = True
        for channel in self._busy.values():
            channel.woken.set()
        self._typing.close()

    async def finish(self) -> None:
        """Wait after `close` until running answers are recorded."""
        works = [each.work for each in self._busy.values() if each.work]
        serving = [task for each in self._busy.values() for task in each.serving.values()]
        await asyncio.gather(self._typing.finish(), *works, *serving)

    def _look(self, key: ChannelKey) -> None:
        channel = self._busy.get(key)
        if channel is None and not self._closed:
            channel = self._busy[key] = _Channel()
            channel.work = asyncio.create_task(self._work(key, channel))
        if channel:
            channel.woken.set()

    async def _work(self, key: ChannelKey, channel: "_Channel") -> None:
        try:
            while not self._closed:
                channel.woken.clear()
                try:
                    due = defaultdict[int, list[Mention]](list)
                    for mention in await self._store.list_due(key):
                        due[mention.question.author_id].append(mention)
                except StorageError as error:
                    _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
                    asyncio.get_running_loop().call_later(self._retry_s, channel.woken.set)
                else:
                    if not (due or channel.serving or channel.woken.is_set()):
                        break
                    self._begin_serving(key, channel, due)
                await channel.woken.wait()
            await asyncio.gather(*channel.serving.values())
        finally:
            del self._busy[key]

    def _begin_serving(
        self, key: ChannelKey, channel: "_Channel", due: Mapping[int, Sequence[Mention]]
    ) -> None:
        for user_id, mentions in due.items():
            at_once = len(channel.serving) < MAX_CONCURRENT_USERS and not self._closed
            if at_once and user_id not in channel.serving:
                serving = self._serve(key, user_id, mentions, channel)
                channel.serving[user_id] = asyncio.create_task(serving)

    async def _serve(
        self, key: ChannelKey, user_id: int, due: Sequence[Mention], channel: "_Channel"
    ) -> None:
        after_s = self._retry_s
        try:
            after_s = await self._attend(key, user_id, due)
        except (StorageError, hikari.HikariError) as error:
            _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("mentions_broke", place=key.place_id, exc_info=True)
        finally:
            del channel.serving[user_id]
        asyncio.get_running_loop().call_later(after_s, channel.woken.set)

    async def _attend(self, key: ChannelKey, user_id: int, due: Sequence[Mention]) -> float:
        """Returns the seconds until a retry; 0 if done."""
        if any(each.state == "answered" for each in due):
            await self._answers.show_stored(key, user_id)
        remade = [await self._remake(key, each.question) for each in due if each.state == "edited"]
        if not await self._answer(key, user_id, [each for each in due if each.state == "accepted"]):
            return self._retry_s
        return 0.0 if all(remade) else IN_USE_RETRY_S

    async def _remake(self, key: ChannelKey, question: Message) -> bool:
        """Returns whether it is done. Edits come before new questions: once there is a newer answer, the
        older one stays."""
        if self._closed:
            return False
        if await self._gate.refusals_in(key, [question]):
            await self._store.mark_read(key, question)
            return True
        age = self._clock() - hikari.Snowflake(id_of(question)).created_at
        return await self._answers.remake(key, question, again=age <= EDIT_WITHIN)

    async def _answer(self, key: ChannelKey, user_id: int, waiting: Sequence[Mention]) -> bool:
        """Returns whether it is done."""
        if left_behind := [each for each in waiting if each.left_behind]:
            await self._answers.say(key, left_behind, lambda recipient: recipient.words.mention.left_behind)
        elif not waiting:
            return True
        elif refusal := (await self._gate.refusals_in(key, [each.question for each in waiting])).get(user_id):
            await self._reject(key, waiting, refusal)
        elif late := [each for each in waiting if self._is_late(each.question)]:
            await self._answers.say(key, late, lambda recipient: recipient.words.mention.away)
        else:
            done = not self._closed and await self._answers.answer(key, waiting)
            if done:
                self._asked_again.difference_update(id_of(each.question) for each in waiting)
            return done
        return True

    async def _reject(self, key: ChannelKey, waiting: Sequence[Mention], refusal: Refusal) -> None:
        """Only maintenance is announced in the channel."""
        if refusal.why == "maintenance" or any(each.shown_in for each in waiting):
            await self._answers.say(key, waiting, partial(_explain, error_of(refusal)))
        else:
            await self._store.give_up(key, [each.question for each in waiting])

    def _is_late(self, question: Message) -> bool:
        asked_at = hikari.Snowflake(id_of(question)).created_at
        return id_of(question) not in self._asked_again and self._clock() - asked_at > MAX_QUESTION_AGE


def _explain(error: CcBotError, recipient: Recipient) -> str:
    return explain(error, recipient.words)
