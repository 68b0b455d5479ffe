"""The page on a user's reminders and heartbeat, as in `/remind` and `/heartbeat`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from cc_bot.commands import reminders
from cc_bot.commands.reply import Reply
from cc_bot.domain.errors import InputError, ReminderEditOutdated, RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.schedule import (
    MAX_TEXT_CHARACTERS,
    USUAL_QUIET,
    Place,
    Schedule,
    clock_time,
    hours_of,
    quiet_of,
    repeat_of,
)
from cc_bot.domain.session import SessionKey
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import SentForms, id_in, make_form_key, text_of
from cc_bot.web.page import go_on_with, render, sentence_on, status_of
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

MAX_TIME: Final = 100
"""Characters, as in the command."""
_USUAL_HOURS: Final = 6


@dataclass(frozen=True, slots=True)
class ReminderForm:
    text: str = ""
    when: str = ""
    repeat: str = ""
    number: int | None = None
    """Of the reminder to change; None for a new one."""

    def ensure_short(self) -> None:
        """Raise WhenNotUnderstood or RepeatNotUnderstood if the time or repeat is too long."""
        if len(self.when) > MAX_TIME:
            raise WhenNotUnderstood
        if len(self.repeat) > MAX_TIME:
            raise RepeatNotUnderstood


NOTHING_ENTERED: Final = ReminderForm()


class ReminderPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._schedules = services.stores.schedules
        self._sent = SentForms()

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/reminders", self.list),
            web.post("/reminders", self.add),
            web.post("/reminders/{number}/change", self.change),
            web.post("/reminders/{number}/cancel", self.cancel),
            web.post("/reminders/{number}/resume", self.resume),
            web.post("/heartbeat", self.start_heartbeat),
            web.post("/heartbeat/stop", self.stop_heartbeat),
        )

    async def list(self, request: web.Request) -> web.Response:
        """Show all waiting and paused reminders, the next one first, and the heartbeat."""
        return await self._page(request)

    async def _page(
        self, request: web.Request, entered: ReminderForm = NOTHING_ENTERED, problem: InputError | None = None
    ) -> web.Response:
        """Return the page; invalid input is shown again with the reason."""
        visitor = visitor_of(request)
        known = await self._schedules.list(visitor.user_id)
        beats = await self._schedules.list(visitor.user_id, kind="heartbeat")
        ids = (each.key.channel_id for each in (*known, *beats) if each.place == "channel")
        names = await channel_names(self._services, ids, visitor)
        caller = replace(visitor, channels=names)
        beat = beats[0] if beats else None
        quiet = (beat.quiet if beat else None) or USUAL_QUIET
        return render(
            request,
            "reminders.html",
            visitor,
            status=status_of(problem) if problem else 200,
            entered=entered,
            problem=sentence_on(problem, visitor.words, visitor.timezone) if problem else "",
            reminders=known,
            form_key=make_form_key(),
            mark_of=mark_of,
            item_of=lambda each: reminders.reminder_item(each, caller),
            most_characters=MAX_TEXT_CHARACTERS,
            longest_time=MAX_TIME,
            beat=beat,
            heartbeat=reminders.heartbeat_state(beats, caller),
            hours=hours_of(beat.repeat) if beat else _USUAL_HOURS,
            quiet_from=f"{clock_time(quiet.since):0>5}",
            quiet_to=f"{clock_time(quiet.until):0>5}",
        )

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Add one, or one per time; the same form counts once. Invalid input is shown again. Raises the other
        errors of `add_reminders`."""
        visitor, form = visitor_of(request), await _form(request)

        async def act() -> None:
            form.ensure_short()
            replies.append(
                await reminders.add(
                    visitor,
                    await self._key(visitor),
                    _place(visitor),
                    text=form.text,
                    when=form.when,
                    repeat=form.repeat,
                    schedules=self._schedules,
                    moments=self._services.moments,
                )
            )

        replies, words = [Reply()], (form.text, form.when, form.repeat)
        try:
            await self._sent.once(visitor.user_id, text_of(request, "key"), words, act)
        except InputError as error:
            return await self._page(request, form, error)
        return go_on_with(request, visitor, "/reminders", replies[-1])

    async def change(self, request: web.Request) -> web.StreamResponse:
        """Change one's text, time or repeat. Invalid input is shown again. Raises NothingHere, and the other
        errors of `change_reminder`."""
        visitor = visitor_of(request)
        before = await reminders.find_reminder(self._schedules, visitor.user_id, id_in(request, "number"))
        form = await _form(request, id_in(request, "number"))
        try:
            form.ensure_short()
            if text_of(request, "mark") != mark_of(before):
                raise ReminderEditOutdated
            reply = await reminders.change(
                visitor,
                before,
                text=form.text,
                when=form.when,
                repeat=form.repeat,
                schedules=self._schedules,
                moments=self._services.moments,
            )
        except InputError as error:
            return await self._page(request, form, error)
        await self._services.discord.receipts_changed(visitor.user_id)
        return go_on_with(request, visitor, "/reminders", reply)

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Raises ScheduleNotFound."""
        visitor = visitor_of(request)
        reply = await reminders.delete(visitor, id_in(request, "number"), schedules=self._schedules)
        await self._services.discord.receipts_changed(visitor.user_id)
        return go_on_with(request, visitor, "/reminders", reply)

    async def resume(self, request: web.Request) -> web.StreamResponse:
        """Resume a paused one; a waiting one stays unchanged. Raises ScheduleNotFound."""
        visitor = visitor_of(request)
        reply = await reminders.resume(visitor, id_in(request, "number"), schedules=self._schedules)
        return go_on_with(request, visitor, "/reminders", reply)

    async def start_heartbeat(self, request: web.Request) -> web.StreamResponse:
        """Set the heartbeat, replacing any other. Raises InputError."""
        visitor = visitor_of(request)
        quiet_from, quiet_to = text_of(request, "quiet_from").strip(), text_of(request, "quiet_to").strip()
        try:
            hours = int(text_of(request, "every"))
            repeat_of(hours)
            quiet_of(quiet_from, quiet_to)
        except ValueError as error:
            raise InputError from error
        if bool(quiet_from) != bool(quiet_to):
            raise InputError
        reply = await reminders.heartbeat_on(
            visitor,
            await self._key(visitor),
            _place(visitor),
            every=hours,
            quiet_from=quiet_from or "0:00",  # the fields showed what there was: emptied, nothing is quiet
            quiet_to=quiet_to or "0:00",
            schedules=self._schedules,
            clock=self._services.clock,
        )
        return go_on_with(request, visitor, "/reminders", reply)

    async def stop_heartbeat(self, request: web.Request) -> web.StreamResponse:
        visitor, heartbeats = visitor_of(request), self._services.stores.heartbeats
        reply = await reminders.heartbeat_off(visitor, schedules=self._schedules, heartbeats=heartbeats)
        return go_on_with(request, visitor, "/reminders", reply)

    async def _key(self, visitor: SignedIn) -> SessionKey:
        return await self._services.discord.current_key(visitor.user_id, visitor.session.place.channel_id)


def _place(visitor: SignedIn) -> Place:
    return "dm" if visitor.user_id else "terminal"


async def _form(request: web.Request, number: int | None = None) -> ReminderForm:
    text, when = text_of(request, "text"), text_of(request, "when")
    return ReminderForm(text, when, text_of(request, "repeat"), number)


def mark_of(schedule: Schedule) -> str:
    """Return a fingerprint of a reminder, to detect changes since a page showed it."""
    told = repr((schedule.text, schedule.due_at, schedule.repeat)).encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:16]
