"""The offline model has reminders made, listed and cancelled in plain words, so they can be tried at once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.llm.model import ToolSchema
from tests.llm.offline_partner import BOTH, Partner

REMINDERS = tuple(
    ToolSchema(name, "", {"type": "object"}) for name in ("schedule", "list_schedules", "cancel_schedule")
)


def user(*known: dict[str, Any]) -> Partner:
    return Partner((*BOTH, *REMINDERS), known=known)


class TestReminder:
    @pytest.mark.parametrize(
        ("said", "when", "text"),
        [
            ("明日9時に薬って知らせて", "明日9時に", "薬"),
            ("明日の朝8時に薬を飲むように教えてください", "明日の朝8時に", "薬を飲む"),
            ("薬を明日9時にリマインドして", "明日9時に", "薬"),
            ("3時になったら会議って言って", "3時に", "会議"),
            ("10分後に教えて", "10分後に", "時間です"),
            ("6時半に起こして", "6時半に", "起きる時間です"),
            ("毎朝8時に天気をお知らせして", "毎朝8時に", "天気"),
            ("リマインダーをセットして: 12月3日の正午 歯医者", "12月3日の正午", "歯医者"),
            ("remind me to call mom tomorrow at 9", "tomorrow at 9", "call mom"),
            ("Remind me tomorrow at 9 to call mom.", "tomorrow at 9", "call mom"),
            ("could you remind me in 10 minutes about the oven?", "in 10 minutes", "the oven"),
            ("Wake me up at 6:30", "at 6:30", "Time to wake up"),
            ("set an alarm for 7am", "7am", "It's time"),
            ("set a timer for 10 minutes", "in 10 minutes", "It's time"),
            ("tell me at 5pm to leave", "at 5pm", "leave"),
            ("remind me every weekday at 9 to stretch", "every weekday at 9", "stretch"),
            ("18時にアラームかけて", "18時に", "時間です"),
            ("明日9時に薬を飲むのを忘れないようにして", "明日9時に", "薬を飲む"),
            ("明日9時に会議があるから忘れないようにしてね", "明日9時に", "会議"),
            ("10分後につついて", "10分後に", "時間です"),
            ("15時になったら休憩ってつっついてくれる？", "15時に", "休憩"),
            ("18時に帰る時間だって送って", "18時に", "帰る時間だ"),
            ("18時に帰る時間ってDM送ってください", "18時に", "帰る時間"),
            ("明日10時の会議を予定に入れておいて", "明日10時の", "会議"),
            ("金曜15時に歯医者、カレンダーに入れて", "金曜15時に", "歯医者"),
            ("明日の朝7時に起床、頼む", "明日の朝7時に", "起床"),
            ("明日9時に薬、頼んだよ！", "明日9時に", "薬"),
            ("今から2時間後に洗濯物ってよろしく", "今から2時間後に", "洗濯物"),
            ("隔週の火曜 10時に資源ゴミって知らせて", "隔週の火曜 10時に", "資源ゴミ"),
            ("3日ごとに8時に水やりって知らせて", "3日ごとに8時に", "水やり"),
            ("月曜から金曜の8時に朝会って教えて", "月曜から金曜の8時に", "朝会"),
            ("remind me every other friday to pay the cleaner", "every other friday", "pay the cleaner"),
        ],
    )
    async def test_is_made_of_plain_words(self, said: str, when: str, text: str) -> None:
        partner = user()
        await partner.say(said)
        assert partner.calls == [("schedule", {"when": when, "text": text})]

    @pytest.mark.parametrize("said", ["薬をリマインドして", "remind me to call mom", "薬って知らせて"])
    async def test_without_a_time_is_asked_about(self, said: str) -> None:
        partner = user()
        answer = await partner.say(said)
        assert "いつ" in answer or "When" in answer
        assert partner.calls == []

    @pytest.mark.parametrize(
        "said",
        [
            "日本の首都を教えて",
            "明日の天気は？",
            "tell me about Paris",
            "猫が好きなのを覚えて",
            "私の薬は何？",
            "手紙を送って",
            "買い物リストを予定に入れておいて",
            "鍵を忘れないようにして",
            "翻訳を頼む",
        ],
    )
    async def test_is_not_made_of_anything_else(self, said: str) -> None:
        partner = user()
        await partner.say(said)
        assert "schedule" not in {name for name, _ in partner.calls}

    async def test_that_repeats_as_no_rule_reads_is_left_to_the_tool_to_refuse(self) -> None:
        partner = user()
        await partner.say("3日おきに8時に薬って知らせて")
        [(name, arguments)] = partner.calls
        assert (name, arguments["when"]) == ("schedule", "3日おきに8時に薬")

    async def test_is_not_looked_for_in_a_long_text(self) -> None:
        partner = user()
        await partner.say("what " * 2000 + "reminders at 9")
        assert "schedule" not in {name for name, _ in partner.calls}

    async def test_cannot_be_made_in_a_temporary_question(self) -> None:
        partner = Partner((*BOTH,))
        assert "予約できません" in await partner.say("明日9時に薬って知らせて")
        assert partner.calls == []


class TestListAndCancel:
    @pytest.mark.parametrize(
        "said",
        [
            "リマインダーの一覧を見せて",
            "お知らせは何がある？",
            "what reminders do I have?",
            "list my reminders",
        ],
    )
    async def test_look_first(self, said: str) -> None:
        partner = user()
        await partner.say(said)
        assert partner.calls == [("list_schedules", {})]

    @pytest.mark.parametrize(
        ("said", "number"),
        [
            ("薬のリマインダーを取り消して", 1),
            ("歯医者のお知らせをやめて", 2),
            ("#2のお知らせを取り消して", 2),
            ("cancel the 薬 reminder", 1),
        ],
    )
    async def test_cancel_the_one_that_is_meant(self, said: str, number: int) -> None:
        partner = user(
            {"id": 1, "text": "薬", "when": "2026-11-23T09:00+09:00"},
            {"id": 2, "text": "歯医者", "when": "2026-11-24T09:00+09:00"},
        )
        await partner.say(said)
        assert partner.calls == [("list_schedules", {}), ("cancel_schedule", {"id": number})]

    async def test_ask_which_where_that_is_not_clear(self) -> None:
        partner = user({"id": 1, "text": "薬", "when": "x"}, {"id": 2, "text": "歯医者", "when": "x"})
        answer = await partner.say("リマインダーをキャンセルして")
        assert "#1" in answer
        assert "#2" in answer
        assert partner.calls == [("list_schedules", {})]

    async def test_say_when_there_is_none(self) -> None:
        assert "ありません" in await user().say("薬のリマインダーを取り消して")


class TestAnything:
    @given(st.text(max_size=60))
    async def test_is_answered(self, said: str) -> None:
        assert json.dumps(await user().say(f"{said}に知らせて"))
