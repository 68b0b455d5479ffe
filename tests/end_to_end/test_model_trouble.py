"""When the model is slow, refuses, breaks off or says nothing: what the user gets to see."""

import pytest

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.end_to_end.kills import ON_THEIR_WAY, RETRY
from tests.end_to_end.stage import Stage, answered, ended, stop_label
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import (
    Call,
    CutConnection,
    End,
    Json,
    Pause,
    Reply,
    Responder,
    Say,
    calls,
    fails,
    hangs,
    says,
)

STAGE, SETTINGS = "own_stage", {"CC_BOT_MODEL": "first,second", "CC_BOT_MODEL_TIMEOUT": "2"}
pytestmark = pytest.mark.slow


def only(model: str, reply: Reply, other: Reply | None = None) -> Responder:
    """One model behaves in this way, the other one answers."""

    def respond(body: Json) -> Reply:
        return reply if body["model"] == model else other or says("Second here.")

    return respond


async def test_the_next_model_is_asked_before_a_word(stage: Stage, ben: User, channel: Channel) -> None:
    for trouble in (fails(500), fails(429, headers={"Retry-After": "60"}), fails(404), hangs()):
        stage.model.responder = only("first", trouble)
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("Second here.")
    stage.model.responder = only("first", Reply(Say("First here, but"), CutConnection()))
    reply = await stage.ask(ben, channel)
    assert reply.text.startswith("First here, but")
    assert "Second" not in reply.text
    slow = Reply(Pause(1.5), *says("Second here.").steps)
    stage.model.responder = only("first", fails(401), slow)
    reply = await stage.begin(ben, channel)
    await reply.until(lambda shown: "asking another one" in shown.text, "a word on the other model")
    await answered(reply)
    assert "asking another one" not in reply.text


async def test_no_model_is_told_in_one_sentence(stage: Stage, aiko: User, channel: Channel) -> None:
    for trouble, told in (
        (fails(503), "つながらないか、混み合っています"),
        (hangs(), "つながらないか、混み合っています"),
        (fails(401), "APIキー"),
        (fails(400), "受け付けませんでした"),
        (fails(404), "設定されているAIモデルが見つかりません。"),
        (Reply(Say("  \n "), End()), "返事が空でした"),
    ):
        stage.model.responder = lambda _, trouble=trouble: trouble
        reply = await ended(await stage.begin(aiko, channel, "失われた質問"))
        assert told in reply.text
        assert "first" not in reply.text
        assert reply.labels == [RETRY["ja"]]
    assert stage.stored(channel) == []
    assert any("ModelNotFound" in line and "first" in line for line in stage.program.output.splitlines())
    stage.model.reset()
    await stage.ask(aiko, channel, "次の質問")
    assert stage.shown() == ["次の質問"]


@pytest.mark.restarts
async def test_a_failed_answer_becomes_the_new_one_once_its_asker_asks_again(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    discord, dm, other = stage.discord, stage.discord.dm(aiko), stage.discord.guild_channel()
    stage.model.responder = lambda _: fails(503)
    asked = (await ended(await stage.begin(aiko, channel, "何時？"))).message
    failed = [asked]
    for message in (await discord.post(aiko, dm, "何時？"), await stage.write(aiko, other, "何時？")):
        reply = await discord.answer(message).until(lambda shown: RETRY["ja"] in shown.labels, "the button")
        failed.append(reply.messages[-1])
    refused = await discord.click(ben, asked, RETRY["ja"])
    await refused.finished(lambda shown: texts(Locale.EN).answer.not_yours in shown.text)
    for shown in failed:
        pressed = await discord.click(aiko, shown, RETRY["ja"])
        await pressed.until(lambda shown: stop_label(aiko) in shown.labels, "the model is asked")
        await pressed.until(lambda shown: shown.labels == [RETRY["ja"]], "it fails again")
    await stage.eventually(ON_THEIR_WAY, aiko.id, gives=[("interrupted", 2)])
    await stage.eventually("SELECT answered FROM mentions WHERE channel_id = ?", other.id, gives=[(1,)])
    await stage.restart()
    stage.model.responder = lambda _: says("三時です。")
    for shown in failed:
        pressed = await discord.click(aiko, shown, RETRY["ja"])
        await pressed.until(lambda shown: "三時です。" in shown.text, "the answer")
        await ended(pressed)
    for place in (channel, dm, other):
        own = [each for each in discord.messages(place) if each.author.is_bot and not each.ephemeral]
        assert [each.content for each in own] == ["三時です。"]
        assert [row[:2] for row in stage.stored(place)] == [("user", "何時？"), ("assistant", "三時です。")]


async def test_endless_tools_are_ended(stage: Stage, ben: User, channel: Channel) -> None:
    def respond(body: Json) -> Reply:
        return calls(Call("recall", {"query": "tea"})) if body.get("tools") else says("Enough.")

    stage.model.responder = respond
    reply = await stage.ask(ben, channel, "Which tea?")
    assert reply.text.startswith("Enough.")
    asked = [each for each in stage.model.requests if "Which tea?" in str(each.messages)]
    assert len(asked) == 9
