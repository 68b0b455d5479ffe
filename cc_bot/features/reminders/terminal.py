"""The commands of the terminal."""

from collections.abc import Mapping, Sequence
from typing import Final

from cc_bot.chat.reply import Reply
from cc_bot.domain import errors
from cc_bot.domain.when.resolve import split_when
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import RemindHereTexts
from cc_bot.terminal.commands import Command, InvalidCommand, number_in
from cc_bot.terminal.questions import Chat


async def list_reminders(chat: Chat, _text: str, _options: Mapping[str, str]) -> Reply:
    return await reminders.list_reminders(chat.profile.caller, schedules=chat.stores[ScheduleStore])


async def add_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    """Take `明日9時と18時 薬`. Raises InputError."""
    if not text:
        raise errors.EmptyReminder
    when, what = split_when(text)
    if not what:
        raise InvalidCommand(chat.texts[RemindHereTexts].what)
    profile, schedules = chat.profile, chat.stores[ScheduleStore]
    return await reminders.add(
        profile.caller,
        reminders.Destination(profile.key, "terminal"),
        text=what,
        when=when,
        schedules=schedules,
        moments=chat.moments,
    )


async def delete_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = number_in(text, chat.texts[RemindHereTexts].id_needed)
    return await reminders.delete(chat.profile.caller, number, schedules=chat.stores[ScheduleStore])


async def suggest_reminders(chat: Chat, word: str) -> Sequence[tuple[int, str]]:
    schedules = await chat.stores[ScheduleStore].list(chat.user_id)
    return [(each.number, each.text) for each in schedules if str(each.number).startswith(word)]


COMMANDS: Final[Mapping[str, Command]] = {
    "remind add": Command(add_reminder, ("remind_when", "remind_text")),
    "remind list": Command(list_reminders, short="remind"),
    "remind delete": Command(delete_reminder, ("remind_id",), suggest=suggest_reminders),
}
