"""What the last run of the program left on its way, where the bot writes by itself: over REST alone."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import hikari
import pytest
from structlog.testing import capture_logs

from cc_bot.assistant.approved_calls import ApprovedCalls
from cc_bot.discord.delivery.approved_calls import UnfinishedCalls
from cc_bot.discord.delivery.deliveries import TurnDeliveries
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.reply import TakenDown
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.unfinished import DeliveryRoutes, Unfinished
from cc_bot.domain import Message, SessionKey
from cc_bot.domain.clock import utc_now
from cc_bot.domain.locale import Locale
from cc_bot.domain.turn import KEPT, AskedQuestion, PendingTurn
from cc_bot.in_order import InOrder
from cc_bot.stores import Stores, open_stores
from cc_bot.tools.registry import ToolRegistry
from tests.databases import laid_out
from tests.discord.choosing import deliveries_over
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User
from tests.loopback.discord import Message as Posted

OPEN_DM = "POST /users/@me/channels"
POST = "POST /channels/{channel}/messages"
RETRY = "もう一度きく"


def unacknowledged() -> dict[str, Any]:
    """The fields of a turn that was begun a moment ago; whole runs of tests outlive a token."""
    return {
        "token": "never acknowledged",
        "token_until": utc_now() + timedelta(minutes=14),
        "interaction_id": 5,
        "place_id": None,
        "question_id": None,
    }


@dataclass
class Scene:
    discord: LoopbackDiscord
    stores: Stores
    rest: hikari.api.RESTClient
    aiko: User
    dm: Channel
    folder: Path

    @asynccontextmanager
    async def started(self, running: RunningTurns | None = None) -> AsyncIterator[TurnDeliveries]:
        """A run of the program, until nothing is on its way but what it does not have to finish."""
        running = running or RunningTurns()
        entries = deliveries_over(self.stores, running)
        replies = MessageReplies(self.rest, TakenDown(), self.stores.channels)
        recipients = Recipients(self.stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"))
        calls = ApprovedCalls(self.stores, ToolRegistry(()), None, utc_now)
        unfinished = Unfinished(
            self.stores.ledger,
            self.stores.proposals,
            running,
            deliveries=entries,
            routes=DeliveryRoutes(replies, entries, self.stores.ledger),
            recipients=recipients,
            calls=UnfinishedCalls(self.rest, calls, recipients, running, InOrder()),
            retry_s=0.01,
        )
        unfinished.begin()
        yield entries
        await unfinished.close()

    async def left(self, *states: str, called: str | None = None) -> None:
        """Wait until turns in these states are left in the ledger, all of them `called` so."""
        async with asyncio.timeout(self.discord.patience_s):
            while True:
                turns = await self.stores.ledger.list_unfinished()
                named = called is None or all(turn.id == called for turn in turns)
                if named and [turn.state for turn in turns] == [*states]:
                    return
                await asyncio.sleep(0.01)

    async def begun(self, text: str = "元気？", **fields: Any) -> tuple[Posted, PendingTurn]:
        """A DM whose turn the last run was ended under."""
        posted = await self.discord.post(self.aiko, self.dm, text)
        turn = PendingTurn(
            "0123456789abcd",
            SessionKey(self.aiko.id, self.dm.id),
            "message",
            "private",
            utc_now(),
            locale=Locale.JA,
            question=AskedQuestion(text, "Aiko"),
            question_id=posted.id,
            place_id=self.dm.id,
        )
        turn = replace(turn, **fields)
        await self.stores.ledger.accept(turn)
        return posted, turn

    def shown(self, channel: Channel | None = None) -> list[tuple[str, list[str]]]:
        messages = self.discord.messages(channel or self.dm)
        return [(message.text, message.labels) for message in messages if message.author.is_bot]


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
) -> AsyncIterator[Scene]:
    aiko = discord.user("Aiko", locale="ja")
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield Scene(discord, stores, rest, aiko, discord.dm(aiko), tmp_path)


class TestAQuestion:
    async def test_without_an_answer_may_be_asked_again(self, scene: Scene) -> None:
        await scene.begun()
        async with scene.started():
            await scene.left("interrupted")
        [(text, labels)] = scene.shown()
        assert text.startswith("書いている途中で動かなくなったため")
        assert labels == [RETRY]

    async def test_is_told_of_once_however_often_it_starts(self, scene: Scene) -> None:
        _, turn = await scene.begun()
        for _ in range(2):  # killed before that could be noted
            async with scene.started():
                await scene.left("interrupted")
            await scene.stores.ledger.mark_settled(turn.id, scene.aiko.id)
            await scene.stores.ledger.accept(turn)
        assert len(scene.shown()) == 1

    async def test_is_told_of_once_the_ledger_can_be_read(self, scene: Scene) -> None:
        await scene.begun()
        with closing(sqlite3.connect(scene.folder / "sessions.db")) as other, capture_logs() as records:
            other.execute("UPDATE turns SET locale = 'tlh'")
            other.commit()
            async with scene.started():
                async with asyncio.timeout(scene.discord.patience_s):
                    while not records:  # noqa: ASYNC110 - a record is no event
                        await asyncio.sleep(0.01)
                other.execute("UPDATE turns SET locale = 'ja'")
                other.commit()
                await scene.left("interrupted")
        assert records[0]["event"] == "unfinished_not_read"

    async def test_that_was_deleted_since_is_not_answered(self, scene: Scene) -> None:
        posted, _ = await scene.begun()
        await scene.discord.delete(scene.aiko, posted)
        async with scene.started():
            await scene.left()
        assert scene.shown() == []

    async def test_that_was_deleted_since_takes_what_was_begun_with_it(self, scene: Scene) -> None:
        posted, turn = await scene.begun()
        async with scene.started():
            await scene.left("interrupted")
        [message] = [each for each in scene.discord.messages(scene.dm) if each.author.is_bot]
        await scene.stores.ledger.mark_settled(turn.id, scene.aiko.id)
        await scene.stores.ledger.accept(replace(turn, shown_in=message.id))
        await scene.discord.delete(scene.aiko, posted)
        async with scene.started():
            await scene.left()
        assert scene.shown() == []

    async def test_is_told_of_where_the_past_may_not_be_read(self, scene: Scene) -> None:
        channel = scene.discord.guild_channel()
        scene.discord.forbid(scene.discord.bot, Permission.READ_MESSAGE_HISTORY, channel)
        asked = await scene.discord.post(scene.aiko, channel, "元気？", mention=True)
        key = SessionKey(scene.aiko.id, channel.id)
        await scene.begun(key=key, place_id=channel.id, question_id=asked.id)
        async with scene.started():
            await scene.left("interrupted")
        assert len(scene.shown(channel)) == 1

    async def test_that_is_no_longer_kept_is_said_to_be_lost(self, scene: Scene) -> None:
        await scene.begun(question=None)
        async with scene.started():
            await scene.left()
        assert scene.shown() == [
            (
                "書いている途中で動かなくなったため、お返事できませんでした。お手数ですが、もう一度お聞きください。",
                [],
            )
        ]

    async def test_is_forgotten_after_a_week(self, scene: Scene) -> None:
        _, turn = await scene.begun(accepted_at=utc_now() - KEPT - timedelta(hours=1))
        await scene.stores.ledger.mark_interrupted(turn.id, scene.aiko.id)
        async with scene.started():
            await scene.left()
        assert scene.shown() == []


class TestAnAnswer:
    async def test_that_is_stored_is_shown(self, scene: Scene) -> None:
        _, turn = await scene.begun()
        session = await scene.stores.sessions.open(turn.key, visibility="private")
        said = (Message("user", "元気？"), Message("assistant", "元気です。", visibility="private"))
        await scene.stores.sessions.archive_turn(session, said, entry=turn.id)
        async with scene.started():
            await scene.left()
        assert scene.shown() == [("元気です。", ["もう一度答える"])]

    async def test_waits_while_discord_is_out_of_reach(self, scene: Scene) -> None:
        await scene.begun(kind="ask", ephemeral=True, place_id=None, question_id=None)
        scene.discord.fail_next(OPEN_DM, 503, times=3)
        async with scene.started():
            await scene.left("interrupted")
        assert len(scene.shown()) == 1
        assert scene.discord.faults.outstanding == 0

    async def test_that_this_run_is_writing_is_its_own_affair(self, scene: Scene) -> None:
        running = RunningTurns()
        await scene.begun(id=running.new_name())
        await scene.begun("もう一つ")
        async with scene.started(running):
            await scene.left("accepted", "interrupted")
        assert len(scene.shown()) == 1

    async def test_of_this_run_is_shown_once_discord_takes_it(self, scene: Scene) -> None:
        running = RunningTurns()
        _, turn = await scene.begun(id=running.new_name())
        async with scene.started(running) as entries:
            entries.leave(entries.entry(turn))
            await scene.left("interrupted")
        assert len(scene.shown()) == 1

    async def test_that_could_not_be_settled_is_settled_later(self, scene: Scene) -> None:
        running = RunningTurns()
        _, turn = await scene.begun(id=running.new_name())
        full = "CREATE TRIGGER full BEFORE DELETE ON turns BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
        with closing(sqlite3.connect(scene.folder / "sessions.db")) as other:
            other.execute(full)
            async with scene.started(running) as entries:
                await entries.entry(turn).settle()
                assert len(await scene.stores.ledger.list_unfinished()) == 1
                other.execute("DROP TRIGGER full")
                await scene.left()
        assert scene.shown() == []

    async def test_where_nobody_can_be_reached_is_given_up(
        self, scene: Scene, discord: LoopbackDiscord
    ) -> None:
        closed = discord.user("Ben", locale="en-US", accepts_dms=False)
        key = SessionKey(closed.id, 10)
        await scene.begun(key=key, kind="ask", ephemeral=True, place_id=None, question_id=None)
        async with scene.started():
            await scene.left()
        assert [entry.status for entry in discord.calls(POST)] == [403]

    async def test_that_is_late_is_written_on_where_it_was_begun(self, scene: Scene) -> None:
        """Killed after the post and before it was noted, and once more after that."""
        _, turn = await scene.begun(kind="ask", ephemeral=True, place_id=None, question_id=None)
        async with scene.started():
            await scene.left("interrupted")
        await scene.stores.ledger.mark_settled(turn.id, scene.aiko.id)
        [message] = [each for each in scene.discord.messages(scene.dm) if each.author.is_bot]
        for pages in ((), (message.id,)):
            await scene.stores.ledger.accept(replace(turn, place_id=scene.dm.id, pages=pages))
            async with scene.started():
                await scene.left("interrupted")
            await scene.stores.ledger.mark_settled(turn.id, scene.aiko.id)
        assert len(scene.shown()) == 1

    async def test_that_was_asked_for_in_another_place_is_written_on_there(self, scene: Scene) -> None:
        """Told by DM, asked again with the button there, killed, and started past the token's life."""
        told = await scene.rest.create_message(scene.dm.id, "考えています…")
        token: dict[str, Any] = {
            "token": "t",
            "token_until": utc_now(),
            "shown_in": int(told.id),
            "question_id": None,
        }
        await scene.begun(key=SessionKey(scene.aiko.id, 10), kind="ask", **token)
        async with scene.started():
            await scene.left("interrupted")
        [(text, labels)] = scene.shown()
        assert text.startswith("書いている途中で動かなくなったため")
        assert labels == [RETRY]


class TestAnUnacknowledgedInteraction:
    """Discord has told its user that it failed, and its token opens nothing."""

    async def test_that_asked_something_is_told_of(self, scene: Scene) -> None:
        await scene.begun(**unacknowledged(), kind="ask")
        async with scene.started():
            await scene.left("interrupted")
        assert len(scene.shown()) == 1

    async def test_that_wanted_another_answer_has_changed_nothing(self, scene: Scene) -> None:
        session = await scene.stores.sessions.open(SessionKey(scene.aiko.id, scene.dm.id))
        said = (Message("user", "元気？"), Message("assistant", "元気です。"))
        stored = await scene.stores.sessions.archive_turn(session, said)
        await scene.begun(
            **unacknowledged(), kind="again", question=None, replaces=stored.messages[-1].id, shown_in=6
        )
        async with scene.started():
            await scene.left()
        assert scene.shown() == []

    async def test_that_asked_again_may_do_so_once_more(self, scene: Scene) -> None:
        await scene.begun(**unacknowledged(), kind="ask", former="abcd", shown_in=6, ephemeral=True)
        async with scene.started():
            await scene.left("interrupted", called="abcd")
        [turn] = await scene.stores.ledger.list_unfinished()
        assert (turn.id, turn.question) == ("abcd", AskedQuestion("元気？", "Aiko"))
        assert scene.shown() == []
