"""The page of a user's reminders."""

import hashlib
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from aiohttp import web

from cc_bot.chat.reply import Reply
from cc_bot.concurrency import KeyedLock
from cc_bot.domain.errors import InputError, ReminderEditOutdated
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders.model import MAX_TEXT_CHARACTERS, Schedule
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.texts import Texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import id_in, text_of
from cc_bot.web.page import Pages, render, sections_on
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

MAX_WHEN_CHARACTERS: Final = 100  # as in the command
MAX_ADDED_FORMS: Final = 1000


class ReminderForm(NamedTuple):
    text: str
    when: str
    repeat: str
    number: int | None  # None for a new one


class ReminderPages(Pages):
    path = "/reminders"
    rank = 3

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._schedules = services.stores[ScheduleStore]
        self._added_forms = deque[tuple[int, str, ReminderForm]](maxlen=MAX_ADDED_FORMS)
        self._order = KeyedLock()

    def title(self, words: Texts) -> str:
        return words[WebTexts].reminders

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/reminders", self.page),
            web.post("/reminders", self.add),
            web.post("/reminders/{number}/change", self.change),
            web.post("/reminders/{number}/cancel", self.cancel),
            web.post("/reminders/{number}/resume", self.resume),
        )

    async def page(
        self, request: web.Request, entered: ReminderForm | None = None, problem: InputError | None = None
    ) -> web.Response:
        """Show the reminders, and invalid input with the reason."""
        visitor = visitor_of(request)
        known = await self._schedules.list(visitor.user_id)
        ids = (each.key.channel_id for each in known if each.target == "channel")
        caller = replace(visitor, channels=await channel_names(self._services, ids, visitor))
        return render(
            request,
            "reminders/reminders.html",
            problem=problem,
            entered=entered,
            reminders=known,
            form_key=secrets.token_urlsafe(12),
            mark_of=mark_of,
            item_of=lambda each: reminders.reminder_item(each, caller),
            most_characters=MAX_TEXT_CHARACTERS,
            longest_time=MAX_WHEN_CHARACTERS,
            sections=await sections_on(request, self.path),
        )

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Add one per time; a form sent twice by a double click counts once."""
        visitor, form, reply = visitor_of(request), _form(request), Reply()
        sent = (visitor.user_id, text_of(request, "key"), form)
        try:
            async with self._order.hold(visitor.user_id):
                if sent not in self._added_forms:
                    reply = await reminders.add(
                        visitor,
                        await self._destination(visitor),
                        text=form.text,
                        when=form.when,
                        repeat=form.repeat,
                        schedules=self._schedules,
                        moments=self._services[TimeResolver],
                    )
                    self._added_forms.append(sent)
        except InputError as error:
            return await self.page(request, form, error)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def change(self, request: web.Request) -> web.StreamResponse:
        visitor, number = visitor_of(request), id_in(request, "number")
        form = _form(request, number)
        before = await reminders.find_reminder(self._schedules, visitor.user_id, number)
        try:
            if text_of(request, "mark") != mark_of(before):
                raise ReminderEditOutdated
            reply = await reminders.change(
                visitor,
                before,
                text=form.text,
                when=form.when,
                repeat=form.repeat,
                schedules=self._schedules,
                moments=self._services[TimeResolver],
            )
        except InputError as error:
            return await self.page(request, form, error)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        reply = await reminders.delete(visitor, id_in(request, "number"), schedules=self._schedules)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def resume(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        reply = await reminders.resume(visitor, id_in(request, "number"), schedules=self._schedules)
        return await self._redirect_with_reply(request, "/reminders", reply)

    async def _destination(self, visitor: SignedIn) -> reminders.Destination:
        channel_id = visitor.session.origin.channel_id
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        return reminders.Destination(key, "dm" if visitor.user_id else "terminal")


def _form(request: web.Request, number: int | None = None) -> ReminderForm:
    text, when = text_of(request, "text"), text_of(request, "when")
    return ReminderForm(text, when, text_of(request, "repeat"), number)


def mark_of(schedule: Schedule) -> str:
    """Return a fingerprint, to detect changes since the page was shown."""
    shown = repr((schedule.text, schedule.due_at, schedule.repeat)).encode("utf-8", "replace")
    return hashlib.sha256(shown).hexdigest()[:16]


PAGES: Final = (ReminderPages,)
