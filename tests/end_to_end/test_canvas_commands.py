"""`/canvas show`, `/canvas clear`, and what other commands do to a canvas."""

from tests.end_to_end.canvases import PLAN, SALES, SHOPPING, board, boards, draw, no_board, texts_of, titles
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call


class TestShow:
    async def test_puts_the_canvas_at_the_bottom(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        first = await board(stage, channel)
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "下に出しました" in await stage.told(aiko, channel, "canvas show")
        shown = await board(stage, channel)
        assert shown.id > first.id
        assert titles(shown) == ["買い物"]

    async def test_brings_its_picture_along(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SALES)
        await board(stage, channel)
        await stage.told(aiko, channel, "canvas show")
        shown = await board(stage, channel)
        assert shown.embeds[0]["image"]["url"] == shown.attachments[0].url

    async def test_brings_back_what_somebody_deleted(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await stage.discord.delete(stage.discord.owner, await board(stage, channel))
        await stage.told(aiko, channel, "canvas show")
        assert titles(await board(stage, channel)) == ["買い物"]

    async def test_does_so_as_often_as_it_is_asked(self, stage: Stage, ben: User, channel: Channel) -> None:
        await draw(stage, ben, channel, SHOPPING)
        ids = {(await board(stage, channel)).id}
        for _ in range(3):
            assert "below" in await stage.told(ben, channel, "canvas show")
            ids.add((await board(stage, channel)).id)
        assert len(ids) == 4

    async def test_says_what_to_do_when_nothing_is_up(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        assert "何も出ていません" in await stage.told(aiko, channel, "canvas show")
        assert "Nothing is on the canvas" in await stage.told(ben, channel, "canvas show")

    async def test_shows_private_elements_to_their_user_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await draw(stage, aiko, channel, PLAN, private=True)
        reply = await stage.discord.slash(aiko, channel, "canvas show")
        await reply.finished()
        assert reply.ephemeral
        assert texts_of(reply.message) == ["朝は散歩、昼は図書館。"]
        assert texts_of(await board(stage, channel)) == ["- 牛乳"]

    async def test_shows_a_canvas_that_is_all_private_in_its_reply(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, PLAN, private=True)
        reply = await stage.discord.slash(aiko, channel, "canvas show")
        await reply.finished()
        assert "あなただけに見えます" in reply.text
        assert texts_of(reply.message) == ["朝は散歩、昼は図書館。"]
        assert boards(stage, channel) == []

    async def test_in_a_dm_shows_everything_there(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await draw(stage, aiko, dm, SHOPPING)
        first = await board(stage, dm)
        assert "下に出しました" in await stage.told(aiko, dm, "canvas show")
        assert (await board(stage, dm)).id > first.id

    async def test_is_nobody_elses_canvas(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        assert "Nothing is on the canvas" in await stage.told(ben, channel, "canvas show")


class TestClear:
    async def test_takes_the_canvas_down_and_leaves_the_talk(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        assert "空にしました" in await stage.told(aiko, channel, "canvas clear")
        await no_board(stage, channel)
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "キャンバスに出して" in stage.shown()
        assert "牛乳" not in str(stage.model.requests[-1].messages[-2])

    async def test_says_when_there_is_nothing_to_take_down(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        assert "nothing on the canvas" in await stage.told(ben, channel, "canvas clear")


class TestNewSession:
    async def test_begins_with_an_empty_canvas_and_no_message(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        await stage.told(aiko, channel, "clear")
        await no_board(stage, channel)
        assert "何も出ていません" in await stage.told(aiko, channel, "canvas show")


class TestErasedMemory:
    async def test_is_gone_from_the_canvas_at_once(self, stage: Stage, aiko: User, channel: Channel) -> None:
        secret = "金庫の番号は七七四九です"
        await draw(
            stage,
            aiko,
            channel,
            SHOPPING,
            Call("canvas_add_card", {"title": "覚え書き", "content": secret}),
        )
        await board(stage, channel)
        await stage.told(aiko, channel, "memory add", content=secret)
        [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        deleted = await stage.discord.slash(aiko, channel, "memory delete", id=number)
        await deleted.finished()
        press = await stage.discord.click(aiko, deleted.message, "今すぐ完全に消す")
        await press.finished(lambda reply: "完全に消しました" in reply.text)
        shown = await board(stage, channel, lambda shown: len(shown.embeds) == 1)
        assert titles(shown) == ["買い物"]
