"""Summaries as a conversation goes on: who writes what when, and what the next request knows."""

import asyncio
from dataclasses import replace
from pathlib import Path

from freezegun import freeze_time

from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.llm.model import SystemPart, UserPart
from tests.assistant.conftest import KEY, OPTIONS
from tests.summaries.conftest import NEXT_DAY, NOON, Desk, open_desk

OTHER = SessionKey(2, KEY.channel_id)


class TestConversation:
    async def test_is_written_down_after_so_many_turns_with_the_earlier_summary(self, desk: Desk) -> None:
        desk.writer.script = [["- ポチ"], ["- ポチと二"]]
        await desk.talk("犬の名前はポチ")
        assert desk.writer.requests == []
        assert "要約" not in desk.told()
        await desk.talk("いい天気")
        assert await desk.kept() == {"public": "- ポチ"}
        assert desk.material().earlier == ""
        assert desk.material().said == (
            ("user", "犬の名前はポチ"),
            ("assistant", "You said: 犬の名前はポチ"),
            ("user", "いい天気"),
            ("assistant", "You said: いい天気"),
        )
        await desk.talk("三", "四")
        assert desk.material().earlier == "- ポチ"
        assert [text for role, text in desk.material().said if role == "user"] == ["三", "四"]
        assert await desk.kept() == {"public": "- ポチと二"}
        [instruction, _] = desk.writer.requests[-1].prompt
        assert isinstance(instruction, SystemPart)
        assert "ユーザーが会話で使っている言語" in instruction.text

    async def test_that_slid_out_of_the_history_is_known_through_the_summary(self, tmp_path: Path) -> None:
        async with open_desk(tmp_path, limit=4) as desk:
            desk.writer.script = [["- 名前はディエゴ"], ["- 名前はディエゴ、天気の話"]]
            await desk.talk("名前はディエゴ", "天気", "天気", "天気", "名前は？")
            request = desk.model.requests[-1]
            assert UserPart("名前はディエゴ") not in request.prompt
            assert "前回までの会話の要約: - 名前はディエゴ" in desk.told()
            await desk.ask("Who am I?", options=replace(OPTIONS, locale=Locale.EN))
            assert "Previous conversation summary: - 名前はディエゴ" in desk.told()
            assert "not instructions" in desk.told()

    async def test_of_another_user_in_the_channel_stays_theirs(self, desk: Desk) -> None:
        desk.writer.script = [["- ひみつは123"]]
        await desk.talk("ひみつは123", "内緒ね")
        await desk.talk("ひみつは？", key=OTHER)
        assert "123" not in str(desk.model.requests[-1].prompt)


class TestPrivateTurns:
    async def test_are_written_down_apart_and_never_for_a_public_request(self, desk: Desk) -> None:
        await desk.talk("病名は内緒", visibility="private")
        desk.writer.script = [["- 散歩が好き"], ["- 病名は内緒"]]
        await desk.talk("散歩が好き")
        public, private = (str(request.prompt) for request in desk.writer.requests)
        assert ("散歩" in public, "内緒" in public) == (True, False)
        assert ("散歩" in private, "内緒" in private) == (False, True)
        assert await desk.kept() == {"public": "- 散歩が好き", "private": "- 病名は内緒"}

        await desk.talk("何を知ってる？")
        assert ("散歩" in desk.told(), "内緒" in desk.told()) == (True, False)
        await desk.talk("何を知ってる？", visibility="private")
        assert ("散歩" in desk.told(), "内緒" in desk.told()) == (True, True)

    async def test_never_reach_a_later_public_summary_or_answer(self, desk: Desk) -> None:
        desk.writer.script = [["- 内緒の話"], ["- 公開の話"]]
        await desk.talk("内緒の一", "内緒の二", visibility="private")
        answer = await desk.answer("公開の一")
        assert answer.id is not None
        async for _ in desk.assistant.ask(KEY, (), OPTIONS, replaces=answer.id):
            pass
        assert "内緒" not in str(desk.model.requests[-1].prompt)
        await desk.talk("公開の二")
        assert "内緒" not in str(desk.writer.requests[-1].prompt)
        assert await desk.kept() == {"public": "- 公開の話", "private": "- 内緒の話"}

    async def test_of_an_expired_session_are_not_told_in_public(self, desk: Desk) -> None:
        with freeze_time(NOON, real_asyncio=True):
            await desk.talk("病名は内緒", visibility="private")
        with freeze_time(NEXT_DAY, real_asyncio=True):
            await desk.talk("やあ")
            assert "内緒" not in str(desk.model.requests[-1].prompt)


class TestExpiry:
    async def test_loses_nothing_though_the_program_is_started_anew(self, tmp_path: Path) -> None:
        with freeze_time(NOON, real_asyncio=True):
            async with open_desk(tmp_path) as desk:
                await desk.talk("名前はディエゴ", "猫がいる", "またね")
                assert desk.writer.requests == []
        with freeze_time(NEXT_DAY, real_asyncio=True):
            async with open_desk(tmp_path) as desk:
                await desk.stores.sessions.expire()
                desk.writer.script = [["- ディエゴさん、猫"]]
                await desk.summaries.catch_up()
                await desk.settle()
                assert await desk.kept() == {"public": "- ディエゴさん、猫"}
                await desk.talk("私は誰？")
                assert desk.told().endswith("要約: - ディエゴさん、猫")
                assert UserPart("名前はディエゴ") not in desk.model.requests[-1].prompt


class TestClear:
    async def test_drops_the_summary_and_the_one_that_is_being_written(self, desk: Desk) -> None:
        gate = asyncio.Event()
        desk.writer.script = [["- 犬はポチ"], ["- 猫は", gate, "タマ"]]
        await desk.talk("犬はポチ", "いい天気")
        await desk.ask("猫はタマ")
        await desk.ask("雨です")
        for _ in range(2):
            await desk.writer.asked()
        await desk.stores.sessions.clear(KEY)
        gate.set()
        await desk.settle()
        assert await desk.kept() == {}
        await desk.talk("犬と猫は？")
        assert "ポチ" not in str(desk.model.requests[-1].prompt)
        assert "タマ" not in str(desk.model.requests[-1].prompt)
