"""Canvas boards over real REST and a real database, for what no answer of the program leads to."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import hikari
import pytest
from structlog.testing import capture_logs

from cc_bot.discord.delivery.canvas_boards import MOST_STALE, CanvasBoards, CanvasUpkeep
from cc_bot.discord.gateway import Shards, gateway_bot
from cc_bot.discord.places import Places
from cc_bot.discord.recipients import GuildLocales
from cc_bot.domain.canvas import AddCard, AddChart, Canvas, CanvasCommand, Drawn, Series, SetMode
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Message
from cc_bot.domain.process import Shard
from cc_bot.domain.session import SessionKey
from cc_bot.stores import CanvasStore, Stores, open_stores
from tests.databases import laid_out
from tests.discord.boards import boards_over
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, Shown, User

POST = "POST /channels/{channel}/messages"
EDIT = "PATCH /channels/{channel}/messages/{message}"
SHOPPING = AddCard("買い物", "- 牛乳")
SALES = AddChart("売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield stores


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(discord: LoopbackDiscord) -> Channel:
    return discord.guild_channel()


@pytest.fixture
def key(aiko: User, channel: Channel) -> SessionKey:
    return SessionKey(aiko.id, channel.id)


@pytest.fixture
def boards(stores: Stores, rest: hikari.api.RESTClient) -> CanvasBoards:
    return boards_over(stores, rest)


@pytest.fixture
def shards(stores: Stores, rest: hikari.api.RESTClient) -> Shards:
    return Shards(Places(rest, stores.channels), GuildLocales())


async def draw(stores: Stores, key: SessionKey, *commands: CanvasCommand) -> Canvas:
    """A heartbeat, say, in a session."""
    session = await stores.sessions.open(key)
    if not session.history:
        said = [Message("user", "こんにちは"), Message("assistant", "はい。")]
        await stores.sessions.archive_turn(session, said)
    canvas = await stores.canvases.draw(key, [Drawn(command, "public") for command in commands])
    assert canvas is not None
    return canvas


def only(discord: LoopbackDiscord, channel: Channel) -> Shown:
    [shown] = discord.messages(channel)
    return shown


class TestRefresh:
    async def test_does_nothing_where_there_was_never_a_canvas(
        self, discord: LoopbackDiscord, boards: CanvasBoards, key: SessionKey
    ) -> None:
        assert await boards.refresh(key)
        assert discord.transcript == []

    async def test_does_nothing_when_all_is_as_it_should_be(
        self, discord: LoopbackDiscord, stores: Stores, boards: CanvasBoards, key: SessionKey
    ) -> None:
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        calls = len(discord.transcript)
        assert await boards.refresh(key)
        assert len(discord.transcript) == calls

    async def test_never_raises_and_is_made_up_for(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        discord.fail_next(POST, 400)
        with capture_logs() as records:
            assert not await boards.refresh(key)
        assert [record["event"] for record in records] == ["canvas_not_shown"]
        assert await stores.canvases.list_stale(10) == [key]
        assert await boards.refresh(key)
        assert only(discord, channel).embeds[0]["title"] == "買い物"
        assert await stores.canvases.list_stale(10) == []

    async def test_of_many_at_once_posts_one_message(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        await asyncio.gather(*(boards.refresh(key) for _ in range(5)))
        assert len(discord.messages(channel)) == 1
        assert len(discord.calls(POST)) == 1

    async def test_finds_what_an_earlier_run_of_the_program_posted(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        await boards_over(stores, rest).refresh(key)
        await stores.canvases.forget_message(key)
        await boards_over(stores, rest).refresh(key)
        assert len(discord.messages(channel)) == 1

    async def test_does_not_take_a_deleted_message_for_a_new_one(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        """Discord brings back a message for its nonce that was deleted meanwhile."""
        left = set[SessionKey]()
        boards = boards_over(stores, rest, left=left)
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        left.add(key)
        await boards.refresh(key)
        left.remove(key)
        await boards.refresh(key)
        assert only(discord, channel).embeds[0]["title"] == "買い物"

    async def test_shows_a_table_where_there_is_no_picture(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SALES)
        await boards.refresh(key)
        shown = only(discord, channel)
        assert "1月" in shown.embeds[0]["description"]
        assert shown.attachments == ()

    async def test_uploads_a_picture_once(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        boards = boards_over(stores, rest, lambda chart, _: chart.title.encode())
        await draw(stores, key, SALES)
        await boards.refresh(key)
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        assert [len(call.files) for call in discord.calls(POST) + discord.calls(EDIT)] == [1, 0]
        shown = only(discord, channel)
        assert shown.embeds[0]["image"]["url"] == shown.attachments[0].url


class TestCanvasOfAnAgentThatWasLeft:
    async def test_is_taken_down_and_stays_what_it_is(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        canvas = await draw(stores, key, SHOPPING)
        await boards_over(stores, rest).refresh(key)
        await boards_over(stores, rest, left={key}).refresh(key)
        assert discord.messages(channel) == []
        seen = await stores.canvases.get(key)
        assert seen
        assert seen.canvas == canvas
        assert await stores.canvases.list_shown(10) == []

    async def test_is_not_put_up_by_what_changes_it(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        boards = boards_over(stores, rest, left={key})
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        assert discord.messages(channel) == []


class TestMessageOutOfReach:
    async def test_is_brought_up_to_date_once_it_is_within_reach_again(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        shown = only(discord, channel)
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, channel)
        await draw(stores, key, SALES)
        assert not await boards.refresh(key)
        discord.permit(discord.bot, Permission.VIEW_CHANNEL, channel)
        assert await boards.refresh(key)
        assert only(discord, channel).id == shown.id
        assert len(only(discord, channel).embeds) == 2


class TestDeletedMessage:
    async def test_waits_for_the_next_change(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        shown = only(discord, channel)
        await discord.delete(discord.owner, shown)
        await boards.forget_message(shown.id)
        assert await stores.canvases.list_stale(10) == []
        await draw(stores, key, SetMode("board"))
        assert await stores.canvases.list_stale(10) == [key]
        await boards.refresh(key)
        assert only(discord, channel).id != shown.id

    async def test_of_somebody_else_is_none_of_its_business(
        self, discord: LoopbackDiscord, boards: CanvasBoards
    ) -> None:
        await boards.forget_message(12345)
        assert discord.transcript == []

    async def test_is_found_to_be_gone_by_the_next_edit(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        """Where no events come because no messages are read."""
        await draw(stores, key, SHOPPING)
        await boards.refresh(key)
        await discord.delete(discord.owner, only(discord, channel))
        await draw(stores, key, SetMode("board"))
        assert await boards.refresh(key)
        assert only(discord, channel).embeds[0]["fields"][0]["name"] == "買い物"


class TestDm:
    async def test_is_known_without_an_interaction(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        aiko: User,
    ) -> None:
        dm = discord.dm(aiko)
        key = SessionKey(aiko.id, dm.id)
        await draw(stores, key, SHOPPING)
        await stores.canvases.draw(key, [Drawn(AddCard("秘密", "指輪"), "private")])
        await boards.refresh(key)
        shown = only(discord, dm)
        assert [embed["title"] for embed in shown.embeds] == ["買い物", "🔒 秘密"]


class TestUpkeep:
    async def test_takes_off_what_was_erased_elsewhere(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        shards: Shards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        memory = await stores.memories.add(key.user_id, "金庫の番号は七七四九です")
        await draw(stores, key, SHOPPING, AddCard("覚え書き", memory.content))
        await boards.refresh(key)
        bot = gateway_bot(discord.token, discord.api_url, "off")
        upkeep = CanvasUpkeep(bot, stores.canvases, boards, shards, every_s=0.02)
        upkeep.begin()
        try:
            await stores.memory_removal.erase(key.user_id, memory.id)
            await discord.wait(lambda: len(only(discord, channel).embeds) == 1, "the card to go")
        finally:
            await upkeep.close()
        assert "七七四九" not in only(discord, channel).text

    @pytest.mark.parametrize(
        ("error", "event"), [(StorageError(), "canvases_not_kept_up"), (KeyError(), "canvas_upkeep_broke")]
    )
    async def test_goes_on_whatever_goes_wrong(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        shards: Shards,
        key: SessionKey,
        channel: Channel,
        error: Exception,
        event: str,
    ) -> None:
        await draw(stores, key, SHOPPING)
        bot = gateway_bot(discord.token, discord.api_url, "off")
        failing = FailingOnce(stores.canvases, error)
        upkeep = CanvasUpkeep(bot, failing, boards, shards, every_s=0.02)  # type: ignore[arg-type]
        await stores.canvases.note_message(key, 0, 0)
        with capture_logs() as records:
            upkeep.begin()
            await discord.wait(lambda: discord.messages(channel), "the canvas")
            await upkeep.close()
        assert records[0]["event"] == event

    async def test_does_not_begin_again_when_the_connection_comes_back_at_the_end(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        shards: Shards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        await draw(stores, key, SHOPPING)
        await stores.canvases.note_message(key, 0, 0)
        bot = gateway_bot(discord.token, discord.api_url, "off")
        upkeep = CanvasUpkeep(bot, stores.canvases, boards, shards, every_s=0.02)
        upkeep.listen()
        upkeep.begin()
        await upkeep.close()
        told = len(discord.messages(channel))
        await bot.start()
        await asyncio.sleep(0.2)
        await bot.close()
        assert len(discord.messages(channel)) == told == 0

    async def test_does_not_try_again_at_once_what_is_refused(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
    ) -> None:
        await draw(stores, key, SHOPPING)
        discord.fail_next(POST, 400)
        await boards.refresh_stale()
        assert discord.calls(POST) == []  # nobody has wanted it shown
        await stores.canvases.note_message(key, 0, 0)
        await boards.refresh_stale()
        await boards.refresh_stale()
        assert len(discord.calls(POST)) == 1
        assert await boards.refresh(key)

    async def test_keeps_nobody_waiting_for_those_that_are_refused(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        boards: CanvasBoards,
        key: SessionKey,
        channel: Channel,
    ) -> None:
        for each in (*(SessionKey(user_id, channel.id) for user_id in range(MOST_STALE)), key):
            await draw(stores, each, SHOPPING)
            await stores.canvases.note_message(each, 0, 0)
        discord.fail_next(POST, 400, times=MOST_STALE)
        await boards.refresh_stale()
        assert discord.messages(channel) == []
        await boards.refresh_stale()
        only(discord, channel)


class FailingOnce:
    """A store whose first answer is an error."""

    def __init__(self, canvases: CanvasStore, error: Exception) -> None:
        self._canvases = canvases
        self._error = error

    async def list_shown(self, limit: int, shard: Shard) -> list[SessionKey]:
        raise self._error
