"""The sentences that pages share with Discord: without the signs that those begin with there."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from cc_bot.domain import Locale, SessionKey
from cc_bot.domain.member import Maintenance
from cc_bot.domain.schedule import USUAL_QUIET
from tests.web.pages import CHANNEL, TARO, Site, Visit
from tests.web.test_console import shown
from tests.web.test_conversations import talk
from tests.web.test_usage import spend

pytestmark = pytest.mark.slow

PATHS: Final = (
    *("/conversations", f"/conversations?place={CHANNEL}/default", "/reminders", "/usage", "/settings"),
    *("/privacy", "/privacy/erase", "/console", "/console/limits", "/console/access", "/console/models"),
    *("/console/log", "/console/doctor"),
)
SIGN: Final = re.compile("[\U0001f000-\U0001faff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f]|<[@#t]")


class TestPages:
    @pytest.mark.parametrize("locale", Locale)
    async def test_show_no_sign_of_discords(self, site: Site, taro: Visit, locale: Locale) -> None:
        stores, key = site.core.stores, SessionKey(TARO, CHANNEL)
        later = datetime.now(UTC) + timedelta(days=1)
        site.town.owners.add(TARO)
        await stores.settings.set(TARO, locale=locale)
        await talk(site, ("旅行の計画", "はい"), visibility="private")
        await spend(site, 4321)
        added = await stores.schedules.add(key, "薬", later, repeat="0 7 * * *")
        await stores.schedules.pause(TARO, added.id)
        await stores.schedules.add(key, "", later, kind="heartbeat", repeat="every 6h", quiet=USUAL_QUIET)
        administration = site.services.console.administration
        await administration.begin_maintenance(TARO, "22時まで")
        assert await administration.get_maintenance() == Maintenance("22時まで")
        await taro.press("/console/doctor")
        for path in PATHS:
            assert not SIGN.findall(shown(await taro.open(path))), path
        for path, form in (("/reminders", {"text": "", "when": ""}), ("/console/models", {"id": "x"})):
            assert not SIGN.findall(shown(await (await taro.press(path, **form)).text())), path
