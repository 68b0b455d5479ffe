"""Who pays for what: admitted with a reservation, settled with what it took."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Literal

import structlog

from cc_bot.context.tokens import estimate_tokens, request_tokens
from cc_bot.domain.access import Policy
from cc_bot.domain.errors import ModelError, StorageError
from cc_bot.domain.events import Usage
from cc_bot.domain.limits import Spent, UsageReport, UsageSubject, first_day, left_of, priced, report_of
from cc_bot.domain.measures import Purpose
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent, Thinking
from cc_bot.stores import Allowance, Reservation, ReservationRequest, UsageStore

__all__ = ["Spending", "UsageRecorder"]

# ---- tab -------------------------------------------------------------------------------------------------
# What one turn, summary or heartbeat asks of models, added up request by request.


@dataclass(slots=True)
class _Asked:
    """A request, as far as it has come."""

    request: ChatRequest
    model: str
    """Who answers, as far as that is known."""
    said: list[str] = field(default_factory=list)
    usage: Usage = Usage()

    def take(self, event: ModelEvent) -> None:
        match event:
            case Delta(text):
                self.said.append(text)
            case Fallback(model):
                self.model = model
            case Thinking():
                pass
            case Finish(_, calls, usage, model):
                self.usage = usage
                self.model = model or self.model
                self.said += [call.name + call.arguments for call in calls]


class UsageRecorder:
    """What is run up by the models that are on it. A request that a model refused costs nothing; one whose
    answer was cut or stopped costs what its server told, and about what was sent and said where it told
    nothing."""

    def __init__(self, model: str) -> None:
        """`model` is asked first; empty for one that counts no tokens."""
        self._first = model
        self._asked: list[_Asked] = []

    def charging(self, model: ChatModel) -> ChatModel:
        """The same model, on this tab."""
        return _Charging(model, self)

    async def spent(self) -> Sequence[Spent]:
        """What it comes to, by model."""
        total: dict[str, Usage] = {}
        for asked in self._asked:
            total[asked.model] = total.get(asked.model, Usage()) + await _usage_of(asked)
        return [Spent(model, usage) for model, usage in total.items()]

    async def stream(self, model: ChatModel, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """What the model answers. Raises as it does."""
        asked = _Asked(request, request.answered_by or self._first)
        self._asked.append(asked)
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    asked.take(event)
                    yield event
        except ModelError:
            if not asked.said:
                self._asked.remove(asked)
            raise


@dataclass(frozen=True, slots=True)
class _Charging:
    model: ChatModel
    tab: UsageRecorder

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        return self.tab.stream(self.model, request)

    async def close(self) -> None:
        await self.model.close()


async def _usage_of(asked: _Asked) -> Usage:
    """Its server's count; an estimate where there is none, as when it was cut before its end."""
    if asked.usage != Usage() or not asked.model:
        return asked.usage
    return await asyncio.to_thread(_estimated, asked)


def _estimated(asked: _Asked) -> Usage:
    return Usage(request_tokens(asked.request), estimate_tokens("".join(asked.said)))


# ---- spending --------------------------------------------------------------------------------------------
# Whoever is about to ask a model opens a tab first, which may be refused, and has it settled in any case.

_log = structlog.get_logger(__name__)

ABOUT_A_REQUEST: Final = 4000
"""Tokens that are reserved beside those of the question: instructions, tools, some history, an answer."""

_WITHOUT_LIMITS: Final = Policy(limits={})


async def without_limits() -> Policy:
    """Nothing is limited, and all is counted."""
    return _WITHOUT_LIMITS


class Spending:
    """Admits, counts and settles. What is used is in the database, so a restart changes nothing of it."""

    def __init__(
        self,
        usage: UsageStore,
        policy: Callable[[], Awaitable[Policy]] = without_limits,
    ) -> None:
        """`policy` tells limits and prices as they are at the moment."""
        self._usage = usage
        self._policy = policy

    @asynccontextmanager
    async def tab(
        self, payer: UsageSubject, purpose: Purpose, *, model: str, tokens: int = 0
    ) -> AsyncIterator[UsageRecorder]:
        """Admit something that asks `model` first, and is likely to use so many tokens more than a request
        does anyway. It is settled at the end, whatever the end is. Raises LimitReached, StorageError."""
        policy = await self._policy()
        wish = ReservationRequest(payer, purpose, model, ABOUT_A_REQUEST + tokens)
        reservation = await self._usage.reserve(wish, policy.limits)
        tab = UsageRecorder(model)
        try:
            yield tab
        finally:
            await self._settle(reservation, tab, policy)

    async def report_of(self, payer: UsageSubject) -> UsageReport:
        """What a user has used, everywhere, and what is left to them here. Raises StorageError."""
        today = self._usage.today()
        report = report_of(await self._usage.of_user(payer.user_id, first_day(today)), today)
        policy = await self._policy()
        own, _ = await self._usage.allowances(payer, policy.limits)
        return self._complete(report, policy, own)

    async def report_of_guild(self, guild_id: int) -> UsageReport:
        """What a server's members have used there together, and what is left to them. Raises StorageError."""
        today = self._usage.today()
        report = report_of(await self._usage.of_guild(guild_id, first_day(today)), today)
        users = await self._usage.users_of_guild(guild_id, today.replace(day=1))
        policy = await self._policy()
        _, guild = await self._usage.allowances(UsageSubject(0, guild_id), policy.limits)
        return replace(self._complete(report, policy, guild), users=users)

    async def counting_on(self, user_id: int) -> date | None:
        """Today, where the operator is, if any limit of tokens may hold for a user. Raises StorageError."""
        policy = await self._policy()
        return self._usage.today() if await self._usage.may_be_limited(user_id, policy.limits) else None

    def _complete(self, report: UsageReport, policy: Policy, allowance: Allowance) -> UsageReport:
        left = left_of(allowance.bounds, allowance.standing, self._usage.now(), self._usage.zone)
        prices = policy.prices
        return replace(priced(report, prices.currency, prices.models), left=left)

    async def take_over(self, front_end: Literal["discord", "terminal"] | None) -> None:
        """Count as used what programs that died had reserved (see UsageStore), and drop what counts for no
        minute any more. Raises StorageError."""
        prices = (await self._policy()).prices
        if left := await self._usage.take_over(front_end, prices.cost):
            _log.info("reservations_taken_over", count=left)
        await self._usage.forget_settled()

    async def _settle(self, reservation: Reservation, tab: UsageRecorder, policy: Policy) -> None:
        """Trouble here must not take an answer back: what was reserved counts until the next start settles
        it."""
        wish = reservation.wish
        spent = await tab.spent()
        costs = [(each, policy.prices.cost(each.model, each.usage)) for each in spent]
        try:
            await self._usage.settle(reservation, costs)
        except StorageError as error:
            _log.warning("usage_not_settled", purpose=wish.purpose, error=type(error).__name__)
