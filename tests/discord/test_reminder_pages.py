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
from cc_bot.discord.pages.page import without_previews
from cc_bot.discord.pages.reminders import (
    added_view,
    choice_name,
    heartbeat_page,
    list_view,
    paused_among,
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
    def test_says_for_whom_it_is_and_what(self) -> None:
        page = reminder_page(Firing(schedule(), NOON), NOON, JA)
        assert page.content == f"<@{USER}> ⏰ 薬"
        assert [each.label for each in page.buttons] == ["10分後にもう一度", "1時間後にもう一度"]

    def test_that_repeats_can_be_stopped(self) -> None:
        page = reminder_page(Firing(replace(schedule(), repeat="0 9 * * *"), NOON), NOON, EN)
        assert [each.label for each in page.buttons] == [
            "Again in 10 minutes",
            "Again in an hour",
            "Stop repeating",
        ]

    @pytest.mark.parametrize(("minutes", "told"), [(1, False), (3, True)])
    def test_says_when_it_is_late(self, minutes: int, told: bool) -> None:
        page = reminder_page(Firing(schedule(), NOON), NOON + timedelta(minutes=minutes), JA)
        assert ("お知らせが遅れて" in page.facts.description) is told
        assert page.content == f"<@{USER}> ⏰ 薬"

    @given(said)
    def test_fits_a_message_whatever_it_says(self, text: str) -> None:
        firing = Firing(replace(schedule(text=text), repeat="0 9 * * *"), NOON)
        page = reminder_page(firing, NOON + timedelta(hours=1), JA)
        again = snoozed_page(page, firing.schedule, schedule(2, text), JA)
        for each in (page, again, heartbeat_page(replace(schedule(), place="channel"), text * 3)):
            assert utf16_length(each.content) <= MESSAGE_LIMIT

    @pytest.mark.parametrize("link", ["http://a ", "discord.gg/a "])
    def test_of_links_alone_fits_a_message_without_previews(self, link: str) -> None:
        page = heartbeat_page(schedule(), link * 600)
        assert utf16_length(page.content) <= MESSAGE_LIMIT
        assert page.content == without_previews(page.content)
        assert page.content.count("<http") > 50

    def test_cuts_no_character_of_two_units_apart(self) -> None:
        page = heartbeat_page(schedule(), "😀" * 1500)
        assert page.content.encode("utf-16")
        assert page.content.endswith("😀…")


class TestNonce:
    @given(st.integers(1, 2**40), st.integers(0, 10**6))
    def test_fits_and_is_another_one_for_each_time(self, number: int, hours: int) -> None:
        firing = Firing(schedule(number), NOON + timedelta(hours=hours))
        assert len(nonce_of(firing)) <= 25
        assert nonce_of(firing) != nonce_of(replace(firing, due_at=firing.due_at + timedelta(seconds=1)))
        assert nonce_of(firing) != nonce_of(replace(firing, schedule=schedule(number + 1)))
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

    @pytest.mark.parametrize("obstacle", [each for each in get_args(Obstacle) if each])
    @pytest.mark.parametrize("words", [JA, EN])
    def test_a_pause_has_a_reason(self, obstacle: Obstacle, words: object) -> None:
        paused = replace(schedule(text="*" * 1000), status="paused", obstacle=obstacle)
        page = stopped_page(paused, mentioned(Locale.JA if words is JA else Locale.EN))
        assert (JA if words is JA else EN).reminder.reasons[obstacle] in page.content
        assert utf16_length(page.content) <= MESSAGE_LIMIT


class TestList:
    def test_of_none_says_how_to_set_one(self) -> None:
        assert "</remind add:" in list_view([], 1, recipient()).content

    def test_tells_time_place_and_repeat(self) -> None:
        known = [
            schedule(),
            replace(schedule(2, "散歩"), repeat="0 9 * * *", place="dm"),
            replace(schedule(3, "会議"), status="paused", obstacle="bot_removed"),
            replace(schedule(4, "本"), status="paused", place="terminal"),
        ]
        embed = list_view(known, 1, recipient()).embed
        assert embed
        told = str(embed.description).split("\n\n")
        assert (
            told[0] == f"**#1** 薬\n-# <t:{int(NOON.timestamp())}:f> ・ <t:{int(NOON.timestamp())}:R> ・ <#2>"
        )
        assert "🔁 毎日 9:00" in told[1]
        assert told[1].endswith("・ DM")
        assert "チャンネルを見られなくなった" in told[2]
        assert "⏸ 停止中 ・ ターミナル" in told[3]

    @pytest.mark.slow
    @given(st.lists(st.text(alphabet="*_薬", min_size=100, max_size=200), max_size=30))
    def test_fits_an_embed_and_has_every_one_on_some_page(self, all_said: list[str]) -> None:
        known = [
            replace(schedule(10**6 + n, text), status="paused", obstacle="bot_removed", repeat="0 9 * * 1-5")
            for n, text in enumerate(all_said)
        ]
        seen = ""
        for page in range(1, 5):
            embed = list_view(known, page, recipient()).embed
            if embed:
                assert utf16_length(str(embed.description)) <= 4096
                seen += str(embed.description)
        assert all(f"#{each.id}**" in seen for each in known)

    def test_of_a_page_that_is_not_there_any_more_is_the_last_one(self) -> None:
        known = [schedule(number) for number in range(1, 11)]
        view = list_view(known, 9, recipient(Locale.EN))
        assert [each.enabled for each in view.buttons] == [True, False]
        assert view.embed
        assert "**#10**" in str(view.embed.description)


class TestReply:
    def test_speaks_of_reminders_that_stopped(self) -> None:
        stopped = replace(schedule(2), status="paused", obstacle="dms_closed")
        by_hand = replace(schedule(3), status="paused")
        view = added_view(
            [schedule()], "DM でお知らせします。", paused_among([stopped, by_hand]), recipient()
        )
        assert "止まっているお知らせが 1 件" in view.content

    @given(said)
    def test_fits_a_message(self, text: str) -> None:
        for count in (1, 2, 5):
            view = added_view([schedule(text=text)] * count, "x" * 100, 9, recipient())
            assert utf16_length(view.content) <= MESSAGE_LIMIT
            assert len(view.buttons) == count


class TestChoices:
    def test_show_the_time_where_their_owner_is(self) -> None:
        assert choice_name(schedule()) == "#1 11/23 12:00 薬"
        assert choice_name(replace(schedule(), timezone="Asia/Atlantis")) == "#1 11/23 03:00 薬"

    @given(said)
    def test_are_short_enough(self, text: str) -> None:
        assert len(choice_name(schedule(text=text))) <= CHOICE_CHARACTERS

    @pytest.mark.parametrize(
        ("typed", "found"),
        [("", [1, 12]), ("さん", [12]), ("#12", [12]), ("1", [1, 12]), ("mom", [12]), ("MOM", [12])],
    )
    def test_are_those_that_match(self, typed: str, found: list[int]) -> None:
        known = [schedule(), schedule(12, "さんぽ with Mom")]
        assert [each.id for each in matching(known, typed)] == found

    def test_are_as_many_as_discord_takes(self) -> None:
        assert len(matching((schedule(number) for number in range(1, 60)), "")) == 25
