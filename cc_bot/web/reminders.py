"""One's own reminders and heartbeat, as `/remind` and `/heartbeat` have them, and their changing."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from cc_bot.assistant.reminders import (
    ReminderSource,
    add_reminders,
    change_reminder,
    start_heartbeat,
    stop_heartbeat,
)
from cc_bot.domain.errors import (
    InputError,
    NothingHere,
    ReminderEditOutdated,
    RepeatNotUnderstood,
    WhenNotUnderstood,
)
from cc_bot.domain.schedule import (
    MAX_TEXT_CHARACTERS,
    USUAL_QUIET,
    Quiet,
    Schedule,
    clock_time,
    hours_of,
    quiet_of,
    repeat_of,
)
from cc_bot.domain.text import without_sign
from cc_bot.texts.reminder import described
from cc_bot.web.form import SentForms, id_in, make_form_key, text_of
from cc_bot.web.notices import go_on
from cc_bot.web.page import moment_in, render, sentence_on
from cc_bot.web.places import channel_names
from cc_bot.web.server import status_of
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, payer_of, visitor_of

LONGEST_TIME: Final = 100
"""Characters, as the command takes them."""
_USUAL_HOURS: Final = 6


@dataclass(frozen=True, slots=True)
class ReminderForm:
    """A reminder as it was typed."""

    text: str = ""
    when: str = ""
    repeat: str = ""
    number: int | None = None
    """Of the one that it changes; None for a new one."""

    def ensure_short(self) -> None:
        """Raise WhenNotUnderstood or RepeatNotUnderstood for a time or repeat that is too long."""
        if len(self.when) > LONGEST_TIME:
            raise WhenNotUnderstood
        if len(self.repeat) > LONGEST_TIME:
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
        """Show all that wait or are paused, the next one first, and the heartbeat."""
        return await self._page(request)

    async def _page(
        self, request: web.Request, entered: ReminderForm = NOTHING_ENTERED, problem: InputError | None = None
    ) -> web.Response:
        """Return the page; what was entered and can't be done stands where it was, with the reason."""
        visitor = visitor_of(request)
        reminders = await self._schedules.list(visitor.user_id)
        beats = await self._schedules.list(visitor.user_id, kind="heartbeat")
        ids = (each.key.channel_id for each in (*reminders, *beats) if each.place == "channel")
        names = await channel_names(self._services, ids, visitor)
        words, at = visitor.words, moment_in(visitor.timezone)
        beat = beats[0] if beats else None
        quiet = (beat.quiet if beat else None) or USUAL_QUIET
        return render(
            request,
            "reminders.html",
            visitor,
            status=status_of(problem) if problem else 200,
            entered=entered,
            problem=sentence_on(problem, visitor.words, visitor.timezone) if problem else "",
            reminders=reminders,
            form_key=make_form_key(),
            mark_of=mark_of,
            time_of=lambda each: _time(each, visitor, at(each.due_at)),
            place_of=lambda each: _place(each, visitor, names.get(each.key.channel_id, "")),
            trouble_of=lambda each: without_sign(
                words.reminder.reasons[each.obstacle] or words.reminder.paused
            ),
            most_characters=MAX_TEXT_CHARACTERS,
            longest_time=LONGEST_TIME,
            beat=beat,
            rhythm=_rhythm(beat, visitor, names.get(beat.key.channel_id, "")) if beat else "",
            hours=hours_of(beat.repeat) if beat else _USUAL_HOURS,
            quiet_from=f"{clock_time(quiet.since):0>5}",
            quiet_to=f"{clock_time(quiet.until):0>5}",
        )

    async def add(self, request: web.Request) -> web.StreamResponse:
        """Set one, or as many as its time means; the same form sent twice is one. What can't be set is shown
        back. Raises what `add_reminders` raises beside."""
        visitor, form = visitor_of(request), await _form(request)

        async def act() -> None:
            source = await self._source(visitor)
            form.ensure_short()
            await add_reminders(
                self._schedules,
                self._services.moments,
                source,
                text=form.text,
                when=form.when,
                repeat=form.repeat,
            )

        words = (form.text, form.when, form.repeat)
        try:
            await self._sent.once(visitor.user_id, text_of(request, "key"), words, act)
        except InputError as error:
            return await self._page(request, form, error)
        return go_on(request, visitor_of(request), "/reminders", "reminder_set")

    async def change(self, request: web.Request) -> web.StreamResponse:
        """Give one another text, time or repeat. What can't be is shown back. Raises NothingHere, and what
        `change_reminder` raises beside."""
        visitor = visitor_of(request)
        before = await self._reminder(request, visitor)
        form = await _form(request, id_in(request, "number"))
        try:
            form.ensure_short()
            if text_of(request, "mark") != mark_of(before):
                raise ReminderEditOutdated
            await change_reminder(
                self._schedules,
                self._services.moments,
                await self._source(visitor),
                before,
                text=form.text,
                when=form.when,
                repeat=form.repeat,
            )
        except InputError as error:
            return await self._page(request, form, error)
        await self._services.discord.receipts_changed(visitor.user_id)
        return go_on(request, visitor_of(request), "/reminders", "reminder_changed")

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Delete one. Raises NothingHere."""
        visitor = visitor_of(request)
        known = await self._reminder(request, visitor)
        if await self._schedules.cancel(visitor.user_id, known.id) is None:
            raise NothingHere
        await self._services.discord.receipts_changed(visitor.user_id)
        return go_on(request, visitor_of(request), "/reminders", "reminder_cancelled")

    async def resume(self, request: web.Request) -> web.StreamResponse:
        """Let a paused one go on. Raises NothingHere; one that waits stays as it is."""
        visitor = visitor_of(request)
        known = await self._reminder(request, visitor)
        await self._schedules.resume(visitor.user_id, known.id)
        return go_on(request, visitor_of(request), "/reminders", "reminder_resumed")

    async def start_heartbeat(self, request: web.Request) -> web.StreamResponse:
        """Have the bot look around, in the place of what there was. Raises InputError."""
        visitor = visitor_of(request)
        try:
            hours = int(text_of(request, "every"))
            repeat_of(hours)
            quiet = _quiet(text_of(request, "quiet_from"), text_of(request, "quiet_to"))
        except ValueError as error:
            raise InputError from error
        source = await self._source(visitor)
        await start_heartbeat(self._schedules, source, hours, quiet, self._services.clock)
        return go_on(request, visitor_of(request), "/reminders", "heartbeat_on")

    async def stop_heartbeat(self, request: web.Request) -> web.StreamResponse:
        """Have it look around no longer."""
        visitor = visitor_of(request)
        await stop_heartbeat(self._schedules, self._services.stores.heartbeats, visitor.user_id)
        return go_on(request, visitor_of(request), "/reminders", "heartbeat_off")

    async def _reminder(self, request: web.Request, visitor: SignedIn) -> Schedule:
        """Return the reminder whose number stands in the path. Raises NothingHere."""
        found = await self._schedules.get_by_number(visitor.user_id, id_in(request, "number"))
        if found is None or found.status == "done":
            raise NothingHere
        return found

    async def _source(self, visitor: SignedIn) -> ReminderSource:
        place = visitor.session.place
        return ReminderSource(
            await self._services.discord.current_key(visitor.user_id, place.channel_id),
            visitor.timezone,
            visitor.locale,
            payer_of(visitor),
            "dm" if visitor.user_id else "terminal",
            place.guild_id,
        )


def _quiet(since: str, until: str) -> Quiet:
    """Return the quiet hours of two fields that showed what there is: emptied, there are none. Raises
    ValueError."""
    if bool(since.strip()) != bool(until.strip()):
        raise ValueError
    return quiet_of(since or "0:00", until or "0:00")


async def _form(request: web.Request, number: int | None = None) -> ReminderForm:
    text, when = text_of(request, "text"), text_of(request, "when")
    return ReminderForm(text, when, text_of(request, "repeat"), number)


def mark_of(schedule: Schedule) -> str:
    """Return what tells whether a reminder still is as it was when a page showed it."""
    told = repr((schedule.text, schedule.due_at, schedule.repeat)).encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:16]


def _time(schedule: Schedule, visitor: SignedIn, due: str) -> str:
    if not schedule.repeat:
        return due
    repeat = described(schedule.repeat, visitor.words.repeat)
    return visitor.words.web_reminder.next.format(repeat=repeat, time=due)


def _place(schedule: Schedule, visitor: SignedIn, channel: str) -> str:
    words = visitor.words.reminder
    return {"dm": words.dm_place, "terminal": words.terminal_place, "channel": channel}[schedule.place]


def _rhythm(beat: Schedule, visitor: SignedIn, channel: str) -> str:
    """Return the words that tell how often a heartbeat comes, where, and when not."""
    told, quiet = visitor.words.heartbeat, beat.quiet
    where = told.in_channel.format(channel=channel) if beat.place == "channel" else told.by_dm
    kept = told.never_quiet
    if quiet is not None and quiet.since != quiet.until:
        kept = told.quiet.format(since=clock_time(quiet.since), until=clock_time(quiet.until))
    return told.rhythm.format(hours=hours_of(beat.repeat), where=where, quiet=kept)
