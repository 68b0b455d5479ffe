"""What is done in the background, over and over, while the program runs."""

import asyncio

import structlog

from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError
from cc_bot.stores import Stores
from cc_bot.summaries import Summaries

SWEEP_EVERY_S = 600.0

_log = structlog.get_logger(__name__)


async def sweep(stores: Stores) -> None:
    """Close what expired, now and every SWEEP_EVERY_S seconds; a failure is tried again then."""
    while True:
        try:
            closed = await stores.sessions.expire()
            _log.debug("sessions_expired", count=closed)
        except CcBotError as error:
            _log.warning("sweep_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)


async def summarize_rest(stores: Stores, summaries: Summaries | None, clock: Clock) -> None:
    """Have what is left of expired conversations summarized, or given up, as often as the sweep runs."""
    while True:
        try:
            if summaries:
                await summaries.catch_up()
            else:
                await stores.summaries.settle(clock(), give_up=True)
        except CcBotError as error:
            _log.warning("summaries_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)
