"""`/remind …` in the terminal, and the reminders that come due while it is open."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.reply import Reply
from cc_bot.domain import errors
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Message
from cc_bot.domain.text import Count, printable
from cc_bot.domain.when.resolve import parse_schedules, split_when
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders.errors import EmptyReminder
from cc_bot.features.reminders.model import Firing, UnreportedFirings
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.scheduler import Scheduler
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import TerminalReminderTexts
from cc_bot.log import log_failure
from cc_bot.terminal.chat import Conversation
from cc_bot.terminal.commands import Chat, Command, InvalidCommand, parse_number
from cc_bot.terminal.view import indent_symbols
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts

LATE_AFTER: Final = timedelta(minutes=1)


async def list_reminders(chat: Chat, _text: str, _options: Mapping[str, str]) -> Reply:
    return await reminders.list_reminders(chat.profile.caller, schedules=chat.stores[ScheduleStore])


async def add_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    """Add the reminders of a text such as `明日9時と18時 薬`. Raises InputError."""
    if not text:
        raise EmptyReminder
    when, what = split_when(re.sub(r'^"([^"]*)"', r"\1", text))
    profile, schedules = chat.profile, chat.stores[ScheduleStore]
    if not what:
        parse_schedules(when, "", utc_now(), profile.timezone)  # raises NoSuchTime for `25:99 薬`
        raise InvalidCommand(chat.texts[TerminalReminderTexts].text_needed)
    return await reminders.add(
        profile.caller,
        reminders.Destination(profile.key, "terminal"),
        text=what,
        when=when,
        schedules=schedules,
        resolver=chat.parts[TimeResolver],
    )


async def delete_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = parse_number(text, chat.texts[TerminalReminderTexts].id_needed)
    return await reminders.delete(chat.profile.caller, number, schedules=chat.stores[ScheduleStore])


async def resume_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = parse_number(text, chat.texts[TerminalReminderTexts].id_needed)
    return await reminders.resume(chat.profile.caller, number, schedules=chat.stores[ScheduleStore])


async def count_stored(chat: Chat) -> str:
    count = Count(len(await chat.stores[ScheduleStore].list(chat.user_id)))
    return chat.texts[TerminalReminderTexts].stored.format(count=count) if count else ""


async def suggest_reminders(chat: Chat, word: str) -> Sequence[tuple[int, str]]:
    schedules = await chat.stores[ScheduleStore].list(chat.user_id)
    return [(each.number, each.text) for each in schedules if str(each.number).startswith(word)]


COMMANDS: Final[Mapping[str, Command]] = {
    "remind add": Command(add_reminder, ("remind_when", "remind_text")),
    "remind list": Command(list_reminders, short="remind"),
    "remind delete": Command(delete_reminder, ("remind_id",), suggest=suggest_reminders),
    "remind resume": Command(resume_reminder, ("remind_id",), suggest=suggest_reminders),
}


def due_lines(due: Firing | UnreportedFirings, zone: ZoneInfo, texts: Texts) -> str:
    words, now, lines = texts[TerminalReminderTexts], utc_now(), list[str]()
    for firing in (due,) if isinstance(due, Firing) else due:
        claimed = words.late if now - firing.due_at > LATE_AFTER else "⏰ {text}"
        template = {"missed": words.missed, "uncertain": words.uncertain}.get(firing.state, claimed)
        text = indent_symbols(printable(firing.schedule.text), at_line_start=False)
        time = texts[MomentTexts].written(firing.due_at.astimezone(zone), now)
        lines.append(template.format(text=text, time=time))
    return "\n".join(lines)


class DueReminders:
    def __init__(self, conversation: Conversation) -> None:
        self._conversation, self._chat = conversation, conversation.chat
        self._schedules = self._chat.stores[ScheduleStore]
        self.scheduler = Scheduler(self._schedules, targets=["terminal"], user_id=self._chat.user_id)

    async def show(self) -> None:
        """Show what is due now. If this fails, the next call tries again."""
        async with self._conversation.busy:
            with log_failure("reminders_not_said", errors.CcBotError):
                for each in await self.scheduler.claim_all_due():
                    lines = due_lines(each, self._chat.profile.timezone, self._chat.texts)
                    await self._conversation.say(lines)
                    if isinstance(each, Firing):
                        message = Message("assistant", each.schedule.text)
                        await self._schedules.mark_sent(each, message)

    async def keep_showing(self) -> None:
        await self.scheduler.wait()
        while not self.scheduler.is_stopped:
            await self.show()
            await self.scheduler.wait()


@asynccontextmanager
async def run_during_chat(conversation: Conversation) -> AsyncIterator[None]:
    due = DueReminders(conversation)
    await due.show()
    task = asyncio.create_task(due.keep_showing())
    try:
        yield
    finally:
        due.scheduler.stop()  # to cancel the task could lose a claimed reminder
        await asyncio.gather(task, return_exceptions=True)
