"""Summarizes conversations in the background, before messages leave the history.

All state is in the database: a failed summary is retried after the next turn, by `catch_up`, or after a
restart. Public and private messages go into separate summaries.
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
from cc_bot.concurrency import cancel_tasks
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, ContextTooLong, ModelSaidNothing, ModelUnavailable
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import MAX_SUMMARY_CHARACTERS, Backlog, SessionKey, clean_summary
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import Payer
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Finish, SystemPart, UserPart
from cc_bot.texts.prompts import summary_prompt

MAX_RUNNING: Final = 2
MAX_WAITING: Final = 200  # sessions; `catch_up` finds others later
MAX_SUMMARIES_PER_TASK: Final = 5  # of each visibility
TIME_LIMIT_S: Final = 120.0
MAX_TURN_AGE: Final = timedelta(minutes=15)  # older turns have ended
_MAX_INPUT_CHARACTERS: Final = 16_000
_MAX_MESSAGE_CHARACTERS: Final = 3000
_MAX_OUTPUT_CHARACTERS: Final = 4 * MAX_SUMMARY_CHARACTERS
_MAX_PAUSE_S: Final = 6 * 3600.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    every_turns: int
    history_limit: int  # messages; 0 for no limit
    pause_s: float = 60.0  # after two failures in a row; each further failure doubles the pause
    time_limit_s: float = TIME_LIMIT_S


def is_due(
    plan: SummaryPlan, *, turns: int, messages: int, tokens: float, budget_tokens: float, closed: bool
) -> bool:
    """Return whether to summarize now, before unsummarized messages leave the history. `budget_tokens`: the
    tokens of history that fit in a request."""
    if closed:
        return messages > 0
    max_messages = min(plan.history_limit or MAX_BACKLOG, MAX_BACKLOG)
    return messages > 0 and (
        turns >= plan.every_turns or messages + 2 > max_messages or 2 * tokens > budget_tokens
    )


def take_oldest(messages: Sequence[Message], max_characters: int) -> tuple[Message, ...]:
    """Return the oldest messages that fit, at least one."""
    left, count = max_characters, 0
    for message in messages:
        left -= min(len(message.content), _MAX_MESSAGE_CHARACTERS)
        if left < 0 and count:
            break
        count += 1
    return tuple(messages[:count])


@dataclass(eq=False)
class Summaries:
    """Summarizes sessions after their turns. A first failure is retried after the next turn, further ones
    after the plan's pause. Close it before its dependencies."""

    stores: Stores
    model: ChatModel
    plan: SummaryPlan
    _: KW_ONLY
    count_tokens: Callable[[Message], float]
    locale: Locale = Locale.JA  # for users of unknown language
    clock: Clock = utc_now
    model_name: str = ""
    spending: Spending | None = None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_RUNNING))
    _tasks: dict[SessionKey, asyncio.Task[None]] = field(default_factory=dict)
    _failures: dict[SessionKey, tuple[int, float]] = field(default_factory=dict)  # count, retry time
    _closed: bool = False

    def start_if_due(
        self,
        key: SessionKey,
        history: Sequence[Message] = (),
        locale: Locale | None = None,
        *,
        budget_tokens: float = math.inf,
        payer: Payer | None = None,
    ) -> None:
        """Start to summarize a session if due. `budget_tokens`: tokens of history that fit in a request."""
        _, retry_at = self._failures.get(key, (0, 0.0))
        if self._closed or key in self._tasks or len(self._tasks) >= MAX_WAITING:
            return
        if asyncio.get_running_loop().time() < retry_at:
            return
        payer = payer or Payer(key.user_id, role_ids=None)
        task = asyncio.create_task(self._summarize_if_due(key, history, budget_tokens, locale, payer))
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key))

    async def catch_up(self) -> None:
        """Summarize expired sessions of all users."""
        await self.stores.summaries.stop_summarizing(self.clock() - MAX_TURN_AGE)
        for key in await self.stores.summaries.list_unsummarized(MAX_WAITING):
            self.start_if_due(key)

    async def wait_idle(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def close(self, grace_s: float = 0) -> None:
        """Start no more tasks, wait up to `grace_s` for running ones, and cancel the rest."""
        self._closed = True
        tasks = tuple(self._tasks.values())
        if tasks and grace_s:
            await asyncio.wait(tasks, timeout=grace_s)
        await cancel_tasks(*tasks)

    async def _summarize_if_due(
        self,
        key: SessionKey,
        history: Sequence[Message],
        budget_tokens: float,
        locale: Locale | None,
        payer: Payer,
    ) -> None:
        complete = {message.id: message for message in history}  # the backlog lacks attachments
        try:
            for _ in range(MAX_SUMMARIES_PER_TASK):
                backlog = await self.stores.summaries.get_backlog(key)
                if backlog is None or not is_due(
                    self.plan,
                    turns=sum(message.role == "user" for message in backlog.messages),
                    messages=len(backlog.messages),
                    tokens=sum(self.count_tokens(complete.get(each.id, each)) for each in backlog.messages),
                    budget_tokens=budget_tokens,
                    closed=backlog.closed,
                ):
                    break
                async with self._slots, asyncio.timeout(self.plan.time_limit_s):
                    user_locale = (await self.stores.settings.get(key.user_id)).locale
                    await self._summarize(backlog, locale or user_locale or self.locale, payer)
            self._failures.pop(key, None)
        except (CcBotError, TimeoutError) as error:
            self._record_failure(key, type(error).__name__)
        except Exception as error:  # noqa: BLE001 - the task is not awaited
            self._record_failure(key, type(error).__name__)
            _log.error("summary_broke", exc_info=error)

    async def _summarize(
        self, backlog: Backlog, locale: Locale, payer: Payer, max_characters: int = _MAX_INPUT_CHARACTERS
    ) -> None:
        """Summarize the oldest messages; fewer of them if they are too long for the model."""
        oldest = replace(backlog, messages=take_oldest(backlog.messages, max_characters))
        try:
            summaries = await self._write_summaries(oldest, locale, payer)
        except ContextTooLong:
            if len(oldest.messages) == 1:
                raise
            await self._summarize(backlog, locale, payer, max_characters // 2)
            return
        stored = await self.stores.summaries.put(oldest, summaries)
        _log.info("summary_stored" if stored else "summary_dropped", messages=len(oldest.messages))

    async def _write_summaries(self, backlog: Backlog, locale: Locale, payer: Payer) -> dict[Visibility, str]:
        earlier = {
            summary.visibility: summary.content
            for summary in await self.stores.summaries.list_current(backlog.key)
        }
        summaries: dict[Visibility, str] = {}
        for visibility in get_args(Visibility):
            lines = [
                (message.role, message.content[:_MAX_MESSAGE_CHARACTERS])
                for message in backlog.messages
                if message.visibility == visibility and message.content.strip()
            ]
            if not lines:
                continue
            instruction, data = summary_prompt(earlier.get(visibility, ""), lines, locale)
            request = ChatRequest((SystemPart(instruction), UserPart(data)))
            spending = self.spending or Spending(self.stores.usage)
            async with spending.charge(payer, "summary", model=self.model_name) as recorder:
                summaries[visibility] = await self._ask_model(recorder.metered(self.model), request)
        return summaries

    async def _ask_model(self, model: ChatModel, request: ChatRequest) -> str:
        """Return the summary. Raises a ModelError if there is no text or it was cut."""
        text, finish = "", Finish("cut")
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Delta):
                    text += event.text
                elif isinstance(event, Finish):
                    finish = event
                if len(text) > _MAX_OUTPUT_CHARACTERS:
                    break
        if finish.reason == "cut" and len(text) <= MAX_SUMMARY_CHARACTERS:
            raise ModelUnavailable
        summary = clean_summary(text)
        if not summary:
            raise ModelSaidNothing
        return summary

    def _record_failure(self, key: SessionKey, error: str) -> None:
        count = self._failures.get(key, (0, 0.0))[0] + 1
        pause_s = min(self.plan.pause_s * 2 ** min(count - 2, 20), _MAX_PAUSE_S) if count > 1 else 0.0
        self._failures[key] = (count, asyncio.get_running_loop().time() + pause_s)
        _log.warning("summary_failed", error=error, failures=count)
