"""What a user chooses holds everywhere at once: in the settings, and for what repeats by their clock."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot import preferences
from cc_bot.domain import Locale, SessionKey
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.message import UserSettings
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.stores.clocked import DAILY

TARO = 123456789012345678
KEY = SessionKey(TARO, 987654321098765432)
TOKYO = "Asia/Tokyo"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


async def zone_of_reminder(stores: Stores) -> str:
    [reminder] = await stores.schedules.list(TARO)
    return reminder.timezone


@pytest.fixture
async def reminder(stores: Stores) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    await stores.schedules.add(KEY, "薬を飲む", tomorrow, repeat=DAILY, timezone=TOKYO)


@pytest.mark.usefixtures("reminder")
class TestATimeZone:
    async def test_is_named_as_people_name_it_and_reminders_follow(self, stores: Stores) -> None:
        chosen = await preferences.choose(stores, TARO, zone="ロンドン", default_zone=TOKYO)
        assert chosen.timezone == "Europe/London"
        assert await zone_of_reminder(stores) == "Europe/London"

    async def test_that_is_taken_back_leaves_reminders_in_the_usual_one(self, stores: Stores) -> None:
        await preferences.choose(stores, TARO, zone="Berlin", default_zone=TOKYO)
        chosen = await preferences.choose(stores, TARO, zone=None, default_zone=TOKYO)
        assert chosen.timezone is None
        assert await zone_of_reminder(stores) == TOKYO

    async def test_that_there_is_not_changes_nothing(self, stores: Stores) -> None:
        with pytest.raises(UnknownTimezone):
            await preferences.choose(
                stores, TARO, zone="どこか", locale=Locale.EN, spoken=True, default_zone=TOKYO
            )
        assert await stores.settings.get(TARO) == UserSettings()
        assert await zone_of_reminder(stores) == TOKYO


class TestALanguageAndAVoice:
    async def test_change_apart_from_each_other(self, stores: Stores) -> None:
        await preferences.choose(stores, TARO, locale=Locale.EN, default_zone=TOKYO)
        chosen = await preferences.choose(stores, TARO, spoken=True, default_zone=TOKYO)
        assert (chosen.locale, chosen.timezone, chosen.spoken) == (Locale.EN, None, True)
        chosen = await preferences.choose(stores, TARO, locale=None, spoken=False, default_zone=TOKYO)
        assert (chosen.locale, chosen.spoken) == (None, False)
