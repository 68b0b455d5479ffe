"""Finishing what was begun: the turns that the last run of the program was ended under, and those of this one
whose end Discord did not take.

Looked for once the connection is open, again while Discord or the database has trouble, and once an hour for
questions that nobody asked again in time.
"""

import asyncio
from contextlib import suppress
from typing import Final

import hikari
import structlog

from cc_bot.correlation import job
from cc_bot.discord.delivery.entries import Entries
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.delivery.taken_down import TakenDown, delete_all
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.localization import GuildLocales, Readers
from cc_bot.discord.unfinished.owed import Owed, owed
from cc_bot.discord.unfinished.ways import Closed, Gone, NeverAcknowledged, Ways
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.ledger import KEPT, PendingTurn
from cc_bot.stores import ChannelStore, ProposalStore, TurnLedger

_log = structlog.get_logger(__name__)

RETRY_S: Final = 30.0
"""After the database or Discord failed."""
LOOK_S: Final = 3600.0
AT_A_TIME: Final = 8
"""Turns that are finished side by side: one may wait for Discord, the others not for that one."""


class Unfinished:
    """Does nothing until `begin`."""

    def __init__(
        self,
        ledger: TurnLedger,
        entries: Entries,
        running: RunningTurns,
        ways: Ways,
        *,
        channels: ChannelStore,
        proposals: ProposalStore,
        readers: Readers,
        locales: GuildLocales,
        taken_down: TakenDown,
        clock: Clock,
        retry_s: float = RETRY_S,
    ) -> None:
        self._ledger = ledger
        self._entries = entries
        self._running = running
        self._ways = ways
        self._channels = channels
        self._proposals = proposals
        self._readers = readers
        self._locales = locales
        self._taken_down = taken_down
        self._clock = clock
        self._retry_s = retry_s
        self._given_up: set[str] = set()
        """Turns at which something broke: the next start tries again."""
        self._at_a_time = asyncio.Semaphore(AT_A_TIME)
        self._caught_up = False
        """Whether what the last run of the program changed stands in the messages that tell of it."""
        self._application_id: int | None = None
        self._work: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Once the connection is open."""
        self._work = asyncio.create_task(self._keep_on())

    async def close(self) -> None:
        """Finish nothing more: what is left is found after the next start."""
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _keep_on(self) -> None:
        while True:
            done = await self._round()
            if done:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._entries.owed.wait()
            await asyncio.sleep(self._retry_s)

    async def _round(self) -> bool:
        """Whether nothing is left to be tried soon."""
        self._entries.owed.clear()
        try:
            if not self._caught_up and self._running.receipts:
                await self._running.receipts.catch_up(self._readers)
            self._caught_up = True
            await self._settle_unsettled()
            await self._ledger.forget(self._clock() - KEPT)
            due = [turn for turn in await self._ledger.unfinished() if self._is_due(turn)]
        except CcBotError as error:
            _log.warning("unfinished_not_read", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - this is on record; the next round is in a while
            _log.error("unfinished_not_read", exc_info=True)
            return False
        return all(await asyncio.gather(*map(self._finished, due)))

    def _is_due(self, turn: PendingTurn) -> bool:
        """Not those that this run of the program shows just now."""
        if turn.state == "interrupted" or turn.id in self._given_up:
            return False
        return turn.id in self._entries.unseen or not self._running.began_here(turn.id)

    async def _settle_unsettled(self) -> None:
        for entry, user_id in list(self._entries.unsettled.items()):
            await self._ledger.settled(entry, user_id)
            del self._entries.unsettled[entry]

    async def _finished(self, turn: PendingTurn) -> bool:
        """Finish one. False when it is to be tried again soon."""
        async with self._at_a_time:
            with job("unfinished"):
                return await self._tried(turn)

    async def _tried(self, turn: PendingTurn) -> bool:
        try:
            await self._finish(turn)
        except (CcBotError, hikari.HikariError) as error:
            _log.warning("turn_waits", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - whatever it is, it is on record, and the others go on
            _log.error("unfinished_broke", exc_info=True)
            self._given_up.add(turn.id)
        self._entries.unseen.discard(turn.id)
        return True

    async def _finish(self, turn: PendingTurn) -> None:
        spoken = turn.locale or self._locales.of(turn.key.channel_id)
        reader = await self._readers.of_author(turn.key.user_id, spoken)
        what = await owed(turn, reader, self._ledger, self._proposals, self._running.receipts)
        user_id = turn.key.user_id
        try:
            await self._note(what, await self._shown(what))
        except Gone:
            _log.info("turn_unwanted", state=turn.state)
        except NeverAcknowledged:
            _log.info("press_unheard_of", state=turn.state)
            await self._ledger.untaken(turn.id, user_id)
            if turn.former is not None:
                return
        except Closed:
            _log.warning("turn_not_told", state=turn.state)
        else:
            _log.info("turn_finished", state=turn.state)
            if what.may_be_asked_again:
                await self._ledger.interrupted(turn.id, user_id)
                return
        await self._ledger.settled(turn.id, user_id)

    async def _shown(self, what: Owed) -> Reply:
        """By the first way that is open. Raises Closed when none is, and Gone."""
        turn = what.turn
        token = turn.token_at(self._clock())
        if token is not None:
            try:
                return await self._ways.by_token(what, token, await self._application())
            except NeverAcknowledged:
                if what.touched_nothing:
                    raise
            except Closed:
                pass
        if not turn.ephemeral and turn.place_id in {None, turn.key.channel_id}:
            with suppress(Closed):
                return await self._ways.in_channel(what)
        return await self._ways.by_dm(what)

    async def _note(self, what: Owed, reply: Reply) -> None:
        """Which messages show the answer now, and which no longer do."""
        turn, answer = what.turn, what.answer
        if answer is None:
            return
        if answer.discord_id is not None:
            pages = [each for each in await reply.message_ids() if each != answer.discord_id]
            await self._channels.add_pages(answer.discord_id, pages)
        if not turn.below:
            await delete_all(self._ways.rest, turn.key.channel_id, turn.earlier, self._taken_down)

    async def _application(self) -> int:
        if self._application_id is None:
            self._application_id = int((await self._ways.rest.fetch_application()).id)
        return self._application_id
