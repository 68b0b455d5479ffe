"""With `CC_BOT_CHANNELS=all`: what is written while the program is down or cut off is read afterwards."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.stage import STOP, Stage, running_stage, streaming
from tests.loopback.discord import Channel, ChannelReply, Entry, LoopbackDiscord, Message, Permission, User
from tests.loopback.discord.events import created
from tests.loopback.model_server import Hang, Reply, Say, says

HISTORY = "GET /channels/{channel}/messages"
MISSING_ACCESS = 50001


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def all_reading(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program that reads everything, shared by the tests here."""
    folder = tmp_path_factory.mktemp("all")
    discord = LoopbackDiscord(message_content=True)
    async with running_stage(folder, {"CC_BOT_CHANNELS": "all"}, discord) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(all_reading: Stage) -> AsyncIterator[Stage]:
    all_reading.forget()
    yield all_reading
    all_reading.check()


async def comes_true(stage: Stage, look: Callable[[], bool]) -> None:
    """Wait for something in the database, which tells nobody when it changes."""
    async with stage.patience():
        while not look():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)


async def is_stored(stage: Stage, channel: Channel, text: str) -> None:
    await comes_true(stage, lambda: text in said(stage, channel))


def said(stage: Stage, channel: Channel) -> list[str]:
    """What people said, in the order in which it was stored."""
    return [content for role, content, _ in stage.stored(channel) if role == "user"]


def asked_for(stage: Stage, channel: Channel) -> list[Entry]:
    """The pages of a channel that the program read."""
    return [call for call in stage.discord.calls(HISTORY) if call.params["channel"] == str(channel.id)]


async def write(stage: Stage, user: User, channel: Channel, *texts: str) -> list[Message]:
    return [await stage.discord.post(user, channel, text) for text in texts]


async def heard(stage: Stage, user: User, channel: Channel, text: str) -> None:
    """Write something that the program hears and stores."""
    await write(stage, user, channel, text)
    await is_stored(stage, channel, text)


async def answered(stage: Stage, message: Message, answer: str) -> None:
    reply = await stage.discord.reply_to(message)
    await reply.finished(lambda shown: shown.text == answer)


async def pull_the_plug(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()


class TestDowntime:
    async def test_is_known_to_the_next_answer(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "Before.")
        await pull_the_plug(stage)
        await write(stage, aiko, channel, "合言葉はオオルリです。")
        await stage.start()
        stage.model.script(says("Aiko told: オオルリ"))
        asked = await stage.discord.post(ben, channel, "What is the word?", mention=True)
        reply = stage.discord.answer(asked)
        reply.any_language = True
        await answered(stage, asked, "Aiko told: オオルリ")
        assert len(stage.model.requests) == 1
        assert [text for text in stage.shown() if "合言葉" in text] == ["Aiko: 合言葉はオオルリです。"]

    async def test_of_any_length_is_made_up_for_once_and_in_order(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("はい。"))
        await answered(stage, await stage.discord.post(aiko, channel, "いますか？", mention=True), "はい。")
        await pull_the_plug(stage)
        missed = [f"発言{number}" for number in range(215)]
        await write(stage, aiko, channel, *missed)
        await stage.start()
        await is_stored(stage, channel, "発言214")
        expected = [("user", "いますか？"), ("assistant", "はい。"), *(("user", text) for text in missed)]
        assert [row[:2] for row in stage.stored(channel)] == expected
        assert len(asked_for(stage, channel)) == 3

    async def test_in_a_channel_that_is_hidden_since_does_not_matter_to_the_others(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        hidden = stage.discord.guild_channel("staff")
        await heard(stage, aiko, channel, "見える場所の始め")
        await heard(stage, aiko, hidden, "隠れる場所の始め")
        await pull_the_plug(stage)
        stage.excused.add(MISSING_ACCESS)
        stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, hidden)
        await write(stage, aiko, hidden, "見えない")
        await write(stage, aiko, channel, "見える")
        await stage.start()
        await is_stored(stage, channel, "見える")
        assert said(stage, hidden) == ["隠れる場所の始め"]
        stage.discord.permit(stage.discord.bot, Permission.VIEW_CHANNEL, hidden)


class TestAChange:
    async def test_of_what_is_just_being_read_is_not_lost(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "始め")
        await pull_the_plug(stage)
        missed = await write(stage, aiko, channel, *(f"発言{number}" for number in range(110)))
        await stage.start()
        await stage.discord.wait(lambda: asked_for(stage, channel), "the newest page")
        stage.discord.fail_next(HISTORY, 200, delay_s=0.3)  # it holds what follows, the first messages
        await stage.discord.delete(aiko, missed[-1])
        await stage.discord.edit(aiko, missed[-2], "書き直した")
        assert said(stage, channel) == ["始め"]
        await is_stored(stage, channel, "書き直した")
        assert said(stage, channel)[-2:] == ["発言107", "書き直した"]


class TestAnAnswerOfTheBotsOwn:
    async def test_is_no_news_to_it_and_keeps_nobody_waiting_for_what_is_being_read(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "始め")
        await pull_the_plug(stage)
        await write(stage, aiko, channel, "隙間")
        stage.discord.fail_next(HISTORY, 200, delay_s=5.0, times=20)
        await stage.start()
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        stage.model.script(says("赤です。"))
        question = await stage.write(aiko, channel, "何色？", mention=False, reply_to=answer.message)
        await stage.says(question, "赤です。")
        assert "隙間" not in said(stage, channel)
        stage.discord.faults.forget()


class TestCrash:
    async def test_while_it_reads_leaves_the_gap_to_be_found_again(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "始め")
        await pull_the_plug(stage)
        await write(stage, aiko, channel, "隙間の一つ目", "隙間の二つ目")
        stage.discord.fail_next(HISTORY, 200, delay_s=5.0, times=20)
        await stage.start()
        await write(stage, aiko, channel, "戻ったあと")
        await stage.discord.quiet(0.2)
        assert said(stage, channel) == ["始め"]
        await pull_the_plug(stage)
        stage.discord.faults.forget()
        await stage.start()
        await comes_true(stage, lambda: len(said(stage, channel)) == 4)
        assert said(stage, channel) == ["始め", "隙間の一つ目", "隙間の二つ目", "戻ったあと"]


class TestALostConnection:
    async def test_that_begins_anew_is_made_up_for(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await heard(stage, aiko, channel, "切れる前")
        await stage.discord.drop_gateway(resumable=False)
        await write(stage, aiko, channel, "切れている間")
        await stage.program.lives_until(stage.discord.ready())
        await is_stored(stage, channel, "切れている間")
        await heard(stage, aiko, channel, "つながったあと")
        assert said(stage, channel) == ["切れる前", "切れている間", "つながったあと"]

    async def test_that_is_resumed_has_missed_nothing(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "切れる前")
        before = stage.discord.world.gateway.resumes
        await stage.discord.drop_gateway()
        await write(stage, aiko, channel, "切れている間")
        await stage.discord.resumed(before + 1)
        await is_stored(stage, channel, "切れている間")
        assert said(stage, channel) == ["切れる前", "切れている間"]
        assert asked_for(stage, channel) == []


class TestAMissedMention:
    async def test_is_answered(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await heard(stage, aiko, channel, "始め")
        await pull_the_plug(stage)
        asked = await stage.discord.post(aiko, channel, "いま何時？", mention=True)
        stage.model.script(says("お昼です。"))
        await stage.start()
        await answered(stage, asked, "お昼です。")
        assert len(stage.discord.answer(asked).messages) == 1

    async def test_of_longer_ago_is_archived_only(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await heard(stage, aiko, channel, "始め")
        await pull_the_plug(stage)
        asked = await stage.discord.post(aiko, channel, "もう待っていません", mention=True)
        stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = "900"
        try:
            await stage.start()
            await is_stored(stage, channel, "もう待っていません")
            await stage.discord.quiet(0.3)
        finally:
            del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]
            await stage.restart()
        assert stage.discord.answer(asked).messages == []
        assert stage.model.requests == []


class TestAReplyToOnesOwnAnswer:
    async def begun(self, stage: Stage, aiko: User, channel: Channel) -> tuple[Message, ChannelReply]:
        """A reply to an answer to `/ask`, which is being answered in its author's session."""
        await heard(stage, aiko, channel, "始め")
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        stage.model.script(Reply(Say("赤"), Hang()))
        question = await stage.write(aiko, channel, "何色？", mention=False, reply_to=answer.message)
        return question, await streaming(stage.discord.answer(question), "赤")

    async def test_is_answered_once_though_the_connection_begins_anew_meanwhile(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        question, reply = await self.begun(stage, aiko, channel)
        await stage.discord.drop_gateway(resumable=False)
        await write(stage, aiko, channel, "切れている間")
        await stage.program.lives_until(stage.discord.ready())
        await is_stored(stage, channel, "切れている間")
        await stage.discord.click(aiko, reply.message, STOP["ja"])
        await stage.says(question, "ここで止めました")
        assert len(stage.discord.answer(question).messages) == 1
        assert stage.rows("SELECT session_id IS NULL FROM messages WHERE discord_id = ?", question.id) == [
            (0,)
        ]
        assert stage.stored(channel)[-1] == ("assistant", "赤", "stopped")

    async def test_that_was_missed_is_answered_once_though_discord_tells_of_it_afterwards(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await heard(stage, aiko, channel, "始め")
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        await pull_the_plug(stage)
        question = await stage.write(aiko, channel, "何色？", mention=False, reply_to=answer.message)
        asked = len(stage.model.requests)
        stage.model.script(says("赤です。"))
        await stage.start()
        await stage.says(question, "赤です。")
        late = stage.discord.world.gateway.dispatch
        await late("MESSAGE_CREATE", lambda _: created(question, lambda _: True), stage.discord.guild.id)
        await stage.discord.quiet(0.3)
        assert len(stage.discord.answer(question).messages) == 1
        assert len(stage.model.requests) == asked + 1

    async def test_whose_turn_a_crash_has_cut_off_stays_its_authors_own(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        question, _ = await self.begun(stage, aiko, channel)
        await pull_the_plug(stage)
        asked = len(stage.model.requests)
        await stage.start()
        reply = await stage.says(question, "書いている途中で動かなくなったため")
        await stage.discord.quiet(0.3)
        assert len(reply.messages) == 1
        assert len(stage.model.requests) == asked
        stage.model.script(says("赤いです。"))
        press = await stage.discord.click(aiko, reply.message, "もう一度きく")
        await press.finished(lambda shown: "赤いです。" in shown.text)
        assert stage.shown()[-1] == "何色？"


class TestOtherModes:
    async def test_that_read_nothing_read_nothing_afterwards(self, tmp_path: Path) -> None:
        async with running_stage(tmp_path, {"CC_BOT_CHANNELS": "off"}) as stage:
            aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
            await stage.ask(aiko, channel, "いますか？")
            await pull_the_plug(stage)
            await stage.discord.post(aiko, channel, "留守中に", mention=True)
            await stage.start()
            await stage.discord.quiet(0.3)
            assert said(stage, channel) == ["いますか？"]
