"""What was asked and answered with `/ask` before everybody's eyes, as the channel's next mention knows it."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio

from tests.end_to_end.kills import RETRY, offers_to_ask_again
from tests.end_to_end.memories import press
from tests.end_to_end.stage import (
    Stage,
    again_label,
    answered,
    continue_label,
    running_stage,
    streaming,
)
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User
from tests.loopback.model_server import CutConnection, Hang, Pause, Reply, Say, says

SETTLED = "SELECT count(*) FROM turns WHERE channel_id = ? AND state <> 'interrupted'"

PLACED = "SELECT DISTINCT discord_id, in_channel FROM messages WHERE channel_id = ?"


class Talk(NamedTuple):
    """What is said, in the language of who asks: nobody is shown another one."""

    lunch: str
    noodles: str
    dinner: str
    sushi: str


TALK = {
    "ja": Talk("お昼は？", "うどんです。", "夜は？", "すしです。"),
    "en-US": Talk("Lunch?", "Noodles it is.", "Dinner?", "Sushi it is."),
}


@pytest.fixture
def talk(hanako: User) -> Talk:
    return TALK[hanako.locale]


@pytest.fixture(params=["ja", "en-US"])
def hanako(stage: Stage, request: pytest.FixtureRequest) -> User:
    """Who asks, in either language."""
    return stage.discord.user("Hanako", locale=request.param)


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
    async def test_stands_above_a_mention_in_its_place_once(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        await stage.said(ben, channel, "hello", "やあ。")
        await ask(stage, hanako, channel, talk.lunch, talk.noodles)
        await stage.said(ben, channel, "and dinner?", "カレーです。")
        assert stage.shown() == [
            *("Ben: hello", "やあ。", f"Hanako: {talk.lunch}", talk.noodles, "Ben: and dinner?")
        ]
        await ask(stage, hanako, channel, talk.dinner, talk.sushi)
        assert (await told(stage, ben, channel))[4:] == [
            *("Ben: and dinner?", "カレーです。", f"Hanako: {talk.dinner}", talk.sushi)
        ]

    async def test_stands_where_it_was_asked_also_if_it_took_long(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        begun, rest = talk.noodles[:3], talk.noodles[3:]
        stage.model.script(Reply(Say(begun), Pause(2.0), *says(rest).steps), says("はい。"))
        reply = await streaming(await stage.begin(hanako, channel, talk.lunch), begun)
        await stage.says(await stage.write(ben, channel, "hello"), "はい。")
        await answered(reply)
        assert await told(stage, ben, channel) == [
            f"Hanako: {talk.lunch}",
            talk.noodles,
            "Ben: hello",
            "はい。",
        ]

    async def test_in_a_thread_is_known_there_alone(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        await ask(stage, hanako, channel, talk.dinner, talk.sushi)
        thread = await stage.discord.start_thread(hanako, channel)
        await ask(stage, hanako, thread, talk.lunch, talk.noodles)
        known = [f"Hanako: {talk.dinner}", talk.sushi]
        assert await told(stage, ben, thread) == [*known, f"Hanako: {talk.lunch}", talk.noodles]
        assert await told(stage, ben, channel) == known

    async def test_is_not_known_in_another_channel(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        await ask(stage, hanako, channel, talk.lunch, talk.noodles)
        assert await told(stage, ben, stage.discord.guild_channel()) == []

    @pytest.mark.parametrize("option", ["private", "temporary"])
    async def test_is_none_that_its_user_alone_reads(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel, option: str
    ) -> None:
        stage.model.script(says(talk.noodles))
        reply = await stage.begin(hanako, channel, talk.lunch, **{option: True})
        await reply.finished(lambda shown: talk.noodles in shown.text)
        await stage.eventually(SETTLED, channel.id, gives=[(0,)])
        assert stage.rows(PLACED, channel.id) in ([], [(None, 0)])
        assert await told(stage, ben, channel) == []

    async def test_is_none_in_a_dm(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(hanako)
        await ask(stage, hanako, dm, talk.lunch, talk.noodles)
        assert stage.rows("SELECT DISTINCT in_channel FROM messages WHERE channel_id = ?", dm.id) == [(0,)]
        assert await told(stage, ben, channel) == []

    async def test_goes_on_with_a_reply_that_stands_there_once(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says(talk.noodles))
        asked = await stage.ask(hanako, channel, talk.lunch)
        stage.model.script(says(talk.sushi))
        message = await stage.write(hanako, channel, talk.dinner, mention=False, reply_to=asked.message)
        await stage.says(message, talk.sushi)
        await stage.eventually(SETTLED, channel.id, gives=[(0,)])
        assert await told(stage, ben, channel) == [
            *(f"Hanako: {talk.lunch}", talk.noodles),
            *(f"Hanako: > you: {talk.noodles}\n  {talk.dinner}", talk.sushi),
        ]


class TestButtons:
    async def test_answer_again_puts_the_new_answer_in_the_place_of_the_old_one(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says(talk.noodles))
        reply = await stage.ask(hanako, channel, talk.lunch)
        await stage.said(ben, channel, "hello", "やあ。")
        stage.model.script(says(talk.sushi))
        await answered(await stage.discord.click(hanako, reply.message, again_label(hanako)))
        assert await told(stage, ben, channel) == [
            f"Hanako: {talk.lunch}",
            talk.sushi,
            "Ben: hello",
            "やあ。",
        ]

    async def test_continue_stands_where_it_was_pressed(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say(talk.noodles), CutConnection()))
        reply = await stage.ask(hanako, channel, talk.lunch)
        await stage.said(ben, channel, "hello", "やあ。")
        stage.model.script(says(talk.sushi))
        more = await stage.discord.click(hanako, reply.message, continue_label(hanako))
        await more.finished(lambda shown: talk.sushi in shown.text and again_label(hanako) in shown.labels)
        first, begun, *others, go_on, rest = await told(stage, ben, channel)
        assert (first, begun, rest) == (f"Hanako: {talk.lunch}", talk.noodles, talk.sushi)
        assert others == ["Ben: hello", "やあ。"]
        assert go_on.startswith("Hanako: ")


class TestWhatLeaves:
    async def test_is_question_and_answer_when_the_answer_is_deleted(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.discord.permit(hanako, Permission.MANAGE_MESSAGES, channel)
        stage.model.script(says(talk.noodles))
        reply = await stage.ask(hanako, channel, talk.lunch)
        await stage.discord.delete(hanako, reply.message)
        await stage.eventually(
            "SELECT content, in_channel FROM messages WHERE channel_id = ?",
            channel.id,
            gives=[(talk.lunch, 0)],
        )
        assert await told(stage, ben, channel) == []

    async def test_is_everything_of_a_user_who_has_it_erased(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await ask(stage, aiko, channel, "お昼は？", "うどんです。")
        await ask(stage, ben, channel, "Dinner?", "Curry.")
        asked = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
        await press(stage, aiko, asked, "すべて消す")
        assert await told(stage, ben, channel) == ["Ben: Dinner?", "Curry."]

    async def test_is_what_was_asked_before_a_reset(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.discord.permit(hanako, Permission.MANAGE_MESSAGES, channel)
        await ask(stage, hanako, channel, talk.lunch, talk.noodles)
        await (await stage.discord.slash(hanako, channel, "reset")).finished()
        await ask(stage, hanako, channel, talk.dinner, talk.sushi)
        assert await told(stage, ben, channel) == [f"Hanako: {talk.dinner}", talk.sushi]


class TestRestart:
    @pytest.mark.restarts
    async def test_changes_nothing(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        await ask(stage, hanako, channel, talk.lunch, talk.noodles)
        await stage.eventually(SETTLED, channel.id, gives=[(0,)])
        await stage.restart()
        assert await told(stage, ben, channel) == [f"Hanako: {talk.lunch}", talk.noodles]

    @pytest.mark.restarts
    async def test_leaves_a_question_that_is_asked_again_where_it_was(
        self, stage: Stage, hanako: User, talk: Talk, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say(talk.sushi), Hang()))
        reply = await streaming(await stage.begin(hanako, channel, talk.lunch), talk.sushi)
        await stage.restart()
        await offers_to_ask_again(stage, reply)
        await stage.said(ben, channel, "hello", "やあ。")
        stage.model.script(says(talk.noodles))
        again = await stage.discord.click(hanako, reply.message, RETRY[hanako.locale])
        await again.finished(lambda shown: again_label(hanako) in shown.labels)
        assert await told(stage, ben, channel) == [
            f"Hanako: {talk.lunch}",
            talk.noodles,
            "Ben: hello",
            "やあ。",
        ]


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
