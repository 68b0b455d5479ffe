"""What was asked and answered with `/ask` before everybody's eyes, as the channel's next mention knows it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.kills import RETRY, offers_to_ask_again
from tests.end_to_end.stage import (
    Stage,
    again_label,
    answered,
    continue_label,
    running_stage,
    streaming,
)
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.loopback.model_server import CutConnection, Hang, Pause, Reply, Say, says

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

    async def test_goes_on_with_replies_and_buttons_that_stand_there_once(
        self, stage: Stage, hanako: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says(NOODLES))
        asked = await stage.ask(hanako, channel, LUNCH)
        await stage.said(ben, channel, "hello", "やあ。")
        stage.model.script(says("そばです。"))
        again = await answered(await stage.discord.click(hanako, asked.message, again_label(hanako)))
        stage.model.script(Reply(Say(SUSHI), CutConnection()))
        message = await stage.write(hanako, channel, DINNER, mention=False, reply_to=again.message)
        reply = await stage.says(message, SUSHI)
        await stage.eventually(SETTLED, channel.id, gives=[(0,)])
        replied = [f"Hanako: > you: そばです。\n  {DINNER}", SUSHI]
        before = [f"Hanako: {LUNCH}", "そばです。", "Ben: hello", "やあ。", *replied]
        assert await told(stage, ben, channel) == before
        stage.model.script(says("にぎりです。"))
        more = await stage.discord.click(hanako, reply.message, continue_label(hanako))
        await more.finished(lambda shown: "にぎり" in shown.text and again_label(hanako) in shown.labels)
        *others, _, _, go_on, rest = await told(stage, ben, channel)
        assert others == before
        assert go_on.startswith("Hanako: ")
        assert rest == "にぎりです。"

    @pytest.mark.restarts
    async def test_stays_where_it_was_asked_after_a_restart(
        self, stage: Stage, hanako: User, ben: User, channel: Channel
    ) -> None:
        await ask(stage, hanako, channel, DINNER, SUSHI)
        stage.model.script(Reply(Say("書きかけ"), Hang()))
        reply = await streaming(await stage.begin(hanako, channel, LUNCH), "書きかけ")
        await stage.restart()
        await offers_to_ask_again(stage, reply)
        await stage.said(ben, channel, "hello", "やあ。")
        stage.model.script(says(NOODLES))
        again = await stage.discord.click(hanako, reply.message, RETRY[hanako.locale])
        await again.finished(lambda shown: again_label(hanako) in shown.labels)
        turns = [f"Hanako: {DINNER}", SUSHI, f"Hanako: {LUNCH}", NOODLES]
        assert await told(stage, ben, channel) == [*turns, "Ben: hello", "やあ。"]


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
