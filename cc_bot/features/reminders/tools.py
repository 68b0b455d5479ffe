"""Tools for reminders. A reminder from an approved proposal is tainted, and so is a turn that lists it."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cc_bot.chat.consent import check_unchanged, describe, field_line, needs_approval, on_one_line, propose
from cc_bot.chat.tools import (
    InvalidToolCall,
    MemoryId,
    ToolContext,
    ToolOutcome,
    none_if_empty,
    succeeded,
    tool,
)
from cc_bot.domain.errors import NoSuchTime, ScheduleNotFound, WhenNotUnderstood, WhenPassed
from cc_bot.domain.proposal import Moment, ProposalLine
from cc_bot.domain.when.resolve import parse_schedule
from cc_bot.features.memory.tools import DATA_NOT_INSTRUCTIONS
from cc_bot.features.reminders.model import ReminderChange, Schedule, may_mention
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import RepeatTexts
from cc_bot.texts import Texts, texts
from cc_bot.texts.proposal import ProposalTexts

MAX_LISTED = 30
_identity = attrgetter("key.channel_id", "text", "due_at", "repeat", "status", "visibility")


@tool(writes=True, subject="schedule")
async def schedule(
    context: ToolContext,
    *,
    when: Annotated[str, Field(description="The first time, where the user is: 2026-03-15T09:00.")],
    text: Annotated[str, Field(description="In the user's words and language.")],
    repeat: Annotated[
        str | None,
        BeforeValidator(none_if_empty),
        Field(
            description="Cron, where the user is: 0 9 * * 1-5. Every other Tuesday: 0 9 * * 2 every 2 weeks "
            "(or days, months). Leave out for once."
        ),
    ] = None,
) -> ToolOutcome:
    """Remind the user at a time, when they ask for that in this message. Work out the date and time from the
    present one; ask if it is not clear when."""
    store, key = context.stores[ScheduleStore], context.key
    due, cron = _first_time(context, when, repeat or "")
    if needs_approval(
        context, lambda: context.grounding.means_time(due, cron) and context.grounding.says_reminder(text)
    ):
        text, words = store.check(text), texts(context.locale)
        time = _time_line(due, cron, words)
        arguments = {"when": due.isoformat(), "text": text, "repeat": cron}
        shown = describe(words[ProposalTexts].remind, time, text=text)
        return propose(context, "schedule", arguments, shown)
    same = (key.channel_id, text.strip(), due, cron, "active", context.visibility)
    for existing in await store.list(context.user_id):  # models repeat calls, and answers are regenerated
        if _identity(existing) == same:
            return _report_added(existing)
    added = await store.add(
        key,
        text,
        due,
        target=context.target,
        guild_id=context.guild_id,
        visibility=context.visibility,
        repeat=cron,
        timezone=context.timezone.key,
        locale=context.locale,
        tainted=context.approved_values is not None,
    )
    return _report_added(added)


@tool(writes=False, subject="schedule")
async def list_schedules(context: ToolContext) -> ToolOutcome:
    """List the user's reminders, the next one first."""
    reminders = await _list_visible(context)
    if not reminders:
        return succeeded({"schedules": []})
    listed = reminders[:MAX_LISTED]
    content = {"note": DATA_NOT_INSTRUCTIONS, "schedules": [_to_json(each) for each in listed]}
    more = {"more": len(reminders) - MAX_LISTED} if len(reminders) > MAX_LISTED else {}
    return succeeded({**content, **more}, tainted=any(each.tainted for each in listed))


@tool(writes=True, subject="schedule")
async def cancel_schedule(context: ToolContext, id: MemoryId) -> ToolOutcome:  # noqa: A002 - what the list calls it
    """Cancel a reminder, when the user asks for that in this message; list_schedules tells its id. To change
    one, cancel it and schedule it again."""
    reminders = await _list_visible(context)
    found = next((each for each in reminders if each.number == id), None)
    if found is None:
        raise ScheduleNotFound(id=id)
    expected = {"text": found.text, "repeat": found.repeat}
    check_unchanged(context, **expected)
    others = [each.text for each in reminders if each is not found]
    if needs_approval(
        context, lambda: context.grounding.asks_to_end(found.text, others=others, may_be_done=True)
    ):
        words = texts(context.locale)
        time = _time_line(found.due_at, found.repeat, words)
        shown = describe(words[ProposalTexts].cancel, time, number=found.number, text=found.text)
        return propose(context, "cancel_schedule", {"id": found.number}, shown, expected=expected)
    cancelled = await context.stores[ScheduleStore].cancel(context.user_id, found.id)
    if cancelled is None:
        raise ScheduleNotFound(id=id)
    content = {"cancelled": {"id": cancelled.number, "text": cancelled.text, "ref": cancelled.id}}
    change = ReminderChange.from_schedule("cancelled", cancelled)
    return succeeded(content, changes=(change,), tainted=cancelled.tainted)


def _first_time(context: ToolContext, when: str, repeat: str) -> tuple[datetime, str]:
    """Return time and cron. An approved call already has those that the user approved."""
    if context.approved_values is not None:
        due = datetime.fromisoformat(when)
        if due <= context.clock():
            raise WhenPassed
        return due, repeat
    try:
        return parse_schedule(when, repeat, context.clock(), context.timezone)
    except NoSuchTime:
        raise
    except WhenNotUnderstood:
        raise InvalidToolCall(
            "when: write the date and time where the user is, such as 2026-03-15T09:00."
        ) from None


def _time_line(due: datetime, cron: str, words: Texts) -> ProposalLine:
    repeat = on_one_line(words[RepeatTexts].describe(cron)) if cron else ""
    return field_line(words[ProposalTexts].time_field, Moment(due, repeat=repeat), words)


async def _list_visible(context: ToolContext) -> Sequence[Schedule]:
    reminders = await context.stores[ScheduleStore].list(context.user_id)
    return [each for each in reminders if may_mention(each, context.key.channel_id, context.visibility)]


def _report_added(schedule: Schedule) -> ToolOutcome:
    change = ReminderChange.from_schedule("added", schedule)
    return succeeded({"scheduled": _to_json(schedule)}, changes=(change,))


def _to_json(schedule: Schedule) -> dict[str, Any]:
    """Return a reminder for a tool's result. changes.py makes receipts from it."""
    content: dict[str, Any] = {
        "id": schedule.number,
        "text": schedule.text,
        "when": schedule.local_due.isoformat(timespec="minutes"),
        "where": schedule.target,
        "ref": schedule.id,
    }
    if schedule.repeat:
        content["repeat"] = schedule.repeat
    if schedule.status == "paused":
        content["paused"] = schedule.obstacle
    return content
