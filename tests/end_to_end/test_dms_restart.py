"""DMs, and replies to one's own answers, when the program is killed: their authors are told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.stage import AGAIN, Stage, running_stage, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Hang, Reply, Say, fails, says

EDIT = "PATCH /channels/{channel}/messages/{message}"
UNKNOWN_MESSAGE = 10008
NOTED = "SELECT count(*) FROM turns WHERE state <> 'interrupted'"
RETRY = "もう一度きく"
STORED = "SELECT count(*) FROM messages WHERE channel_id = ?"


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, database_settings: DatabaseSettings) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, database_settings()) as stage:
        yield stage
        stage.check()


class TestKill:
    async def test_during_an_answer_is_told_of_in_its_place(self, stage: Stage, aiko: User) -> None:
        stage.model.script(Reply(Say("書きかけの長い話です。" * 250), Hang()))
        message = await stage.write(aiko, stage.discord.dm(aiko), "質問", mention=False)
        reply = stage.discord.answer(message)
        await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
        await stage.eventually("SELECT count(*) FROM answer_pages", gives=[(1,)])
        await stage.restart()
        await reply.until(lambda shown: shown.labels == [RETRY] and len(shown.messages) == 1, "one sentence")
        assert reply.text.startswith("書いている途中で動かなくなったため")
        await stage.eventually(NOTED, gives=[(0,)])
        assert len(stage.model.requests) == 1
        stage.model.script(says("今度は最後まで。"))
        press = await stage.discord.click(aiko, reply.message, RETRY)
        await press.finished(lambda shown: AGAIN["ja"] in shown.labels)
        assert reply.text.startswith("今度は最後まで。")
        assert stage.shown() == ["質問"]
        [asked, answered] = stage.rows("SELECT discord_id FROM messages ORDER BY id")
        assert (asked, answered) == ((message.id,), (reply.message.id,))

    async def test_during_an_answer_to_a_reply_is_told_of_too(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        answer = await stage.ask(aiko, channel, "はじめに")
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        message = await stage.write(aiko, channel, "続き", reply_to=answer.message)
        reply = await streaming(stage.discord.answer(message), "書きかけの")
        await stage.restart()
        await stage.says(message, "書いている途中で動かなくなったため")
        assert reply.labels == [RETRY]

    async def test_after_the_answer_was_stored_shows_it(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        stage.model.script(says("できあがり。", delay_s=0.5))
        message = await stage.write(aiko, dm, "質問", mention=False)
        reply = await streaming(stage.discord.answer(message), "考えています…")
        await stage.model.arrived(1)
        stage.discord.fail_next(EDIT, 503, times=1000)
        await stage.eventually(STORED, dm.id, gives=[(2,)])
        await stage.program.kill()
        await stage.discord.gone()
        stage.discord.faults.forget()
        assert "できあがり。" not in reply.text
        await stage.start()
        await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the answer with its buttons")
        assert reply.text == "できあがり。"
        await stage.eventually(NOTED, gives=[(0,)])

    async def test_during_an_answer_that_is_deleted_since_is_forgotten(
        self, stage: Stage, aiko: User
    ) -> None:
        stage.model.script(Reply(Say("書きかけの"), Hang()))
        message = await stage.write(aiko, stage.discord.dm(aiko), "質問", mention=False)
        reply = await streaming(stage.discord.answer(message), "書きかけの")
        await stage.program.kill()
        await stage.discord.gone()
        stage.excused.add(UNKNOWN_MESSAGE)
        await stage.discord.world.delete(reply.stored[0])
        await stage.start()
        await stage.eventually(NOTED, gives=[(0,)])
        assert reply.messages == []

    async def test_between_answers_changes_nothing(self, stage: Stage, aiko: User) -> None:
        stage.model.script(says("はい。"))
        message = await stage.write(aiko, stage.discord.dm(aiko), "質問", mention=False)
        reply = stage.discord.answer(message)
        await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")
        await stage.eventually(NOTED, gives=[(0,)])
        await stage.restart()
        await stage.discord.quiet()
        assert AGAIN["ja"] in reply.labels


class TestDowntime:
    async def test_a_question_meanwhile_is_answered(self, stage: Stage, aiko: User, ben: User) -> None:
        dm, other = stage.discord.dm(aiko), stage.discord.dm(ben)
        await stage.says(await stage.write(aiko, dm, "はじめに", mention=False), "承知しました")
        await stage.says(await stage.write(ben, other, "はじめに", mention=False), "承知しました")
        await pull_the_plug(stage)
        stage.model.requests.clear()
        missed = [await stage.write(aiko, dm, text, mention=False) for text in ("一つ目", "二つ目")]
        await stage.start()
        for message in missed:
            await stage.says(message, "承知しました")
        assert stage.shown(1)[-1] == "二つ目"
        assert len(stage.model.requests) == 2

    async def test_what_was_answered_is_not_answered_again(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "はじめに", mention=False)
        await stage.says(message, "承知しました")
        stage.model.responder = lambda _: fails(400)
        await stage.says(await stage.write(aiko, dm, "次に", mention=False), "受け付けませんでした")
        before = len(stage.model.requests)
        await stage.restart()
        await stage.discord.quiet(1.0)
        assert len(stage.model.requests) == before

    async def test_who_has_waited_too_long_is_told_once(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await stage.says(await stage.write(aiko, dm, "はじめに", mention=False), "承知しました")
        await pull_the_plug(stage)
        stage.model.requests.clear()
        missed = [await stage.write(aiko, dm, text, mention=False) for text in ("一つ目", "二つ目")]
        stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(3600)
        await stage.start()
        await stage.says(missed[1], "しばらく動いていなかったため")
        await stage.restart()
        await stage.discord.quiet(1.0)
        assert [each.text for each in stage.discord.messages(dm) if each.author.is_bot][1:] == [
            "しばらく動いていなかったため、お返事できませんでした。まだお困りでしたら、もう一度お聞きください。"
        ]
        assert stage.model.requests == []


class TestMention:
    async def test_meanwhile_is_answered_where_mentions_alone_are_read(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.said(aiko, channel, "はじめに", "はい。")
        await pull_the_plug(stage)
        for number in range(3):
            await stage.discord.post(aiko, channel, f"独り言 {number}")
        missed = await stage.write(aiko, channel, "聞こえますか？")
        await stage.start()
        await stage.says(missed, "承知しました")
        assert "独り言" not in "".join(stage.shown())


async def pull_the_plug(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()
