"""Reminders as messages: at their time, in lists, and when they did not come."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.commands.remind import matching
from cc_bot.discord.pages.memory import CHOICE_CHARACTERS
from cc_bot.discord.pages.page import NO_FACTS
from cc_bot.discord.pages.reminders import (
    added_view,
    choice_name,
    heartbeat_page,
    list_view,
    reminder_page,
    snoozed_page,
    stopped_page,
    untold_page,
)
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.discord.recipients import Recipient
from cc_bot.discord.reminders import nonce_at, nonce_of
from cc_bot.domain import Locale
from cc_bot.domain.schedule import MAX_TEXT_CHARACTERS, Firing, MissedReminders, Obstacle, Schedule
from cc_bot.domain.session import SessionKey
from cc_bot.texts import texts
from tests.discord.cases import check
from tests.discord.mentioned import mentioned

JA, EN = texts(Locale.JA), texts(Locale.EN)
USER = 2**63 - 1
NOON = datetime(2026, 11, 23, 3, tzinfo=UTC)
TOKYO = ZoneInfo("Asia/Tokyo")
said = st.text(min_size=1, max_size=MAX_TEXT_CHARACTERS)


def schedule(number: int = 1, text: str = "薬") -> Schedule:
    return Schedule(number, SessionKey(USER, 2), "reminder", text, NOON, NOON, number=number)


def recipient(locale: Locale = Locale.JA) -> Recipient:
    return Recipient(USER, locale, TOKYO, mentioned(locale), welcomed=True)


class TestReminder:
    def test_says_for_whom_it_is_and_what_and_when_it_is_late(self) -> None:
        page = reminder_page(Firing(schedule(), NOON), NOON + timedelta(minutes=1), JA)
        assert (page.content, page.facts) == (f"<@{USER}> ⏰ 薬", NO_FACTS)
        assert [each.label for each in page.buttons] == ["10分後にもう一度", "1時間後にもう一度"]
        late = reminder_page(Firing(schedule(), NOON), NOON + timedelta(minutes=3), JA)
        assert (late.content, bool(late.facts)) == (page.content, True)
        repeated = reminder_page(Firing(replace(schedule(), repeat="0 9 * * *"), NOON), NOON, EN)
        labels = ["Again in 10 minutes", "Again in an hour", "Stop repeating"]
        assert [each.label for each in repeated.buttons] == labels

    @given(said)
    def test_fits_a_message_whatever_it_says(self, text: str) -> None:
        firing = Firing(replace(schedule(text=text), repeat="0 9 * * *"), NOON)
        page = reminder_page(firing, NOON + timedelta(hours=1), JA)
        again = snoozed_page(page, firing.schedule, schedule(2, text), JA)
        for each in (page, again, heartbeat_page(replace(schedule(), place="channel"), text * 3)):
            assert utf16_length(each.content) <= MESSAGE_LIMIT
        for count in (1, 2, 5):
            view = added_view([schedule(text=text)] * count, "x" * 100, 9, recipient())
            assert (utf16_length(view.content) <= MESSAGE_LIMIT, len(view.buttons)) == (True, count)
        assert len(choice_name(schedule(text=text))) <= CHOICE_CHARACTERS

    @given(st.integers(1, 2**40), st.integers(0, 10**6))
    def test_has_a_nonce_of_its_own_for_each_time(self, number: int, hours: int) -> None:
        firing = Firing(schedule(number), NOON + timedelta(hours=hours))
        later = replace(firing, due_at=firing.due_at + timedelta(seconds=1))
        other = replace(firing, schedule=schedule(number + 1))
        assert len({nonce_of(each) for each in (firing, later, other)}) == 3
        assert len(nonce_of(firing)) <= 25
        assert len(nonce_at("u", USER, firing.due_at)) <= 25


class TestUntold:
    def test_names_what_was_missed_and_what_is_uncertain(self) -> None:
        untold = MissedReminders(USER, (Firing(schedule(), NOON),), (Firing(schedule(2, "散歩"), NOON),))
        lines = untold_page(untold, JA).content.split("\n")
        assert [lines[1][-1], lines[3][-2:]] == ["薬", "散歩"]

    @given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=20))
    def test_fits_a_message_however_much_that_is(self, all_said: list[str]) -> None:
        firings = tuple(Firing(schedule(number, text), NOON) for number, text in enumerate(all_said, 1))
        for words in (JA, EN):
            page = untold_page(MissedReminders(USER, firings, firings), words)
            assert utf16_length(page.content) <= MESSAGE_LIMIT
            assert ("+" in page.content.rpartition("\n")[2]) or len(firings) <= 6

    @pytest.mark.parametrize("locale", Locale)
    def test_a_pause_has_a_reason(self, locale: Locale) -> None:
        words = mentioned(locale)
        for obstacle in filter(None, get_args(Obstacle)):
            paused = replace(schedule(text="*" * 1000), status="paused", obstacle=obstacle)
            content = stopped_page(paused, words).content
            assert words.reminder.reasons[obstacle] in content
            assert utf16_length(content) <= MESSAGE_LIMIT


class TestList:
    def test_tells_time_place_and_repeat(self) -> None:
        known = [
            schedule(),
            replace(schedule(2, "散歩"), repeat="0 9 * * *", place="dm"),
            replace(schedule(3, "会議"), status="paused", obstacle="bot_removed"),
            replace(schedule(4, "本"), status="paused", place="terminal"),
        ]
        embed = list_view(known, 1, recipient()).embed
        assert embed
        first, second, third, fourth = str(embed.description).split("\n\n")
        at = int(NOON.timestamp())
        assert first == f"**#1** 薬\n-# <t:{at}:f> ・ <t:{at}:R> ・ <#2>"
        assert ("🔁 毎日 9:00" in second, second.endswith("・ DM")) == (True, True)
        assert JA.reminder.reasons["bot_removed"] in third
        assert "⏸ 停止中 ・ ターミナル" in fourth
        assert "</remind add:" in list_view([], 1, recipient()).content

    def test_fits_an_embed_and_has_every_one_on_some_page(self) -> None:
        known = [
            replace(
                schedule(10**6 + n, "*_薬" * 67),
                status="paused",
                obstacle="bot_removed",
                repeat="0 9 * * 1-5",
            )
            for n in range(30)
        ]
        embeds = [embed for page in range(1, 5) if (embed := list_view(known, page, recipient()).embed)]
        assert all(utf16_length(str(embed.description)) <= 4096 for embed in embeds)
        seen = "".join(str(embed.description) for embed in embeds)
        assert [each.id for each in known if f"#{each.id}**" not in seen] == []

    def test_of_choices_has_those_that_match_with_their_owners_time(self) -> None:
        known = [schedule(), schedule(12, "さんぽ with Mom")]

        def found(typed: str) -> list[int]:
            return [each.id for each in matching(known, typed)]

        check(
            (choice_name(schedule()), "#1 11/23 12:00 薬"),
            (choice_name(replace(schedule(), timezone="Asia/Atlantis")), "#1 11/23 03:00 薬"),
            (found(""), [1, 12]),
            (found("さん"), [12]),
            (found("#12"), [12]),
            (found("1"), [1, 12]),
            (found("MOM"), [12]),
            (len(matching((schedule(number) for number in range(1, 60)), "")), 25),
        )
