"""Agents: who answers whom and where, each in a conversation and on a canvas of its own."""

import pytest

from cc_bot.discord.pages.custom_ids import AgentButton
from cc_bot.domain.text import Locale
from cc_bot.features.agents.texts import AgentTexts
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.texts import texts
from cc_bot.texts.answer import CanvasChangeTexts
from tests.end_to_end.agents import FILE, GREEN, OWN, VERSE, told_to_be, use, write_file
from tests.end_to_end.canvases import SHOPPING, draw, titles
from tests.end_to_end.stage import Stage, again_label, answered, continue_label
from tests.loopback.discord import Channel, Permission, Reply, User
from tests.loopback.model_server import CutConnection, Say, fails, says
from tests.loopback.model_server import Reply as Answer

JA, EN = texts(Locale.JA), texts(Locale.EN)
DEFAULTS = "SELECT * FROM channel_agents WHERE channel_id = ?"


@pytest.fixture
def shared_stage(stage_with_agents: Stage) -> Stage:
    write_file(stage_with_agents.program.folder, FILE)
    return stage_with_agents


@pytest.fixture
def manager(stage: Stage) -> User:
    user = stage.discord.user("Mana", locale="ja")
    stage.discord.permit(user, Permission.MANAGE_GUILD)
    return user


async def set_default(stage: Stage, user: User, channel: Channel, name: str) -> Reply:
    reply = await stage.discord.slash(user, channel, "agent default", name=name)
    return await reply.finished()


async def mentioned(stage: Stage, user: User, channel: Channel) -> None:
    await stage.says(await stage.write(user, channel, "だれ？"), "承知しました")


async def test_a_list_has_a_button_beside_each(stage: Stage, aiko: User, channel: Channel) -> None:
    listed = await (await stage.discord.slash(aiko, channel, "agent list")).finished()
    count = listed.labels.count(JA[AgentTexts].choose)
    await stage.discord.click(aiko, listed.message, AgentButton(aiko.id, "tutor").custom_id())
    using = JA[AgentTexts].using.format(display="英語の先生")
    await listed.until(lambda shown: using in shown.text, "the list")
    assert f"(`tutor`){JA[AgentTexts].in_use}" in listed.text
    assert listed.labels.count(JA[AgentTexts].choose) == count


async def test_an_agent_answers_who_chose_it(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.told(aiko, channel, "memory add", content="猫の名前はタマ")
    [suggested] = await stage.discord.autocomplete(aiko, channel, "agent use", name="英語")
    assert suggested.value == "tutor"
    assert await use(stage, aiko, channel, "英語の先生") == JA[AgentTexts].using.format(display="英語の先生")
    assert await use(stage, aiko, channel, "ＴＵＴＯＲ") == JA[AgentTexts].using_already.format(
        display="英語の先生"
    )
    stage.model.script(fails(404), says("代わりです。"))
    assert "代わりです。" in (await stage.ask(aiko, channel)).text
    asked = [(each.body["model"], each.body["temperature"]) for each in stage.model.requests]
    assert asked == [("teacher-large", 0.3), ("teacher-small", 0.3)]
    assert told_to_be(stage).startswith(f"{GREEN}\n書式は Discord の Markdown です")
    assert stage.tools() == {"recall"}
    assert "タマ" in await stage.told(aiko, channel, "memory search", query="猫")
    stage.model.requests.clear()
    await stage.ask_in_words(ben, channel, "Yes.")
    await stage.ask(aiko, stage.discord.guild_channel("elsewhere"))
    for request in stage.model.requests:
        assert GREEN not in str(request.body)
        assert request.body["model"] == "loopback"
        assert "temperature" not in request.body


async def test_an_agent_has_a_conversation_of_its_own(stage: Stage, aiko: User, channel: Channel) -> None:
    await stage.ask(aiko, channel, "ひみつはオオルリ")
    await use(stage, aiko, channel, "poet")
    await stage.ask(aiko, channel, "詩をください")
    assert "オオルリ" not in str(stage.model.requests[-1].body)
    await stage.restart()
    await stage.ask(aiko, channel, "もうひとつ")
    assert VERSE in told_to_be(stage)
    assert stage.shown()[::2] == ["詩をください", "もうひとつ"]
    await stage.told(aiko, channel, "clear")
    await stage.ask(aiko, channel, "さん")
    assert stage.shown() == ["さん"]
    await use(stage, aiko, channel, "default")
    await stage.ask(aiko, channel, "ひみつは？")
    assert stage.shown()[::2] == ["ひみつはオオルリ", "ひみつは？"]


async def test_buttons_go_on_with_the_agent_of_the_answer(stage: Stage, aiko: User, channel: Channel) -> None:
    await use(stage, aiko, channel, "tutor")
    stage.model.script(Answer(Say("途中"), CutConnection()))
    reply = await stage.begin(aiko, channel, "いち")
    await reply.finished(lambda shown: continue_label(aiko) in shown.labels)
    await use(stage, aiko, channel, "default")
    await stage.restart()
    more = await answered(await stage.discord.click(aiko, reply.message, continue_label(aiko)))
    assert GREEN in told_to_be(stage)
    assert stage.shown()[:2] == ["いち", "途中"]
    await answered(await stage.discord.click(aiko, more.messages[-1], again_label(aiko)))
    assert stage.model.requests[-1].body["model"] == "teacher-large"
    message = await stage.write(aiko, channel, "に", mention=False, reply_to=reply.message)
    await stage.says(message, "承知しました")
    assert GREEN in told_to_be(stage)
    assert stage.shown()[0] == "いち"


async def test_an_answers_button_shows_its_agents_canvas(stage: Stage, aiko: User, channel: Channel) -> None:
    await use(stage, aiko, channel, "poet")
    drawn = await draw(stage, aiko, channel, SHOPPING)
    await use(stage, aiko, channel, "default")
    shown = await stage.discord.click(aiko, drawn.message, JA[CanvasChangeTexts].open)
    await shown.finished(lambda reply: JA[CanvasTexts].shown_of_agent in reply.text)
    assert titles(shown.message) == ["買い物"]
    assert shown.ephemeral


async def test_a_channels_default_answers_there(
    stage: Stage, aiko: User, manager: User, channel: Channel
) -> None:
    await use(stage, aiko, channel, "poet")
    await use(stage, aiko, channel, "default")
    reply = await set_default(stage, manager, channel, "tutor")
    assert reply.text == JA[AgentTexts].default_set.format(display="英語の先生")
    assert not reply.ephemeral
    await mentioned(stage, aiko, channel)
    await stage.ask(aiko, channel)
    for number in range(2):
        assert told_to_be(stage, number).startswith(GREEN)
        assert stage.model.requests[number].body["model"] == "teacher-large"
    await use(stage, aiko, channel, "default")
    await stage.ask(aiko, channel)
    assert told_to_be(stage).startswith(OWN)
    await mentioned(stage, aiko, channel)
    assert GREEN in told_to_be(stage)
    await set_default(stage, manager, channel, "標準")
    await mentioned(stage, aiko, channel)
    assert told_to_be(stage).startswith(OWN)
    assert stage.rows(DEFAULTS, channel.id) == []
