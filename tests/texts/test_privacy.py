"""What is said about stored data names every kind, in every language, and fits a message of Discord."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from cc_bot.discord.pages.admin import erase_question
from cc_bot.discord.pages.custom_ids import PrivacyButton, parse_custom_id
from cc_bot.domain import Locale
from cc_bot.domain.message import FILE_QUOTA
from cc_bot.domain.privacy import DataKind, Holdings, Retention, StoredAmount
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

NOW = datetime(2026, 11, 22, 20, tzinfo=UTC)
EVERYTHING = Holdings(
    {kind: StoredAmount(10**9, NOW - timedelta(days=999), NOW) for kind in get_args(DataKind)}
)
KEPT = Retention(365, 90, 400, 30)
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize("locale", list(Locale))
class TestOverview:
    def test_names_every_kind(self, locale: Locale) -> None:
        words = texts(locale).privacy
        assert {*words.kinds} == {*get_args(DataKind)}
        told = words.overview(EVERYTHING, KEPT, TOKYO)
        assert all(name in told for name in words.kinds.values())

    def test_has_the_days_as_they_are_where_the_user_is(self, locale: Locale) -> None:
        held = Holdings({"usage": StoredAmount(1, NOW, NOW)})
        assert "2026-11-23" in texts(locale).privacy.overview(held, KEPT, TOKYO)

    def test_tells_only_of_limits_that_there_are(self, locale: Locale) -> None:
        words = texts(locale).privacy
        assert words.archive_days.format(days=365) in words.overview(EVERYTHING, KEPT, TOKYO)
        assert words.copy_days.format(days=30) in words.overview(EVERYTHING, KEPT, TOKYO)
        assert "0" not in words.overview(Holdings({"usage": StoredAmount(1)}), Retention(), TOKYO)

    def test_tells_how_much_room_files_have_where_there_are_some(self, locale: Locale) -> None:
        words, most = texts(locale).privacy, FILE_QUOTA.user_bytes >> 20
        held = replace(EVERYTHING, file_bytes=3 * 2**19)
        assert words.files_used.format(used="1.5", most=most) in words.overview(held, KEPT, TOKYO)
        assert f"{most} MB" not in words.overview(EVERYTHING, KEPT, TOKYO)

    def test_fits_a_message(self, locale: Locale) -> None:
        words, everything = mentioned(locale).privacy, replace(EVERYTHING, file_bytes=FILE_QUOTA.user_bytes)
        assert len(words.overview(everything, KEPT, TOKYO)) <= 2000
        assert len(words.told(EVERYTHING)) <= 2000
        assert len(erase_question(EVERYTHING, 2**63 - 1, mentioned(locale), NOW).content) <= 2000

    def test_of_what_was_erased_leaves_out_what_stays(self, locale: Locale) -> None:
        words = texts(locale).privacy
        assert words.kinds["rules"] not in words.told(EVERYTHING)
        assert words.told(Holdings()) == words.nothing_erased

    def test_says_what_stays_once_of_all_its_steps(self, locale: Locale) -> None:
        words, only_rules = texts(locale).privacy, Holdings({"rules": StoredAmount(1)})
        steps = words.asked(EVERYTHING) + words.told(EVERYTHING)
        assert steps.count(words.what_stays(EVERYTHING)) == 1
        assert words.nothing_to_erase(only_rules).count(words.what_stays(only_rules)) == 1
        assert words.told(only_rules) == words.nothing_erased

    def test_says_of_a_server_what_stays_there(self, locale: Locale) -> None:
        words, on_server = texts(locale).privacy, replace(EVERYTHING, on_server=True)
        assert words.copies_on_server in words.asked(on_server)
        assert words.copies_of_file not in words.asked(on_server)
        assert words.copies_of_file in words.asked(EVERYTHING)
        question = erase_question(on_server, 2**63 - 1, mentioned(locale), NOW)
        assert len(question.content) <= 2000


class TestButton:
    def test_is_read_back_from_its_id(self) -> None:
        button = PrivacyButton(2**63 - 1, "erase", 4_000_000_000)
        assert len(button.custom_id()) <= 100
        assert parse_custom_id(button.custom_id()) == button

    @pytest.mark.parametrize("other", ["privacy", "privacy:1:all:5", "privacy:Ä:keep:5", "memory:1:erase:5"])
    def test_is_no_other_one(self, other: str) -> None:
        assert not isinstance(parse_custom_id(other), PrivacyButton)
