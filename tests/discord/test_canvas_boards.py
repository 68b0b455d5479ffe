"""Canvas boards over real REST and a real database, for what no answer of the program leads to."""

import asyncio
from dataclasses import dataclass, field

import hikari
import pytest
from structlog.testing import capture_logs

from cc_bot.discord.delivery.canvas_boards import MOST_STALE, CanvasBoards, CanvasUpkeep
from cc_bot.discord.delivery.canvas_messages import Draw
from cc_bot.discord.gateway import Shards, gateway_bot
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import GuildLocales
from cc_bot.domain.canvas import AddCard, AddChart, Canvas, CanvasCommand, Drawn, Series, SetMode
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Message
from cc_bot.domain.process import Shard
from cc_bot.domain.session import SessionKey
from cc_bot.stores import CanvasStore, Stores
from tests.discord.boards import boards_over, no_pictures
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, Shown, User

POST = "POST /channels/{channel}/messages"
EDIT = "PATCH /channels/{channel}/messages/{message}"
SHOPPING = AddCard("買い物", "- 牛乳")
SALES = AddChart("売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


@dataclass
class Scene:
    """A session in a channel, of whose canvas the boards know."""

    discord: LoopbackDiscord
    stores: Stores
    rest: hikari.api.RESTClient
    aiko: User
    channel: Channel
    left: set[SessionKey] = field(default_factory=set)
    """Sessions of agents that their users are not answered by any more."""

    def __post_init__(self) -> None:
        self.key = SessionKey(self.aiko.id, self.channel.id)
        self.boards = self.next_run()

    def next_run(self, draw: Draw = no_pictures) -> CanvasBoards:
        return boards_over(self.stores, self.rest, draw, self.left)

    def upkeep(self, canvases: CanvasStore | None = None) -> tuple[hikari.GatewayBot, CanvasUpkeep]:
        bot = gateway_bot(self.discord.token, self.discord.api_url, "off")
        shards = Shards(Places(self.rest, self.stores.channels), GuildLocales())
        return bot, CanvasUpkeep(bot, canvases or self.stores.canvases, self.boards, shards, every_s=0.02)

    async def draw(self, *commands: CanvasCommand, key: SessionKey | None = None) -> Canvas:
        """A heartbeat, say, in a session."""
        session = await self.stores.sessions.open(key or self.key)
        if not session.history:
            said = [Message("user", "こんにちは"), Message("assistant", "はい。")]
            await self.stores.sessions.archive_turn(session, said)
        canvas = await self.stores.canvases.draw(
            key or self.key, [Drawn(command, "public") for command in commands]
        )
        assert canvas is not None
        return canvas

    async def refresh(self) -> bool:
        return await self.boards.refresh(self.key)

    async def stale(self) -> bool:
        return self.key in await self.stores.canvases.list_stale(10)

    @property
    def only(self) -> Shown:
        [shown] = self.discord.messages(self.channel)
        return shown

    @property
    def titles(self) -> list[str]:
        return [embed["title"] for shown in self.discord.messages(self.channel) for embed in shown.embeds]


@pytest.fixture
def scene(
    discord: LoopbackDiscord, stores: Stores, rest: hikari.api.RESTClient, aiko: User, channel: Channel
) -> Scene:
    return Scene(discord, stores, rest, aiko, channel)


class TestRefresh:
    async def test_does_nothing_where_there_is_nothing_to_do(self, scene: Scene) -> None:
        assert await scene.refresh()
        await scene.boards.forget_message(12345)
        assert scene.discord.transcript == []
        await scene.draw(SHOPPING)
        await scene.refresh()
        calls = len(scene.discord.transcript)
        assert await scene.refresh()
        assert len(scene.discord.transcript) == calls

    async def test_never_raises_and_is_made_up_for(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        scene.discord.fail_next(POST, 400)
        with capture_logs() as records:
            assert not await scene.refresh()
        assert [record["event"] for record in records] == ["canvas_not_shown"]
        assert await scene.stale()
        assert await scene.refresh()
        assert (scene.titles, await scene.stale()) == (["買い物"], False)

    async def test_of_many_at_once_and_of_the_next_run_posts_one_message(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        await asyncio.gather(*(scene.refresh() for _ in range(5)))
        assert len(scene.discord.calls(POST)) == 1
        await scene.stores.canvases.forget_message(scene.key)
        await scene.next_run().refresh(scene.key)
        assert scene.titles == ["買い物"]

    async def test_waits_until_the_message_is_within_reach_again(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        await scene.refresh()
        shown = scene.only
        scene.discord.forbid(scene.discord.bot, Permission.VIEW_CHANNEL, scene.channel)
        await scene.draw(SALES)
        assert not await scene.refresh()
        scene.discord.permit(scene.discord.bot, Permission.VIEW_CHANNEL, scene.channel)
        assert await scene.refresh()
        assert (scene.only.id, len(scene.only.embeds)) == (shown.id, 2)


class TestCanvasOfAnAgentThatWasLeft:
    async def test_is_taken_down_and_comes_back_as_it_was(self, scene: Scene) -> None:
        """Discord brings back a message for its nonce that was deleted meanwhile."""
        canvas = await scene.draw(SHOPPING)
        await scene.refresh()
        scene.left.add(scene.key)
        await scene.refresh()
        assert scene.titles == []
        seen = await scene.stores.canvases.get(scene.key)
        assert seen
        assert seen.canvas == canvas
        assert await scene.stores.canvases.list_shown(10) == []
        await scene.draw(SetMode("board"))
        await scene.refresh()
        assert scene.titles == []
        scene.left.clear()
        await scene.refresh()
        assert scene.only.embeds[0]["fields"][0]["name"] == "買い物"


class TestDeletedMessage:
    @pytest.mark.parametrize("told", [True, False])
    async def test_is_posted_anew_with_the_next_change(self, scene: Scene, *, told: bool) -> None:
        """No events come where no messages are read."""
        await scene.draw(SHOPPING)
        await scene.refresh()
        shown = scene.only
        await scene.discord.delete(scene.discord.owner, shown)
        if told:
            await scene.boards.forget_message(shown.id)
        assert not await scene.stale()
        await scene.draw(SetMode("board"))
        assert await scene.stale()
        assert await scene.refresh()
        assert scene.only.id != shown.id
        assert scene.only.embeds[0]["fields"][0]["name"] == "買い物"


class FailingOnce:
    """A store whose first answer is an error."""

    def __init__(self, canvases: CanvasStore, error: Exception) -> None:
        self._canvases = canvases
        self._error = error

    async def list_shown(self, limit: int, shard: Shard) -> list[SessionKey]:
        raise self._error


class TestUpkeep:
    async def test_takes_off_what_was_erased_elsewhere(self, scene: Scene) -> None:
        memory = await scene.stores.memories.add(scene.aiko.id, "金庫の番号は七七四九です")
        await scene.draw(SHOPPING, AddCard("覚え書き", memory.content))
        await scene.refresh()
        _, upkeep = scene.upkeep()
        upkeep.begin()
        try:
            await scene.stores.memory_removal.erase(scene.aiko.id, memory.id)
            await scene.discord.wait(lambda: scene.titles == ["買い物"], "the card to go")
        finally:
            await upkeep.close()
        assert "七七四九" not in scene.only.text

    @pytest.mark.parametrize(
        ("error", "event"), [(StorageError(), "canvases_not_kept_up"), (KeyError(), "canvas_upkeep_broke")]
    )
    async def test_goes_on_whatever_goes_wrong(self, scene: Scene, error: Exception, event: str) -> None:
        await scene.draw(SHOPPING)
        await scene.stores.canvases.note_message(scene.key, 0, 0)
        _, upkeep = scene.upkeep(FailingOnce(scene.stores.canvases, error))  # type: ignore[arg-type]
        with capture_logs() as records:
            upkeep.begin()
            await scene.discord.wait(lambda: scene.titles, "the canvas")
            await upkeep.close()
        assert records[0]["event"] == event

    async def test_does_not_try_again_at_once_what_is_refused_and_keeps_nobody_waiting_for_it(
        self, scene: Scene
    ) -> None:
        await scene.draw(SHOPPING)
        await scene.boards.refresh_stale()
        assert scene.discord.calls(POST) == []  # nobody has wanted it shown
        refused = [SessionKey(user_id, scene.channel.id) for user_id in range(MOST_STALE)]
        for each in refused:
            await scene.draw(SHOPPING, key=each)
        for each in (*refused, scene.key):
            await scene.stores.canvases.note_message(each, 0, 0)
        scene.discord.fail_next(POST, 400, times=MOST_STALE)
        await scene.boards.refresh_stale()
        assert scene.titles == []
        await scene.boards.refresh_stale()
        await scene.boards.refresh_stale()
        assert scene.titles == ["買い物"]
        assert len(scene.discord.calls(POST)) == MOST_STALE + 1
        assert await scene.boards.refresh(refused[0])
