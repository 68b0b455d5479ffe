"""The `/remind` commands, and what they lead to: reminders that are said between answers."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, EmptyReminder, ScheduleNotFound
from cc_bot.domain.message import Message
from cc_bot.domain.repeats import parse_schedules
from cc_bot.domain.schedule import Firing, ScheduleChange, Untold
from cc_bot.domain.when_and_what import split_when
from cc_bot.scheduler import Scheduler
from cc_bot.stores import ScheduleStore
from cc_bot.terminal.commands import DeleteReminder, ListReminders, SetReminder
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.markdown import printable
from cc_bot.terminal.person import ChatProfile, Person
from cc_bot.terminal.view import View, change_line, listed_line, moment_line
from cc_bot.texts import Texts

LATE: Final = timedelta(minutes=1)
"""Later than this is said to be late."""

ReminderCommand = ListReminders | SetReminder | DeleteReminder
Show = Callable[[Callable[[], None]], Awaitable[None]]
"""Has something printed where the user does not type just now."""

_log = structlog.get_logger(__name__)


class Reminding:
    def __init__(
        self, schedules: ScheduleStore, profile: ChatProfile, view: View, clock: Clock = utc_now
    ) -> None:
        self._schedules = schedules
        self._profile = profile
        self._view = view
        self._clock = clock
        self._scheduler = Scheduler(schedules, places=["terminal"], user_id=profile.key.user_id, clock=clock)

    async def run(self, command: ReminderCommand, person: Person) -> None:
        match command:
            case ListReminders():
                await self._list(person)
            case SetReminder(words):
                await self._add(words, person)
            case DeleteReminder(number):
                await self._delete(number, person)

    async def say_due(self, person: Callable[[], Awaitable[Person]], show: Show) -> None:
        """Say what is due now. A failure is a log record; what could not be read comes the next time."""
        try:
            for each in await self._scheduler.due():
                reader = await person()
                lines = self._lines(each, reader)
                await show(partial(self._view.say, "\n".join(lines)))
                if isinstance(each, Firing):
                    await self._schedules.sent(each, Message("assistant", each.schedule.text))
        except CcBotError as error:
            _log.warning("reminders_not_said", error=type(error).__name__)

    async def wait(self) -> bool:
        """Until something may be due. False: nothing more is to be said."""
        await self._scheduler.wait()
        return not self._scheduler.stopped

    def stop(self) -> None:
        """Say nothing more. What is claimed just now is said: cancelled, nobody would."""
        self._scheduler.stop()

    def _lines(self, each: Firing | Untold, person: Person) -> list[str]:
        words, now = person.texts.remind_here, self._clock()
        if isinstance(each, Firing):
            template = words.said_late if now - each.due_at > LATE else words.said
            return [self._told(template, each, person, now)]
        missed = [self._told(words.missed, firing, person, now) for firing in each.missed]
        return [*missed, *(self._told(words.uncertain, firing, person, now) for firing in each.uncertain)]

    def _told(self, template: str, firing: Firing, person: Person, now: datetime) -> str:
        time = moment_line(firing.due_at, person.timezone, now, person.texts)
        text = kept_apart(printable(firing.schedule.text), at_line_start=False)
        return template.format(text=text, time=time)

    async def _list(self, person: Person) -> None:
        words, now = person.texts, self._clock()
        known = await self._schedules.list(self._profile.key.user_id)
        if not known:
            self._view.say(words.remind_here.none)
            return
        lines = [listed_line(schedule, now, words) for schedule in known]
        self._view.say("\n".join((words.remind_here.title, *lines)))

    async def _add(self, written: str, person: Person) -> None:
        """Raises EmptyReminder, or why no time is found."""
        if not written:
            raise EmptyReminder
        when, text = split_when(written)
        planned = parse_schedules(when, "", self._clock(), person.timezone)
        if not text:
            self._view.complain(person.texts.remind_here.what)
            return
        for due, repeat in planned:
            added = await self._schedules.add(
                person.key,
                text,
                due,
                place="terminal",
                visibility=self._profile.visibility,
                repeat=repeat,
                timezone=person.timezone.key,
            )
            self._tell(ScheduleChange("added", added), person.texts)

    async def _delete(self, number: int, person: Person) -> None:
        user_id = self._profile.key.user_id
        known = await self._schedules.numbered(user_id, number)
        cancelled = await self._schedules.cancel(user_id, known.id) if known else None
        if cancelled is None:
            raise ScheduleNotFound(id=number)
        self._tell(ScheduleChange("cancelled", cancelled), person.texts)

    def _tell(self, change: ScheduleChange, words: Texts) -> None:
        self._view.say(change_line(change, words))


# ---- moments ---------------------------------------------------------------------------------------------
# When something is, as the terminal shows it: the time where its user is, and the day if it is another.


def moments_for(person: Person, now: datetime) -> Callable[[datetime], str]:
    """Writes moments: `at 18:30`, or `at 2026-12-01 00:00`."""
    words = person.texts.usage

    def shown(moment: datetime) -> str:
        local = moment.astimezone(person.timezone)
        same_day = local.date() == now.astimezone(person.timezone).date()
        return words.at.format(time=f"{local:%H:%M}" if same_day else f"{local:%Y-%m-%d %H:%M}")

    return shown
