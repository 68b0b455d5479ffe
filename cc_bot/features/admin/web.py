"""The owners' console; for other users these pages don't exist. Nothing shows what users wrote, or who
asked."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from aiohttp import web

from cc_bot.chat.reply import Reply
from cc_bot.domain.access import SUBJECTS, AccessRules, Ruling, Subject
from cc_bot.domain.errors import IdNotUnderstood, InputError, OwnersOnly, SubjectNotUnderstood
from cc_bot.domain.usage import LIMIT_NAMES
from cc_bot.features.admin import service as admin
from cc_bot.features.admin.service import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    Administration,
    Mentionable,
    limit_subject,
    parse_limit_value,
)
from cc_bot.features.admin.status import BotStatus, Examination
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.log import LEVELS, MAX_RECORDS
from cc_bot.texts import Texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import form_of, text_of
from cc_bot.web.page import Handler, Pages, render
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

MAX_ID_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class _Rule:
    about: Mentionable
    ruling: Ruling
    here: bool  # set at run time, not in the operator's file


class ConsolePages(Pages):
    path = "/console"
    for_owners = True

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._examining = asyncio.Lock()

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
        return [web.route(way, f"/console{path}", partial(_for_owners, page)) for way, path, page in pages]

    async def _require_owner(self, request: web.Request) -> SignedIn:
        owner = owner_of(request)
        if not await self._services.discord.is_owner(owner.user_id, fresh=True):
            raise OwnersOnly
        return owner

    async def _run_command(
        self, request: web.Request, page: str, run: Callable[..., Awaitable[Reply]], *values: Any
    ) -> web.StreamResponse:
        owner = await self._require_owner(request)
        try:
            reply = await run(owner, *values, administration=self._services[Administration])
        except SubjectNotUnderstood as error:
            if "kind" in form_of(request) and _kind(request) is None:
                raise  # the kind is missing, not the id
            raise IdNotUnderstood from error
        return await self._redirect_with_reply(request, page, reply)

    async def show_status(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        snapshot = await self._services[BotStatus].take_snapshot()
        return _render(
            request, "admin/console.html", snapshot=snapshot, facts=admin.status_facts(snapshot, owner)
        )

    async def switch_maintenance(self, request: web.Request) -> web.StreamResponse:
        note = text_of(request, "note")
        match text_of(request, "do"):
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
            limits=await admin.limits_in_force(self._services[Administration]),
            names=LIMIT_NAMES,
            kinds=[kind for kind in SUBJECTS if kind != "channel"],
            subject_of=lambda key: limit_subject(key, owner),
        )

    async def set_limit(self, request: web.Request) -> web.StreamResponse:
        limit, value = text_of(request, "limit"), parse_limit_value(text_of(request, "value"))
        subject = _id(request), _kind(request)
        return await self._run_command(request, "/console/limits", admin.set_limit, limit, value, *subject)

    async def unset_limit(self, request: web.Request) -> web.StreamResponse:
        limit, subject = text_of(request, "limit"), (_id(request), _kind(request))
        return await self._run_command(request, "/console/limits", admin.unset_limit, limit, *subject)

    async def show_access(self, request: web.Request) -> web.Response:
        in_force = await admin.access_in_force(self._services[Administration])
        return _render(
            request,
            "admin/console_access.html",
            rules=[*_rules(in_force.set_here, here=True), *_rules(in_force.in_file, here=False)],
            open_to_all=not in_force.all,
            only_those=in_force.allows_only_some,
            kinds=SUBJECTS,
        )

    async def add_rule(self, request: web.Request) -> web.StreamResponse:
        rulings: dict[str, Ruling] = {"allow": "allow", "deny": "deny"}
        ruling = rulings.get(text_of(request, "rule"))
        if ruling is None:  # guessing could lock users out, or let one in
            raise InputError
        return await self._run_command(
            request, "/console/access", admin.set_rule, ruling, _id(request), _kind(request)
        )

    async def remove_rule(self, request: web.Request) -> web.StreamResponse:
        subject = _id(request), _kind(request)
        return await self._run_command(request, "/console/access", admin.remove_rule, *subject)

    async def show_models(self, request: web.Request) -> web.Response:
        max_characters = MAX_MODELS * (MAX_MODEL_CHARACTERS + 1)
        chains = await self._services[Administration].stores.channel_models.list_chains()
        return _render(request, "admin/console_models.html", chains=chains, max_characters=max_characters)

    async def set_models(self, request: web.Request) -> web.StreamResponse:
        models, channel = text_of(request, "models"), _id(request, "channel")
        return await self._run_command(request, "/console/models", admin.set_models, models, channel)

    async def unset_models(self, request: web.Request) -> web.StreamResponse:
        return await self._run_command(
            request, "/console/models", admin.unset_models, _id(request, "channel")
        )

    async def show_log(self, request: web.Request) -> web.Response:
        """Raises InputError for an unknown level."""
        owner, level = owner_of(request), request.query.get("level", LEVELS[0])
        if level not in LEVELS:
            raise InputError
        records = self._services.records.newest(level)
        return _render(
            request,
            "admin/console_log.html",
            records=records,
            level=level,
            levels=LEVELS,
            max_count=MAX_RECORDS,
            clock=partial(_clock, owner),
        )

    async def show_doctor(self, request: web.Request) -> web.Response:
        return _render(request, "admin/console_doctor.html", report=(), examined_at=None)

    async def run_doctor(self, request: web.Request) -> web.Response:
        """Run the doctor, one run at a time."""
        owner = await self._require_owner(request)
        async with self._examining:
            report = await self._services[Examination].run(owner.locale)
        examined_at = self._services.clock()
        return _render(request, "admin/console_doctor.html", report=report, examined_at=examined_at)


async def _for_owners(page: Handler, request: web.Request) -> web.StreamResponse:
    owner_of(request)
    return await page(request)


def owner_of(request: web.Request) -> SignedIn:
    """Raises OwnersOnly, shown as not found."""
    visitor = visitor_of(request)
    if not visitor.owner:
        raise OwnersOnly
    return visitor


def _render(request: web.Request, template: str, **values: Any) -> web.Response:
    owner = owner_of(request)
    texts = owner.words
    return render(request, template, console=texts[ConsoleTexts], admin=texts[AdminTexts], **values)


def _kind(request: web.Request) -> Subject | None:
    wanted = text_of(request, "kind")
    return next((kind for kind in SUBJECTS if kind == wanted), None)


def _id(request: web.Request, kind: Subject | None = None) -> str:
    """Return the typed id. Raises IdNotUnderstood if it is missing: a page has no server or channel."""
    written = text_of(request, "id")[:MAX_ID_CHARACTERS]
    if (kind or _kind(request)) and not written.strip():
        raise IdNotUnderstood
    return written


def _rules(rules: AccessRules, *, here: bool) -> list[_Rule]:
    rulings: tuple[Ruling, ...] = ("allow", "deny")
    return [_Rule(each, ruling, here) for ruling in rulings for each in admin.named_by(rules, ruling)]


def _clock(owner: SignedIn, moment: datetime) -> str:
    return moment.astimezone(owner.timezone).strftime("%m-%d %H:%M:%S")


PAGES: Final = (ConsolePages,)
