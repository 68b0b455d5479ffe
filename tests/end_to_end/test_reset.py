"""`/reset`: who may leave the past of a channel or thread behind, and that it stays behind."""

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Message, Permission, Reply, User
from tests.loopback.model_server import Hang, Say, says
from tests.loopback.model_server import Reply as Answer

TOO_FAST = 0
"""A program that was just started can't know what was sent before."""
LOOK_UP = "GET /channels/{channel}"
DONE = {"ja": "🧹 ここまでの会話を区切りました", "en-US": "🧹 A fresh start"}
REFUSED = {"ja": "区切れるのは", "en-US": "Only members who may manage messages"}
UNSURE = {"ja": "確かめられませんでした", "en-US": "did not tell me whether"}


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


class TestWho:
    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_manages_messages_may_and_everyone_sees_it(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        moderator = stage.discord.user("Mori", locale=locale)
        stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
        reply = await reset(stage, moderator, channel)
        assert reply.text.startswith(DONE[locale])
        assert not reply.ephemeral
        assert markers(stage, channel) == [(stage.discord.application_id, reply.interaction.id)]

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_does_not_is_told_so_alone(self, stage: Stage, channel: Channel, locale: str) -> None:
        member = stage.discord.user("Ken", locale=locale)
        reply = await reset(stage, member, channel)
        assert reply.text.startswith(REFUSED[locale])
        assert reply.ephemeral
        assert markers(stage, channel) == []

    async def test_manages_messages_elsewhere_may_not(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.permit(aiko, Permission.MANAGE_MESSAGES, stage.discord.guild_channel("elsewhere"))
        assert (await reset(stage, aiko, channel)).text.startswith(REFUSED["ja"])

    async def test_started_the_thread_may_in_it_alone(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        thread = await stage.discord.start_thread(ben, channel, "Ben's")
        reply = await reset(stage, ben, thread)
        assert reply.text.startswith(DONE["en-US"])
        assert not reply.ephemeral
        assert markers(stage, thread) == [(stage.discord.application_id, reply.interaction.id)]
        assert (await reset(stage, ben, channel)).text.startswith(REFUSED["en-US"])
        assert markers(stage, channel) == []

    async def test_only_takes_part_in_the_thread_may_not(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        thread = await stage.discord.start_thread(ben, channel, "Ben's")
        reply = await reset(stage, aiko, thread)
        assert reply.text.startswith(REFUSED["ja"])
        assert reply.ephemeral

    async def test_writes_a_dm_is_not_offered_it(self, stage: Stage, aiko: User) -> None:
        with pytest.raises(AssertionError, match="not offered"):
            await stage.discord.slash(aiko, stage.discord.dm(aiko), "reset")


class TestThePast:
    @pytest.mark.restarts
    async def test_is_never_read_again(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await ask(stage, aiko, channel, "合言葉はオオルリです", "オオルリですね。")
        await reset_by_moderator(stage, channel)
        await ask(stage, aiko, channel, "新しい話です", "はい、どうぞ。")
        assert "オオルリ" not in last_request(stage)
        stage.excused.add(TOO_FAST)
        await stage.restart()
        await stage.discord.quiet()  # what other tests have left waiting takes none of the answers
        await ask(stage, aiko, channel, "さっきの話は？", "新しい話です。")
        assert "オオルリ" not in last_request(stage)
        assert "はい、どうぞ。" in last_request(stage)

    async def test_stays_in_the_file(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await ask(stage, aiko, channel, "残る質問", "残る答え")
        await reset_by_moderator(stage, channel)
        assert [row[1] for row in stage.stored(channel)] == ["残る質問", "残る答え"]

    async def test_of_the_channel_is_gone_from_its_threads_too(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await ask(stage, aiko, channel, "チャンネルの秘密", "聞きました。")
        thread = await stage.discord.start_thread(aiko, channel, "続き")
        await ask(stage, aiko, thread, "スレッドの話", "はい。")
        assert "チャンネルの秘密" in last_request(stage)
        await reset_by_moderator(stage, channel)
        await ask(stage, aiko, thread, "覚えていますか？", "スレッドの話なら。")
        assert "チャンネルの秘密" not in last_request(stage)
        assert "スレッドの話" in last_request(stage)

    async def test_of_a_thread_leaves_the_channel_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await ask(stage, aiko, channel, "チャンネルの話", "聞きました。")
        thread = await stage.discord.start_thread(aiko, channel, "続き")
        await ask(stage, aiko, thread, "スレッドの秘密", "はい。")
        await reset_by_moderator(stage, thread)
        await ask(stage, aiko, channel, "続けましょう", "チャンネルの話ですね。")
        assert "チャンネルの話" in last_request(stage)
        await ask(stage, aiko, thread, "覚えていますか？", "いいえ。")
        assert "スレッドの秘密" not in last_request(stage)

    async def test_is_not_asked_about_again_when_somebody_edits_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        asked = await ask(stage, aiko, channel, "前の質問", "前の答え")
        await reset_by_moderator(stage, channel)
        await stage.discord.edit(aiko, asked, "書き直した質問")
        await stage.discord.quiet(0.3)
        await ask(stage, aiko, channel, "次の質問", "次の答え")
        assert "書き直した質問" not in str([request.body for request in stage.model.requests])
        assert stage.discord.answer(asked).text == "前の答え"


class TestQuestions:
    async def test_that_still_wait_are_told_so_and_not_read(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Answer(Say("一つ目の答え"), Hang()))
        first = await stage.discord.post(aiko, channel, "一つ目", mention=True)
        reply = await stage.discord.reply_to(first)
        await reply.until(lambda shown: "一つ目の答え" in shown.text, "the first answer streaming")
        second = await stage.discord.post(ben, channel, "The second", mention=True)
        await reset_by_moderator(stage, channel)
        await stage.discord.click(aiko, reply.message, "止める")
        await reply.finished(lambda shown: shown.text.startswith("一つ目の答え") and not shown.labels)
        told = await stage.discord.reply_to(second)
        told.any_language = True
        await told.until(lambda shown: "区切られた" in shown.text, "that it was not answered")
        assert len(stage.model.requests) == 1
        await ask(stage, aiko, channel, "三つ目", "三つ目の答えです。")
        assert "一つ目" not in last_request(stage)
        assert "The second" not in last_request(stage)

    async def test_of_before_are_not_answered_anew_when_they_are_edited(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await ask(stage, aiko, channel, "合言葉は山です", "はい。")
        [*_, asked] = [shown for shown in stage.discord.messages(channel) if "合言葉" in shown.content]
        await reset_by_moderator(stage, channel)
        count = len(stage.model.requests)
        await stage.discord.edit(aiko, asked, f"{stage.discord.bot.mention} 合言葉は川です")
        await ask(stage, aiko, channel, "合言葉は？", "知りません。")
        assert len(stage.model.requests) == count + 1
        assert "合言葉は川" not in last_request(stage)

    @pytest.mark.restarts
    async def test_that_another_program_left_behind_are_not_read(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Answer(Hang()))
        waiting = await stage.discord.post(aiko, channel, "秘密の質問", mention=True)
        await stage.model.arrived(1)
        await stage.program.kill()
        await stage.discord.gone()
        marker = f"{channel.id}, 0, {channel.id}, 0, {waiting.id + 1}, 0"
        stage.change(f"INSERT INTO thread_metadata VALUES ({marker})")
        await stage.start()
        told = await stage.discord.reply_to(waiting)
        await told.until(lambda shown: "区切られた" in shown.text, "that it was not answered")
        assert len(stage.model.requests) == 1


class TestDiscord:
    @pytest.mark.parametrize(("status", "delay_s"), [(200, 2.5), (503, 0.0)])
    async def test_that_does_not_tell_whose_the_thread_is_keeps_nobody_waiting(
        self, stage: Stage, ben: User, channel: Channel, status: int, delay_s: float
    ) -> None:
        thread = await stage.discord.start_thread(ben, channel, "Ben's")
        stage.discord.fail_next(LOOK_UP, status, delay_s=delay_s, channel=thread)
        reply = await reset(stage, ben, thread)
        assert UNSURE["en-US"] in reply.text
        assert reply.ephemeral
        assert markers(stage, thread) == []

    async def test_that_tells_nothing_does_not_stop_a_moderator(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.discord.permit(aiko, Permission.MANAGE_MESSAGES)
        thread = await stage.discord.start_thread(ben, channel, "Ben's")
        assert (await reset(stage, aiko, thread)).text.startswith(DONE["ja"])
        assert stage.discord.calls(LOOK_UP, channel=thread) == []


class TestHelp:
    async def test_lists_it(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        assert "- /リセット みんなとの" in await stage.told(aiko, channel, "help")
        assert "- /reset starts" in await stage.told(ben, channel, "help")
