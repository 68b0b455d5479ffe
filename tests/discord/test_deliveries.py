"""Ledger entries of running turns: answers are shown even if the ledger fails."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.discord.delivery import turns
from cc_bot.discord.delivery.turns import DiscordTurn, RunningTurns
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import AttachmentNotFetched, TooManyAtOnce
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import AskedQuestion, PendingTurn
from cc_bot.domain.usage import LimitKey, Payer
from cc_bot.texts import texts
from tests.discord.parts import BotChannel, running_over

TURN = PendingTurn("e1", SessionKey(1, 10), "ask", "public", datetime(2026, 11, 22, tzinfo=UTC))
PAYER = Payer(1)
ASKER = Recipient(1, Locale.EN, ZoneInfo("UTC"), texts(Locale.EN))
TOO_LATE = hikari.NotFoundError("url", {}, b"", "Unknown interaction", 10062)
OUT_OF_REACH = hikari.HTTPError("connection lost")


@dataclass
class Scene(BotChannel):
    """Running turns over a database."""

    entries: RunningTurns

    async def accepts(self, row: PendingTurn = TURN) -> DiscordTurn:
        await self.entries.write(self.stores.ledger.accept(row))
        return DiscordTurn(self.entries, row, ASKER)

    async def admits(self, row: PendingTurn = TURN) -> DiscordTurn:
        turn = DiscordTurn(self.entries, row, ASKER)
        await turn.admit("small")
        return turn

    async def left(self) -> list[str]:
        """Return the ids of the turns in the ledger."""
        return [turn.id for turn in await self.stores.ledger.adopt_unfinished()]

    @contextmanager
    def locked(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.folder / "sessions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield


@pytest.fixture
def scene(location: BotChannel, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(turns, "LEDGER_TIMEOUT_S", 0.02)
    return Scene(**vars(location), entries=running_over(location.stores, location.rest))


async def refuse() -> str:
    raise TOO_LATE


class TestAcknowledgement:
    async def test_comes_after_the_entry_of_which_it_leaves_none_when_it_is_refused(
        self, scene: Scene
    ) -> None:
        entry, known = await scene.entries.acknowledge(
            scene.accepts(), scene.left, undo=DiscordTurn.delete_entry
        )
        assert known == ["e1"]
        await entry.delete_entry()
        with pytest.raises(hikari.NotFoundError):
            await scene.entries.acknowledge(scene.accepts(), refuse, undo=DiscordTurn.delete_entry)
        assert await scene.left() == []

    async def test_is_made_although_the_database_is_locked_or_there_is_no_entry(self, scene: Scene) -> None:
        made: list[str] = []

        async def prepare() -> DiscordTurn:
            raise AttachmentNotFetched

        async def note() -> None:
            made.append("acknowledged")

        with scene.locked():
            entry, _ = await scene.entries.acknowledge(scene.accepts(), note, undo=DiscordTurn.delete_entry)
            assert (entry.id, made) == ("e1", ["acknowledged"])
            quiet = asyncio.ensure_future(scene.entries.wait_idle())
            for _ in range(9):
                await asyncio.sleep(0)
            assert not quiet.done(), "the entry is not written yet"
        await quiet
        assert await scene.left() == ["e1"]
        with pytest.raises(AttachmentNotFetched):
            await scene.entries.acknowledge(prepare(), note, undo=DiscordTurn.delete_entry)
        assert made == ["acknowledged"] * 2


class TestEntry:
    async def test_goes_when_its_end_was_seen(self, scene: Scene) -> None:
        entry = await scene.accepts()
        async with entry.track_delivery():
            await scene.entries.record_page(entry.entry, 41)
            [turn] = await scene.stores.ledger.adopt_unfinished()
            assert turn.pages == (41,)
            await entry.finish(AnswerState())
        assert (await scene.left(), scene.entries.recovery_due.is_set()) == ([], False)

    @pytest.mark.parametrize(
        ("error", "left"),
        [(AttachmentNotFetched(), []), (OUT_OF_REACH, ["e1"]), (asyncio.CancelledError(), ["e1"])],
    )
    async def test_stays_after_an_error_of_which_nobody_can_be_told(
        self, scene: Scene, error: BaseException, left: list[str]
    ) -> None:
        with pytest.raises(type(error)):
            async with (await scene.accepts()).track_delivery():
                raise error
        assert await scene.left() == left

    async def test_that_can_not_be_deleted_is_retried(self, scene: Scene) -> None:
        entry = await scene.accepts()
        scene.execute(
            "CREATE TRIGGER full BEFORE DELETE ON turns BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
        )
        await entry.delete_entry()
        assert scene.entries.entries_to_delete == {"e1": 1}
        assert scene.entries.recovery_due.is_set()

    async def test_may_be_asked_again_as_soon_as_its_button_is_shown(self, scene: Scene) -> None:
        failed = replace(TURN, question=AskedQuestion("元気？", "Aiko"))
        entry = await scene.accepts(failed)
        async with entry.track_delivery():
            pressed = asyncio.ensure_future(
                scene.entries.claim("e1", 1, lambda turn: replace(turn, id="e2", former=turn.id))
            )
            for _ in range(9):
                await asyncio.sleep(0)
            await entry.finish(AnswerState(failure="今はお答えできません。", retryable=True))
        claimed = await pressed
        assert claimed is not None
        assert claimed.id == "e2"


class TestAdmission:
    async def test_is_made_with_the_entry_and_handed_over_once_unless_it_is_refused(
        self, scene: Scene
    ) -> None:
        await scene.stores.limits.set(LimitKey("everyone", 0, "concurrent"), 1, set_by=9)
        entry = await scene.admits()
        reservation = await entry.take_reservation()
        assert reservation is not None
        assert reservation.request.model == "small"
        assert await entry.take_reservation() is None
        refused = await scene.admits(replace(TURN, id="e2"))
        with pytest.raises(TooManyAtOnce):
            await refused.take_reservation()
        assert await scene.left() == ["e1"]

    async def test_that_nobody_takes_up_counts_as_nothing(self, scene: Scene) -> None:
        await scene.stores.limits.set(LimitKey("everyone", 0, "concurrent"), 1, set_by=9)
        with pytest.raises(hikari.NotFoundError):
            await scene.entries.acknowledge(scene.admits(), refuse, undo=DiscordTurn.delete_entry)
        assert await scene.left() == []
        assert await (await scene.admits()).take_reservation()
        assert await scene.stores.usage.list_for_user(PAYER.user_id, date(2000, 1, 1)) == ()
