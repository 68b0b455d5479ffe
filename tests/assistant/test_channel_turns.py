"""Turns of channels: who is answered, with which tools, in what order, and where the answer goes."""

import asyncio
from dataclasses import replace

import pytest

from cc_bot.domain.errors import ModelError, ModelSaidNothing, ModelUnavailable, NotNewest
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import Notice
from cc_bot.llm.model import Finish
from tests.assistant.channels import MARK
from tests.assistant.conftest import BOT, OPTIONS, Table, asked, call, done
from tests.stores.locations import list_waiting

CHANNEL = ChannelKey(700)
AIKO, KEN = 11, 12


def aiko(discord_id: int, text: str) -> Message:
    return asked(discord_id, text, AIKO, "アイコ")


def ken(discord_id: int, text: str) -> Message:
    return asked(discord_id, text, KEN, "ケン")


def shown(table: Table, request: int = -1) -> str:
    """Everything that the model was shown in a request, in order, without the marks of names."""
    return MARK.sub("", table.shown(request))


class TestAnswer:
    async def test_is_stored_in_the_channel_and_knows_what_was_said_before(self, table: Table) -> None:
        table.model.script = [["赤いですね。"]]
        answered = done(await table.ask_in(CHANNEL, aiko(1000, "りんごは何色？"))).answer
        assert (answered.content, answered.discord_id, answered.author_id) == ("赤いですね。", 1001, BOT)
        newest = await table.stores.channels.get_newest_answer(CHANNEL)
        assert newest is not None
        assert newest.content == "赤いですね。"
        assert await list_waiting(table.stores, CHANNEL) == ()
        assert await table.said(SessionKey(AIKO, CHANNEL.channel_id)) == []
        await table.ask_in(CHANNEL, ken(2000, "では味は？"))
        assert "アイコ: りんごは何色？" in shown(table)
        assert "赤いですね。" in shown(table)
        assert shown(table).endswith("ケン: では味は？")
        assert shown(table).count("では味は？") == 1

    async def test_knows_no_other_channel_and_no_session(self, table: Table) -> None:
        session = SessionKey(AIKO, CHANNEL.channel_id)
        await table.ask("私の秘密は1234", key=session, visibility="private")
        await table.ask("公開の質問", key=session)
        await table.ask_in(ChannelKey(701), aiko(1000, "合言葉は「山」"))
        await table.ask_in(CHANNEL, aiko(10**18, "私の秘密と合言葉は？"))
        assert not any(text in shown(table) for text in ("1234", "公開の質問", "山"))

    @pytest.mark.parametrize("error", [ModelUnavailable(), ModelSaidNothing()], ids=repr)
    async def test_that_never_came_leaves_its_question_waiting(self, table: Table, error: ModelError) -> None:
        table.model.script = [[Finish("stop") if isinstance(error, ModelSaidNothing) else error]]
        with pytest.raises(type(error)):
            await table.ask_in(CHANNEL, aiko(1000, "もしもし"))
        waiting = await list_waiting(table.stores, CHANNEL)
        assert [message.content for message in waiting] == ["もしもし"]


class TestMemoryTools:
    async def test_act_for_the_author_of_the_question(self, table: Table) -> None:
        table.model.script = [[call("remember", content="猫が好き")], ["覚えました。"]]
        await table.ask_in(CHANNEL, ken(1000, "猫が好きなのを覚えて"))
        assert [memory.content for memory in await table.stores.memories.list(KEN)] == ["猫が好き"]
        assert await table.stores.memories.list(AIKO) == []

    async def test_find_nothing_private_and_their_results_are_not_shown_to_the_next_one_who_asks(
        self, table: Table
    ) -> None:
        await table.stores.memories.add(AIKO, "誕生日の贈り物はオオルリ", audience="private")
        await table.stores.memories.add(AIKO, "誕生日は3月15日")
        table.model.script = [[call("recall", query="誕生日")], ["お祝いしましょう。"]]
        await table.ask_in(CHANNEL, aiko(1000, "私の誕生日を祝って"))
        assert "3月15日" in shown(table)
        assert "オオルリ" not in shown(table)
        await table.ask_in(CHANNEL, ken(2000, "何の日？"))
        assert "お祝いしましょう。" in shown(table)
        assert "3月15日" not in shown(table)


async def test_several_questions_of_one_person_get_one_answer_with_their_tools(table: Table) -> None:
    table.model.script = [[call("remember", content="猫が好き")], ["はい"]]
    await table.ask_in(CHANNEL, aiko(1000, "一つ目"), aiko(1002, "猫が好きなのを覚えて"))
    assert shown(table, 0).endswith("アイコ: 一つ目\nアイコ: 猫が好きなのを覚えて")
    assert [memory.content for memory in await table.stores.memories.list(AIKO)] == ["猫が好き"]
    assert await list_waiting(table.stores, CHANNEL) == ()
    questions = await table.stores.ledger.list_questions(1003)
    assert [question.discord_id for question in questions] == [1000, 1002]


class TestOrder:
    async def test_of_one_user_is_kept_over_all_channels(self, table: Table) -> None:
        gate, in_line, other = asyncio.Event(), asyncio.Event(), ChannelKey(701)
        table.model.script = [["はい", gate], ["いいえ"]]
        first = asyncio.create_task(table.ask_in(CHANNEL, aiko(1000, "一つ目")))
        await table.model.asked()
        await table.stores.channels.add(other, second := aiko(1010, "二つ目"), is_question=True)
        answering = asyncio.create_task(table.answer_in(other, [second], seen=lambda _: in_line.set()))
        await in_line.wait()
        assert len(table.model.requests) == 1
        gate.set()
        assert Notice("queued") not in await first
        assert (await answering)[:2] == [Notice("queued"), Notice("started")]

    async def test_of_people_in_one_channel_is_no_matter_and_each_sees_the_others_questions(
        self, table: Table
    ) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["いいえ"]]
        first = asyncio.create_task(table.ask_in(CHANNEL, aiko(1000, "一つ目")))
        await table.model.asked()
        await table.ask_in(CHANNEL, ken(1010, "二つ目"))
        assert shown(table).endswith("ケン: 二つ目")
        assert shown(table).count("アイコ: 一つ目") == 1
        gate.set()
        await first


class TestEditedQuestion:
    OPTIONS = replace(OPTIONS, bot_id=BOT)

    async def test_is_answered_again_with_what_stood_before_it(self, table: Table) -> None:
        table.model.script = [["東京です。"], ["いいえ。"], ["パリです。"]]
        await table.ask_in(CHANNEL, aiko(1000, "日本の首都は？"))
        await table.stores.channels.add(CHANNEL, ken(1500, "後から来た話"))
        await table.ask_in(CHANNEL, ken(1600, "雨？"))
        await table.stores.channels.edit(1000, "フランスの首都は？")
        question = await table.stores.ledger.list_questions(1001)
        again = done(await table.regenerate(1001, CHANNEL, self.OPTIONS, questions=question)).answer
        assert (again.content, again.discord_id) == ("パリです。", 1001)
        assert shown(table).endswith("アイコ: フランスの首都は？")
        assert "東京" not in shown(table)
        assert not {"後から来た話", "雨？"} & {*shown(table).split(": ")}
        await table.ask_in(CHANNEL, aiko(2000, "ありがとう"))
        assert "東京" not in shown(table)
        assert "パリです。" in shown(table)
        with pytest.raises(NotNewest):
            await table.regenerate(1001, CHANNEL, self.OPTIONS, questions=question)
