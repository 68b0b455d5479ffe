"""Spending: reserves tokens before models are asked, and settles the actual usage."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from math import ceil
from typing import Final

import structlog

from cc_bot.chat.context.tokens import estimate_tokens, request_tokens
from cc_bot.chat.policy import Policy
from cc_bot.chat.stores.usage import Reservation, ReservationRequest, Settlement, UsageStore
from cc_bot.domain.errors import DatabaseUnreachable, ModelError, StorageError
from cc_bot.domain.measures import NULL_METER, Meter, Purpose
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.usage import CHART_DAYS, ModelUsage, Payer, UsageReport, first_day, make_report
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent, Thinking

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _SentRequest:
    request: ChatRequest
    model: str  # the model that answers, as far as known
    output: list[str] = field(default_factory=list)
    usage: Usage = Usage()  # as reported at the end of the stream

    def record(self, event: ModelEvent) -> None:
        match event:
            case Delta(text):
                self.output.append(text)
            case Fallback(model):
                self.model = model
            case Thinking():
                pass
            case Finish(_, calls, usage, model):
                self.usage = usage
                self.model = model or self.model
                self.output += [call.name + call.arguments for call in calls]


@dataclass(slots=True)
class MeteredSound:
    model: str
    seconds: float  # higher if the server counted more

    @property
    def usage(self) -> Usage:
        return Usage(seconds=ceil(self.seconds))


@dataclass(eq=False, slots=True)
class UsageRecorder:
    """Records usage. A rejected request costs nothing. An interrupted request costs the usage that its server
    reported, or an estimate."""

    reservation: Reservation
    get_policy: Callable[[], Awaitable[Policy]]
    meter: Meter = NULL_METER
    settled: bool = False  # True if nothing is left to settle
    _sent: list[_SentRequest] = field(default_factory=list)
    _sounds: list[MeteredSound] = field(default_factory=list)

    def metered(self, model: ChatModel) -> ChatModel:
        return _MeteredModel(model, self.reservation.request, self.meter, self._sent)

    async def list_usage(self) -> Sequence[ModelUsage]:
        totals: dict[str, Usage] = {}
        for sent in self._sent:
            totals[sent.model] = totals.get(sent.model, Usage()) + await _usage_of(sent)
        for sound in self._sounds:
            totals[sound.model] = totals.get(sound.model, Usage()) + sound.usage
        return [ModelUsage(model, usage) for model, usage in totals.items()]

    @contextmanager
    def record_sound(self, model: str, seconds: float) -> Iterator["MeteredSound"]:
        """Count the recording that is sent in the block, unless the server rejects it."""
        sound = MeteredSound(model, seconds)
        self._sounds.append(sound)
        try:
            yield sound
        except ModelError:
            self._sounds.remove(sound)
            raise
        self.meter.record_tokens(self.reservation.request.purpose, model, sound.usage)

    async def make_settlement(self) -> Settlement:
        usage, prices = await self.list_usage(), (await self.get_policy()).prices
        costs = tuple((each, prices.cost(each.model, each.usage)) for each in usage)
        return Settlement(self.reservation, costs)


@dataclass(eq=False, slots=True)
class _MeteredModel:
    model: ChatModel
    request: ReservationRequest
    meter: Meter
    sent: list[_SentRequest]

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        sent = _SentRequest(request, request.answered_by or self.request.model)
        self.sent.append(sent)
        try:
            async with aclosing(self.model.stream(request)) as events:
                async for event in events:
                    sent.record(event)
                    if isinstance(event, Finish) and event.model:
                        self.meter.record_tokens(self.request.purpose, event.model, event.usage)
                    yield event
        except ModelError:
            if not sent.output:
                self.sent.remove(sent)
            raise


async def _usage_of(sent: _SentRequest) -> Usage:
    if sent.usage != Usage() or not sent.model:
        return sent.usage
    output = "".join(sent.output)
    return await asyncio.to_thread(lambda: Usage(request_tokens(sent.request), estimate_tokens(output)))


TOKENS_PER_REQUEST: Final = 4000  # for instructions, tools, some history and an answer


async def get_unlimited_policy() -> Policy:
    return Policy(limits={})


@dataclass(eq=False, slots=True)
class Spending:
    """Reserves, records and settles usage. Reports raise StorageError."""

    usage: UsageStore
    get_policy: Callable[[], Awaitable[Policy]] = get_unlimited_policy
    meter: Meter = NULL_METER

    async def reserve(
        self, payer: Payer, purpose: Purpose, *, model: str, tokens: int = 0, turn: PendingTurn | None = None
    ) -> Reservation:
        """Reserve `tokens` + TOKENS_PER_REQUEST, and add `turn` to the ledger in the same transaction."""
        request = ReservationRequest(payer, purpose, model, TOKENS_PER_REQUEST + tokens)
        return await self.usage.reserve(request, (await self.get_policy()).limits, turn)

    async def release(self, reservation: Reservation) -> None:
        """Release an unused reservation. If storage fails, `settle_abandoned` settles it later."""
        try:
            await self.usage.release(reservation)
        except StorageError as error:
            _warn(reservation, error)

    @asynccontextmanager
    async def charge(
        self, payer: Payer, purpose: Purpose, *, model: str, tokens: int = 0
    ) -> AsyncIterator[UsageRecorder]:
        """Reserve, and settle the usage when the block exits."""
        reservation = await self.reserve(payer, purpose, model=model, tokens=tokens)
        async with self.record(reservation) as recorder:
            yield recorder

    @asynccontextmanager
    async def record(self, reservation: Reservation) -> AsyncIterator[UsageRecorder]:
        """Settle the usage when the block exits. If storage fails, `settle_abandoned` settles it later."""
        recorder = UsageRecorder(reservation, self.get_policy, self.meter)
        try:
            yield recorder
        except DatabaseUnreachable as error:  # settling would only wait for the database again
            recorder.settled = True
            _warn(reservation, error)
            raise
        finally:
            if not recorder.settled:
                settlement = await recorder.make_settlement()
                try:
                    await self.usage.settle(settlement)
                except StorageError as error:  # must not fail the turn
                    _warn(reservation, error)

    async def report_user(self, payer: Payer, days: int = CHART_DAYS) -> UsageReport:
        today, policy = self.usage.today(), await self.get_policy()
        usage = await self.usage.list_for_user(payer.user_id, first_day(today, days))
        left, _ = await self.usage.get_remaining(payer, policy.limits)
        return replace(make_report(usage, today, policy.prices, days=days), left=tuple(left))

    async def report_guild(self, guild_id: int, days: int = CHART_DAYS) -> UsageReport:
        """Return the usage of all members in a server, and the tokens left to them."""
        today, policy = self.usage.today(), await self.get_policy()
        usage = await self.usage.list_for_guild(guild_id, first_day(today, days))
        users = await self.usage.count_users(guild_id, today.replace(day=1))
        _, left = await self.usage.get_remaining(Payer(0, guild_id), policy.limits)
        return replace(make_report(usage, today, policy.prices, days=days), left=tuple(left), users=users)

    async def list_guilds(self, user_id: int, days: int) -> frozenset[int]:
        return await self.usage.list_guilds(user_id, self.usage.today() - timedelta(days=days - 1))

    async def get_counted_day(self, user_id: int) -> date | None:
        """Return today's date in the operator's time zone; None if no token limit applies to the user."""
        policy = await self.get_policy()
        return self.usage.today() if await self.usage.may_be_limited(user_id, policy.limits) else None

    async def settle_abandoned(self) -> None:
        """Settle the reservations of dead processes, and delete usage that no limit needs any more."""
        prices = (await self.get_policy()).prices
        if left := await self.usage.settle_abandoned(prices.cost):
            _log.info("reservations_taken_over", count=left)
        await self.usage.forget_settled()


def _warn(reservation: Reservation, error: StorageError) -> None:
    _log.warning("usage_not_settled", purpose=reservation.request.purpose, error=type(error).__name__)
