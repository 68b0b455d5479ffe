"""The log tells what happened, and never what anyone said."""

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
    )
    await stage.ask(
        ben, channel, "A bluebird", attachment=File("woodpecker.txt", b"A nightingale", "text/plain")
    )
    stage.model.responder = lambda _: fails(400, "I can't answer 'bluebird'")
    await ended(await stage.begin(ben, channel, "A bluebird"))
    stage.model.responder = None
    half = Reply(Say("Half a kingfisher"), CutConnection())
    stage.model.script(half, says("More of it."), says("kingfisher " * 300))
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
