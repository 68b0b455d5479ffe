"""The console: how the bot is doing and what owners decide about it, for owners alone.

Whether somebody is an owner is asked anew with every request, and for everybody else none of these pages
exists. Nothing here shows what anybody wrote, or whose question it was.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from aiohttp import web

from cc_bot.administration import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    LimitInForce,
    Mentionable,
    parse_chain,
    parse_limit,
    parse_limit_value,
    parse_subject,
)
from cc_bot.domain.access import SUBJECTS, AccessRules, Ruling, Subject, Subjects, ids_of
from cc_bot.domain.errors import IdNotUnderstood, InputError, OwnersOnly, SubjectNotUnderstood
from cc_bot.domain.limits import LIMIT_NAMES, LimitKey
from cc_bot.domain.locale import Locale
from cc_bot.domain.process import find_differing, find_free_shards, write_shards
from cc_bot.domain.text import format_size
from cc_bot.log import LEVELS, MOST_RECORDS
from cc_bot.status import Seen
from cc_bot.texts import Texts
from cc_bot.texts.usage import money
from cc_bot.web.form import text_of
from cc_bot.web.notices import go_on, take_notice
from cc_bot.web.page import render, see_other
from cc_bot.web.services import DoctorReport, WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

LONGEST_ID: Final = 60
"""Characters of an id or a mention, as the commands take them."""
LOOKED_AFTER_S: Final = 20.0
"""For the doctor, until the page says that it is still looking."""
_NO_RULES: Final = AccessRules()


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of the list of who may use the bot."""

    about: Mentionable
    ruling: Ruling
    here: bool
    """Whether an owner made it; else it stands in the operator's file."""


@dataclass(frozen=True, slots=True)
class _Examined:
    """The newest report of the doctor, or that one is on its way."""

    running: bool
    report: DoctorReport | None
    at: datetime | None


class Checkups:
    """The runs of the doctor: one at a time for each language, and the newest report of each."""

    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._running = dict[Locale, asyncio.Task[DoctorReport]]()
        self._reports = dict[Locale, tuple[DoctorReport, datetime]]()

    async def run(self, locale: Locale) -> None:
        """Begin one, unless one is under way, and wait for it a while."""
        task = self._running.get(locale)
        if task is None:
            task = asyncio.create_task(self._examine(locale))
            self._running[locale] = task
            task.add_done_callback(lambda _: self._running.pop(locale, None))
        await asyncio.wait((task,), timeout=LOOKED_AFTER_S)

    def newest(self, locale: Locale) -> _Examined:
        report, at = self._reports.get(locale, (None, None))
        return _Examined(locale in self._running, report, at)

    async def close(self) -> None:
        """End those that are under way."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _examine(self, locale: Locale) -> DoctorReport:
        report = await self._services.console.examine(locale)
        self._reports[locale] = report, self._services.clock()
        return report


class ConsolePages:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._owners = services.console
        self._checkups = Checkups(services)

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/console", self.show_status),
            web.post("/console/maintenance", self.switch_maintenance),
            web.get("/console/limits", self.show_limits),
            web.post("/console/limits", self.set_limit),
            web.post("/console/limits/unset", self.unset_limit),
            web.get("/console/access", self.show_access),
            web.post("/console/access", self.add_rule),
            web.post("/console/access/remove", self.remove_rule),
            web.get("/console/models", self.show_models),
            web.post("/console/models", self.set_models),
            web.post("/console/models/unset", self.unset_models),
            web.get("/console/log", self.show_log),
            web.get("/console/doctor", self.show_doctor),
            web.post("/console/doctor", self.run_doctor),
        )

    async def close(self) -> None:
        await self._checkups.close()

    async def _require_owner(self, request: web.Request) -> SignedIn:
        """Return who decides something, of whom it is asked anew whether they may, as `/admin` does. Raises
        OwnersOnly."""
        owner = owner_of(request)
        if not await self._services.discord.is_owner(owner.user_id, anew=True):
            raise OwnersOnly
        return owner

    # ---- status

    async def show_status(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        seen = await self._owners.status.look()
        return _render(request, "console.html", owner, seen=seen, facts=partial(_facts, seen, owner.words))

    async def switch_maintenance(self, request: web.Request) -> web.StreamResponse:
        """Begin it or end it. Raises InputError for a note that is too long."""
        owner, administration = await self._require_owner(request), self._owners.administration
        wanted = text_of(request, "do")
        if wanted not in ("begin", "end"):
            raise InputError
        if wanted == "end":
            ended = await administration.end_maintenance(owner.user_id)
            return go_on(request, owner, "/console", "maintenance_ended" if ended else "maintenance_was_off")
        note = text_of(request, "note")
        if len(note) > MAX_NOTE_CHARACTERS:
            raise InputError
        await administration.begin_maintenance(owner.user_id, note)
        return go_on(request, owner, "/console", "maintenance_begun")

    # ---- limits

    async def show_limits(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        return _render(
            request,
            "console_limits.html",
            owner,
            limits=await self._owners.administration.list_limits(),
            names=LIMIT_NAMES,
            kinds=[kind for kind in SUBJECTS if kind != "channel"],
            subject_of=partial(_subject_of, owner.words),
        )

    async def set_limit(self, request: web.Request) -> web.StreamResponse:
        """Have a limit hold. Raises LimitNotUnderstood, and what else parse_limit raises."""
        owner = await self._require_owner(request)
        key, value = await _limit_key(request), parse_limit_value(text_of(request, "value"))
        await self._owners.administration.set_limit(owner.user_id, key, value)
        return go_on(request, owner, "/console/limits", "limit_set")

    async def unset_limit(self, request: web.Request) -> web.StreamResponse:
        owner, key = await self._require_owner(request), await _limit_key(request)
        unset = await self._owners.administration.unset_limit(owner.user_id, key)
        return go_on(request, owner, "/console/limits", "limit_unset" if unset else "limit_was_not_set")

    # ---- access

    async def show_access(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        in_force = await self._owners.administration.list_access()
        everything = in_force.in_file | in_force.set_here
        return _render(
            request,
            "console_access.html",
            owner,
            rules=[*_rules(in_force.set_here, here=True), *_rules(in_force.in_file, here=False)],
            open_to_all=everything == _NO_RULES,
            only_those=everything.allow != Subjects(),
            kinds=SUBJECTS,
        )

    async def add_rule(self, request: web.Request) -> web.StreamResponse:
        """Allow or deny. Raises SubjectNotUnderstood."""
        owner, about = await self._require_owner(request), await _subject(request)
        rulings: dict[str, Ruling] = {"allow": "allow", "deny": "deny"}
        ruling = rulings.get(text_of(request, "rule"))
        if ruling is None:  # a guess would lock everybody else out, or somebody in
            raise InputError
        await self._owners.administration.rule(owner.user_id, about, ruling)
        return go_on(request, owner, "/console/access", "access_set")

    async def remove_rule(self, request: web.Request) -> web.StreamResponse:
        """Take a rule back. Raises SubjectNotUnderstood."""
        owner, about = await self._require_owner(request), await _subject(request)
        removal = await self._owners.administration.remove_rule(owner.user_id, about)
        if not removal.removed:
            return go_on(request, owner, "/console/access", "access_had_no_rule")
        return go_on(
            request,
            owner,
            "/console/access",
            "access_also_in_file" if removal.also_in_file else "access_removed",
        )

    # ---- models

    async def show_models(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        chains = await self._owners.administration.list_models()
        most = MAX_MODELS * (MAX_MODEL_CHARACTERS + 1)
        return _render(request, "console_models.html", owner, chains=chains, most_characters=most)

    async def set_models(self, request: web.Request) -> web.StreamResponse:
        """Have some models answer in a channel. Raises SubjectNotUnderstood and ModelsNotUnderstood."""
        owner, channel_id = await self._require_owner(request), await _channel_id(request)
        chain = parse_chain(text_of(request, "models"))
        missing = await self._owners.administration.set_models(owner.user_id, channel_id, chain)
        return go_on(request, owner, "/console/models", "models_missing" if missing else "models_set")

    async def unset_models(self, request: web.Request) -> web.StreamResponse:
        """Have the usual models answer. Raises SubjectNotUnderstood."""
        owner, channel_id = await self._require_owner(request), await _channel_id(request)
        unset = await self._owners.administration.unset_models(owner.user_id, channel_id)
        return go_on(request, owner, "/console/models", "models_unset" if unset else "models_were_not_set")

    # ---- log

    async def show_log(self, request: web.Request) -> web.Response:
        """Show the newest records from a level on. Raises InputError for a level that there is not."""
        owner, level = owner_of(request), request.query.get("level", LEVELS[0])
        if level not in LEVELS:
            raise InputError
        records = self._owners.records.newest(level)
        return _render(
            request,
            "console_log.html",
            owner,
            records=records,
            level=level,
            levels=LEVELS,
            most=MOST_RECORDS,
            clock=partial(_clock, owner),
        )

    # ---- doctor

    async def show_doctor(self, request: web.Request) -> web.Response:
        owner = owner_of(request)
        return _render(request, "console_doctor.html", owner, examined=self._checkups.newest(owner.locale))

    async def run_doctor(self, request: web.Request) -> web.StreamResponse:
        """Have it look, and show what it found, or that it is still looking."""
        await self._checkups.run((await self._require_owner(request)).locale)
        return see_other("/console/doctor")


def owner_of(request: web.Request) -> SignedIn:
    """Return who asks. Raises OwnersOnly, which is told as if there were no such page."""
    visitor = visitor_of(request)
    if not visitor.owner:
        raise OwnersOnly
    return visitor


def _render(request: web.Request, template: str, owner: SignedIn, **values: Any) -> web.Response:
    console, pressed = owner.words.console, take_notice(request, owner)
    done = console.done[pressed.name] if pressed else ""
    if pressed and pressed.name == "access_set":
        done = f"{done} {owner.words.admin.owners_stay}"
    shown = {"console": console, "admin": owner.words.admin, "done": done, **values}
    return render(request, template, owner, **shown)


async def _subject(request: web.Request) -> Mentionable:
    written, kind = await _id(request), await _kind(request)
    with _reading_id(kind):
        return parse_subject(written, kind)


async def _channel_id(request: web.Request) -> int:
    written = await _id(request)
    with _reading_id("channel"):
        return parse_subject(written, "channel").id


async def _limit_key(request: web.Request) -> LimitKey:
    limit, written, kind = text_of(request, "limit"), await _id(request), await _kind(request)
    with _reading_id(kind):
        return parse_limit(limit, written, kind)


@contextmanager
def _reading_id(kind: Subject | None) -> Iterator[None]:
    """Raise IdNotUnderstood where a form had its kind chosen and an id written: no mention is missing."""
    try:
        yield
    except SubjectNotUnderstood as error:
        if kind is None:
            raise
        raise IdNotUnderstood from error


async def _kind(request: web.Request) -> Subject | None:
    wanted = text_of(request, "kind")
    return next((kind for kind in SUBJECTS if kind == wanted), None)


async def _id(request: web.Request) -> str:
    return (text_of(request, "id"))[:LONGEST_ID]


def _facts(seen: Seen, words: Texts, at: Callable[[datetime], str]) -> list[tuple[str, str]]:
    """Return how the bot is doing: what is told, and what is said of it."""
    said = words.console
    connected = said.connected_just_now if seen.connected else said.disconnected
    if seen.connected and seen.latency_s is not None:
        connected = said.connected.format(milliseconds=round(seen.latency_s * 1000))
    cost = ""
    if seen.cost_micros is not None:
        cost = words.admin.cost.format(cost=money(seen.cost_micros, seen.currency))
    tokens, turns = f"{seen.tokens_today:,}", f"{seen.turns_today:,}"
    today = words.usage.total.format(tokens=tokens, turns=turns) + cost
    if seen.seconds_today:
        today = words.usage.sound.format(total=today, time=words.usage.time(seen.seconds_today))
    backup = said.no_backup if seen.backup_at is None else at(seen.backup_at)
    return [
        (said.version, said.version_value.format(version=seen.version, schema=seen.schema_version)),
        (said.since, at(seen.began_at)),
        (said.discord, connected),
        (said.database, format_size(seen.database_bytes)),
        (said.disk, said.unknown if seen.free_bytes is None else format_size(seen.free_bytes)),
        *([(said.last_backup, backup)] if seen.backs_up else []),
        (said.today, today),
        *((said.processes, line) for line in (_processes(seen, words) if seen.shares else ())),
    ]


def _processes(seen: Seen, words: Texts) -> Iterator[str]:
    """Tell of the processes that are one bot, and of what is wrong with them."""
    said = words.doctor_server
    for each in seen.processes:
        process = each.process
        own = ", ".join(duty.name for duty in seen.duties if duty.process == process.name)
        about = {"host": process.host, "shards": process.told_shards or said.all_shards}
        line = said.process_lapsed if each.lapsed else said.process
        yield line.format(**about, duties=own or said.no_duties)
        if each.is_unconnected and not each.lapsed:
            yield said.process_unconnected.format(**about)
    if free := find_free_shards(seen.processes):
        yield said.free_shards.format(shards=write_shards(free))
    if differing := find_differing(seen.processes):
        yield said.differing.format(what=", ".join(differing))


def _subject_of(words: Texts, limit: LimitInForce) -> str:
    """Return whom a limit is about."""
    key, said = limit.key, words.console
    if key.scope == "everyone":
        return words.admin.everyone
    return said.named.format(kind=said.kinds[key.scope], id=key.scope_id)


def _rules(rules: AccessRules, *, here: bool) -> list[_Rule]:
    listed: tuple[tuple[Subjects, Ruling], ...] = ((rules.allow, "allow"), (rules.deny, "deny"))
    return [
        _Rule(Mentionable(kind, id_), ruling, here)
        for subjects, ruling in listed
        for kind in SUBJECTS
        for id_ in sorted(ids_of(subjects, kind))
    ]


def _clock(owner: SignedIn, moment: datetime) -> str:
    return moment.astimezone(owner.timezone).strftime("%m-%d %H:%M:%S")
