"""Turns of channels: who is answered, with which tools, in what order, and where the answer goes."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cc_bot.domain import ChannelKey, Locale, Message, Notice, SessionKey, TurnEvent
from cc_bot.domain.errors import EmptyQuestion, ModelSaidNothing, ModelUnavailable, NotNewest
from cc_bot.llm.model import Finish, ToolRequest
from tests.assistant.channels import MARK
from tests.assistant.conftest import OPTIONS, Table, done

CHANNEL = ChannelKey(700)
THREAD = ChannelKey(700, 750)
BOT = 99
AIKO, KEN = 11, 12


def mention(discord_id: int, text: str, author: int = AIKO, name: str = "アイコ") -> Message:
    return Message("user", text, discord_id=discord_id, author_id=author, author_name=name)


async def ask(
    table: Table, *questions: Message, key: ChannelKey = CHANNEL, answer_id: int | None = None
) -> list[TurnEvent]:
    """Store the questions as the front end does, and answer them together."""
    for question in questions:
        await table.stores.channels.add(key, question, waiting=True)
    return await answer(table, questions, key=key, answer_id=answer_id)


async def answer(
    table: Table, questions: Sequence[Message], *, key: ChannelKey = CHANNEL, answer_id: int | None = None
) -> list[TurnEvent]:
    newest = questions[-1].discord_id
    assert newest is not None
    options = replace(OPTIONS, bot_id=BOT, answer_discord_id=answer_id or newest + 1)
    return [event async for event in table.assistant.ask(key, questions, options)]


def shown(table: Table, request: int = -1) -> str:
    """Everything that the model was shown in a request, in order, without the marks of names."""
    return MARK.sub("", "\n".join(part.text for part in table.model.requests[request].prompt))


class TestAnswer:
    async def test_is_stored_in_the_channel_with_its_message(self, table: Table) -> None:
        table.model.script = [["晴れです。"]]
        answered = done(await ask(table, mention(1000, "明日の天気は？"))).answer
        assert (answered.content, answered.discord_id, answered.author_id) == ("晴れです。", 1001, BOT)
        newest = await table.stores.channels.get_newest_answer(CHANNEL)
        assert newest is not None
        assert newest.content == "晴れです。"
        assert await table.stores.mentions.list_waiting(CHANNEL) == ()

    async def test_is_nobodys_session(self, table: Table) -> None:
        await ask(table, mention(1000, "秘密はチャンネルにあります"))
        assert await table.said(SessionKey(AIKO, CHANNEL.channel_id)) == []

    async def test_knows_what_was_said_before_and_by_whom(self, table: Table) -> None:
        table.model.script = [["赤いですね。"]]
        await ask(table, mention(1000, "りんごは何色？"))
        await ask(table, mention(2000, "では味は？", KEN, "ケン"))
        prompt = shown(table)
        assert "アイコ: りんごは何色？" in prompt
        assert "赤いですね。" in prompt
        assert prompt.endswith("ケン: では味は？")
        assert prompt.count("では味は？") == 1

    async def test_does_not_know_another_channel(self, table: Table) -> None:
        await ask(table, mention(1000, "合言葉は「山」"))
        await ask(table, mention(2000, "合言葉は？"), key=ChannelKey(701))
        assert "山" not in shown(table)

    async def test_that_never_came_leaves_its_question_waiting(self, table: Table) -> None:
        table.model.script = [[ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            await ask(table, mention(1000, "もしもし"))
        assert [message.content for message in await table.stores.mentions.list_waiting(CHANNEL)] == [
            "もしもし"
        ]

    async def test_without_a_word_is_told(self, table: Table) -> None:
        table.model.script = [[Finish("stop")]]
        with pytest.raises(ModelSaidNothing):
            await ask(table, mention(1000, "もしもし"))

    async def test_is_not_asked_for_with_an_empty_question(self, table: Table) -> None:
        with pytest.raises(EmptyQuestion):
            await ask(table, mention(1000, " "))

    async def test_in_a_public_channel_sees_no_private_session(self, table: Table) -> None:
        await table.ask("私の秘密は1234", key=SessionKey(AIKO, CHANNEL.channel_id), visibility="private")
        await table.ask("公開の質問", key=SessionKey(AIKO, CHANNEL.channel_id))
        await ask(table, mention(10**18, "私の秘密は？"))
        assert "1234" not in shown(table)
        assert "公開の質問" not in shown(table)


class TestMemoryTools:
    async def test_act_for_the_author_of_the_question(self, table: Table) -> None:
        arguments = json.dumps({"content": "猫が好き"}, ensure_ascii=False)
        table.model.script = [[ToolRequest("c", "remember", arguments)], ["覚えました。"]]
        await ask(table, mention(1000, "猫が好きなのを覚えて", KEN, "ケン"))
        assert [memory.content for memory in await table.stores.memories.list(KEN)] == ["猫が好き"]
        assert await table.stores.memories.list(AIKO) == []

    async def test_do_not_find_what_the_author_keeps_private(self, table: Table) -> None:
        await table.stores.memories.add(AIKO, "合言葉はオオルリ", audience="private")
        table.model.script = [[ToolRequest("c", "recall", '{"query": "合言葉"}')], ["わかりません。"]]
        await ask(table, mention(1000, "合言葉は？"))
        assert "1234" not in shown(table)

    async def test_are_not_offered_for_several_questions(self, table: Table) -> None:
        await ask(table, mention(1000, "一つ目"), mention(1001, "二つ目", KEN, "ケン"), answer_id=1002)
        assert table.model.requests[-1].tools == ()

    async def test_that_were_not_offered_do_nothing(self, table: Table) -> None:
        arguments = json.dumps({"content": "のっとり"}, ensure_ascii=False)
        table.model.script = [[ToolRequest("c", "remember", arguments)], ["はい"]]
        await ask(table, mention(1000, "一つ目"), mention(1001, "二つ目", KEN, "ケン"), answer_id=1002)
        assert await table.stores.memories.list(AIKO) == []
        assert await table.stores.memories.list(KEN) == []

    async def test_results_are_not_shown_to_the_next_one_who_asks(self, table: Table) -> None:
        await table.stores.memories.add(AIKO, "誕生日は3月15日")
        table.model.script = [[ToolRequest("c", "recall", '{"query": "誕生日"}')], ["お祝いしましょう。"]]
        await ask(table, mention(1000, "私の誕生日を祝って"))
        await ask(table, mention(2000, "何の日？", KEN, "ケン"))
        assert "お祝いしましょう。" in shown(table)
        assert "3月15日" not in shown(table)


class TestSeveralQuestions:
    async def test_get_one_answer(self, table: Table) -> None:
        await ask(table, mention(1000, "一つ目"), mention(1001, "二つ目", KEN, "ケン"), answer_id=1002)
        assert len(table.model.requests) == 1
        assert shown(table).endswith("アイコ: 一つ目\nケン: 二つ目")
        assert await table.stores.mentions.list_waiting(CHANNEL) == ()
        questions = await table.stores.mentions.list_questions(1002)
        assert [question.content for question in questions] == ["一つ目", "二つ目"]


class TestOrder:
    async def test_of_one_channel_is_kept(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["いいえ"]]
        first = asyncio.create_task(ask(table, mention(1000, "一つ目")))
        await table.model.asked()
        second = asyncio.create_task(ask(table, mention(1010, "二つ目", KEN, "ケン")))
        await asyncio.sleep(0.05)
        assert len(table.model.requests) == 1
        gate.set()
        assert Notice("queued") not in await first
        assert (await second)[:2] == [Notice("queued"), Notice("started")]

    async def test_of_a_user_is_kept_across_channels(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["いいえ"]]
        first = asyncio.create_task(ask(table, mention(1000, "一つ目")))
        await table.model.asked()
        second = asyncio.create_task(ask(table, mention(1010, "二つ目"), key=ChannelKey(701)))
        await asyncio.sleep(0.05)
        assert len(table.model.requests) == 1
        gate.set()
        await asyncio.gather(first, second)

    async def test_of_a_user_in_channels_does_not_wait_for_their_own_session(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["いいえ"]]
        private = asyncio.create_task(table.ask("長い質問", key=SessionKey(AIKO, 5), visibility="private"))
        await table.model.asked()
        assert done(await ask(table, mention(1000, "一つ目"))).answer.content == "いいえ"
        gate.set()
        await private

    async def test_of_different_people_in_different_channels_does_not_matter(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["はい", gate]]
        first = asyncio.create_task(ask(table, mention(1000, "一つ目")))
        second = asyncio.create_task(ask(table, mention(1010, "二つ目", KEN, "ケン"), key=THREAD))
        await table.model.asked()
        await table.model.asked()
        gate.set()
        await asyncio.gather(first, second)


class TestRequest:
    async def test_begins_alike_whatever_language_the_asker_reads(self, table: Table) -> None:
        await ask(table, mention(1000, "やあ"))
        options = replace(OPTIONS, locale=Locale.EN, bot_id=BOT, answer_discord_id=2001)
        await table.stores.channels.add(CHANNEL, mention(2000, "Hello", KEN, "Ken"), waiting=True)
        async for _ in table.assistant.ask(CHANNEL, mention(2000, "Hello", KEN, "Ken"), options):
            pass
        first, second = (request.prompt for request in table.model.requests)
        assert second[0] == first[0]
        assert table.model.requests[0].cache_key == table.model.requests[1].cache_key != ""


class TestEditedQuestion:
    async def regenerate(self, table: Table, answer_id: int) -> list[TurnEvent]:
        options = replace(OPTIONS, bot_id=BOT)
        return [event async for event in table.assistant.regenerate(CHANNEL, answer_id, options)]

    async def test_is_answered_anew_in_place(self, table: Table) -> None:
        table.model.script = [["東京です。"], ["パリです。"]]
        await ask(table, mention(1000, "日本の首都は？"))
        await table.stores.channels.edit(1000, "フランスの首都は？")
        anew = done(await self.regenerate(table, 1001)).answer
        assert (anew.content, anew.discord_id) == ("パリです。", 1001)
        assert shown(table).endswith("アイコ: フランスの首都は？")
        assert "東京" not in shown(table)
        await ask(table, mention(2000, "ありがとう"))
        assert "東京" not in shown(table)
        assert "パリです。" in shown(table)

    async def test_is_answered_with_what_stood_before_it(self, table: Table) -> None:
        await ask(table, mention(1000, "日本の首都は？"))
        await table.stores.channels.add(CHANNEL, mention(1500, "後から来た話", KEN, "ケン"))
        await table.stores.channels.edit(1000, "フランスの首都は？")
        await self.regenerate(table, 1001)
        assert "後から来た話" not in shown(table)

    async def test_is_not_answered_anew_once_there_is_a_newer_answer(self, table: Table) -> None:
        await ask(table, mention(1000, "一つ目"))
        await ask(table, mention(2000, "二つ目"))
        with pytest.raises(NotNewest):
            await self.regenerate(table, 1001)

    async def test_that_was_deleted_since_is_not_answered_anew(self, table: Table) -> None:
        await ask(table, mention(1000, "一つ目"))
        await table.stores.channels.delete([1000])
        with pytest.raises(NotNewest):
            await self.regenerate(table, 1001)


class TestCalibration:
    async def test_is_learned_before_the_turn_is_over(self, table: Table) -> None:
        finish = Finish("stop", model="m")
        table.model.script = [["はい", replace(finish, usage=replace(finish.usage, prompt_tokens=4000))]]
        await ask(table, mention(1000, "やあ" * 100))
        assert await table.stores.token_factors.get("m") != 1.0
