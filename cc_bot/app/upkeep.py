"""What is done in the background, over and over, while the program runs."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from cc_bot.correlation import job
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError
from cc_bot.spending import Spending
from cc_bot.stores import Stores
from cc_bot.summaries import Summaries

SWEEP_EVERY_S = 600.0

_log = structlog.get_logger(__name__)


async def unbroken(work: Callable[[], Awaitable[None]], *, pause_s: float = SWEEP_EVERY_S) -> None:
    """Do the work until it ends by itself or is cancelled. What it did not expect is on record and not its
    end: nobody waits for it, so nobody would see for years that it is no longer done."""
    while True:
        try:
            await work()
        except Exception:  # noqa: BLE001 - see above
            _log.error("upkeep_broke", exc_info=True)
            await asyncio.sleep(pause_s)
        else:
            return


async def sweep(stores: Stores, spending: Spending) -> None:
    """Close what expired, drop what nobody decided and settle what nobody else will, now and every
    SWEEP_EVERY_S seconds; a failure is tried again then."""
    while True:
        with job("sweep"):
            try:
                closed = await stores.sessions.expire()
                _log.debug("sessions_expired", count=closed)
                await spending.take_over(None)
                await stores.proposals.prune()
            except CcBotError as error:
                _log.warning("sweep_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)


async def summarize_rest(stores: Stores, summaries: Summaries | None, clock: Clock) -> None:
    """Have what is left of expired conversations summarized, or given up, as often as the sweep runs."""
    while True:
        with job("summaries"):
            try:
                if summaries:
                    await summaries.catch_up()
                else:
                    await stores.summaries.settle(clock(), give_up=True)
            except CcBotError as error:
                _log.warning("summaries_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)
