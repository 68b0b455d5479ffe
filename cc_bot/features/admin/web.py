"""The owners' console; for other users it does not exist. It shows no texts or names of users."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from aiohttp import web

from cc_bot.chat.reply import Reply
from cc_bot.domain.access import SUBJECTS, AccessRules, Ruling, Subject
from cc_bot.domain.errors import InputError, OwnersOnly
from cc_bot.domain.text import format_size
from cc_bot.domain.usage import LIMIT_NAMES
from cc_bot.features.admin import service as admin
from cc_bot.features.admin.errors import IdNotUnderstood, SubjectNotUnderstood
from cc_bot.features.admin.service import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    Administration,
    Mentionable,
    parse_limit_value,
)
from cc_bot.features.admin.status import BotStatus, DoctorRunner
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.log import LEVELS, MAX_RECORDS
from cc_bot.texts import Texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import form_text, get_form
from cc_bot.web.page import Handler, Pages, render
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import WebVisitor, visitor_of

MAX_ID_CHARACTERS: Final = 60
RECENT: Final = timedelta(hours=1)
_VERDICTS: Final = ("failed", "warning", "ok", "off", "")  # the worst first


@dataclass(frozen=True, slots=True)
class _RuleRow:
    subject: Mentionable
    ruling: Ruling
    is_set_by_owner: bool  # at run time; else in the policy file


class ConsolePages(Pages):
    path = "/console"
    for_owners = True

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._doctor_lock = asyncio.Lock()

    def title(self, words: Texts) -> str:
        return words[WebTexts].console

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        pages = (
            ("GET", "", self.show_status),
            ("POST", "/maintenance", self.switch_maintenance),
            ("GET", "/limits", self.show_limits),
            ("POST", "/limits", self.set_limit),
            ("POST", "/limits/unset", self.unset_limit),
            ("GET", "/access", self.show_access),
            ("POST", "/access", self.add_rule),
            ("POST", "/access/remove", self.remove_rule),
            ("GET", "/models", self.show_models),
            ("POST", "/models", self.set_models),
            ("POST", "/models/unset", self.unset_models),
            ("GET", "/log", self.show_log),
            ("GET", "/doctor", self.show_doctor),
            ("POST", "/doctor", self.run_doctor),
        )
        return [
            web.route(method, f"/console{path}", partial(_for_owners, page)) for method, path, page in pages
        ]

    async def _require_owner(self, request: web.Request) -> WebVisitor:
        owner = owner_of(request)
        if not await self._services.discord.is_owner(owner.user_id, fresh=True):
            raise OwnersOnly
        return owner

    async def _names(self, owner: WebVisitor) -> Mapping[str, Any]:
        """Return what the templates need to name and pick servers, channels and roles."""
        known = await self._services.discord.directory()
        names = {kind: known.get(kind, {}) for kind in SUBJECTS}

        def name_of(kind: Subject, id_: int) -> str:
            return names[kind].get(id_) or owner.format_mention(kind, id_)

        return {"known": names, "name_of": name_of}

    async def _run_command(
        self, request: web.Request, page: str, run: Callable[..., Awaitable[Reply]], *values: Any
    ) -> web.StreamResponse:
        owner = await self._require_owner(request)
        try:
            reply = await run(owner, *values, administration=self._services[Administration])
        except SubjectNotUnderstood as error:
            if "kind" in get_form(request) and _read_kind(request) is None:  # the kind is missing, not the id
                raise
            raise IdNotUnderstood from error
        return await self._redirect_with_reply(request, page, reply)

    async def show_status(self, request: web.Request) -> web.Response:
        snapshot, now = await self._services[BotStatus].take_snapshot(), self._services.clock()
        owner = owner_of(request)
        recent = [each for each in self._services.records.newest("warning") if now - each.at < RECENT]
        errors = sum(each.level != "warning" for each in recent)
        texts = owner.words[ConsoleTexts]
        counts = texts.recent_count.format(errors=errors, warnings=len(recent) - errors)
        trouble = admin.Fact(texts.recent, counts, "failed" if errors else "warning" if recent else "ok")
        facts = [*admin.describe_status(snapshot, owner, now), trouble]
        return _render(
            request,
            "admin/console.html",
            snapshot=snapshot,
            facts=sorted(facts, key=lambda each: _VERDICTS.index(each.verdict)),
            bad=sum(each.verdict in ("warning", "failed") for each in facts),
            clock=_format_time(owner, now),
        )

    async def switch_maintenance(self, request: web.Request) -> web.StreamResponse:
        note = form_text(request, "note")
        match form_text(request, "do"):
            case "end":
                return await self._run_command(request, "/console", admin.end_maintenance)
            case "begin" if len(note) <= MAX_NOTE_CHARACTERS:
                return await self._run_command(request, "/console", admin.begin_maintenance, note)
        raise InputError

    async def show_limits(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        return _render(
            request,
            "admin/console_limits.html",
            limits=await admin.list_limits(self._services[Administration]),
            names=LIMIT_NAMES,
            kinds=[kind for kind in SUBJECTS if kind != "channel"],
            format_size=format_size,
            **await self._names(owner),
        )

    async def set_limit(self, request: web.Request) -> web.StreamResponse:
        limit, value = form_text(request, "limit"), parse_limit_value(form_text(request, "value"))
        subject = _read_id(request), _read_kind(request)
        return await self._run_command(request, "/console/limits", admin.set_limit, limit, value, *subject)

    async def unset_limit(self, request: web.Request) -> web.StreamResponse:
        limit, subject = form_text(request, "limit"), (_read_id(request), _read_kind(request))
        return await self._run_command(request, "/console/limits", admin.unset_limit, limit, *subject)

    async def show_access(self, request: web.Request) -> web.Response:
        by_source = await admin.read_access(self._services[Administration])
        return _render(
            request,
            "admin/console_access.html",
            rules=[
                *_make_rows(by_source.set_by_owners, is_set_by_owner=True),
                *_make_rows(by_source.set_in_file, is_set_by_owner=False),
            ],
            open_to_all=not by_source.all,
            only_those=by_source.has_allow_rules,
            kinds=SUBJECTS,
            **await self._names(owner_of(request)),
        )

    async def add_rule(self, request: web.Request) -> web.StreamResponse:
        rulings: dict[str, Ruling] = {"allow": "allow", "deny": "deny"}
        ruling = rulings.get(form_text(request, "rule"))
        if ruling is None:  # a default could lock users out, or let one in
            raise InputError
        return await self._run_command(
            request, "/console/access", admin.set_rule, ruling, _read_id(request), _read_kind(request)
        )

    async def remove_rule(self, request: web.Request) -> web.StreamResponse:
        subject = _read_id(request), _read_kind(request)
        return await self._run_command(request, "/console/access", admin.remove_rule, *subject)

    async def show_models(self, request: web.Request) -> web.Response:
        max_characters = MAX_MODELS * (MAX_MODEL_CHARACTERS + 1)
        chains = await self._services[Administration].stores.channel_models.list_chains()
        return _render(
            request,
            "admin/console_models.html",
            chains=chains,
            max_characters=max_characters,
            **await self._names(owner_of(request)),
        )

    async def set_models(self, request: web.Request) -> web.StreamResponse:
        models, channel = form_text(request, "models"), _read_id(request, "channel")
        return await self._run_command(request, "/console/models", admin.set_models, models, channel)

    async def unset_models(self, request: web.Request) -> web.StreamResponse:
        return await self._run_command(
            request, "/console/models", admin.unset_models, _read_id(request, "channel")
        )

    async def show_log(self, request: web.Request) -> web.Response:
        owner, level = owner_of(request), request.query.get("level", LEVELS[0])
        if level not in LEVELS:
            raise InputError
        text = request.query.get("q", "").strip()
        records = [
            each
            for each in self._services.records.newest(level)
            if text in f"{each.event} {each.logger} {each.fields}"
        ]
        return _render(
            request,
            "admin/console_log.html",
            records=records,
            level=level,
            text=text,
            levels=LEVELS,
            max_count=MAX_RECORDS,
            clock=partial(_format_time, owner),
        )

    async def show_doctor(self, request: web.Request) -> web.Response:
        return _render(request, "admin/console_doctor.html", report=(), counts=Counter(), examined_at=None)

    async def run_doctor(self, request: web.Request) -> web.Response:
        owner = await self._require_owner(request)
        async with self._doctor_lock:
            report = await self._services[DoctorRunner].run(owner.locale)
        examined_at = self._services.clock()
        return _render(
            request,
            "admin/console_doctor.html",
            report=sorted(report, key=lambda each: _VERDICTS.index(each["verdict"])),
            counts=Counter(each["verdict"] for each in report),
            examined_at=examined_at,
        )


async def _for_owners(page: Handler, request: web.Request) -> web.StreamResponse:
    owner_of(request)
    return await page(request)


def owner_of(request: web.Request) -> WebVisitor:
    """Raises OwnersOnly, shown as not found."""
    visitor = visitor_of(request)
    if not visitor.is_owner:
        raise OwnersOnly
    return visitor


def _render(request: web.Request, template: str, **values: Any) -> web.Response:
    owner = owner_of(request)
    texts = owner.words
    return render(request, template, console=texts[ConsoleTexts], admin=texts[AdminTexts], **values)


def _read_kind(request: web.Request) -> Subject | None:
    text = form_text(request, "subject").partition(":")[0] or form_text(request, "kind")
    return next((kind for kind in SUBJECTS if kind == text), None)


def _read_id(request: web.Request, kind: Subject | None = None) -> str:
    """Return the typed id. Raises IdNotUnderstood if it is missing: a page is in no server or channel."""
    picked = form_text(request, "subject").partition(":")[2]
    id_text = (picked or form_text(request, "id"))[:MAX_ID_CHARACTERS]
    if (kind or _read_kind(request)) and not id_text.strip():
        raise IdNotUnderstood
    return id_text


def _make_rows(rules: AccessRules, *, is_set_by_owner: bool) -> list[_RuleRow]:
    rulings: tuple[Ruling, ...] = ("allow", "deny")
    return [
        _RuleRow(subject, ruling, is_set_by_owner)
        for ruling in rulings
        for subject in admin.list_subjects(rules, ruling)
    ]


def _format_time(owner: WebVisitor, moment: datetime) -> str:
    return moment.astimezone(owner.timezone).strftime("%m-%d %H:%M:%S")


PAGES: Final = (ConsolePages,)
