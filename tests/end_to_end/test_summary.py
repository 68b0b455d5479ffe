"""Summaries on Discord: a long conversation knows how it began; its user sees and deletes what is kept."""

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import SummaryTexts
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says

STAGE, SETTINGS = "own_stage", {"CC_BOT_HISTORY_LIMIT": "4"}
PREVIOUSLY = {"ja": "前回までの会話の要約: ", "en-US": "Previous conversation summary: "}


KEPT = "SELECT content FROM summaries WHERE channel_id = ?"


async def summarized(stage: Stage, user: User, channel: Channel, notes: str) -> None:
    """Two turns, and what is written down of them."""
    stage.model.script_notes(says(notes))
    for _ in range(2):
        stage.model.script(says("はい。" if user.locale == "ja" else "Yes."))
        await stage.ask(user, channel)
    await stage.eventually(KEPT, channel.id, gives=[(notes,)])


async def test_the_command_shows_and_deletes_it(stage: Stage, aiko: User, channel: Channel) -> None:
    assert texts(Locale.JA)[SummaryTexts].none in await stage.told(aiko, channel, "summary")
    await summarized(stage, aiko, channel, "- 犬が好き")
    reply = await (await stage.discord.slash(aiko, channel, "summary")).finished()
    assert reply.ephemeral
    assert "会話の要約" in reply.text
    assert "- 犬が好き" in reply.text
    await stage.restart()
    press = await stage.discord.click(aiko, reply.message, "要約を消す")
    await press.finished(lambda told: "要約を消しました" in told.text)
    assert press.labels == []
    assert "犬が好き" not in press.text
    assert stage.rows(KEPT, channel.id) == []
    stage.model.script(says("はい。"))
    await stage.ask(aiko, channel)
    assert PREVIOUSLY["ja"] not in str(stage.model.requests[-1].messages)
    other = stage.discord.guild_channel()
    await summarized(stage, aiko, other, "- 猫が好き")
    await stage.told(aiko, other, "clear")
    assert texts(Locale.JA)[SummaryTexts].none in await stage.told(aiko, other, "summary")
