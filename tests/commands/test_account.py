from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.message import UserSettings
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.settings.service import change_settings
from tests.databases import laid_out
from tests.stores.clocked import DAILY

TARO = 123456789012345678
TOKYO = "Asia/Tokyo"


async def test_a_time_zone_is_named_as_people_name_it_and_reminders_follow(tmp_path: Path) -> None:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        tomorrow, key = datetime.now(UTC) + timedelta(days=1), SessionKey(TARO, 987654321098765432)
        await stores[ScheduleStore].add(key, "薬を飲む", tomorrow, repeat=DAILY, timezone=TOKYO)

        async def zone_of_reminder() -> str:
            [reminder] = await stores[ScheduleStore].list(TARO)
            return reminder.timezone

        with pytest.raises(UnknownTimezone):
            await change_settings(
                stores, TARO, zone="どこか", locale=Locale.EN, spoken=True, default_zone=TOKYO
            )
        assert await stores.settings.get(TARO) == UserSettings()
        assert await zone_of_reminder() == TOKYO
        for named, zone, of_reminder in (("ロンドン", "Europe/London", "Europe/London"), (None, None, TOKYO)):
            chosen = await change_settings(stores, TARO, zone=named, default_zone=TOKYO)
            assert (chosen.timezone, await zone_of_reminder()) == (zone, of_reminder)


async def test_a_language_and_a_voice_change_apart_from_each_other(tmp_path: Path) -> None:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        await change_settings(stores, TARO, locale=Locale.EN, default_zone=TOKYO)
        chosen = await change_settings(stores, TARO, spoken=True, default_zone=TOKYO)
        assert (chosen.locale, chosen.timezone, chosen.spoken) == (Locale.EN, None, True)
        chosen = await change_settings(stores, TARO, locale=None, spoken=False, default_zone=TOKYO)
        assert (chosen.locale, chosen.spoken) == (None, False)
