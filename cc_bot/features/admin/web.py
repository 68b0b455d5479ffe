"""The owners' console, which other users get as not found. It shows no text that users wrote."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, pairwise
from typing import Any, Final

from aiohttp import web
from markupsafe import Markup

from cc_bot.charts.svg import Layout, chart_svg
from cc_bot.chat.reply import Reply
from cc_bot.domain.access import SUBJECTS, Subject
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.errors import OwnersOnly
from cc_bot.domain.text import Count, Locale, format_size
from cc_bot.features.admin import service as admin
from cc_bot.features.admin.errors import IdNotUnderstood
from cc_bot.features.admin.service import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    Administration,
    parse_limit_value,
)
from cc_bot.features.admin.status import BotStatus, DoctorRunner, Fact
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.log import LEVELS, MAX_RECORDS, RecentRecord
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import form_text
from cc_bot.web.page import Handler, Pages, render, see_other
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import WebVisitor, visitor_of

# The command that a form at /console… runs, and the form's fields. The parent page shows the reply.
COMMANDS: Final[Mapping[str, tuple[Callable[..., Awaitable[Reply]], Sequence[str]]]] = {
    "/backup": (admin.make_backup, ()),
    "/begin-maintenance": (admin.begin_maintenance, ("note",)),
    "/end-maintenance": (admin.end_maintenance, ()),
    "/limits/set": (admin.set_limit, ("limit", "value", "subject")),
    "/limits/unset": (admin.unset_limit, ("limit", "subject")),
    "/access/allow": (partial(admin.set_rule, ruling="allow"), ("subject",)),
    "/access/deny": (partial(admin.set_rule, ruling="deny"), ("subject",)),
    "/access/remove": (admin.remove_rule, ("subject",)),
    "/models/set": (admin.set_models, ("models", "channel")),
    "/models/unset": (admin.unset_models, ("channel",)),
}
_WENT_WRONG: Final = frozenset({"broke", "failed", "not"})
_ID: Final = re.compile(r"[0-9]{1,19}")
RECENT: Final = timedelta(hours=1)
MAX_CHART_TURNS: Final = 30
CHART_LAYOUT: Final = Layout(300, 150)
_VERDICTS: Final = ("failed", "warning", "ok", "off", "")  # the worst first


class ConsolePages(Pages):
    path = "/console"
    for_owners = True

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._lock = asyncio.Lock()  # for the doctor
        self._reports: dict[Locale, tuple[Sequence[Mapping[str, str]], datetime]] = {}

    def title(self, words: Texts) -> str:
        return words[WebTexts].console

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        pages: Mapping[str, Handler] = {
            "": self.show_status,
            "/limits": self.show_limits,
            "/access": self.show_access,
            "/models": self.show_models,
            "/log": self.show_log,
            "/doctor": self.show_doctor,
        }
        commands: Mapping[str, Handler] = {
            path: partial(self._run_command, *command) for path, command in COMMANDS.items()
        }
        actions = {**commands, "/doctor": self.run_doctor}
        return [
            web.route(method, f"/console{path}", partial(self._run_for_owner, page))
            for method, handlers in (("GET", pages), ("POST", actions))
            for path, page in handlers.items()
        ]

    async def _run_for_owner(self, page: Handler, request: web.Request) -> web.StreamResponse:
        """Raises OwnersOnly, shown as not found."""
        visitor, discord = visitor_of(request), self._services.discord
        is_change = request.method == "POST"
        if not visitor.is_owner or (is_change and not await discord.is_owner(visitor.user_id, fresh=True)):
            raise OwnersOnly
        return await page(request)

    async def _names(self, owner: WebVisitor, subjects: Iterable[tuple[str, int]] = ()) -> Mapping[str, Any]:
        """Return values for templates that name the subjects, and offer others to choose."""
        discord, ids = self._services.discord, [id_ for kind, id_ in subjects if kind == "user"]
        users = zip(ids, await asyncio.gather(*map(discord.user_name, ids)), strict=True)
        known = {**await discord.directory(), "user": {id_: name for id_, name in users if name}}
        names = {kind: known.get(kind, {}) for kind in SUBJECTS}
        return {"known": names, "name_of": replace(owner, names=names).format_mention}

    async def _run_command(
        self, run: Callable[..., Awaitable[Reply]], fields: Sequence[str], request: web.Request
    ) -> web.StreamResponse:
        owner = visitor_of(request)
        values = [*chain.from_iterable(_read_field(request, field) for field in fields)]
        pairs = pairwise(map(str, values))
        users = [(kind, int(id_)) for id_, kind in pairs if kind == "user" and _ID.fullmatch(id_)]
        caller = replace(owner, names=(await self._names(owner, users))["known"])
        reply = await run(caller, *values, administration=self._services[Administration])
        return await self._redirect_with_reply(request, request.path.rpartition("/")[0], reply)

    async def show_status(self, request: web.Request) -> web.Response:
        owner, now, status = visitor_of(request), self._services.clock(), self._services[BotStatus]
        described = [*await status.describe(owner, now), self._describe_log(owner, now)]
        facts = sorted(described, key=lambda each: _VERDICTS.index(each.verdict))
        return _render(
            request,
            "admin/console.html",
            facts=facts,
            bad=[each for each in facts if each.verdict in ("failed", "warning")],
            maintenance=await status.get_maintenance(),
            max_note=MAX_NOTE_CHARACTERS,
            turns=status.assistant.turns.queued_turns,
            latency=self._draw_latency(owner),
            clock=_format_time(owner, now, now),
        )

    def _draw_latency(self, owner: WebVisitor) -> Markup | None:
        """Draw how soon the models began the newest answers; None if there are fewer than two."""
        done = [each for each in self._services.records.newest() if "first_token_s" in each.fields]
        turns = done[:MAX_CHART_TURNS][::-1]
        labels = tuple(f"{each.at.astimezone(owner.timezone):%H:%M}" for each in turns)
        series = Series("", tuple(float(each.fields["first_token_s"]) for each in turns))
        chart = Chart("latency", owner.words[ConsoleTexts].latency, "line", labels, (series,))
        return Markup(chart_svg(chart, owner.locale, CHART_LAYOUT)) if len(turns) > 1 else None  # noqa: S704 - our own chart

    def _describe_log(self, owner: WebVisitor, now: datetime) -> Fact:
        recent = [each for each in self._services.records.newest("warning") if now - each.at < RECENT]
        errors, texts = sum(each.level != "warning" for each in recent), owner.words[ConsoleTexts]
        counts = texts.recent_count.format(errors=Count(errors), warnings=Count(len(recent) - errors))
        worst = max(recent, key=lambda each: LEVELS.index(each.level), default=None)
        value = f"{counts} · {_name_event(texts, worst)}" if worst else counts
        return Fact(texts.recent, value, "failed" if errors else "warning" if recent else "ok", fix="log")

    async def show_limits(self, request: web.Request) -> web.Response:
        limits = await admin.list_limits(self._services[Administration])
        return _render(
            request,
            "admin/console_limits.html",
            limits=limits,
            kinds=[kind for kind in SUBJECTS if kind != "channel"],
            format_size=format_size,
            **await self._names(
                visitor_of(request), [(each.key.scope, each.key.scope_id) for each in limits]
            ),
        )

    async def show_access(self, request: web.Request) -> web.Response:
        rules = await admin.list_rules(self._services[Administration])
        names = await self._names(visitor_of(request), [(rule.subject, rule.id) for rule, _ in rules])
        return _render(request, "admin/console_access.html", rules=rules, kinds=SUBJECTS, **names)

    async def show_models(self, request: web.Request) -> web.Response:
        administration = self._services[Administration]
        return _render(
            request,
            "admin/console_models.html",
            default_models=administration.default_models,
            chains=await administration.stores.channel_models.list_chains(),
            max_characters=MAX_MODELS * (MAX_MODEL_CHARACTERS + 1),
            **await self._names(visitor_of(request)),
        )

    async def show_log(self, request: web.Request) -> web.Response:
        text, texts = request.query.get("q", "").strip(), visitor_of(request).words[ConsoleTexts]
        level = request.query.get("level", "debug" if text else "warning")
        found = {
            least: [
                each
                for each in self._services.records.newest(least)
                if text.casefold()
                in f"{_name_event(texts, each)} {each.event} {each.logger} {each.fields}".casefold()
            ]
            for least in ("error", "warning", "debug")
        }
        return _render(
            request,
            "admin/console_log.html",
            found=found,
            name_event=partial(_name_event, texts),
            level=level if level in found else "debug",
            text=text,
            max_count=MAX_RECORDS,
            clock=partial(_format_time, visitor_of(request), self._services.clock()),
        )

    async def show_doctor(self, request: web.Request) -> web.Response:
        findings, examined_at = self._reports.get(visitor_of(request).locale, ((), None))
        return _render(
            request,
            "admin/console_doctor.html",
            report=sorted(findings, key=lambda each: _VERDICTS.index(each["verdict"])),
            counts=Counter(each["verdict"] for each in findings),
            examined_at=examined_at,
        )

    async def run_doctor(self, request: web.Request) -> web.StreamResponse:
        locale = visitor_of(request).locale
        async with self._lock:
            findings = await self._services[DoctorRunner].run(locale)
        self._reports[locale] = findings, self._services.clock()
        return see_other("/console/doctor")


def _render(request: web.Request, template: str, **values: Any) -> web.Response:
    texts = visitor_of(request).words
    return render(request, template, console=texts[ConsoleTexts], admin=texts[AdminTexts], **values)


def _name_event(texts: ConsoleTexts, record: RecentRecord) -> str:
    """Name an event by the longest known part at its beginning."""
    name, events = record.event, texts.events
    known = max((each for each in events if f"{name}_".startswith(f"{each}_")), key=len, default="")
    subject = events.get(known, texts.other_event if name else texts.of_library)
    went_wrong = not _WENT_WRONG.isdisjoint(name[len(known) :].split("_"))
    return texts.went_wrong.format(subject=subject) if went_wrong else subject


def _read_field(request: web.Request, field: str) -> tuple[Any, ...]:
    """Return a field's values for a command. Raises InputError."""
    text = form_text(request, field)
    match field:
        case "subject":
            return _read_subject(request)
        case "channel":
            return _read_subject(request)[:1]
        case "value":
            return (parse_limit_value(text),)
        case _:
            return (text,)


def _read_subject(request: web.Request) -> tuple[str, Subject | None]:
    """Return the id and kind that were picked or typed. Raises IdNotUnderstood if only a kind is
    given, as a page has no current server or channel."""
    typed = f"{form_text(request, 'kind')}:{form_text(request, 'id')}"
    name, _, id_text = (form_text(request, "subject") or typed).partition(":")
    kind = next((kind for kind in SUBJECTS if kind == name), None)
    if kind and not id_text.strip():
        raise IdNotUnderstood
    return id_text, kind


def _format_time(owner: WebVisitor, now: datetime, moment: datetime) -> str:
    local, today = moment.astimezone(owner.timezone), now.astimezone(owner.timezone).date()
    day = "" if local.date() == today else owner.words[MomentTexts].name_short_day(local, now)
    return f"{day} {local:%H:%M:%S}".strip()


PAGES: Final = (ConsolePages,)
