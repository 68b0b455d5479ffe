"""Receipts of reminders as they look under an answer, live and after a crash."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import AnswerState, advance, final_pages, memory_buttons
from cc_bot.discord.pages.custom_ids import (
    LONGEST,
    Control,
    RemindersButton,
    SnoozeButton,
    UnscheduleButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.receipts import Carried
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.domain import Done, Locale, Message, TextDelta, ToolCall, Usage
from cc_bot.domain.schedule import MAX_TEXT_CHARACTERS, Schedule, ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import ScheduleChanged, TurnEvent
from cc_bot.texts import texts

JA, EN = texts(Locale.JA), texts(Locale.EN)
USER = 2**63 - 1
NOON = datetime(2026, 11, 23, 3, tzinfo=UTC)
SECONDS = int(NOON.timestamp())

users = st.integers(0, 2**63 - 1)
ids = st.integers(0, 10**12)


def scheduled(number: int = 1, text: str = "薬", repeat: str = "") -> Schedule:
    return Schedule(number, SessionKey(USER, 2), "reminder", text, NOON, NOON, repeat=repeat)


def added(schedule: Schedule) -> ScheduleChanged:
    return ScheduleChanged(ScheduleChange("added", schedule))


def cancelled(schedule: Schedule) -> ScheduleChanged:
    return ScheduleChanged(ScheduleChange("cancelled", schedule))


def ended(*events: TurnEvent, calls: tuple[ToolCall, ...] = ()) -> AnswerState:
    done = Done(Message("assistant", "はい。", tool_calls=calls, id=1), Usage())
    return reduce(advance, (TextDelta("はい。"), *events, done), AnswerState())


def lines(state: AnswerState, words: object = JA) -> list[str]:
    [page] = final_pages(state, JA if words is JA else EN)
    return page.facts.description.splitlines()


class TestLine:
    def test_says_when_and_what(self) -> None:
        assert lines(ended(added(scheduled()))) == [
            f"⏰ <t:{SECONDS}:F>（<t:{SECONDS}:R>）にお知らせします: 薬"
        ]

    def test_is_english_in_english(self) -> None:
        [line] = lines(ended(added(scheduled(text="pills"))), EN)
        assert line == f"⏰ I’ll remind you on <t:{SECONDS}:F> (<t:{SECONDS}:R>): pills"

    def test_says_how_it_repeats(self) -> None:
        [line] = lines(ended(added(scheduled(repeat="0 9 * * 1-5"))))
        assert line == f"🔁 平日 9:00にお知らせします（次は <t:{SECONDS}:F>）: 薬"

    def test_tells_of_what_was_cancelled(self) -> None:
        assert lines(ended(cancelled(scheduled()))) == ["🔕 お知らせを取り消しました: 薬"]

    def test_says_nothing_of_what_was_made_and_cancelled_at_once(self) -> None:
        assert lines(ended(added(scheduled()), cancelled(scheduled()))) == []

    def test_shows_markdown_as_it_was_written(self) -> None:
        [line] = lines(ended(added(scheduled(text="**薬**\n# 大"))))
        assert line.endswith("\\*\\*薬\\*\\* # 大")

    @given(st.lists(st.text(min_size=1, max_size=MAX_TEXT_CHARACTERS), min_size=1, max_size=9))
    def test_fits_a_message_however_many_there_are(self, said: list[str]) -> None:
        state = ended(*(added(scheduled(number, text)) for number, text in enumerate(said, 1)))
        assert all(utf16_length(page.content) <= MESSAGE_LIMIT for page in final_pages(state, JA))
        buttons = memory_buttons(state, JA, USER)
        assert len(buttons) == min(len(said), 4)
        assert all(1 <= len(button.label) <= 80 for button in buttons)


class TestButton:
    def test_cancels_the_reminder(self) -> None:
        [button] = memory_buttons(ended(added(scheduled(7))), JA, USER)
        assert (button.label, parse_custom_id(button.custom_id)) == (
            "お知らせを取り消す",
            UnscheduleButton(USER, 7),
        )

    def test_says_which_where_there_are_several(self) -> None:
        state = ended(added(scheduled(1)), added(scheduled(2, "散歩")))
        assert [each.label for each in memory_buttons(state, JA, USER)] == ["取り消す: 薬", "取り消す: 散歩"]

    def test_is_not_there_for_what_was_cancelled(self) -> None:
        assert memory_buttons(ended(cancelled(scheduled())), JA, USER) == ()


class TestAfterACrash:
    def call(self, **told: object) -> ToolCall:
        return ToolCall("1", "schedule", "{}", json.dumps(told, ensure_ascii=False))

    @pytest.mark.parametrize("repeat", ["", "0 9 * * *"])
    def test_they_are_the_same(self, repeat: str) -> None:
        data = {"id": 1, "text": "薬", "when": "2026-11-23T12:00+09:00", "where": "channel"}
        call = self.call(scheduled=data | ({"repeat": repeat} if repeat else {}))
        live, rebuilt = ended(added(scheduled(repeat=repeat))), ended(calls=(call,))
        assert lines(rebuilt) == lines(live)
        assert memory_buttons(rebuilt, JA, USER) == memory_buttons(live, JA, USER)

    def test_a_cancellation_is_the_same(self) -> None:
        assert lines(ended(calls=(self.call(cancelled={"id": 1, "text": "薬"}),))) == lines(
            ended(cancelled(scheduled()))
        )

    @pytest.mark.parametrize(
        "call",
        [
            ToolCall("1", "schedule", "{}", '{"error": "no"}', ok=False),
            ToolCall("1", "schedule", "{}", "[erased]"),
            ToolCall("1", "schedule", "{}", '{"scheduled": {"id": 1, "text": "薬", "when": "soon"}}'),
            ToolCall("1", "schedule", "{}", '{"scheduled": [1]}'),
        ],
    )
    def test_what_tells_of_nothing_is_passed_over(self, call: ToolCall) -> None:
        assert lines(ended(calls=(call,))) == []


class TestNewAnswer:
    def shown(self) -> Page:
        state = ended(added(scheduled(1)))
        [page] = final_pages(state, JA)
        return replace(page, receipts=memory_buttons(state, JA, USER))

    def test_keeps_what_the_old_one_set(self) -> None:
        carried = Carried.over(self.shown())
        state = replace(ended(), carried=carried)
        assert lines(state) == list(self.shown().facts.receipts)
        assert memory_buttons(state, JA, USER) == self.shown().receipts

    def test_says_it_once_when_the_same_is_set_again(self) -> None:
        again = replace(ended(added(scheduled(1))), carried=Carried.over(self.shown()))
        assert len(lines(again)) == len(memory_buttons(again, JA, USER)) == 1


class TestCustomIds:
    @given(
        st.one_of(
            st.builds(UnscheduleButton, users, ids),
            st.builds(SnoozeButton, users, ids, st.integers(1, 10**6)),
            st.builds(RemindersButton, users, st.integers(1, 10**6)),
        )
    )
    def test_are_read_back_and_fit(self, control: Control) -> None:
        assert parse_custom_id(control.custom_id()) == control
        assert len(control.custom_id()) <= LONGEST

    @pytest.mark.parametrize(
        "other", ["", "snooze", "snooze:1:2", "unschedule:1:!", "reminders:1:2:3", "x:1"]
    )
    def test_of_others_are_none_of_ours(self, other: str) -> None:
        assert parse_custom_id(other) is None
