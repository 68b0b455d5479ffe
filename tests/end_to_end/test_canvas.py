"""The canvas on Discord: one message, which shows what is up to those who may see it."""

from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts, CanvasChangeTexts
from tests.end_to_end.canvases import (
    CLEAR,
    HEADING,
    PLAN,
    SALES,
    SHOPPING,
    board,
    boards,
    draw,
    no_board,
    pictures_of,
    remove,
    texts_of,
    titles,
    update,
)
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, Reply, Shown, User
from tests.loopback.model_server import Call, CutConnection, Say, calls, says
from tests.loopback.model_server import Reply as Answer

JA, EN = texts(Locale.JA), texts(Locale.EN)
EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"
TOKEN_EXPIRED, MISSING_PERMISSIONS = 50027, 50013
NOTED = "SELECT * FROM canvas_messages WHERE channel_id = ?"


def whispered(reply: Reply) -> Shown | None:
    """The canvas that came below an answer."""
    return next((shown for shown in reply.messages if shown.text.startswith(HEADING)), None)


async def followed(reply: Reply) -> Shown:
    await reply.until(whispered, "a canvas below the answer")
    shown = whispered(reply)
    assert shown is not None
    return shown


async def shown_on_command(stage: Stage, user: User, channel: Channel) -> Reply:
    reply = await (await stage.discord.slash(user, channel, "canvas show")).finished()
    assert reply.ephemeral
    return reply


async def test_a_canvas_is_one_message_per_user(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.discord.fail_next(POST, 503, take_effect=True)
    named = Call("canvas_add_card", {"title": "@everyone", "content": f"{ben.mention} @here", "id": "n"})
    reply = await draw(stage, aiko, channel, SHOPPING, named)
    first = await board(stage, channel)
    assert first.id > reply.message.id
    assert f"-# {JA[CanvasTexts].user_canvas.format(user=aiko.mention)}" in first.text
    assert titles(first) == ["買い物", "@everyone"]
    assert JA[CanvasChangeTexts].open in reply.labels
    await draw(stage, ben, channel, PLAN)
    await stage.discord.wait(lambda: len(boards(stage, channel)) == 2, "two canvases")
    await stage.discord.quiet(0.2)
    assert not first.edited
    await stage.told(ben, channel, "canvas clear")

    stage.discord.fail_next(EDIT, 429, retry_after_s=0.2)
    stage.discord.fail_next(EDIT, 502)
    await draw(stage, aiko, channel, update("shopping", "- パン"), remove("n"))
    shown = await board(stage, channel, lambda shown: shown.edited)
    assert (shown.id, texts_of(shown)) == (first.id, ["- パン"])
    cleared = await draw(stage, aiko, channel, CLEAR)
    await no_board(stage, channel)
    assert f"-# {JA[CanvasChangeTexts].emptied}" in cleared.text
    await draw(stage, aiko, channel, PLAN)
    assert texts_of(await board(stage, channel)) == ["朝は散歩、昼は図書館。"]


async def test_a_chart_is_a_picture_or_a_table_where_no_files_may_be_attached(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    await draw(stage, aiko, channel, SALES)
    shown = await board(stage, channel)
    [picture] = shown.attachments
    assert (titles(shown), pictures_of(shown)) == (["売上"], [picture.url])
    assert picture.file.data.startswith(b"\x89PNG")
    await draw(stage, aiko, channel, SHOPPING)
    shown = await board(stage, channel, lambda shown: len(titles(shown)) == 2)
    assert pictures_of(shown) == [each.url for each in shown.attachments]
    stage.excused.add(MISSING_PERMISSIONS)
    stage.discord.forbid(stage.discord.bot, Permission.ATTACH_FILES, channel)
    await draw(stage, aiko, channel, PLAN)
    shown = await board(stage, channel, lambda shown: "朝は散歩" in shown.text)
    assert (pictures_of(shown), shown.attachments) == ([], ())
    assert "本店" in shown.text or "1月" in shown.text


async def test_private_elements_are_shown_to_one_alone(stage: Stage, aiko: User, channel: Channel) -> None:
    first = await draw(stage, aiko, channel, PLAN, private=True)
    shown = await followed(first)
    assert shown.ephemeral
    await stage.discord.quiet(0.2)
    assert boards(stage, channel) == []
    assert stage.rows(NOTED, channel.id) == []
    reply = await shown_on_command(stage, aiko, channel)
    assert JA[CanvasTexts].shown_private in reply.text
    assert texts_of(reply.message) == ["朝は散歩、昼は図書館。"]

    await draw(stage, aiko, channel, SHOPPING, SALES)
    await board(stage, channel)
    reply = await shown_on_command(stage, aiko, channel)
    assert texts_of(reply.message) == ["朝は散歩、昼は図書館。"]
    second = await draw(stage, aiko, channel, update("shopping", "- 指輪"), private=True)
    shown = await followed(second)
    assert titles(shown) == ["🔒", "🔒 買い物", "売上"]
    assert JA[CanvasTexts].lock_meaning in shown.text
    assert whispered(first) is None
    shown = await board(stage, channel, lambda shown: titles(shown) == ["売上"])
    await draw(stage, aiko, channel, CLEAR, private=True)
    await no_board(stage, channel)
    assert whispered(second) is None


async def test_an_answer_that_is_continued_draws(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Answer(Say("買い物は"), CutConnection()), calls(SHOPPING), says("どうぞ。"))
    cut = await stage.ask(aiko, channel)
    await stage.discord.click(aiko, cut.message, JA[AnswerTexts].continue_)
    await board(stage, channel, lambda shown: titles(shown) == ["買い物"])


async def test_without_the_bot_it_stands_below_the_answer(stage: Stage, aiko: User) -> None:
    stage.excused.add(TOKEN_EXPIRED)
    location = stage.discord.user_installed_channel(aiko)
    first = await draw(stage, aiko, location, SHOPPING)
    assert not (await followed(first)).ephemeral
    assert stage.rows(NOTED, location.id) == []
    second = await draw(stage, aiko, location, PLAN)
    assert texts_of(await followed(second)) == ["- 牛乳", "朝は散歩、昼は図書館。"]
    assert whispered(first) is None
    second.age(900)
    third = await draw(stage, aiko, location, update("plan", "夜は映画。"))
    assert texts_of(await followed(third)) == ["- 牛乳", "夜は映画。"]
    assert len(titles((await shown_on_command(stage, aiko, location)).message)) == 2
    assert await stage.told(aiko, location, "canvas clear") == JA[CanvasTexts].cleared
    await third.until(lambda reply: whispered(reply) is None)


async def test_once_the_bot_may_write_it_is_a_message_and_not_below_an_answer(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
    first = await draw(stage, aiko, channel, SHOPPING)
    await followed(first)
    stage.discord.permit(stage.discord.bot, Permission.SEND_MESSAGES, channel)
    await draw(stage, aiko, channel, PLAN)
    await board(stage, channel, lambda shown: len(titles(shown)) == 2)
