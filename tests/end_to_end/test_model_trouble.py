"""When the model does not answer: the question is asked again with a button, also after a restart."""

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.end_to_end.kills import ON_THEIR_WAY, RETRY
from tests.end_to_end.stage import Stage, ended, stop_label
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import fails, says

STAGE, SETTINGS = "own_stage", {"CC_BOT_MODEL": "first,second", "CC_BOT_MODEL_TIMEOUT": "2"}
pytestmark = pytest.mark.slow


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
    await refused.finished(lambda shown: texts(Locale.EN)[AnswerTexts].not_yours in shown.text)
    for shown in failed:
        pressed = await discord.click(aiko, shown, RETRY["ja"])
        await pressed.until(lambda shown: stop_label(aiko) in shown.labels, "the model is asked")
        await pressed.until(lambda shown: shown.labels == [RETRY["ja"]], "it fails again")
    await stage.eventually(ON_THEIR_WAY, aiko.id, gives=[("interrupted", 3)])
    await stage.restart()
    stage.model.responder = lambda _: says("三時です。")
    for shown in failed:
        pressed = await discord.click(aiko, shown, RETRY["ja"])
        await pressed.until(lambda shown: "三時です。" in shown.text, "the answer")
        await ended(pressed)
    for location in (channel, dm, other):
        own = [each for each in discord.messages(location) if each.author.is_bot and not each.ephemeral]
        assert [each.content for each in own] == ["三時です。"]
        stored = [row[:2] for row in stage.stored(location)]
        assert stored == [("user", "何時？"), ("assistant", "三時です。")]
