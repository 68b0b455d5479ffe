"""The owners' console over a socket: what it shows and does, for owners alone."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
import structlog

from cc_bot.app.core import Core
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain.access import AccessRule, Maintenance
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import TurnEvent
from cc_bot.domain.usage import LimitKey
from cc_bot.features.admin.service import Administration, RuleWithSource, list_limits, list_rules
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.log import attach_handler, configure_logging
from cc_bot.texts import texts
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit, open_site, shown

PAGES: Final = tuple(f"/console{each}" for each in ("", "/limits", "/access", "/models", "/log", "/doctor"))
ACTIONS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("/console/begin-maintenance", {"note": "22時まで"}),
    ("/console/backup", {}),
    ("/console/limits/set", {"limit": "memories", "value": "5"}),
    ("/console/limits/unset", {"limit": "memories"}),
    ("/console/access/allow", {"kind": "user", "id": str(TARO)}),
    ("/console/access/remove", {"kind": "user", "id": str(TARO)}),
    ("/console/models/set", {"id": str(CHANNEL), "models": "gpt-5"}),
    ("/console/models/unset", {"id": str(CHANNEL)}),
    ("/console/doctor", {}),
)


@pytest.fixture
async def owner(site: Site) -> AsyncIterator[Visit]:
    """Taro's browser; the bot is his."""
    site.town.owners.add(TARO)
    async with site.visit() as visit:
        yield visit


@pytest.fixture
def _recording(site: Site) -> Iterator[None]:
    """Logging is the process's own: put it back for the other tests."""
    root, ours = logging.getLogger(), logging.getLogger("cc_bot")
    before = (root.handlers[:], root.level, ours.level)
    configure_logging("info")
    structlog.configure(cache_logger_on_first_use=False)  # else loggers would keep to it after this test
    with attach_handler(site.services.records):
        yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    ours.setLevel(own_level)
    structlog.reset_defaults()


async def follow(visit: Visit, path: str, **form: str) -> str:
    """Press, and return what the next page shows."""
    return shown(await visit.follow(await visit.press(path, **form)))


async def test_whether_somebody_may_is_asked_with_every_request_and_for_an_act_of_discord(
    site: Site, owner: Visit
) -> None:
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    async with site.visit(HANA) as hana:
        nothing = await hana.open("/consoles", status=404)
        for path in PAGES:
            assert await hana.open(path, status=404) == nothing
        for path, form in ACTIONS:
            assert (await hana.press(path, **form)).status == 404, path
            assert (await owner.send(path, form, **elsewhere)).status == 403, path
    for path in PAGES:
        await owner.open(path)
        site.town.owners.clear()
        assert "/console" not in await owner.open(path, status=404)
        site.town.owners.add(TARO)
    site.town.former_owners.add(TARO)
    for path, form in ACTIONS:
        assert (await owner.press(path, **form)).status == 404, path
    administration = site.services[Administration]
    assert (await administration.stores.access.get_state()).maintenance is None
    assert not [each for each in await list_limits(administration) if each.source == "owner"]
    assert await administration.stores.channel_models.list_chains() == {}


class TestStatus:
    async def test_has_turns_by_id_and_phase_and_no_word_of_them(self, site: Site, owner: Visit) -> None:
        first, second = begin_turns(site.core, 2)
        event = await anext(first)
        assert event is not None
        waiting = asyncio.create_task(anext(second))
        await asyncio.sleep(0)
        html = await owner.open("/console")
        told, waits = shown(html), texts(Locale.JA)[ConsoleTexts].phases["queue"]
        assert waits in told
        assert [turn.id in told for turn in site.core.assistant.turns.queued_turns] == [True, True]
        assert ("秘密" in html, str(HANA) in html) == (False, False)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await first.aclose()
        await second.aclose()
        assert waits not in shown(await owner.open("/console"))


async def test_the_state_offers_a_backup(tmp_path: Path) -> None:
    words = texts(Locale.JA)[ConsoleTexts]
    async with open_site(tmp_path, CC_BOT_BACKUP_FOLDER=str(tmp_path / "backup")) as site:
        site.town.owners.add(TARO)
        site.core.gateway_health.read_latency_s = lambda: 0.042
        async with site.visit() as owner:
            assert words.fixes["backup"] in shown(await owner.open("/console"))
            told = await follow(owner, "/console/backup")
            assert words.backup_made in told
            assert words.all_well in told


def begin_turns(core: Core, count: int) -> list[AsyncGenerator[TurnEvent, None]]:
    options = TurnOptions(Locale.JA, core.stores.usage.zone)
    key = SessionKey(HANA, CHANNEL)
    return [core.assistant.ask(key, Message("user", f"秘密の質問{n}"), options) for n in range(count)]


async def test_maintenance_begins_with_a_note_and_ends(site: Site, owner: Visit) -> None:
    told = await follow(owner, "/console/begin-maintenance", note="<b>22時</b> まで")
    assert "メンテナンスを始めました。" in told
    assert "<b>22時</b> まで" in told
    administration = site.services[Administration]
    assert (await administration.stores.access.get_state()).maintenance == Maintenance("<b>22時</b> まで")
    assert "メンテナンスを終えました。" in await follow(owner, "/console/end-maintenance")
    assert (await administration.stores.access.get_state()).maintenance is None


async def test_limits_are_set_and_taken_back_or_told_why_not(site: Site, owner: Visit) -> None:
    form = {"limit": "tokens_per_day", "kind": "user", "id": str(HANA)}
    told = await follow(owner, "/console/limits/set", value="１,０００", **form)
    done = texts(Locale.JA)[AdminTexts]
    said = done.limit_set.format(subject="花 & <Hana>", limit=done.limits["tokens_per_day"], value="1,000")
    assert said in told
    assert "花 & <Hana> 1日のトークン 1,000" in told
    key = LimitKey("user", HANA, "tokens_per_day")
    assert key in [each.key for each in await list_limits(site.services[Administration])]
    assert "取り消しました。" in await follow(owner, "/console/limits/unset", **form)
    assert "それはありません。" in await follow(owner, "/console/limits/unset", **form)
    told = await follow(owner, "/console/limits/set", limit="memories", value="", kind="", id="")
    assert (
        f"{done.limits['memories']} {texts(Locale.JA)[ConsoleTexts].sources['owner']} {done.no_limit} ⋯"
        in told
    )
    for wrong, sentence in (
        *(({key: "words"}, "制限が読み取れませんでした。") for key in ("value", "limit")),
        *(({"kind": "user", "id": id_}, "IDが読み取れませんでした。") for id_ in ("花子", "")),
        ({"kind": "", "id": "5"}, "相手が読み取れませんでした。"),
    ):
        answer = await owner.press("/console/limits/set", **{"limit": "memories", "value": "1", **wrong})
        assert (answer.status, sentence in await answer.text()) == (400, True), wrong


async def test_rules_and_models_are_set_and_taken_back(site: Site, owner: Visit) -> None:
    administration, done = site.services[Administration], texts(Locale.JA)[AdminTexts]
    hana, named = {"subject": "花 & <Hana>"}, {"channel": f"チャンネル {CHANNEL}"}
    rule, channel = {"kind": "user", "id": str(HANA)}, {"kind": "channel", "id": str(CHANNEL)}
    told = await follow(owner, "/console/access/deny", **rule)
    assert done.access_denied.format(**hana)[2:] in told
    assert await list_rules(administration) == [RuleWithSource(AccessRule("deny", "user", HANA), True)]
    for sentence in (done.access_removed, done.access_had_no_rule):
        told = await follow(owner, "/console/access/remove", **rule)
        assert sentence.format(**hana).partition("。")[0] in told
    assert await list_rules(administration) == []
    told = await follow(owner, "/console/models/set", models="gpt-5, other", **channel)
    assert "gpt-5 → other に聞きます" in told
    assert await administration.stores.channel_models.list_chains() == {CHANNEL: ("gpt-5", "other")}
    for sentence in (done.models_unset, done.models_were_not_set):
        assert sentence.format(**named) in await follow(owner, "/console/models/unset", **channel)
    assert await administration.stores.channel_models.list_chains() == {}
    for id_, sentence in (("", "IDが読み取れませんでした。"), ("花子", "IDが読み取れませんでした。")):
        answer = await owner.press("/console/models/set", kind="channel", id=id_, models="gpt-5")
        assert (answer.status, sentence in await answer.text()) == (400, True)


async def test_servers_and_channels_are_picked_and_shown_by_name(site: Site, owner: Visit) -> None:
    site.town.known = {"guild": {5: "日本語サーバー"}, "channel": {CHANNEL: "#雑談"}}
    told = await follow(owner, "/console/access/allow", subject="guild:5", id="")
    assert "日本語サーバー サーバー 許可" in told
    told = await follow(owner, "/console/models/set", models="gpt-5", subject=f"channel:{CHANNEL}", id="")
    assert "#雑談 gpt-5" in told
    assert (await owner.press("/console/access/allow", subject="", kind="", id="")).status == 400


@pytest.mark.usefixtures("_recording")
async def test_the_log_has_the_newest_records_by_level_and_nothing_that_anybody_wrote(owner: Visit) -> None:
    log = structlog.get_logger("cc_bot.test")
    log.info("backup_made", name="<b>1.db</b>")
    log.warning("edit_failed", error="NotFoundError")
    logging.getLogger("hikari").error("秘密の日記")
    await owner.press("/console/begin-maintenance", note="秘密のお知らせ")
    words, told = texts(Locale.JA)[ConsoleTexts], shown(await owner.open("/console/log?level=debug"))
    assert f"{words.went_wrong.format(subject=words.events['edit'])} edit_failed" in told
    assert "maintenance_begun" in told
    assert "backup_made name =<b>1.db</b>" in told
    assert told.index("hikari") < told.index("edit_failed") < told.index("backup_made")
    warnings = shown(await owner.open("/console/log"))
    assert ("backup_made" in warnings, f"{words.errors['NotFoundError']} NotFoundError" in warnings) == (
        False,
        True,
    )
    assert "edit_failed" not in shown(await owner.open("/console/log?q=backup_made"))
    assert "秘密" not in told + warnings


@pytest.mark.slow
async def test_the_doctor_is_run_and_its_report_shown(owner: Visit) -> None:
    words = texts(Locale.JA)
    assert words[ConsoleTexts].verdict not in shown(await owner.open("/console/doctor"))
    told = await follow(owner, "/console/doctor")
    assert words[ConsoleTexts].verdict in told
    assert words[DoctorTexts].labels["database"] in told
