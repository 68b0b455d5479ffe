"""What was asked and answered with `/ask` before everybody's eyes, as the channel's next mention knows it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import (
    Stage,
    answered,
    running_stage,
    streaming,
)
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.loopback.model_server import Pause, Reply, Say, says

SETTLED = "SELECT count(*) FROM turns WHERE channel_id = ? AND state <> 'interrupted'"

PLACED = "SELECT DISTINCT discord_id, in_channel FROM messages WHERE channel_id = ?"


LUNCH, NOODLES, DINNER, SUSHI = "お昼は？", "うどんです。", "夜は？", "すしです。"


@pytest.fixture
def hanako(stage: Stage) -> User:
    return stage.discord.user("Hanako", locale="ja")


async def told(stage: Stage, ben: User, channel: Channel) -> list[str]:
    """What a mention shows the model beside itself."""
    await stage.said(ben, channel, "what was that?", "はい。")
    *before, question = stage.shown()
    assert question == "Ben: what was that?"
    return before


async def ask(stage: Stage, user: User, channel: Channel, text: str, answer: str, **options: bool) -> None:
    stage.model.script(says(answer))
    await stage.ask(user, channel, text, **options)


class TestPublicTurn:
    async def test_stands_above_a_mention_where_it_was_asked(
        self, stage: Stage, hanako: User, ben: User, channel: Channel
    ) -> None:
        await stage.said(ben, channel, "hello", "やあ。")
        await ask(stage, hanako, channel, LUNCH, NOODLES)
        await stage.said(ben, channel, "and dinner?", "カレーです。")
        before = ["Ben: hello", "やあ。", f"Hanako: {LUNCH}", NOODLES, "Ben: and dinner?"]
        assert stage.shown() == before
        stage.model.script(Reply(Say(SUSHI[:2]), Pause(2.0), *says(SUSHI[2:]).steps), says("はい。"))
        reply = await streaming(await stage.begin(hanako, channel, DINNER), SUSHI[:2])
        await stage.says(await stage.write(ben, channel, "meanwhile"), "はい。")
        await answered(reply)
        after = ["カレーです。", f"Hanako: {DINNER}", SUSHI, "Ben: meanwhile", "はい。"]
        assert await told(stage, ben, channel) == [*before, *after]
        assert await told(stage, ben, stage.discord.guild_channel()) == []

    async def test_is_none_that_its_user_alone_reads(
        self, stage: Stage, hanako: User, ben: User, channel: Channel
    ) -> None:
        for option in ("private", "temporary"):
            stage.model.script(says(NOODLES))
            reply = await stage.begin(hanako, channel, LUNCH, **{option: True})
            await reply.finished(lambda shown: NOODLES in shown.text)
        dm = stage.discord.dm(hanako)
        await ask(stage, hanako, dm, LUNCH, NOODLES)
        await stage.eventually(SETTLED, channel.id, gives=[(0,)])
        assert stage.rows(PLACED, channel.id) == [(None, 0)]
        assert stage.rows("SELECT DISTINCT in_channel FROM messages WHERE channel_id = ?", dm.id) == [(0,)]
        assert await told(stage, ben, channel) == []


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    discord = LoopbackDiscord(message_content=True)
    async with running_stage(tmp_path_factory.mktemp("all"), {"CC_BOT_CHANNELS": "all"}, discord) as stage:
        yield stage


class TestWhereAllIsRead:
    async def test_a_turn_and_a_reply_to_it_stand_there_once(self, reader: Stage) -> None:
        reader.forget()
        hanako, ben = reader.discord.user("Hanako", locale="ja"), reader.discord.user("Ben", locale="en-US")
        channel = reader.discord.guild_channel()
        await reader.discord.post(ben, channel, "hungry!")
        reader.model.script(says("うどんです。"))
        asked = await reader.ask(hanako, channel, "お昼は？")
        await reader.discord.post(ben, channel, "good idea")
        reader.model.script(says("熱いのです。"))
        message = await reader.write(hanako, channel, "熱い？", mention=False, reply_to=asked.message)
        await reader.says(message, "熱いのです。")
        await reader.eventually(SETTLED, channel.id, gives=[(0,)])
        everything = [
            *("Ben: hungry!", "Hanako: お昼は？", "うどんです。", "Ben: good idea"),
            *("Hanako: > you: うどんです。\n  熱い？", "熱いのです。"),
        ]
        assert await told(reader, ben, channel) == everything
        await reader.restart()  # which fetches what it has missed, or thinks it has
        assert (await told(reader, ben, channel))[:6] == everything
        reader.check()
