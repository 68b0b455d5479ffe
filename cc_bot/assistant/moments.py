"""The moment that a user's words mean: found by rules where they understand it, else by asking a model
once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    ModelError,
    NoSuchTime,
    RepeatNotUnderstood,
    SeveralTimes,
    WhenNotUnderstood,
)
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.locale import Locale
from cc_bot.domain.repeats import Planned, parse_schedules
from cc_bot.domain.rhythms import find_implied
from cc_bot.domain.when import LONGEST
from cc_bot.domain.when_words import as_delay, is_vague, normalize
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, SystemPart, UserPart
from cc_bot.spending import Spending
from cc_bot.texts.prompts import manifold_in, moment_in, when_prompt

_log = structlog.get_logger(__name__)

PATIENCE_S: Final = 20.0
"""Nobody waits longer for what they could say in other words."""
AT_A_TIME: Final = 2
"""Requests; the others wait."""
_LONGEST_ANSWER: Final = 200


@dataclass(eq=False, slots=True)
class TimeResolver:
    model: ChatModel
    clock: Clock
    spending: Spending | None = None
    """None: what it takes is not counted."""
    model_name: str = ""
    """Of the model that is asked first."""
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_A_TIME))

    async def resolve(
        self, when: str, repeat: str, zone: ZoneInfo, locale: Locale, *, payer: UsageSubject = UsageSubject(0)
    ) -> tuple[Planned, ...]:
        """Find all that is meant where the user is: the first time (UTC) of each, and its repeat, empty for
        none. Raises InputError for words that mean no time, or one that is over or too far away, and
        LimitReached when a model would have to be asked and `payer` has used up what there is. What repeats
        or is several times is never one moment that a model chose."""
        try:
            return parse_schedules(when, repeat, self.clock(), zone)
        except NoSuchTime:
            raise
        except WhenNotUnderstood:
            if is_vague(when):
                raise
            delay = as_delay(written := normalize(when[:LONGEST]))
            if delay is None and (manifold := find_implied(written)):
                raise (RepeatNotUnderstood if manifold == "repeats" else SeveralTimes) from None
            proposed = delay or await self._ask_model(when, zone, locale, payer)
            if proposed is None:
                raise
        return parse_schedules(proposed, repeat, self.clock(), zone)

    async def _ask_model(self, words: str, zone: ZoneInfo, locale: Locale, payer: UsageSubject) -> str | None:
        instruction, material = when_prompt(words, self.clock().astimezone(zone), locale)
        request = ChatRequest((SystemPart(instruction), UserPart(material)))
        answer = ""
        try:
            async with (
                asyncio.timeout(PATIENCE_S),
                self._places,
                self._charge(payer) as model,
                aclosing(model.stream(request)) as stream,
            ):
                async for event in stream:
                    if isinstance(event, Delta) and len(answer) < _LONGEST_ANSWER:
                        answer += event.text
        except (ModelError, TimeoutError) as error:
            _log.info("moment_not_resolved", error=type(error).__name__)
            return None
        match manifold_in(answer):
            case "repeats":
                raise RepeatNotUnderstood
            case "several":
                raise SeveralTimes
            case None:
                return moment_in(answer)

    @asynccontextmanager
    async def _charge(self, payer: UsageSubject) -> AsyncIterator[ChatModel]:
        if self.spending is None:
            yield self.model
            return
        async with self.spending.admit(payer, "schedule", model=self.model_name) as recorder:
            yield recorder.metered(self.model)
