"""Resolves a time that a user typed to schedules: by rules, else by asking a model once."""

import asyncio
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from cc_bot.chat.spending import Spending
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    ModelError,
    NoSuchTime,
    RepeatAmbiguous,
    RepeatNotUnderstood,
    WhenNotUnderstood,
)
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import UsageSubject
from cc_bot.domain.when.resolve import MAX_LENGTH, Planned, looks_repeated, parse_schedules
from cc_bot.features.reminders.prompt import schedule_in, when_prompt
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, SystemPart, UserPart

_log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 20.0
MAX_REQUESTS: Final = 2
_MAX_ANSWER: Final = 200


@dataclass(eq=False, slots=True)
class TimeResolver:
    model: ChatModel
    clock: Clock
    spending: Spending | None = None
    model_name: str = ""
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_REQUESTS))

    async def resolve(
        self, when: str, repeat: str, zone: ZoneInfo, locale: Locale, *, payer: UsageSubject = UsageSubject(0)
    ) -> tuple[Planned, ...]:
        """Return the schedules. A repeat is never resolved to a single time. Raises InputError for text that
        neither rules nor model understand, and LimitReached if a model is needed."""
        try:
            return parse_schedules(when, repeat, self.clock(), zone)
        except (NoSuchTime, RepeatAmbiguous):
            raise
        except (WhenNotUnderstood, RepeatNotUnderstood):
            words = f"{when} {repeat}".strip()
            if len(words) > MAX_LENGTH:
                raise
            proposed = await self._ask_model(words, zone, locale, payer)
            if proposed is None:
                raise
        moment, cron = proposed
        if not cron and not repeat and looks_repeated(when):
            raise RepeatNotUnderstood
        return parse_schedules(moment, cron or repeat, self.clock(), zone)

    async def _ask_model(
        self, words: str, zone: ZoneInfo, locale: Locale, payer: UsageSubject
    ) -> tuple[str, str] | None:
        instruction, material = when_prompt(words, self.clock().astimezone(zone), locale)
        request = ChatRequest((SystemPart(instruction), UserPart(material)))
        answer = ""
        try:
            async with asyncio.timeout(TIMEOUT_S), self._slots, AsyncExitStack() as stack:
                model = self.model
                if self.spending is not None:
                    admitted = self.spending.admit(payer, "schedule", model=self.model_name)
                    model = (await stack.enter_async_context(admitted)).metered(model)
                stream = await stack.enter_async_context(aclosing(model.stream(request)))
                async for event in stream:
                    if isinstance(event, Delta) and len(answer) < _MAX_ANSWER:
                        answer += event.text
        except (ModelError, TimeoutError) as error:
            _log.info("moment_not_resolved", error=type(error).__name__)
            return None
        return schedule_in(answer)
