"""What of a canvas others get to see, and how it comes where the bot may not write."""

from tests.end_to_end.canvases import (
    CLEAR,
    PLAN,
    SALES,
    SHOPPING,
    board,
    boards,
    draw,
    no_board,
    texts_of,
    titles,
    update,
)
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, Reply, Shown, User

MISSING_ACCESS = 50001
MISSING_PERMISSIONS = 50013
HEADING = "-# 🖼️"


def whispered(reply: Reply) -> Shown | None:
    """The canvas that came below an answer."""
    return next((shown for shown in reply.messages if shown.content.startswith(HEADING)), None)


async def followed(reply: Reply) -> Shown:
    await reply.until(whispered, "a canvas below the answer")
    shown = whispered(reply)
    assert shown is not None
    return shown


class TestPrivateAnswer:
    async def test_is_followed_by_an_ephemeral_canvas(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await draw(stage, aiko, channel, SHOPPING, private=True)
        shown = await followed(reply)
        assert shown.ephemeral
        assert titles(shown) == ["買い物"]
        await stage.discord.quiet(0.2)
        assert boards(stage, channel) == []
        assert stage.rows("SELECT * FROM canvas_messages WHERE channel_id = ?", channel.id) == []

    async def test_shows_its_user_what_is_public_as_well(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        shown = await followed(await draw(stage, aiko, channel, PLAN, private=True))
        assert titles(shown) == ["買い物", "🔒"]
        assert "🔒 のついたもの" in shown.content
        await stage.discord.quiet(0.2)
        assert texts_of(await board(stage, channel)) == ["- 牛乳"]

    async def test_that_changes_something_public_takes_it_out_of_others_sight(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING, PLAN)
        await board(stage, channel)
        await draw(stage, aiko, channel, update("shopping", "- 指輪"), private=True)
        shown = await board(stage, channel, lambda shown: shown.edited)
        assert texts_of(shown) == ["朝は散歩、昼は図書館。"]

    async def test_leaves_only_the_newest_of_its_canvases(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        first = await draw(stage, aiko, channel, SHOPPING, private=True)
        await followed(first)
        await followed(await draw(stage, aiko, channel, PLAN, private=True))
        assert whispered(first) is None

    async def test_that_clears_it_leaves_none(self, stage: Stage, aiko: User, channel: Channel) -> None:
        first = await draw(stage, aiko, channel, SHOPPING, private=True)
        await followed(first)
        await draw(stage, aiko, channel, PLAN)
        await board(stage, channel)
        await draw(stage, aiko, channel, CLEAR, private=True)
        await no_board(stage, channel)
        assert whispered(first) is None

    async def test_in_a_dm_changes_the_one_message(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        reply = await draw(stage, aiko, dm, SHOPPING, private=True)
        assert titles(await board(stage, dm)) == ["買い物"]
        assert whispered(reply) is None


class TestPlaceWithoutTheBot:
    async def test_gets_the_canvas_below_the_answer(self, stage: Stage, aiko: User) -> None:
        place = stage.discord.user_installed_channel(aiko)
        shown = await followed(await draw(stage, aiko, place, SHOPPING))
        assert not shown.ephemeral
        assert titles(shown) == ["買い物"]
        assert stage.rows("SELECT * FROM canvas_messages WHERE channel_id = ?", place.id) == []

    async def test_has_it_edited_in_place_as_long_as_that_is_possible(self, stage: Stage, aiko: User) -> None:
        place = stage.discord.user_installed_channel(aiko)
        first = await draw(stage, aiko, place, SHOPPING)
        await followed(first)
        second = await draw(stage, aiko, place, PLAN)
        await first.until(lambda reply: len((whispered(reply) or reply.message).embeds) == 2)
        assert whispered(second) is None

    async def test_gets_a_new_one_when_the_old_one_is_out_of_reach(self, stage: Stage, aiko: User) -> None:
        stage.excused.add(50027)  # the token of the interaction is dead
        place = stage.discord.user_installed_channel(aiko)
        first = await draw(stage, aiko, place, SHOPPING)
        await followed(first)
        first.age(900)
        shown = await followed(await draw(stage, aiko, place, PLAN))
        assert len(shown.embeds) == 2

    async def test_has_it_taken_down_when_it_is_cleared(self, stage: Stage, aiko: User) -> None:
        place = stage.discord.user_installed_channel(aiko)
        first = await draw(stage, aiko, place, SHOPPING)
        await followed(first)
        said = await stage.told(aiko, place, "canvas clear")
        assert "空にしました" in said
        await first.until(lambda reply: whispered(reply) is None)

    async def test_shows_it_to_its_user_alone_when_asked(self, stage: Stage, aiko: User) -> None:
        place = stage.discord.user_installed_channel(aiko)
        await followed(await draw(stage, aiko, place, SHOPPING))
        reply = await stage.discord.slash(aiko, place, "canvas show")
        await reply.finished()
        assert reply.ephemeral
        assert titles(reply.message) == ["買い物"]


class TestMissingPermission:
    async def test_to_write_brings_the_canvas_below_the_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_PERMISSIONS)
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        shown = await followed(await draw(stage, aiko, channel, SHOPPING))
        assert titles(shown) == ["買い物"]
        assert stage.rows("SELECT * FROM canvas_messages WHERE channel_id = ?", channel.id) == []

    async def test_to_attach_files_makes_tables_of_charts(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_PERMISSIONS)
        stage.discord.forbid(stage.discord.bot, Permission.ATTACH_FILES, channel)
        await draw(stage, aiko, channel, SALES)
        shown = await board(stage, channel)
        assert shown.attachments == ()
        assert "1月" in texts_of(shown)[0]

    async def test_to_look_into_the_channel_brings_it_below_the_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_ACCESS)
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, channel)
        shown = await followed(await draw(stage, aiko, channel, PLAN))
        assert len(shown.embeds) == 2
        # Other tests share the program, which goes on looking whether it may show it again.
        stage.discord.permit(stage.discord.bot, Permission.VIEW_CHANNEL, channel)

    async def test_that_is_given_back_leaves_the_one_message(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_ACCESS)
        await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel)
        stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, channel)
        await followed(await draw(stage, aiko, channel, PLAN))
        stage.discord.permit(stage.discord.bot, Permission.VIEW_CHANNEL, channel)
        await draw(stage, aiko, channel, update("plan", "夜は映画。"))
        assert (await board(stage, channel, lambda each: "夜は映画。" in texts_of(each))).id == shown.id

    async def test_is_told_of_when_the_canvas_is_asked_for(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_PERMISSIONS)
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        await followed(await draw(stage, aiko, channel, SHOPPING))
        reply = await stage.discord.slash(aiko, channel, "canvas show")
        await reply.finished()
        assert reply.ephemeral
        assert "このチャンネルに送れない" in reply.text
        assert titles(reply.message) == ["買い物"]
