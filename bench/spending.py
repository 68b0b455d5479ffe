import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/spending.py`

from cc_bot import open_stores
from cc_bot.chat.policy import Policies
from cc_bot.chat.stores.usage import ReservationRequest, Settlement, UsageStore
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import DEFAULT_RULES, LimitKey, LimitRules, ModelUsage, Payer

GOAL_MS = 0.3
TURNS = 3000
USERS = 200
GUILD = 5
SPENT = ((ModelUsage("model", Usage(1000, 100)), 5),)
LIMITED: LimitRules = {
    **DEFAULT_RULES,
    LimitKey("everyone", 0, "tokens_per_day"): 10**12,
    LimitKey("everyone", 0, "tokens_per_month"): 10**12,
    LimitKey("guild", GUILD, "tokens_per_month"): 10**12,
}


class Times:
    """The clock of the store: each turn comes a third of a second after the one before."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 22, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def turn(usage: UsageStore, times: Times, number: int, rules: LimitRules) -> None:
    times.now += timedelta(seconds=0.33)
    request = ReservationRequest(Payer(1000 + number % USERS, GUILD, (7,)), "turn", "model", 4000)
    await usage.settle(Settlement(await usage.reserve(request, rules), SPENT))


async def timed(run: Callable[[int], Awaitable[object]], times: int) -> float:
    """The median of so many runs, in milliseconds."""
    taken = []
    for number in range(times):
        began = perf_counter()
        await run(number)
        taken.append(perf_counter() - began)
    return median(taken) * 1000


async def main() -> int:
    with TemporaryDirectory() as folder:
        times = Times()
        async with open_stores(f"sqlite:///{folder}/sessions.db", clock=times, embedder=None) as stores:
            plain = await timed(lambda n: turn(stores.usage, times, n, DEFAULT_RULES), TURNS)
            limited = await timed(lambda n: turn(stores.usage, times, n, LIMITED), TURNS)
        policies = Policies(Path(folder) / "policy.toml", locale=Locale.EN)
        await policies.load()
        looked = await timed(lambda _: policies.current(), TURNS)
    print(
        f"admitted and settled: {plain:.3f} ms (goal: {GOAL_MS} ms); with limits on tokens: {limited:.3f} ms"
    )
    print(f"the operator's file, looked at: {looked:.3f} ms")
    return 0 if plain <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
