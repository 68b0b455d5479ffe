from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from cc_bot.discord.pages.page import MAX_CARD_CHARACTERS
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.message import FILE_QUOTA
from cc_bot.domain.text import Locale
from cc_bot.features.privacy.model import DataKind, Holdings, Retention, StoredAmount
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.features.settings.commands import erase_question
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

NOW = datetime(2026, 11, 22, 20, tzinfo=UTC)
EVERYTHING = Holdings(
    {kind: StoredAmount(10**9, NOW - timedelta(days=999), NOW) for kind in get_args(DataKind)}
)
ON_SERVER = replace(EVERYTHING, on_server=True)
KEPT = Retention(365, 90, 400, 30)
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize("locale", list(Locale))
class TestOverview:
    def test_names_every_kind_with_limits_days_and_room_as_they_are(self, locale: Locale) -> None:
        words, quota = texts(locale)[PrivacyTexts], FILE_QUOTA.user_bytes >> 20
        assert {*words.kinds} == {*get_args(DataKind)}
        told = words.overview(EVERYTHING, KEPT)
        assert [name for name in words.kinds.values() if name.lower() not in told.lower()] == []
        assert words.archive_days.format(days=365) in told
        assert words.copy_days.format(days=30) in told
        assert f"{quota} MB" not in told
        with_files = words.overview(replace(EVERYTHING, file_bytes=3 * 2**19), KEPT)
        assert words.files_used.format(used="1.5", quota=quota) in with_files
        assert "0" not in words.overview(Holdings({"usage": StoredAmount(1)}), Retention())

    def test_fits_a_message(self, locale: Locale) -> None:
        words, everything = mentioned(locale), replace(EVERYTHING, file_bytes=FILE_QUOTA.user_bytes)
        caller = Recipient(2**63 - 1, locale, TOKYO, words)
        cards = [erase_question(held, caller, NOW) for held in (EVERYTHING, ON_SERVER)]
        asked = ["\n".join((card.title, *(each.text for each in card.paragraphs))) for card in cards]
        for said in (
            words[PrivacyTexts].overview(everything, KEPT),
            words[PrivacyTexts].say_erased(EVERYTHING),
            *asked,
        ):
            assert len(said) <= MAX_CARD_CHARACTERS

    def test_of_what_is_erased_says_once_what_stays_and_where(self, locale: Locale) -> None:
        words, only_rules = texts(locale)[PrivacyTexts], Holdings({"rules": StoredAmount(1)})
        assert words.kinds["rules"] not in words.say_erased(EVERYTHING)
        assert words.say_erased(Holdings()) == words.say_erased(only_rules) == words.nothing_erased
        steps = words.say_what_goes(EVERYTHING) + words.say_erased(EVERYTHING)
        assert steps.count(words.say_what_stays(EVERYTHING)) == 1
        assert words.nothing_to_erase(only_rules).count(words.say_what_stays(only_rules)) == 1
        on_server = words.say_what_goes(ON_SERVER)
        assert (words.copies_on_server in on_server, words.copies_of_file in on_server) == (True, False)
        assert words.copies_of_file in words.say_what_goes(EVERYTHING)
