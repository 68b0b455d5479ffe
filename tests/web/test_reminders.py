import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import aiohttp

from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.domain.when.resolve import parse_schedules
from cc_bot.features.heartbeat.texts import WebHeartbeatTexts
from cc_bot.features.reminders.model import Firing, Schedule
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts, RepeatTexts, WebReminderTexts
from cc_bot.texts import texts
from cc_bot.texts.replies import MomentTexts
from cc_bot.texts.web import WebTexts
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit
from tests.web.stored import KEY

TOMORROW: Final = datetime.now(UTC) + timedelta(days=1)


async def listed(site: Site, user_id: int = TARO) -> list[Schedule]:
    return [*await site.core.stores[ScheduleStore].list(user_id)]


class TestNewReminder:
    async def test_is_set_in_the_words_that_the_command_takes(self, site: Site, taro: Visit) -> None:
        assert "予約したお知らせはありません" in await taro.open("/reminders")
        text = "\u202e薬\x00を\u2066<飲む>"
        page = await taro.follow(await taro.press("/reminders", text=text, when="毎朝7時", repeat=""))
        for words in ("薬を&lt;飲む&gt;", "毎日 7:00", "DM に届きます"):
            assert words in page
        [reminder] = await listed(site)
        assert (reminder.key, reminder.target, reminder.visibility) == (KEY, "dm", "private")
        assert (reminder.repeat, reminder.timezone) == ("0 7 * * *", "Asia/Tokyo")
        await taro.press("/reminders", text="薬", when="明日9時と18時", repeat="")
        due = re.findall(r'class="due">\d+月\d+日\(.\) (\d+:00)', await taro.open("/reminders"))
        assert sorted(due) == ["18:00", "7:00", "9:00"]
        await site.core.stores.settings.set(TARO, locale=Locale.EN, timezone="Europe/Paris")
        await taro.press("/reminders", text="Take the pills", when="every Monday at 9", repeat="")
        assert "every Monday at 9:00" in await taro.open("/reminders")

    async def test_that_can_not_be_set_stays_in_the_form(self, site: Site, taro: Visit) -> None:
        for text, when in (("<薬>", "いつか"), ("薬", "昨日9時"), ("", "明日9時"), ("あ" * 1001, "明日9時")):
            answer = await taro.press("/reminders", text=text, when=when, repeat="")
            page = await answer.text()
            assert (answer.status, 'role="alert"' in page) == (400, True), (text, when)
            for typed in (text.replace("<薬>", "&lt;薬&gt;"), when):
                assert not typed or f'value="{typed}"' in page
        assert await listed(site) == []


class TestReading:
    async def test_says_how_a_time_is_understood_and_nothing_of_another_text(self, taro: Visit) -> None:
        assert re.fullmatch(r"\d+月\d+日\(.\) 9:00", await taro.open("/reminders/reading?when=明日9時"))
        assert (await taro.open("/reminders/reading?when=毎朝7時")).startswith("毎日 7:00 · ")
        for text in ("", "いつか", "昨日9時", "x" * 5000):
            assert await taro.open(f"/reminders/reading?when={text}") == ""


def undo_in(page: str) -> str:
    [path] = re.findall(r'action="(/undo/[\w-]+)"', page)
    return str(path)


async def change(visit: Visit, number: int | None, **form: str) -> aiohttp.ClientResponse:
    page = await visit.open(f"/reminders?change={number}")
    shown = dict(re.findall(r'name="(mark|when|repeat)"[^>]* value="([^"]*)"', page[page.index("/change") :]))
    return await visit.press(f"/reminders/{number}/change", **{**shown, **form})


class TestReminder:
    async def test_gets_another_text_and_another_time(self, site: Site, taro: Visit) -> None:
        before = await site.core.stores[ScheduleStore].add(KEY, "薬", TOMORROW)
        answer = await change(taro, before.number, text="薬と水")
        assert "「薬と水」" in await taro.follow(answer)
        [after] = await listed(site)
        assert (after.text, after.due_at) == ("薬と水", before.due_at)
        assert site.town.told_anew == [TARO]
        changes = (
            ({"when": "毎週月曜8時"}, "0 8 * * 1"),
            ({"when": "明後日10時30分"}, "0 8 * * 1"),
            ({"repeat": "毎日8時"}, "0 8 * * *"),
            ({"repeat": ""}, ""),
        )
        for changed, expected in changes:
            await change(taro, before.number, text="薬", **changed)
            assert [each.repeat for each in await listed(site)] == [expected]
        [kept] = await listed(site)
        assert (await change(taro, before.number, text="薬", when="明日9時と18時")).status == 400
        assert (
            "\n水</textarea>" in await (await change(taro, before.number, text="水", when="x" * 500)).text()
        )
        assert await listed(site) == [kept]

    async def test_of_a_repeat_moves_once_to_the_date_in_the_form(self, site: Site, taro: Visit) -> None:
        schedules, weekly = site.core.stores[ScheduleStore], "0 8 * * 1"
        reminder = await schedules.add(KEY, "薬", TOMORROW, repeat=weekly)
        await change(taro, reminder.number, text="薬", when="明後日10時30分")
        [moved] = await listed(site)
        [(due_at, _)] = parse_schedules("明後日10時30分", "", datetime.now(UTC), moved.zone)
        assert (moved.due_at, moved.repeat) == (due_at, weekly)
        page = await taro.open("/reminders")
        assert texts(Locale.JA)[RepeatTexts].describe(weekly) in page
        assert texts(Locale.JA)[MomentTexts].written(due_at.astimezone(moved.zone), datetime.now(UTC)) in page

    async def test_that_changed_meanwhile_is_shown_with_what_was_typed(self, site: Site, taro: Visit) -> None:
        before = await site.core.stores[ScheduleStore].add(KEY, "薬", TOMORROW)
        [mark] = re.findall(r'name="mark" value="(\w+)"', await taro.open("/reminders?change=1"))
        await site.core.stores[ScheduleStore].change(TARO, before.id, text="薬と水")
        form = {"text": "薬", "when": "明日10時", "repeat": ""}
        for given in (mark, ""):
            answer = await taro.press(f"/reminders/{before.number}/change", **form, mark=given)
            page = await answer.text()
            assert answer.status == 400
            assert "ページを開いたあとで変わりました" in page
            assert 'value="明日10時"' in page
        assert [each.text for each in await listed(site)] == ["薬と水"]

    async def test_that_is_paused_says_so_goes_on_and_is_cancelled(self, site: Site, taro: Visit) -> None:
        reminder = await site.core.stores[ScheduleStore].add(KEY, "薬", TOMORROW)
        await site.core.stores[ScheduleStore].mark_failed(Firing(reminder, TOMORROW), "dms_closed")
        heading = texts(Locale.JA)[WebReminderTexts].paused.format(count=1)
        reason = texts(Locale.JA)[ReminderTexts].reasons["dms_closed"]
        page = await taro.open("/reminders")
        assert page.index(heading) < page.index("薬") < page.index(reason)
        await taro.press(f"/reminders/{reminder.number}/resume")
        assert [each.status for each in await listed(site)] == ["active"]
        answer = await taro.press(f"/reminders/{reminder.number}/cancel")
        assert await listed(site) == []
        page = await taro.follow(answer)
        assert "お知らせを取り消しました: 薬" in page
        undo = undo_in(page)
        async with site.visit() as other:
            assert (await other.press(undo)).status == 404, "another browser"
        await site.core.stores.personal_data.erase(KEY.user_id + 1)
        assert "元に戻しました" in await taro.follow(await taro.press(undo))
        [restored] = await listed(site)
        assert (restored.text, restored.due_at, restored.status) == ("薬", reminder.due_at, "active")
        await site.core.stores[ScheduleStore].mark_failed(Firing(restored, TOMORROW), "dms_closed")
        page = await taro.follow(await taro.press(f"/reminders/{restored.number}/cancel"))
        await taro.press(undo_in(page))
        assert [(each.status, each.obstacle) for each in await listed(site)] == [("paused", "dms_closed")]
        assert (await taro.press(undo)).status == 404
        gone = texts(Locale.JA)[WebTexts].done["reminder_gone"]
        assert gone in await taro.follow(await taro.press(f"/reminders/{reminder.number}/cancel"))

    async def test_that_is_somebody_elses_is_as_none(self, site: Site, taro: Visit) -> None:
        theirs = await site.core.stores[ScheduleStore].add(SessionKey(HANA, CHANNEL), "花の予定", TOMORROW)
        assert "花の予定" not in await taro.open("/reminders")
        for number in (theirs.number, "7", "0", "-1", "x", "9" * 30):
            for action in ("change", "resume"):
                answer = await taro.press(f"/reminders/{number}/{action}", text="x", when="明日9時")
                assert answer.status == 404, (number, action)
        await taro.press(f"/reminders/{theirs.number}/cancel")
        assert await listed(site, HANA) == [theirs]


async def test_a_heartbeat_is_started_and_stopped(site: Site, taro: Visit) -> None:
    schedules = site.core.stores[ScheduleStore]
    assert texts(Locale.JA)[WebHeartbeatTexts].start in await taro.open("/reminders")
    for every, quiet in (("0", ""), ("169", ""), ("x", ""), ("3", "25:00")):
        answer = await taro.press("/heartbeat", every=every, quiet_from=quiet, quiet_to=quiet)
        assert answer.status == 400, (every, quiet)
    assert await schedules.list(TARO, kind="heartbeat") == []
    answer = await taro.press("/heartbeat", every="3", quiet_from="23:30", quiet_to="06:00")
    [beat] = await schedules.list(TARO, kind="heartbeat")
    assert (beat.repeat, beat.quiet, beat.target) == ("every 3h", QuietHours(1410, 360), "dm")
    page = await taro.follow(answer)
    assert "3時間ごとに確かめて、DM でお知らせします。" in page
    assert 'value="23:30"' in page
    await taro.press("/heartbeat/stop")
    assert await schedules.list(TARO, kind="heartbeat") == []


async def test_a_heartbeat_is_not_for_the_terminals_user(site: Site) -> None:
    async with site.visit(0) as visit:
        assert 'action="/heartbeat"' not in await visit.open("/reminders")
        assert (await visit.press("/heartbeat", every="3", quiet_from="", quiet_to="")).status == 404


async def test_the_time_in_the_form_is_understood(site: Site, taro: Visit) -> None:
    for locale in Locale:
        await site.core.stores.settings.set(TARO, locale=locale)
        for days in (1, 20, 400):
            due_at = (datetime.now(UTC) + timedelta(days=days)).replace(second=0, microsecond=0)
            reminder = await site.core.stores[ScheduleStore].add(KEY, "薬", due_at)
            page = await taro.open(f"/reminders?change={reminder.number}")
            [shown] = re.findall(r'id="when-\d+"[^>]* value="([^"]*)"', page)
            [(read, repeat)] = parse_schedules(shown, "", datetime.now(UTC), ZoneInfo("Asia/Tokyo"))
            assert (read, repeat) == (due_at, ""), shown
