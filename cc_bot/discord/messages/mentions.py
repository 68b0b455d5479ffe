"""Mentions: who waits for an answer in which channel, and that everyone gets one.

Each person is answered separately, some side by side in a channel or thread; what the same person asks
meanwhile waits in the database and is answered together. Nothing of that is in memory alone: what still waits
when the program ends, however it ends, is answered after the next start, and what was answered and not yet
shown is shown.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.access import Gate, error_of
from cc_bot.discord.gateway import EVERYWHERE
from cc_bot.discord.messages.channel_answers import ChannelAnswers, id_of
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.member import Refusal
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import MentionStore, asked_in
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
EDIT_WITHIN: Final = timedelta(minutes=10)
"""After a message was written, an edit of it may ask: it adds the mention, or changes what failed."""
MAX_AT_ONCE: Final = 5
"""People in one channel: Discord takes five new messages in five seconds there, and five edits."""
IN_USE_S: Final = 1.0
"""Before an answer that a tool is at work for is looked at again: nobody else waits for that."""
RETRY_S = 30.0
"""After the database or Discord failed, unless something new is asked there."""


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
        self._woken: set[ChannelKey] = set()
        self._looking: dict[ChannelKey, asyncio.Task[None]] = {}
        """They begin what is to be done in a channel."""
        self._serving: dict[ChannelKey, dict[int, asyncio.Task[None]]] = {}
        """By channel and user: they answer one person."""
        self._asked_again: set[int] = set()
        """Questions that wait since their author pressed a button: no matter how old they are."""
        self._timers: dict[ChannelKey, asyncio.TimerHandle] = {}
        self._closed = False

    async def resume(self, serves: Callable[[int], Awaitable[bool]] = EVERYWHERE.has) -> None:
        """See to what was left waiting when the program last ended, in the places that it serves."""
        for key in await self._store.list_places():
            if await serves(key.place_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        """Have answered what waits there. While others are being answered, their own answer's message is
        not there yet: they see at least that the bot is at work."""
        if key in self._serving:
            self._typing.begin(key, lambda: self._store.has_unattended(key))
        self._look_soon(key)

    async def follow_edit(self, message_id: int) -> None:
        """A message says another thing now: if it is a question, and answered already or just being answered,
        that answer is no longer right. Raises StorageError."""
        key = await self._store.get_place(message_id)
        if key is not None:
            self._look_soon(key)

    async def is_question(self, message_id: int, user_id: int) -> bool:
        """See MentionStore. Raises StorageError."""
        return await self._store.is_question(message_id, user_id)

    async def ask_again(self, turn: str, user_id: int, answer_id: int) -> bool:
        """Have questions answered again whose turn failed, in the message that says so. Returns False if they
        are not there any more, or wait already. Raises StorageError."""
        key = await self._store.get_place(asked_in(turn) or 0)
        reopened = await self._store.reopen(key, user_id, answer_id) if key else frozenset[int]()
        if key and reopened:
            self._asked_again |= reopened
            self.wake(key)
        return bool(reopened)

    def close(self) -> None:
        """Begin no further answers: they are for the next start."""
        self._closed = True
        self._typing.close()

    async def finish(self) -> None:
        """Wait, after `close`, until the answers that were begun have been shown and are on record."""
        serving = (task for tasks in self._serving.values() for task in tasks.values())
        await asyncio.gather(self._typing.finish(), *self._looking.values(), *serving)

    def _look_soon(self, key: ChannelKey) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        self._woken.add(key)
        if key not in self._looking and not self._closed:
            self._looking[key] = asyncio.create_task(self._look(key))

    def _look_again(self, key: ChannelKey, after_s: float) -> None:
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is None or timer.when() > loop.time() + after_s:
            if timer:
                timer.cancel()
            self._timers[key] = loop.call_later(after_s, self._look_soon, key)

    async def _look(self, key: ChannelKey) -> None:
        """Begin to answer those for whom there is something to do there, as many as are answered at once."""
        try:
            while key in self._woken and not self._closed:
                self._woken.discard(key)
                for user_id in await self._store.list_authors(key):
                    serving = self._serving.setdefault(key, {})
                    if user_id not in serving and len(serving) < MAX_AT_ONCE and not self._closed:
                        serving[user_id] = asyncio.create_task(self._serve(key, user_id))
        except StorageError as error:
            _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
            self._look_again(key, self._retry_s)
        finally:
            del self._looking[key]  # nothing is awaited since `_woken` was looked at

    async def _serve(self, key: ChannelKey, user_id: int) -> None:
        """Do what is due for one person, then look for what is due by now."""
        after_s = self._retry_s
        try:
            after_s = await self._attend(key, user_id)
        except (StorageError, hikari.HikariError) as error:
            _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
        except Exception:  # noqa: BLE001 - whatever it is, the questions must not be forgotten
            _log.error("mentions_broke", place=key.place_id, exc_info=True)
        finally:
            del self._serving[key][user_id]
            if not self._serving[key]:
                del self._serving[key]
        if after_s:
            self._look_again(key, after_s)
        else:
            self._look_soon(key)

    async def _attend(self, key: ChannelKey, user_id: int) -> float:
        """Show, remake and answer. Returns after how many seconds that is to be tried again; 0 when nothing
        is left of it."""
        await self._answers.show_stored(key, user_id)
        edited = _of_user(user_id, await self._store.list_edited(key))
        remade = [await self._remake(key, question) for question in edited]
        if not await self._answer(key, user_id):
            return self._retry_s
        return 0.0 if all(remade) else IN_USE_S

    async def _remake(self, key: ChannelKey, question: Message) -> bool:
        """Return whether it is done with. Edited questions come first: once their author has a newer answer,
        theirs stays as it is."""
        if self._closed:
            return False
        if await self._gate.refusals_in(key, [question]):
            await self._store.mark_read(key, question)
            return True
        age = self._clock() - hikari.Snowflake(id_of(question)).created_at
        return await self._answers.remake(key, question, again=age <= EDIT_WITHIN)

    async def _answer(self, key: ChannelKey, user_id: int) -> bool:
        """Answer what the user waits for, or say why there is no answer. Returns whether that came to an
        end."""
        if left_behind := _of_user(user_id, await self._store.list_left_behind(key)):
            await self._answers.say(key, left_behind, lambda recipient: recipient.words.mention.left_behind)
            return True
        waiting = _of_user(user_id, await self._store.list_waiting(key))
        if refusal := (await self._gate.refusals_in(key, waiting)).get(user_id):
            await self._turn_away(key, waiting, refusal)
        elif late := [question for question in waiting if self._is_late(question)]:
            await self._answers.say(key, late, lambda recipient: recipient.words.mention.away)
        elif waiting:
            done = not self._closed and await self._answers.answer(key, waiting)
            if done:
                self._asked_again.difference_update(map(id_of, waiting))
            return done
        return True

    async def _turn_away(self, key: ChannelKey, questions: Sequence[Message], refusal: Refusal) -> None:
        """Turn away who may not use the bot: no channel is told of that, but of maintenance."""
        begun = await self._store.get_begun(questions)
        if refusal.why == "maintenance" or (begun and begun.answer_id):
            await self._answers.say(key, questions, partial(_explain, error_of(refusal)))
        else:
            await self._store.give_up(key, questions)

    def _is_late(self, question: Message) -> bool:
        asked_at = hikari.Snowflake(id_of(question)).created_at
        return id_of(question) not in self._asked_again and self._clock() - asked_at > TOO_LONG_AGO


def _of_user(user_id: int, questions: Sequence[Message]) -> Sequence[Message]:
    return [question for question in questions if question.author_id == user_id]


def _explain(error: CcBotError, recipient: Recipient) -> str:
    return explain(error, recipient.words)
