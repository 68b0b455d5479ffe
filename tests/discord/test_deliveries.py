"""The ledger in the hands of those who show answers: it keeps nobody from their answer."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.delivery.deliveries import Delivery, TurnDeliveries
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.domain import SessionKey
from cc_bot.domain.errors import AttachmentNotFetched, TooManyAtOnce
from cc_bot.domain.member import UsageSubject
from cc_bot.domain.turn import PendingTurn
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.discord.choosing import deliveries_over

TURN = PendingTurn("e1", SessionKey(1, 10), "ask", "public", datetime(2026, 11, 22, tzinfo=UTC))
PAYER = UsageSubject(1)
TOO_LATE = hikari.NotFoundError("url", {}, b"", "Unknown interaction", 10062)
OUT_OF_REACH = hikari.HTTPError("connection lost")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as opened:
        yield opened


@pytest.fixture
def entries(stores: Stores) -> TurnDeliveries:
    return deliveries_over(stores, RunningTurns(), noting_s=0.02)


async def acknowledge() -> str:
    return "acknowledged"


async def refuse() -> str:
    raise TOO_LATE


async def settle(entry: Delivery) -> None:
    await entry.settle()


class TestAcknowledgement:
    async def test_comes_after_the_entry(self, stores: Stores, entries: TurnDeliveries) -> None:
        async def look() -> int:
            return len(await stores.ledger.list_unfinished())

        _, known = await entries.acknowledge(entries.accept(TURN), look, undo=settle)
        assert known == 1

    async def test_does_not_wait_for_a_locked_database(
        self, stores: Stores, entries: TurnDeliveries, tmp_path: Path
    ) -> None:
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            entry, outcome = await entries.acknowledge(entries.accept(TURN), acknowledge, undo=settle)
            assert (entry.id, outcome) == ("e1", "acknowledged")
        await entries.quiet()
        assert len(await stores.ledger.list_unfinished()) == 1

    async def test_that_discord_refuses_leaves_no_entry(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        with pytest.raises(hikari.NotFoundError):
            await entries.acknowledge(entries.accept(TURN), refuse, undo=settle)
        assert await stores.ledger.list_unfinished() == ()

    async def test_is_made_although_there_is_no_entry(self, entries: TurnDeliveries) -> None:
        made: list[str] = []

        async def prepare() -> Delivery:
            raise AttachmentNotFetched

        async def note() -> None:
            made.append("acknowledged")

        with pytest.raises(AttachmentNotFetched):
            await entries.acknowledge(prepare(), note, undo=settle)
        assert made == ["acknowledged"]


class TestEntry:
    async def test_goes_when_its_end_was_seen(self, stores: Stores, entries: TurnDeliveries) -> None:
        async with await entries.accept(TURN) as entry:
            await entry.note_shown_in(40)
            await entry.note_page(41)
            [turn] = await stores.ledger.list_unfinished()
            assert (turn.shown_in, turn.pages) == (40, (41,))
            await entry.finish(AnswerState())
        assert await stores.ledger.list_unfinished() == ()
        assert not entries.owed.is_set()

    async def test_stays_when_discord_did_not_take_the_end(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        async with await entries.accept(TURN) as entry:
            await entry.finish(AnswerState(unseen=True))
        assert len(await stores.ledger.list_unfinished()) == 1
        assert entries.unseen == {"e1"}
        assert entries.owed.is_set()

    async def test_goes_with_an_error_that_its_user_is_told(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        with pytest.raises(AttachmentNotFetched):
            async with await entries.accept(TURN):
                raise AttachmentNotFetched
        assert await stores.ledger.list_unfinished() == ()

    async def test_stays_when_nobody_can_be_told(self, stores: Stores, entries: TurnDeliveries) -> None:
        with pytest.raises(hikari.HTTPError):
            async with await entries.accept(TURN):
                raise OUT_OF_REACH
        assert len(await stores.ledger.list_unfinished()) == 1
        assert entries.unseen == {"e1"}

    async def test_stays_when_the_program_stops(self, stores: Stores, entries: TurnDeliveries) -> None:
        with pytest.raises(asyncio.CancelledError):
            async with await entries.accept(TURN):
                raise asyncio.CancelledError
        assert len(await stores.ledger.list_unfinished()) == 1

    async def test_that_can_not_be_settled_is_owed(self, entries: TurnDeliveries, tmp_path: Path) -> None:
        entry = await entries.accept(TURN)
        with closing(sqlite3.connect(tmp_path / "sessions.db")) as other, other:
            other.execute(
                "CREATE TRIGGER full BEFORE DELETE ON turns BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
            )
        await entry.settle()
        assert entries.unsettled == {"e1": 1}
        assert entries.owed.is_set()


class TestAdmission:
    async def test_is_made_with_the_entry_and_handed_over_once(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        entry = await entries.admit(TURN, PAYER, "small")
        reservation = await entry.take_reservation()
        assert reservation is not None
        assert reservation.wish.model == "small"
        assert len(await stores.ledger.list_unfinished()) == 1
        assert await entry.take_reservation() is None

    async def test_that_is_refused_enters_nothing_and_says_why(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        await stores.limits.set("everyone", 0, "concurrent", 1, set_by=9)
        await entries.admit(TURN, PAYER, "small")
        entry = await entries.admit(replace(TURN, id="e2"), PAYER, "small")
        with pytest.raises(TooManyAtOnce):
            await entry.take_reservation()
        assert [each.id for each in await stores.ledger.list_unfinished()] == ["e1"]

    async def test_that_nobody_takes_up_counts_as_nothing(
        self, stores: Stores, entries: TurnDeliveries
    ) -> None:
        await stores.limits.set("everyone", 0, "concurrent", 1, set_by=9)
        with pytest.raises(hikari.NotFoundError):
            await entries.acknowledge(entries.admit(TURN, PAYER, "small"), refuse, undo=settle)
        assert await stores.ledger.list_unfinished() == ()
        assert await (await entries.admit(TURN, PAYER, "small")).take_reservation()
        assert await stores.usage.list_for_user(PAYER.user_id, date(2000, 1, 1)) == ()

    async def test_does_not_wait_for_a_locked_database(
        self, stores: Stores, entries: TurnDeliveries, tmp_path: Path
    ) -> None:
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            entry = await entries.admit(TURN, PAYER, "small")
        assert await entry.take_reservation()
        assert len(await stores.ledger.list_unfinished()) == 1
