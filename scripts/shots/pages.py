"""The pages in a browser, of a user who has used the bot for four months and owns it."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from playwright.async_api import FilePayload, Page

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.session import SessionKey
from cc_bot.domain.usage import LimitKey
from cc_bot.features.admin.service import Administration
from cc_bot.features.canvas.model import Card, SetMode, Text
from cc_bot.features.heartbeat.model import DEFAULT_QUIET_HOURS
from cc_bot.features.reminders.model import Firing
from cc_bot.features.reminders.store import ScheduleStore
from scripts.shots.shooting import PATIENCE_MS, Quiet, Shooter, due_at, read_data
from tests.browser import DESKTOP, PHONE, new_page
from tests.web.browsing import sign_in
from tests.web.pages import CHANNEL, HANA, TARO, Site, open_site
from tests.web.stored import GUILD, draw, keep, spend, talk

DARK: Final = ("memories", "memory", "canvas", "canvas-focus", "console", "console-doctor", "usage")
PATHS: Final[Mapping[str, str]] = {
    "not-found": "/nothing-here",
    "memories": "/memories",
    "memories-search": "/memories?q={search}",
    "memory": "/memories/2",
    "memories-erase-one": "/memories/erase?n=4",
    "memories-erase-all": "/memories/erase-all",
    "memories-import": "/memories/import",
    "search": "/search?q={search}",
    "search-none": "/search?q={search_none}",
    "conversations": "/conversations",
    "conversation": "/conversations/{table}",
    "conversation-code": "/conversations/{code}",
    "reminders": "/reminders",
    "reminder-form": "/reminders?change=2",
    "usage": "/usage",
    "settings": "/settings",
    "privacy": "/privacy",
    "privacy-erase": "/privacy/erase",
    "canvases": "/canvas?all=1",
    "canvas": f"/canvas/{CHANNEL + 1}",
    "canvas-focus": f"/canvas/{CHANNEL}",
    "canvas-charts": f"/canvas/{CHANNEL + 4}",
    "console": "/console",
    "console-limits": "/console/limits",
    "console-access": "/console/access",
    "console-models": "/console/models",
    "console-log": "/console/log",
    "console-doctor": "/console/doctor",
}


async def select(page: Page, _: Mapping[str, Any]) -> None:
    await page.locator("label:has(#choosing)").click()
    for number in range(3):
        await page.locator("input[name=n]").nth(number).check()


async def refuse_edit(page: Page, data: Mapping[str, Any]) -> None:
    await page.locator("input[name=end]").fill(data["refused_end"])
    await page.locator("form:has(input[name=mark]) button.main").click()
    await page.locator(".trouble").wait_for()


async def preview(page: Page, data: Mapping[str, Any]) -> None:
    file = FilePayload(name="memories.txt", mimeType="text/plain", buffer=data["import_file"].encode())
    await page.locator("input[type=file]").set_input_files(file)
    await page.locator("form[enctype] button.main").click()
    await page.locator("form[action='/memories/import/take']").first.wait_for()


async def delete(page: Page, _: Mapping[str, Any]) -> None:
    await page.locator("label:has(#choosing)").click()
    await page.locator("input[name=n]").nth(4).check()
    await page.locator("#with-chosen button[value=delete]").click()
    await page.locator("form[action^='/undo'], #toast button").first.wait_for()


async def refuse_reminder(page: Page, data: Mapping[str, Any]) -> None:
    form = page.locator("form[action='/reminders']")
    if not await form.is_visible():
        await page.locator(".fold > summary").click()
    await form.locator("[name=text]").fill(data["dm"])
    await form.locator("[name=when]").fill(data["wrong_time"])
    await form.locator("button.main").click()
    await page.locator(".trouble").wait_for()


ACTIONS: Final[Mapping[str, tuple[str, Callable[[Page, Mapping[str, Any]], Awaitable[None]]]]] = {
    "memories-selected": ("/memories", select),
    "memory-refused": ("/memories/2", refuse_edit),
    "memories-preview": ("/memories/import", preview),
    "reminder-refused": ("/reminders", refuse_reminder),
    "memories-deleted": ("/memories", delete),  # the last, as it changes the list
}


@dataclass
class Past:
    """A clock that is set to when the data comes from."""

    ago: timedelta = field(default_factory=timedelta)

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self.ago


@asynccontextmanager
async def lived_in_site(locale: str, folder: Path) -> AsyncIterator[tuple[Site, dict[str, Any]]]:
    data, past = read_data(locale), Past()
    settings = {
        "CC_BOT_LOCALE": locale,
        "CC_BOT_MODEL": "gpt-5,gpt-5-mini",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
    }
    backup = {"CC_BOT_BACKUP_FOLDER": str(folder / "backup")}
    async with open_site(folder, clock=past, **settings, **backup) as site:
        await name_everybody(site, data)
        await remember(site, past, data)
        data |= await converse(site, past, data)
        await draw_canvases(site, past, data)
        await schedule(site, past, data)
        await administer(site)
        past.ago = timedelta()
        yield site, data


async def name_everybody(site: Site, data: Mapping[str, Any]) -> None:
    channels = {CHANNEL + number: name for number, name in enumerate(data["channels"])}

    async def channel_name(channel_id: int) -> str | None:
        return channels.get(channel_id)

    async def guild_name(_: int) -> str | None:
        return str(data["server"])

    vars(site.town).update(channel_name=channel_name, guild_name=guild_name)
    site.town.names = dict(zip((TARO, HANA, HANA + 1, HANA + 2), data["users"], strict=True))
    site.town.known = {"guild": {GUILD: data["server"]}, "channel": channels}
    site.town.owners.add(TARO)
    site.town.managers.add((TARO, GUILD))


async def remember(site: Site, past: Past, data: Mapping[str, Any]) -> None:
    kept = []
    for number, line in enumerate(data["memories"], 1):
        days, category, tags, text = line.split("|")
        past.ago = timedelta(days=int(days), hours=number % 9)
        audience = "private" if number == 8 else "anywhere"
        end = datetime.now(UTC) + timedelta(days=20) if number == 9 else None
        given = {"category": category, "tags": tags.split(), "audience": audience, "expires_at": end}
        kept.append(await keep(site, text, **given))
    memories, twice = site.core.stores.memories, data["edited"]
    for number, ago, text in (
        (2, 60, twice.partition("。")[0]),
        (2, 12, twice),
        (14, 9, f"{kept[13].content}!"),
    ):
        past.ago = timedelta(days=ago)
        await memories.update(TARO, kept[number - 1].id, content=text)
    for number in (19, 9, 26):
        await memories.pin(TARO, kept[number - 1].id)


async def converse(site: Site, past: Past, data: Mapping[str, Any]) -> dict[str, str]:
    ids = []
    for channel, days, question, answer in data["conversations"]:
        past.ago, key = timedelta(days=days, hours=days % 7), SessionKey(TARO, CHANNEL + channel)
        await site.core.stores.sessions.clear(key)
        ids.append(await talk(site, (question, answer), *data_turns(data, answer), key=key))
    for day in range(60):
        for number, user in enumerate((TARO, HANA, HANA + 1, HANA + 2)):
            if (day + number) % (number + 1) == 0:
                tokens = 900 + (day * 7919 + number * 1049) ** 2 % 9001
                await spend(site, tokens, user_id=user, days_ago=day, model=("gpt-5", "gpt-5-mini")[day % 2])
    return {"table": ids[0], "code": ids[1]}


def data_turns(data: Mapping[str, Any], answer: str) -> list[tuple[str, str]]:
    """More turns, for long answers only."""
    others = data["conversations"][2:7] if "|" in answer else ()
    return [(question, said) for _, _, question, said in others]


async def draw_canvases(site: Site, past: Past, data: Mapping[str, Any]) -> None:
    cards = [Card(f"card{number}", title, text) for number, (title, text) in enumerate(data["cards"])]
    title, name, *labels = data["budget"]
    bar = Chart("budget", title, "bar", tuple(labels), (Series(name, (27760, 33000, 18000, 9200, 6000)),))
    title, *names = data["run"]
    days = tuple(f"{(datetime.now(UTC) - timedelta(days=29 - day)):%-m/%-d}" for day in range(30))
    lines = (
        tuple(3 + (day * 37 % 11) * 0.7 for day in range(30)),
        tuple(4.0 + day * 53 % 9 for day in range(30)),
    )
    line = Chart("run", title, "line", days, tuple(map(Series, names, lines)))
    title, *labels = data["spent"]
    pie = Chart("spent", title, "pie", tuple(labels), (Series(title, (32, 41, 18, 6, 9)),))
    note = Text("note", data["note"][1], data["note"][0])
    drawn = {4: (bar, line, pie, note), 1: (*cards, bar), 0: (note, line, cards[0])}
    for age, (channel, elements) in enumerate(drawn.items()):
        mode = SetMode("focus", "run") if channel == 0 else SetMode("board")
        past.ago, asked = timedelta(days=age, hours=2), data["drawings"][age]
        await draw(site, *elements, mode, key=SessionKey(TARO, CHANNEL + channel), asked=asked)


async def schedule(site: Site, past: Past, data: Mapping[str, Any]) -> None:
    schedules, now = site.core.stores[ScheduleStore], datetime.now(UTC)
    past.ago = timedelta(days=3)
    for number, line in enumerate(data["reminders"]):
        text, hours, repeat = line.split("|")
        key, due = SessionKey(TARO, CHANNEL + number % 5), due_at(hours, repeat)
        added = await schedules.add(key, text, due, repeat=repeat, target="dm" if number % 2 else "channel")
        if number == 4:
            await schedules.mark_failed(Firing(added, due), "permission_missing")
    due = now + timedelta(hours=2)
    key, quiet = SessionKey(TARO, CHANNEL), DEFAULT_QUIET_HOURS
    await schedules.add(key, "", due, kind="heartbeat", repeat="every 6h", quiet=quiet, target="dm")


async def administer(site: Site) -> None:
    stores = site.services[Administration].stores
    site.core.gateway_health.read_latency_s = lambda: 0.042
    await stores.limits.set(LimitKey("user", TARO, "tokens_per_day"), 20_000, set_by=TARO)
    await stores.limits.set(LimitKey("user", HANA, "tokens_per_month"), 1_000_000, set_by=TARO)
    await stores.limits.set(LimitKey("everyone", 0, "concurrent"), 4, set_by=TARO)
    await stores.access.set("guild", GUILD, "allow", set_by=TARO)
    await stores.access.set("user", HANA + 2, "deny", set_by=TARO)
    await stores.channel_models.set(CHANNEL + 3, ("gpt-5", "gpt-5-mini"), set_by=TARO)
    log: list[tuple[str, str, Mapping[str, object]]] = [
        ("discord", "ERROR", {"event": "commands_not_registered", "error": "ForbiddenError"}),
        ("chat", "WARNING", {"event": "edit_failed", "turn": "5f0c9a1e", "error": "RateLimitTooLongError"}),
    ]
    for turn in range(24):
        first = round(0.6 + turn * 37 % 13 / 8, 2)
        log.append(("chat", "INFO", {"event": "turn_done", "first_token_s": first, "status": "complete"}))
    for number, (name, level, message) in enumerate(log):
        made = logging.makeLogRecord({"name": f"cc_bot.{name}", "levelname": level, "msg": message})
        made.created -= 400 * (len(log) - number)
        site.services.records.handle(made)


async def shoot(shooter: Shooter, locale: str, folder: Path) -> None:
    async with lived_in_site(locale, folder) as (site, data):
        for size in (PHONE, DESKTOP):
            end = f"{locale}-{size[0]}"
            async with new_page(shooter.browser, size=size, trouble=Quiet(), locale=locale) as page:
                await shoot_signed_out(shooter, page, site, end)
            async with new_page(shooter.browser, size=size, trouble=Quiet(), locale=locale) as page:
                page.context.set_default_timeout(PATIENCE_MS)
                await sign_in(page, site)
                with shooter.attempt("doctor"):
                    await page.goto(f"{site.url}/console/doctor")
                    await page.locator("form[action='/console/doctor'] button").click()
                await shoot_all(shooter, page, site, data, end)


async def shoot_signed_out(shooter: Shooter, page: Page, site: Site, end: str) -> None:
    await page.goto(site.url)
    await shooter.shoot(page, f"pages-landing-{end}")
    link = await site.link()
    await page.goto(link)
    await shooter.shoot(page, f"pages-sign-in-{end}")
    await page.locator("button.main").click()
    await page.locator("nav").first.wait_for()
    await page.context.clear_cookies()
    await page.goto(link)
    await shooter.shoot(page, f"pages-sign-in-used-{end}")


async def shoot_all(shooter: Shooter, page: Page, site: Site, data: Mapping[str, Any], end: str) -> None:
    for name, path in PATHS.items():
        with shooter.attempt(f"{name}-{end}"):
            await page.goto(site.url + path.format_map(data))
            await shooter.shoot(page, f"pages-{name}-{end}")
            if name in DARK and end.endswith("1280"):
                await page.emulate_media(color_scheme="dark")
                await shooter.shoot(page, f"pages-{name}-{end}-dark")
                await page.emulate_media(color_scheme="light")
    for name, (path, act) in ACTIONS.items():
        with shooter.attempt(f"{name}-{end}"):
            await page.goto(site.url + path)
            await act(page, data)
            await shooter.shoot(page, f"pages-{name}-{end}")
    with shooter.attempt("undo"):
        await page.locator("#toast form button").first.click()
        await page.locator("#toast").first.wait_for()
