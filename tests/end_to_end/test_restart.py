"""Pulling the plug: what is still known afterwards, and what the old buttons do."""

import pytest

from tests.end_to_end.stage import Stage, answered, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, says

pytestmark = pytest.mark.restarts


async def without_entries(stage: Stage) -> None:
    """Restart as if the database had not taken the turns when they began."""
    await stage.program.kill()
    await stage.discord.gone()
    stage.change("DELETE FROM turns")
    await stage.start()


async def test_a_conversation_goes_on_as_it_was(stage: Stage, aiko: User, channel: Channel) -> None:
    await stage.ask_in_words(aiko, channel, "前の答えです。")
    before = stage.stored(channel)
    stage.model.script(Reply(Say("書きかけの答え"), Hang()))
    reply = await streaming(await stage.begin(aiko, channel, "次の質問"), "書きかけの答え")
    await without_entries(stage)
    assert stage.stored(channel) == before
    stage.model.script(says("はい。"))
    await stage.ask(aiko, channel, "覚えてる？")
    assert stage.shown() == ["?", "前の答えです。", "覚えてる？"]
    press = await stage.discord.click(aiko, reply.message, "止める")
    await press.finished(lambda shown: shown.history)
    assert press.text.startswith("書きかけの答え\n-# この回答はもう動いていません。")
    assert press.labels == []


async def test_old_buttons_work_for_the_asker(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    cut = stage.discord.guild_channel()
    first = await stage.ask_in_words(ben, channel, "Old.")
    stage.model.script(Reply(Say("むかしむかし、"), CutConnection()))
    second = await stage.ask(aiko, cut)
    for place in (channel, cut):  # else the start would show it once more
        shown = "SELECT count(*) FROM turns WHERE channel_id = ?"
        await stage.eventually(shown, place.id, gives=[(0,)])
    await stage.restart()
    press = await (await stage.discord.click(aiko, first.message, "Answer again")).finished()
    assert press.ephemeral
    assert len(stage.model.requests) == 2
    stage.model.script(says("New."), says("おしまい。"))
    press = await answered(await stage.discord.click(ben, first.message, "Answer again"))
    assert press.text == "New."
    assert [status for _, _, status in stage.stored(channel)] == ["complete", "replaced", "complete"]
    press = await stage.discord.click(aiko, second.message, "続ける")
    await press.finished(lambda shown: "おしまい。" in shown.text and "もう一度答える" in shown.labels)
    assert "むかしむかし、" in str(stage.model.requests[-1].messages)
