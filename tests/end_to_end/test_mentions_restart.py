"""Mentions when the program is killed or stopped: nobody is forgotten, nobody is answered twice."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.stage import STOP, Stage, running_stage, streaming
from tests.loopback.discord import Channel, ChannelReply, File, User
from tests.loopback.model_server import Hang, Reply, Say, says

WAITING = "SELECT count(*) FROM mentions WHERE channel_id = ? AND answered = 0"
ANSWERED = "SELECT count(*) FROM mentions WHERE channel_id = ? AND answered = 1"
TO_SHOW = "SELECT count(*) FROM mentions WHERE channel_id = ? AND shown = 0"
EDIT = "PATCH /channels/{channel}/messages/{message}"
UNKNOWN_MESSAGE = 10008
PAGES = "SELECT count(*) FROM answer_pages WHERE answer_id = ?"
HOUR_S = 3600


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, database_settings: DatabaseSettings) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, database_settings()) as stage:
        yield stage
        stage.check()


async def killed(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()


class TestKill:
    async def test_between_turns_changes_nothing_in_what_the_model_is_shown(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.said(aiko, channel, "ひとつ", "いち。")
        await stage.said(ben, channel, "two", "に。")
        before = stage.model.requests[-1].messages[:-1]
        await stage.restart()
        await stage.said(aiko, channel, "みっつ", "さん。")
        after = stage.model.requests[-1].messages
        kept = [message for message in before if message["role"] != "system"]
        assert [message for message in after if message["role"] != "system"][: len(kept)] == kept

    async def test_during_an_answer_lets_it_be_written_anew_in_its_place(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        message = await stage.write(aiko, channel, "質問")
        reply = await streaming(stage.discord.answer(message), "書きかけの")
        stage.model.script(says("できあがり。"))
        await stage.restart()
        await stage.says(message, "できあがり。")
        assert [shown.content for shown in reply.messages] == ["できあがり。"]
        assert [row[:2] for row in stage.stored(channel)] == [("user", "質問"), ("assistant", "できあがり。")]

    async def test_during_a_long_answer_leaves_none_of_its_messages_behind(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの長い話です。" * 250), Hang()))
        message = await stage.write(aiko, channel, "質問")
        reply = stage.discord.answer(message)
        await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
        await stage.eventually(PAGES, reply.message.id, gives=[(1,)])
        stage.model.script(says("できあがり。"))
        await stage.restart()
        await stage.says(message, "できあがり。")
        assert [shown.content for shown in reply.messages] == ["できあがり。"]
        await stage.eventually(PAGES, reply.message.id, gives=[(0,)])

    async def test_while_an_answer_is_made_anew_has_it_made_once_more(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        long = "長い話です。" * 450
        message = await stage.said(aiko, channel, "質問", long[-1700:])
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        reply = stage.discord.answer(message)
        await stage.eventually(TO_SHOW, channel.id, gives=[(0,)])
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 別の質問")
        await streaming(reply, "書きかけの")
        stage.model.script(says("新しい答え。"))
        await stage.restart()
        await stage.says(message, "新しい答え。")
        assert "書きかけの" not in reply.text
        await stage.eventually(TO_SHOW, channel.id, gives=[(0,)])

    async def test_is_made_up_for_once_the_database_can_tell_who_waits(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Hang()), says("お待たせしました。"))
        message = await stage.write(aiko, channel, "質問")
        await stage.model.arrived(1)
        await killed(stage)
        stage.discord.fail_next("GET /gateway/bot", 200, delay_s=2)  # the database is open by then
        starting = asyncio.create_task(stage.start())
        before = len(stage.discord.transcript)
        await stage.discord.wait(lambda: len(stage.discord.transcript) > before, "the program to log in")
        stage.change("ALTER TABLE mentions RENAME TO out_of_reach")
        await starting
        async with stage.patience():
            while "resume_failed" not in stage.program.output:  # noqa: ASYNC110 - nothing else tells of it
                await asyncio.sleep(0.02)
        stage.change("ALTER TABLE out_of_reach RENAME TO mentions")
        await stage.says(message, "お待たせしました。")

    async def test_before_the_answers_message_was_noted_posts_no_second_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Hang()), says("できあがり。"))
        message = await stage.write(aiko, channel, "質問")
        await streaming(stage.discord.answer(message), "考えています…")
        await stage.model.arrived(1)
        await killed(stage)
        stage.change("UPDATE mentions SET answer_id = NULL")
        await stage.start()
        reply = await stage.says(message, "できあがり。")
        assert len(reply.messages) == 1

    async def test_leaves_nobody_waiting_who_came_meanwhile(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        first = await stage.write(aiko, channel, "ひとつ")
        await streaming(stage.discord.answer(first), "書きかけの")
        second = await stage.write(ben, channel, "two")
        await stage.eventually(WAITING, channel.id, gives=[(2,)])
        stage.model.script(says("いち。"), says("に。"))
        await stage.restart()
        await stage.says(first, "いち。")
        await stage.says(second, "に。")
        assert stage.shown(1) == ["Aiko: ひとつ"]
        assert stage.shown(2) == ["Aiko: ひとつ", "いち。", "Ben: two"]

    async def test_keeps_the_files_of_a_question(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Hang()), says("できあがり。"))
        file = File("メモ.txt", "牛乳とパン".encode(), "text/plain")
        message = await stage.write(aiko, channel, "これは？", attachments=(file,))
        await stage.model.arrived(1)
        await stage.restart()
        await stage.says(message, "できあがり。")
        assert "牛乳とパン" in stage.shown()[-1]

    async def test_for_longer_than_an_hour_is_told_of(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        first = await stage.write(aiko, channel, "ひとつ")
        await streaming(stage.discord.answer(first), "書きかけの")
        await killed(stage)
        stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(2 * HOUR_S)
        await stage.start()
        reply = await stage.says(first, "しばらく動いていなかったため")
        assert len(reply.messages) == 1
        await stage.eventually(WAITING, channel.id, gives=[(0,)])
        assert len(stage.model.requests) == 1

    async def test_leaves_a_stop_button_that_does_no_harm(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの"), Hang()), Reply(Say("もう一度"), Hang()))
        message = await stage.write(aiko, channel, "質問")
        reply = await streaming(stage.discord.answer(message), "書きかけの")
        await stage.restart()
        await streaming(reply, "もう一度")
        press = await stage.discord.click(aiko, reply.message, STOP["ja"])
        await press.acknowledged()
        await stage.says(message, "ここで止めました")


async def stored_unseen(stage: Stage, user: User, channel: Channel, answer: str) -> ChannelReply:
    """Ask, and kill the program once the answer is stored, of which Discord has shown nothing."""
    stage.model.script(says(answer, delay_s=0.5))
    message = await stage.write(user, channel, "質問")
    reply = await streaming(stage.discord.answer(message), "考えています…")
    await stage.model.arrived(1)
    stage.discord.fail_next(EDIT, 503, times=1000)
    await stage.eventually(ANSWERED, channel.id, gives=[(1,)])
    await killed(stage)
    stage.discord.faults.forget()
    assert answer not in reply.text
    return reply


class TestKillBeforeTheAnswerWasShown:
    async def test_shows_it_after_the_next_start(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await stored_unseen(stage, aiko, channel, "とても長い答えです。" * 250)
        await stage.start()
        await reply.until(lambda shown: shown.text.count("とても長い答えです。") == 250, "all of it")
        assert len(reply.messages) == 2
        assert reply.labels == []
        await stage.eventually(TO_SHOW, channel.id, gives=[(0,)])
        assert len(stage.model.requests) == 1

    async def test_lets_it_rest_when_its_message_was_deleted(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await stored_unseen(stage, aiko, channel, "答えです。")
        stage.excused.add(UNKNOWN_MESSAGE)
        await stage.discord.delete(stage.discord.owner, reply.message)
        await stage.start()
        await stage.eventually(TO_SHOW, channel.id, gives=[(0,)])
        assert reply.messages == []


class TestStop:
    async def test_lets_a_running_answer_finish_and_begins_no_other(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("もうすぐ"), *says("終わります。", delay_s=2.5).steps))
        first = await stage.write(aiko, channel, "ひとつ")
        await streaming(stage.discord.answer(first), "もうすぐ")
        second = await stage.write(ben, channel, "two")
        await stage.eventually(WAITING, channel.id, gives=[(2,)])
        stage.program.send(signal.SIGTERM)
        await stage.says(first, "もうすぐ終わります。")
        assert await stage.program.ended() == 0
        await stage.discord.gone()
        assert len(stage.model.requests) == 1
        stage.model.script(says("お待たせしました。"))
        await stage.start()
        await stage.says(second, "お待たせしました。")
