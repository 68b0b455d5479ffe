"""Summarizes conversations before messages leave the history.

Summaries run in the background after a reply. All state is in the database, so a failed one is found again
after the next turn, by the sweep, or after a restart. Public and private messages go into two separate
summaries.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import timedelta
from typing import Final, get_args

import structlog

from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.summaries import MAX_BACKLOG
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, ContextTooLong, ModelSaidNothing, ModelUnavailable
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import MAX_SUMMARY_CHARACTERS, Backlog, SessionKey, clean_summary
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import UsageSubject
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Finish, SystemPart, UserPart
from cc_bot.texts.prompts import summary_prompt

MAX_RUNNING: Final = 2
MAX_WAITING: Final = 200
"""Keys with a task at a time; others are found again later."""
MAX_FOLDS: Final = 5
"""Requests per task and visibility."""
TIME_LIMIT_S: Final = 120.0
LATEST_TURN: Final = timedelta(minutes=15)
_INPUT_CHARACTERS: Final = 16_000
_MESSAGE_CHARACTERS: Final = 3000
_RAMBLING_CHARACTERS: Final = 4 * MAX_SUMMARY_CHARACTERS
_MAX_PAUSE_S: Final = 6 * 3600.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    every_turns: int
    history_limit: int
    """Messages; 0 for no limit."""
    pause_s: float = 60.0
    """After a second failure in a row; doubled each time."""
    time_limit_s: float = TIME_LIMIT_S


def is_due(
    plan: SummaryPlan, *, turns: int, messages: int, tokens: float, budget_tokens: float, closed: bool
) -> bool:
    """Return whether a summary is due. `budget_tokens`: tokens of history that the model takes. The next
    request still has all of the history, the one after that may not."""
    if closed:
        return messages > 0
    most = min(plan.history_limit or MAX_BACKLOG, MAX_BACKLOG)
    return messages > 0 and (turns >= plan.every_turns or messages + 2 > most or 2 * tokens > budget_tokens)


def batch(messages: Sequence[Message], characters: int) -> tuple[Message, ...]:
    """Return the oldest that fit into so many characters, at least one."""
    room, count = characters, 0
    for message in messages:
        room -= min(len(message.content), _MESSAGE_CHARACTERS)
        if room < 0 and count:
            break
        count += 1
    return tuple(messages[:count])


@dataclass(eq=False)
class Summaries:
    """Decides after each turn, and summarizes in the background. `close` it before its dependencies.

    A first failure is retried at the next occasion, later ones after the plan's pause; a user at their limit
    counts as a failure.
    """

    stores: Stores
    model: ChatModel
    plan: SummaryPlan
    _: KW_ONLY
    cost: Callable[[Message], float]
    """Tokens of a message."""
    locale: Locale = Locale.JA
    """For users of unknown language."""
    clock: Clock = utc_now
    model_name: str = ""
    spending: Spending | None = None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_RUNNING))
    _tasks: dict[SessionKey, asyncio.Task[None]] = field(default_factory=dict)
    _failures: dict[SessionKey, tuple[int, float]] = field(default_factory=dict)
    """Failures in a row, and when to retry, on the loop's clock."""
    _closed: bool = False

    def after_turn(
        self,
        key: SessionKey,
        history: Sequence[Message] = (),
        locale: Locale | None = None,
        *,
        budget_tokens: float = math.inf,
        payer: UsageSubject | None = None,
    ) -> None:
        """Check a session whose last turn was just stored. `budget_tokens`: history that its model takes."""
        _, again_at = self._failures.get(key, (0, 0.0))
        if self._closed or key in self._tasks or len(self._tasks) >= MAX_WAITING:
            return
        if asyncio.get_running_loop().time() < again_at:
            return
        payer = payer or UsageSubject(key.user_id, role_ids=None)
        task = asyncio.create_task(self._look_after(key, history, budget_tokens, locale, payer))
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key))

    async def catch_up(self) -> None:
        """Check the expired sessions of all keys. Raises StorageError."""
        await self.stores.summaries.settle(self.clock() - LATEST_TURN)
        for key in await self.stores.summaries.list_waiting(MAX_WAITING):
            self.after_turn(key)

    async def settle(self) -> None:
        """Wait until nothing is running."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def close(self, grace_s: float = 0) -> None:
        """Start nothing new, wait up to so long for running tasks, and cancel the rest."""
        self._closed = True
        tasks = tuple(self._tasks.values())
        if tasks and grace_s:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_after(
        self,
        key: SessionKey,
        history: Sequence[Message],
        budget_tokens: float,
        locale: Locale | None,
        payer: UsageSubject,
    ) -> None:
        whole = {message.id: message for message in history}  # a backlog lacks the attachments
        try:
            for _ in range(MAX_FOLDS):
                backlog = await self.stores.summaries.get_backlog(key)
                if backlog is None or not is_due(
                    self.plan,
                    turns=sum(message.role == "user" for message in backlog.messages),
                    messages=len(backlog.messages),
                    tokens=sum(self.cost(whole.get(each.id, each)) for each in backlog.messages),
                    budget_tokens=budget_tokens,
                    closed=backlog.closed,
                ):
                    break
                async with self._slots, asyncio.timeout(self.plan.time_limit_s):
                    chosen = (await self.stores.settings.get(key.user_id)).locale
                    await self._fold(backlog, locale or chosen or self.locale, payer)
            self._failures.pop(key, None)
        except (CcBotError, TimeoutError) as error:
            self._note_failure(key, type(error).__name__)
        except Exception as error:  # noqa: BLE001 - nobody waits for this task: the log is all that would know
            self._note_failure(key, type(error).__name__)
            _log.error("summary_broke", exc_info=error)

    async def _fold(
        self, backlog: Backlog, locale: Locale, payer: UsageSubject, characters: int = _INPUT_CHARACTERS
    ) -> None:
        """Summarize the oldest messages; fewer if they are too long for the model."""
        oldest = replace(backlog, messages=batch(backlog.messages, characters))
        try:
            texts = await self._texts(oldest, locale, payer)
        except ContextTooLong:
            if len(oldest.messages) == 1:
                raise
            await self._fold(backlog, locale, payer, characters // 2)
            return
        stored = await self.stores.summaries.put(oldest, texts)
        _log.info("summary_stored" if stored else "summary_dropped", messages=len(oldest.messages))

    async def _texts(self, backlog: Backlog, locale: Locale, payer: UsageSubject) -> dict[Visibility, str]:
        """Return the new summaries by visibility."""
        earlier = {
            summary.visibility: summary.content
            for summary in await self.stores.summaries.list_current(backlog.key)
        }
        texts: dict[Visibility, str] = {}
        for visibility in get_args(Visibility):
            said = [
                (message.role, message.content[:_MESSAGE_CHARACTERS])
                for message in backlog.messages
                if message.visibility == visibility and message.content.strip()
            ]
            if not said:
                continue
            instruction, material = summary_prompt(earlier.get(visibility, ""), said, locale)
            request = ChatRequest((SystemPart(instruction), UserPart(material)))
            async with (self.spending or Spending(self.stores.usage)).admit(
                payer, "summary", model=self.model_name
            ) as recorder:
                texts[visibility] = await self._write(recorder.metered(self.model), request)
        return texts

    async def _write(self, model: ChatModel, request: ChatRequest) -> str:
        """Raises a ModelError if there is no text or it was cut."""
        text, finish = "", Finish("cut")
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Delta):
                    text += event.text
                elif isinstance(event, Finish):
                    finish = event
                if len(text) > _RAMBLING_CHARACTERS:
                    break
        if finish.reason == "cut" and len(text) <= MAX_SUMMARY_CHARACTERS:
            raise ModelUnavailable
        summary = clean_summary(text)
        if not summary:
            raise ModelSaidNothing
        return summary

    def _note_failure(self, key: SessionKey, error: str) -> None:
        count = self._failures.get(key, (0, 0.0))[0] + 1
        pause_s = min(self.plan.pause_s * 2 ** min(count - 2, 20), _MAX_PAUSE_S) if count > 1 else 0.0
        self._failures[key] = (count, asyncio.get_running_loop().time() + pause_s)
        _log.warning("summary_failed", error=error, failures=count)
