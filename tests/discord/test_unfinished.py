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
from cc_bot.stores import Stores
from cc_bot.texts import texts
from cc_bot.tools.registry import ToolRegistry
from tests.discord.choosing import deliveries_over
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User
from tests.loopback.discord import Message as Posted

OPEN_DM = "POST /users/@me/channels"
POST = "POST /channels/{channel}/messages"
SAY = texts(Locale.JA)
RETRY = SAY.unfinished.ask_again
NOWHERE: dict[str, Any] = {"kind": "ask", "ephemeral": True, "place_id": None, "question_id": None}
"""A turn that began with an interaction which only its user sees."""


def unacknowledged() -> dict[str, Any]:
    """The fields of a turn that was begun a moment ago; whole runs of tests outlive a token."""
    token = {"token": "never acknowledged", "token_until": utc_now() + timedelta(minutes=14)}
    return {**token, "interaction_id": 5, "place_id": None, "question_id": None}


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

    async def starts(self, *states: str, called: str | None = None) -> None:
        """A run that leaves turns in these states."""
        async with self.started():
            await self.left(*states, called=called)

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

    async def killed_again(self, turn: PendingTurn, **fields: Any) -> None:
        """The run that has told of a turn is killed before that could be noted."""
        await self.stores.ledger.mark_settled(turn.id, self.aiko.id)
        await self.stores.ledger.accept(replace(turn, **fields))

    def change(self, sql: str) -> None:
        with closing(sqlite3.connect(self.folder / "sessions.db")) as other, other:
            other.execute(sql)

    def shown(self, channel: Channel | None = None) -> list[tuple[str, list[str]]]:
        messages = self.discord.messages(channel or self.dm)
        return [(message.text, message.labels) for message in messages if message.author.is_bot]

    def shown_id(self) -> int:
        [message] = [each for each in self.discord.messages(self.dm) if each.author.is_bot]
        return message.id


@pytest.fixture
def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, stores: Stores, aiko: User, tmp_path: Path
) -> Scene:
    return Scene(discord, stores, rest, aiko, discord.dm(aiko), tmp_path)


class TestAQuestion:
    async def test_without_an_answer_may_be_asked_again_and_is_told_of_once(self, scene: Scene) -> None:
        _, turn = await scene.begun()
        await scene.starts("interrupted")
        await scene.killed_again(turn)
        await scene.starts("interrupted")
        [(text, labels)] = scene.shown()
        assert text.startswith("書いている途中で動かなくなったため")
        assert labels == [RETRY]

    async def test_is_told_of_once_the_ledger_can_be_read(self, scene: Scene) -> None:
        await scene.begun()
        scene.change("UPDATE turns SET locale = 'tlh'")
        with capture_logs() as records:
            async with scene.started():
                async with asyncio.timeout(scene.discord.patience_s):
                    while not records:  # noqa: ASYNC110 - a record is no event
                        await asyncio.sleep(0.01)
                scene.change("UPDATE turns SET locale = 'ja'")
                await scene.left("interrupted")
        assert records[0]["event"] == "unfinished_not_read"

    async def test_that_was_deleted_since_is_not_answered_and_takes_what_was_begun_with_it(
        self, scene: Scene
    ) -> None:
        posted, turn = await scene.begun()
        await scene.starts("interrupted")
        await scene.killed_again(turn, shown_in=scene.shown_id())
        await scene.discord.delete(scene.aiko, posted)
        await scene.starts()
        assert scene.shown() == []
        posted, _ = await scene.begun()
        await scene.discord.delete(scene.aiko, posted)
        await scene.starts()
        assert scene.shown() == []

    async def test_is_told_of_where_the_past_may_not_be_read(self, scene: Scene) -> None:
        channel = scene.discord.guild_channel()
        scene.discord.forbid(scene.discord.bot, Permission.READ_MESSAGE_HISTORY, channel)
        asked = await scene.discord.post(scene.aiko, channel, "元気？", mention=True)
        key = SessionKey(scene.aiko.id, channel.id)
        await scene.begun(key=key, place_id=channel.id, question_id=asked.id)
        await scene.starts("interrupted")
        assert len(scene.shown(channel)) == 1

    async def test_that_is_no_longer_kept_is_said_to_be_lost_and_forgotten_after_a_week(
        self, scene: Scene
    ) -> None:
        await scene.begun(question=None)
        await scene.starts()
        [(text, labels)] = scene.shown()
        assert ("お返事できませんでした" in text, labels) == (True, [])
        _, turn = await scene.begun(accepted_at=utc_now() - KEPT - timedelta(hours=1))
        await scene.stores.ledger.mark_interrupted(turn.id, scene.aiko.id)
        await scene.starts()
        assert len(scene.shown()) == 1


class TestAnAnswer:
    async def test_that_is_stored_is_shown(self, scene: Scene) -> None:
        _, turn = await scene.begun()
        session = await scene.stores.sessions.open(turn.key, visibility="private")
        said = (Message("user", "元気？"), Message("assistant", "元気です。", visibility="private"))
        await scene.stores.sessions.archive_turn(session, said, entry=turn.id)
        await scene.starts()
        assert scene.shown() == [("元気です。", [SAY.answer.regenerate])]

    async def test_waits_while_discord_is_out_of_reach(self, scene: Scene) -> None:
        await scene.begun(**NOWHERE)
        scene.discord.fail_next(OPEN_DM, 503, times=3)
        await scene.starts("interrupted")
        assert (len(scene.shown()), scene.discord.faults.outstanding) == (1, 0)

    async def test_of_this_run_is_shown_once_discord_takes_it_and_not_before(self, scene: Scene) -> None:
        running = RunningTurns()
        _, turn = await scene.begun(id=running.new_name())
        await scene.begun("もう一つ")
        async with scene.started(running) as entries:
            await scene.left("accepted", "interrupted")
            assert len(scene.shown()) == 1
            entries.leave(entries.entry(turn))
            await scene.left("interrupted", "interrupted")
        assert len(scene.shown()) == 2

    async def test_that_could_not_be_settled_is_settled_later(self, scene: Scene) -> None:
        running = RunningTurns()
        _, turn = await scene.begun(id=running.new_name())
        scene.change(
            "CREATE TRIGGER full BEFORE DELETE ON turns BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
        )
        async with scene.started(running) as entries:
            await entries.entry(turn).settle()
            await scene.left("accepted")
            scene.change("DROP TRIGGER full")
            await scene.left()
        assert scene.shown() == []

    async def test_where_nobody_can_be_reached_is_given_up(self, scene: Scene) -> None:
        closed = scene.discord.user("Ben", locale="en-US", accepts_dms=False)
        await scene.begun(key=SessionKey(closed.id, 10), **NOWHERE)
        await scene.starts()
        assert [entry.status for entry in scene.discord.calls(POST)] == [403]

    async def test_that_is_late_is_written_on_where_it_was_begun(self, scene: Scene) -> None:
        """Killed after the post and before it was noted, and once more after that."""
        _, turn = await scene.begun(**NOWHERE)
        await scene.starts("interrupted")
        for pages in ((), (scene.shown_id(),)):
            await scene.killed_again(turn, place_id=scene.dm.id, pages=pages)
            await scene.starts("interrupted")
        assert len(scene.shown()) == 1

    async def test_that_was_asked_for_in_another_place_is_written_on_there(self, scene: Scene) -> None:
        """Told by DM, asked again with the button there, killed, and started past the token's life."""
        told = await scene.rest.create_message(scene.dm.id, "考えています…")
        token: dict[str, Any] = {"token": "t", "token_until": utc_now(), "question_id": None}
        await scene.begun(key=SessionKey(scene.aiko.id, 10), kind="ask", shown_in=int(told.id), **token)
        await scene.starts("interrupted")
        [(text, labels)] = scene.shown()
        assert text.startswith("書いている途中で動かなくなったため")
        assert labels == [RETRY]


class TestAnUnacknowledgedInteraction:
    """Discord has told its user that it failed, and its token opens nothing."""

    async def test_that_asked_something_is_told_of(self, scene: Scene) -> None:
        await scene.begun(**unacknowledged(), kind="ask")
        await scene.starts("interrupted")
        assert len(scene.shown()) == 1

    async def test_that_wanted_another_answer_has_changed_nothing(self, scene: Scene) -> None:
        session = await scene.stores.sessions.open(SessionKey(scene.aiko.id, scene.dm.id))
        said = (Message("user", "元気？"), Message("assistant", "元気です。"))
        stored = await scene.stores.sessions.archive_turn(session, said)
        again: dict[str, Any] = {"kind": "again", "question": None, "shown_in": 6}
        await scene.begun(**unacknowledged(), **again, replaces=stored.messages[-1].id)
        await scene.starts()
        assert scene.shown() == []

    async def test_that_asked_again_may_do_so_once_more(self, scene: Scene) -> None:
        await scene.begun(**unacknowledged(), kind="ask", former="abcd", shown_in=6, ephemeral=True)
        await scene.starts("interrupted", called="abcd")
        [turn] = await scene.stores.ledger.list_unfinished()
        assert (turn.id, turn.question) == ("abcd", AskedQuestion("元気？", "Aiko"))
        assert scene.shown() == []
