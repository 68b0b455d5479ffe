"""Settings: a user's own choices."""

import asyncio
from datetime import timedelta

import pytest
from freezegun import freeze_time

from cc_bot.domain import Locale, UserSettings
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.stores import Stores
from tests.stores.backends import OpenStores

ME, YOU = 123456789012345678, 876543210987654321


class TestChoices:
    async def test_are_none_at_first(self, stores: Stores) -> None:
        assert await stores.settings.get(ME) == UserSettings()

    async def test_are_kept(self, open_again: OpenStores) -> None:
        chosen = UserSettings(locale=Locale.EN, timezone="Europe/London")
        async with open_again() as stores:
            assert await stores.settings.set(ME, locale=Locale.EN, timezone="Europe/London") == chosen
        async with open_again() as stores:
            assert await stores.settings.get(ME) == chosen

    async def test_left_out_stay_as_they_are(self, stores: Stores) -> None:
        await stores.settings.set(ME, locale=Locale.JA)
        await stores.settings.set(ME, timezone="Asia/Tokyo")
        assert await stores.settings.set(ME) == UserSettings(Locale.JA, "Asia/Tokyo")

    async def test_set_to_none_go_back_to_the_default(self, stores: Stores) -> None:
        await stores.settings.set(ME, locale=Locale.JA, timezone="Asia/Tokyo")
        assert await stores.settings.set(ME, locale=None) == UserSettings(None, "Asia/Tokyo")
        assert await stores.settings.set(ME, timezone=None) == UserSettings()

    @pytest.mark.parametrize(
        "name", ["Tokyo", "", "Asia", "../etc/passwd", "/etc/localtime", "Asia/Tokyo\0", "日本"]
    )
    async def test_of_an_unknown_time_zone_is_refused_and_changes_nothing(
        self, stores: Stores, name: str
    ) -> None:
        before = await stores.settings.set(ME, locale=Locale.JA, timezone="Asia/Tokyo")
        with pytest.raises(UnknownTimezone):
            await stores.settings.set(ME, locale=Locale.EN, timezone=name)
        assert await stores.settings.get(ME) == before

    async def test_are_ones_own(self, stores: Stores) -> None:
        await stores.settings.set(ME, locale=Locale.EN)
        await stores.settings.claim_welcome(ME)
        assert await stores.settings.get(YOU) == UserSettings()


class TestWelcome:
    async def test_is_claimed_once(self, stores: Stores) -> None:
        assert await stores.settings.claim_welcome(ME) is True
        assert await stores.settings.claim_welcome(ME) is False
        assert (await stores.settings.get(ME)).welcomed is True

    async def test_is_claimed_once_by_many_at_once(self, stores: Stores) -> None:
        claims = await asyncio.gather(*(stores.settings.claim_welcome(ME) for _ in range(20)))
        assert sum(claims) == 1

    async def test_is_no_word_on_the_menu_which_is_told_once_a_day(self, stores: Stores) -> None:
        with freeze_time("2026-11-26 10:00:00", real_asyncio=True) as time:
            assert await stores.settings.claim_word_on_menu(ME)
            assert not await stores.settings.claim_word_on_menu(ME)
            assert await stores.settings.claim_word_on_menu(YOU)
            time.tick(timedelta(hours=23, minutes=59))
            assert not await stores.settings.claim_word_on_menu(ME)
            time.tick(timedelta(minutes=1))
            assert await stores.settings.claim_word_on_menu(ME)
        assert not (await stores.settings.get(ME)).welcomed

    async def test_and_choices_leave_each_other_alone(self, stores: Stores) -> None:
        await stores.settings.set(ME, locale=Locale.EN)
        assert await stores.settings.claim_welcome(ME) is True
        assert await stores.settings.set(ME, timezone="Asia/Tokyo") == UserSettings(
            Locale.EN, "Asia/Tokyo", welcomed=True
        )
