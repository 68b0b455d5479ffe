"""`/reset`: who may leave the past of a channel or thread behind, and that it stays behind."""

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Message, Permission, Reply, User
from tests.loopback.model_server import says

TOO_FAST = 0
"""A program that was just started can't know what was sent before."""
DONE = {"ja": "🧹 ここまでの会話を区切りました", "en-US": "🧹 A fresh start"}
REFUSED = {"ja": "区切れるのは", "en-US": "Only members who may manage messages"}


async def reset(stage: Stage, user: User, channel: Channel) -> Reply:
    reply = await stage.discord.slash(user, channel, "reset")
    await reply.acknowledged()
    return await reply.finished()


async def ask(stage: Stage, user: User, channel: Channel, question: str, answer: str) -> Message:
    """Mention the bot; the answer is there and stored."""
    stage.model.script(says(answer))
    asked = await stage.discord.post(user, channel, question, mention=True)
    reply = await stage.discord.reply_to(asked)
    await reply.finished(lambda shown: shown.text == answer)
    return asked


async def reset_by_moderator(stage: Stage, channel: Channel) -> None:
    moderator = stage.discord.user("Mori", locale="ja")
    stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
    assert (await reset(stage, moderator, channel)).text.startswith(DONE["ja"])


def last_request(stage: Stage) -> str:
    """All that the model was shown the last time."""
    return str(stage.model.requests[-1].body)


def markers(stage: Stage, channel: Channel) -> list[tuple[int, int]]:
    """Which bot's, and up to which id of Discord's."""
    return stage.rows(
        "SELECT bot_id, last_reset_discord_message_id FROM thread_metadata WHERE thread_id = ?", channel.id
    )


async def test_moderators_and_starters_may(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    thread = await stage.discord.start_thread(ben, channel, "Ben's")
    stage.discord.permit(aiko, Permission.MANAGE_MESSAGES, stage.discord.guild_channel("elsewhere"))
    for user, location in ((aiko, channel), (ben, channel), (aiko, thread)):
        refused = await reset(stage, user, location)
        assert refused.text.startswith(REFUSED[user.locale])
        assert refused.ephemeral
        assert markers(stage, location) == []
    moderator = stage.discord.user("Mori", locale="ja")
    stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
    for user, location in ((moderator, channel), (ben, thread)):
        done = await reset(stage, user, location)
        assert done.text.startswith(DONE[user.locale])
        assert not done.ephemeral
        assert markers(stage, location) == [(stage.discord.application_id, done.interaction.id)]
    with pytest.raises(AssertionError, match="not offered"):
        await stage.discord.slash(aiko, stage.discord.dm(aiko), "reset")


@pytest.mark.restarts
async def test_the_past_is_not_read_again_and_stays_on_file(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    asked = await ask(stage, aiko, channel, "合言葉はオオルリです", "オオルリですね。")
    await reset_by_moderator(stage, channel)
    stored = [row[1] for row in stage.stored(channel)]
    assert stored == ["合言葉はオオルリです", "オオルリですね。"]
    count = len(stage.model.requests)
    await stage.discord.edit(aiko, asked, f"{stage.discord.bot.mention} 合言葉はオオルリかな")
    await ask(stage, aiko, channel, "新しい話です", "はい、どうぞ。")
    assert len(stage.model.requests) == count + 1
    assert "オオルリ" not in last_request(stage)
    assert stage.discord.answer(asked).text == "オオルリですね。"
    stage.excused.add(TOO_FAST)
    await stage.restart()
    await stage.discord.quiet()  # what other tests have left waiting takes none of the answers
    await ask(stage, aiko, channel, "さっきの話は？", "新しい話です。")
    assert "オオルリ" not in last_request(stage)
    assert "はい、どうぞ。" in last_request(stage)
