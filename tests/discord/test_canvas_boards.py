"""Canvas boards over real REST and a real database, for what no answer of the program leads to."""

import asyncio
import json
from dataclasses import dataclass, field

import pytest
from hikari import Embed
from structlog.testing import capture_logs

from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.session import SessionKey
from cc_bot.features.canvas import delivery
from cc_bot.features.canvas.delivery import MAX_REFRESHED, CanvasMessages
from cc_bot.features.canvas.drawing import canvas_from_json, make_redraw
from cc_bot.features.canvas.model import Canvas, CanvasCommand, Card, Edit, SetMode
from cc_bot.features.canvas.store import CanvasMessageStore
from tests.discord.parts import BotChannel, boards_over
from tests.loopback.discord import Permission, Shown
from tests.loopback.discord.limits import TEXT
from tests.stores.forgetting import recalled, stored

POST = "POST /channels/{channel}/messages"
SHOPPING, WALK = Card("", "買い物", "- 牛乳"), Card("", "散歩", "朝")


@dataclass
class Scene(BotChannel):
    """A session in a channel, of whose canvas the boards know."""

    left: set[SessionKey] = field(default_factory=set)
    """Sessions of agents that their users are not answered by any more."""

    def __post_init__(self) -> None:
        self.session = SessionKey(self.aiko.id, self.channel.id)
        self.boards = self.next_run()

    def next_run(self) -> CanvasMessages:
        return boards_over(self.stores, self.rest, left=self.left)

    async def draw(self, *commands: CanvasCommand, key: SessionKey | None = None) -> Canvas:
        """A heartbeat, say, in a session."""
        session = await self.stores.sessions.open(key or self.session)
        if not session.history:
            said = [Message("user", "こんにちは"), Message("assistant", "はい。")]
            await self.stores.sessions.store_turn(session, said)
        drawn = [Edit(command, "public") for command in commands]
        canvas = await self.stores.canvases.draw(key or self.session, make_redraw(drawn))
        assert canvas is not None
        return canvas_from_json(canvas)

    async def refresh(self) -> bool:
        return await self.boards.refresh(self.session)

    @property
    def only(self) -> Shown:
        [shown] = self.written()
        return shown

    @property
    def titles(self) -> list[str]:
        from tests.end_to_end.canvases import titles  # whose folder has pytest rewrite its stage first

        return [title for shown in self.written() for title in titles(shown)]


@pytest.fixture
def scene(location: BotChannel) -> Scene:
    return Scene(**vars(location))


class TestRefresh:
    async def test_never_raises_and_is_made_up_for(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        scene.discord.fail_next(POST, 400, times=2)
        with capture_logs() as records:
            assert not await scene.refresh()
        assert [record["event"] for record in records] == ["canvas_card_refused", "canvas_not_shown"]
        assert await scene.stores[CanvasMessageStore].list_outdated_keys(10) == [scene.session]
        assert await scene.refresh()
        assert (scene.titles, await scene.stores[CanvasMessageStore].list_outdated_keys(10)) == (
            ["買い物"],
            [],
        )

    async def test_shows_texts_alone_if_discord_refuses_the_card(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        scene.discord.fail_next(POST, 400)
        assert await scene.refresh()
        assert "牛乳" in scene.only.text
        assert {each["type"] for each in scene.only.components} == {TEXT}

    async def test_replaces_an_embed_of_an_older_version(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        old = await scene.rest.create_message(scene.channel.id, "-# 🖼️", embed=Embed(title="前"))
        await scene.stores[CanvasMessageStore].record(scene.session, int(old.id), 0)
        assert await scene.refresh()
        assert (scene.only.id, scene.only.embeds, scene.titles) == (int(old.id), (), ["買い物"])

    async def test_of_many_at_once_and_of_the_next_run_posts_one_message(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        await asyncio.gather(*(scene.refresh() for _ in range(5)))
        assert len(scene.discord.calls(POST)) == 1
        await scene.stores[CanvasMessageStore].forget(scene.session)
        await scene.next_run().refresh(scene.session)
        assert scene.titles == ["買い物"]

    async def test_waits_until_the_message_is_within_reach_again(self, scene: Scene) -> None:
        await scene.draw(SHOPPING)
        await scene.refresh()
        shown = scene.only
        scene.discord.forbid(scene.discord.bot, Permission.VIEW_CHANNEL, scene.channel)
        await scene.draw(WALK)
        assert not await scene.refresh()
        scene.discord.permit(scene.discord.bot, Permission.VIEW_CHANNEL, scene.channel)
        assert await scene.refresh()
        assert (scene.only.id, scene.titles) == (shown.id, ["買い物", "散歩"])

    async def test_takes_down_the_canvas_of_an_agent_that_was_left_and_brings_it_back(
        self, scene: Scene
    ) -> None:
        """Discord brings back a message for its nonce that was deleted meanwhile."""
        await scene.draw(SHOPPING)
        await scene.refresh()
        scene.left.add(scene.session)
        await scene.refresh()
        assert (scene.titles, await scene.stores[CanvasMessageStore].get(scene.session)) == ([], None)
        await scene.draw(SetMode("board"))
        await scene.refresh()
        assert scene.titles == []
        scene.left.clear()
        await scene.refresh()
        assert scene.titles == ["買い物"]


class TestUpkeep:
    async def test_takes_off_what_was_erased_elsewhere(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(delivery, "REFRESH_S", 0.02)
        memory = await scene.stores.memories.add(scene.aiko.id, "金庫の番号は七七四九です")
        await scene.draw(SHOPPING, Card("note", "覚え書き", memory.content))
        arguments = json.dumps({"title": "覚え書き", "content": memory.content})
        drew = ToolCall("2", "canvas_add_card", arguments, '{"id": "note"}')
        await stored(scene.stores, "?", "はい", recalled(memory), drew, key=scene.session)
        await scene.refresh()
        scene.boards.start()
        try:
            await scene.stores.memory_removal.erase(scene.aiko.id, memory.id, stub="×")
            await scene.discord.wait(lambda: scene.titles == ["買い物"], "the card to go")
        finally:
            await scene.boards.close()
        assert "七七四九" not in scene.only.text

    async def test_keeps_nobody_waiting_for_what_is_refused(self, scene: Scene) -> None:
        refused = [SessionKey(user_id, scene.channel.id) for user_id in range(MAX_REFRESHED)]
        for each in (*refused, scene.session):
            await scene.draw(SHOPPING, key=each)
            await scene.stores[CanvasMessageStore].record(each, 0, 0)
        scene.discord.fail_next(POST, 400, times=2 * MAX_REFRESHED)
        await scene.boards.refresh_outdated()
        assert scene.titles == []
        for _ in range(2):
            await scene.boards.refresh_outdated()
        assert (scene.titles, len(scene.discord.calls(POST))) == (["買い物"], 2 * MAX_REFRESHED + 1)
        assert await scene.boards.refresh(refused[0])
