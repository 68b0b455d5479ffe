"""The log tells what happened, and never what anyone said."""

import json

import pytest

from tests.end_to_end.stage import Stage, answered, ended
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import Call, CutConnection, Reply, Say, calls, fails, says

EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"
FOLLOW_UP = "POST /webhooks/{application}/{token}"
KEY = "sk-loopback-0123456789"
STAGE, SETTINGS = "own_stage", {"CC_BOT_LOG_LEVEL": "debug", "OPENAI_API_KEY": KEY}
WORDS = ("kingfisher", "bluebird", "nightingale", "woodpecker", "goldfinch")


async def eventful_day(stage: Stage, ben: User, channel: Channel) -> None:
    """Everything that is logged, and every word of it a bird."""
    stage.model.script(
        calls(Call("remember", {"content": "A goldfinch"}), Call("nightingale", {"query": ["woodpecker"]})),
        says("A kingfisher."),
        fails(400, "I can't answer 'bluebird'"),
        fails(400, "I can't answer 'bluebird'"),
        fails(400, "I can't answer 'bluebird'"),
        Reply(Say("Half a kingfisher"), CutConnection()),
        says("More of it."),
        says("kingfisher " * 300),
    )
    await stage.ask(
        ben, channel, "A bluebird", attachment=File("woodpecker.txt", b"A nightingale", "text/plain")
    )
    await ended(await stage.begin(ben, channel, "A bluebird"))
    cut = await stage.ask(ben, channel, "A bluebird", private=True)
    more = await stage.discord.click(ben, cut.message, "Continue")
    await more.finished(lambda shown: "More of it." in shown.text)
    stage.discord.fail_next(EDIT, 429)
    stage.discord.fail_next(EDIT, 500, times=2)
    stage.discord.fail_next(FOLLOW_UP, 503)
    await answered(await stage.begin(ben, channel, "A bluebird"))
    await stage.told(ben, channel, "memory add", content="woodpecker " * 500)
    await stage.told(ben, channel, "memory search", query="goldfinch")
    await stage.told(ben, channel, "settings", timezone="Europe/Nightingale")
    stage.discord.fail_next("POST /interactions/{interaction}/{token}/callback", 403)
    await stage.discord.slash(ben, channel, "help")
    await stage.discord.drop_gateway()
    await stage.discord.resumed()


@pytest.mark.slow
async def test_it_holds_no_words_and_no_secrets(stage: Stage, ben: User, channel: Channel) -> None:
    stage.excused.update({10015, 10062})
    await eventful_day(stage, ben, channel)
    output = stage.program.output
    assert "turn_done" in output
    assert [word for word in WORDS if word in output.lower()] == []
    assert stage.discord.token not in output
    assert KEY not in output
    assert [reply for reply in stage.discord.replies if reply.interaction.token in output] == []
    assert "Traceback" not in output


async def test_each_turn_has_one_record_with_a_name(stage: Stage, ben: User, channel: Channel) -> None:
    before = len(stage.program.output)
    stage.model.script(says("One."), fails(401))
    await stage.ask(ben, channel)
    await ended(await stage.begin(ben, channel))
    lines = [json.loads(line) for line in stage.program.output[before:].splitlines() if line[:1] == "{"]
    turns = [line for line in lines if line["event"].startswith("turn_")]
    assert [turn["event"] for turn in turns] == ["turn_done", "turn_failed"]
    assert len({turn["turn"] for turn in turns}) == 2
    [why] = [line for line in lines if line["event"] == "model_failed"]
    assert why["turn"] == turns[1]["turn"]
    # That of the second one is written after its user has seen it.
    shown = next(line for line in lines if line["event"] == "answer_shown")
    assert shown["turn"] == turns[0]["turn"]
    assert 0 <= shown["discord_s"] < stage.discord.patience_s
