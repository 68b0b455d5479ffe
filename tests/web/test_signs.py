"""The sentences that pages share with Discord: without the signs and commands that those have there."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from cc_bot.domain import Locale
from cc_bot.domain.schedule import USUAL_QUIET
from tests.web.pages import CHANNEL, TARO, Site, Visit, shown
from tests.web.stored import KEY, keep, spend, talk

PATHS: Final = (
    *("/conversations", f"/conversations?place={CHANNEL}/default", "/reminders", "/usage", "/settings"),
    *("/privacy", "/privacy/erase", "/console", "/console/limits", "/console/access", "/console/models"),
    *("/console/log", "/console/doctor", "/memories", "/memories?q=zzz", "/memories/1", "/memories/2"),
    *("/memories/erase?n=1&n=2", "/memories/erase-all", "/memories/import", "/memories/several?n=1&n=2"),
)
SIGN: Final = re.compile(
    '[\U0001f000-\U0001faff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f]|<[@#t]|(?<![\\w"=])/memory\\b|/メモリ'
)


@pytest.mark.slow
@pytest.mark.parametrize("locale", Locale)
async def test_pages_show_no_sign_and_no_memory_command_of_discords(
    site: Site, taro: Visit, locale: Locale
) -> None:
    stores, later = site.core.stores, datetime.now(UTC) + timedelta(days=1)
    site.town.owners.add(TARO)
    await stores.settings.set(TARO, locale=locale)
    await talk(site, ("旅行の計画", "はい"), visibility="private")
    await spend(site, 4321)
    added = await stores.schedules.add(KEY, "薬", later, repeat="0 7 * * *")
    await stores.schedules.pause(TARO, added.id)
    await stores.schedules.add(KEY, "", later, kind="heartbeat", repeat="every 6h", quiet=USUAL_QUIET)
    await site.services.console.administration.begin_maintenance(TARO, "22時まで")
    pinned = await keep(site, "一", audience="private")
    await stores.memories.update(TARO, pinned.id, content="二", expires_at=later)
    await stores.memory_pins.pin(TARO, pinned.id)
    gone = await keep(site, "三")
    await stores.memories.delete(TARO, gone.id)
    await taro.press("/console/doctor")
    for path in PATHS:
        assert not SIGN.findall(shown(await taro.open(path))), path
    for path, form in (
        ("/reminders", {"text": "", "when": ""}),
        ("/console/models", {"id": "x"}),
        ("/memories/erase", {"n": "1", "scope": "alone"}),
        ("/memories/erase-all", {"count": "0", "scope": "alone"}),
    ):
        answer = await taro.press(path, **form)
        page = await (taro.follow(answer) if answer.status == 303 else answer.text())
        assert not SIGN.findall(shown(page)), path
