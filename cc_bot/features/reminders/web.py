"""The page of a user's reminders."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from aiohttp import web

from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import InputError, ScheduleNotFound
from cc_bot.domain.text import contains_words
from cc_bot.domain.when.resolve import parse_schedules
from cc_bot.features.reminders import service
from cc_bot.features.reminders.errors import ReminderEditOutdated
from cc_bot.features.reminders.model import MAX_TEXT_CHARACTERS, MAX_WHEN_CHARACTERS, Schedule
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import RepeatTexts, WebReminderTexts
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts
from cc_bot.texts.web import WebTexts
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import form_text, path_id
from cc_bot.web.page import MAX_FOUND, Found, Hit, Pages, redirect, render, sections_on
from cc_bot.web.services import WebServices
from cc_bot.web.undo import offer_undo
from cc_bot.web.visitor import WebVisitor, visitor_of


class ReminderForm(NamedTuple):
    text: str
    when: str
    repeat: str
    number: int | None  # None for a new reminder


class ReminderPages(Pages):
    path = "/reminders"
    menu_position = 3

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._schedules = services.stores[ScheduleStore]

    def title(self, words: Texts) -> str:
        return words[WebTexts].reminders

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/reminders", self.page),
            web.post("/reminders", self.add),
            web.get("/reminders/reading", self.read_time),
            web.post("/reminders/{number}/change", self.change),
            web.post("/reminders/{number}/cancel", self.cancel),
            web.post("/reminders/{number}/resume", self.resume),
        )

    async def page(
        self, request: web.Request, form: ReminderForm | None = None, problem: InputError | None = None
    ) -> web.Response:
        """Show the reminders, with a form that was refused or for the reminder in the query's `change`."""
        visitor = visitor_of(request)
        reminders = await self._schedules.list(visitor.user_id)
        ids = (each.key.channel_id for each in reminders if each.target == "channel")
        caller = replace(visitor, channels=await channel_names(self._services, ids, visitor))
        listing = service.describe_reminders(reminders, caller)
        wanted = (each for each in reminders if str(each.number) == request.query.get("change"))
        return render(
            request,
            "reminders/reminders.html",
            problem=problem,
            form=form or next((_fill_form(each, visitor) for each in wanted), None),
            rows=[*zip(reminders, listing.items, strict=True)],
            notes=listing.notes,
            fingerprint=fingerprint,
            place=partial(service.name_target, caller=caller),
            max_text_characters=MAX_TEXT_CHARACTERS,
            max_when_characters=MAX_WHEN_CHARACTERS,
            sections=await sections_on(request, self.path),
        )

    async def search(self, request: web.Request, words: str) -> Found:
        reminders = await self._schedules.list(visitor_of(request).user_id)
        found = [
            Hit(self.path, each.text, visitor_of(request).format_time(each.due_at))
            for each in reminders
            if contains_words(each.text, words)
        ]
        return Found(found[:MAX_FOUND], len(found), self.path)

    async def add(self, request: web.Request) -> web.StreamResponse:
        visitor, form = visitor_of(request), _read_form(request)
        try:
            reply = await service.add(
                visitor,
                await self._find_destination(visitor),
                text=form.text,
                when=form.when,
                repeat=form.repeat,
                schedules=self._schedules,
                resolver=self._services[TimeResolver],
            )
        except InputError as error:
            return await self.page(request, form, error)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def change(self, request: web.Request) -> web.StreamResponse:
        visitor, number = visitor_of(request), path_id(request, "number")
        form = _read_form(request, number)
        reminder = await service.find_reminder(self._schedules, visitor.user_id, number)
        shown, words = _fill_form(reminder, visitor), visitor.words[WebReminderTexts]
        try:
            if form_text(request, "mark") != fingerprint(reminder):
                raise ReminderEditOutdated
            reply = await service.change(
                visitor,
                reminder,
                text=form.text,
                when="" if form.when == shown.when else form.when,
                repeat="" if form.repeat == shown.repeat else form.repeat or words.once,
                schedules=self._schedules,
                resolver=self._services[TimeResolver],
            )
        except InputError as error:
            return await self.page(request, form, error)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def read_time(self, request: web.Request) -> web.Response:
        """Return how the rules understand a typed time; an empty text if they don't."""
        visitor, when = visitor_of(request), request.query.get("when", "")[:MAX_WHEN_CHARACTERS]
        try:
            times = parse_schedules(when, "", self._services.clock(), visitor.timezone)
        except InputError:
            times = ()
        return web.Response(text=service.describe_times(times, visitor))

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        visitor, number = visitor_of(request), path_id(request, "number")
        try:
            reminder = await service.find_reminder(self._schedules, visitor.user_id, number)
            reply = await service.delete(visitor, number, schedules=self._schedules)
        except ScheduleNotFound:
            return redirect(request, "/reminders", "reminder_gone")

        async def restore() -> bool:
            return bool(await self._schedules.add_copy(reminder))

        undo = offer_undo(request, self._services, "/reminders", restore)
        return await self._redirect_with_reply(request, "/reminders", reply, undo=undo)

    async def resume(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        reply = await service.resume(visitor, path_id(request, "number"), schedules=self._schedules)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def _find_destination(self, visitor: WebVisitor) -> service.Destination:
        channel_id = visitor.session.origin.channel_id
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        return service.Destination(key, "dm" if visitor.user_id else "terminal")


def _read_form(request: web.Request, number: int | None = None) -> ReminderForm:
    text, when = form_text(request, "text"), form_text(request, "when")
    return ReminderForm(text, when, form_text(request, "repeat"), number)


def _fill_form(reminder: Schedule, visitor: WebVisitor) -> ReminderForm:
    repeat = visitor.words[RepeatTexts].describe(reminder.repeat) if reminder.repeat else ""
    due_at = reminder.due_at.astimezone(visitor.timezone)
    when = visitor.words[MomentTexts].typed(due_at, utc_now())
    return ReminderForm(reminder.text, when, repeat, reminder.number)


def fingerprint(schedule: Schedule) -> str:
    content = repr((schedule.text, schedule.due_at, schedule.repeat)).encode("utf-8", "replace")
    return hashlib.sha256(content).hexdigest()[:16]


PAGES: Final = (ReminderPages,)
