"""`/remind …`. All replies are ephemeral."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import hikari
import lightbulb

from cc_bot.chat.reply import Item, Reply
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.outlets import reply_in_place
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.handlers import (
    Choice,
    Press,
    choices,
    number_option,
    on_press,
    reply_command,
    suggest_from,
    text_option,
)
from cc_bot.discord.interactions import can_write, is_bot_dm
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import RemindersButton, SnoozeButton, UnscheduleButton
from cc_bot.discord.pages.page import Button, EphemeralView, Page, buttons_of, reply_view, texts_of
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.text import one_line
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders.model import MAX_TEXT_CHARACTERS, MAX_WHEN_CHARACTERS, Schedule
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.service import Destination
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.features.reminders.views import choice_name, snoozed_page

loader = lightbulb.Loader()
remind = lightbulb.Group("remind", "remind_description", localize=True)
loader.command(remind)


def reminder_number_option(*, is_offered: Callable[[Schedule], bool] = lambda _: True) -> int:
    """Return an option that suggests reminders by text or number."""

    async def suggest(
        ctx: lightbulb.AutocompleteContext[int], schedules: ScheduleStore = lightbulb.di.INJECTED
    ) -> list[Choice]:
        query = str(ctx.focused.value or "").strip().removeprefix("#").casefold()
        return [
            (choice_name(each), each.number)
            for each in await schedules.list(int(ctx.interaction.user.id))
            if is_offered(each) and (query in one_line(each.text).casefold() or query in str(each.number))
        ]

    return number_option("remind_id", autocomplete=suggest_from(suggest))


@on_press(RemindersButton, not_yours=lambda words: words[ReminderTexts].not_yours)
async def turn_page(
    press: Press[RemindersButton], schedules: ScheduleStore, updater: ReceiptUpdater
) -> EphemeralView:
    """Cancel or resume the reminder that the button names, if any, and show a page of the list."""
    _, button, recipient = press
    reply, number = Reply(), button.cancelled or button.resumed
    reminder = await schedules.get_by_number(recipient.user_id, number) if number else None
    if button.resumed and reminder:
        reply = await reminders.resume(recipient, number, schedules=schedules)
    elif number:
        reply = await reminders.cancel(recipient, reminder.id if reminder else 0, schedules=schedules)
        updater.redraw_outdated(recipient.user_id, recipient.words)
    view = await list_reminders(recipient, button.page, schedules=schedules)
    return replace(view, content="\n".join(filter(None, (*reply.lines, view.content))))


async def list_reminders(caller: Recipient, page: int = 1, *, schedules: ScheduleStore) -> EphemeralView:
    texts, user_id = caller.words[ReminderTexts], caller.user_id

    def make_buttons(item: Item) -> tuple[Button, ...]:
        cancel = Button(texts.cancel, RemindersButton(user_id, page, item.number).custom_id())
        if not item.problem:
            return (cancel,)
        resume_id = RemindersButton(user_id, page, resumed=item.number).custom_id()
        return Button(texts.resume_listed, resume_id, primary=True), cancel

    def make_page_id(number: int) -> str:
        return RemindersButton(user_id, number).custom_id()

    reply = await reminders.list_reminders(caller, schedules=schedules)
    return reply_view(reply, caller, page, make_page_id, make_buttons)


async def add(
    caller: Recipient,
    when: str,
    text: str,
    repeat: str | None,
    where: str | None,
    *,
    ctx: lightbulb.Context,
    schedules: ScheduleStore,
    agent_selector: AgentSelector,
    resolver: TimeResolver,
) -> Reply:
    interaction = ctx.interaction
    in_channel = where != "dm" and not is_bot_dm(interaction)
    key = (await agent_selector.for_interaction(interaction)).key
    destination = Destination.choose(key, in_channel=in_channel, can_write=can_write(interaction))
    return await reminders.add(
        caller, destination, text=text, when=when, repeat=repeat or "", schedules=schedules, resolver=resolver
    )


reply_command(remind.register, "remind_list", list_reminders, shown_as="remind")
reply_command(
    remind.register,
    "remind_add",
    add,
    when=text_option("remind_when", max_length=MAX_WHEN_CHARACTERS),
    text=text_option("remind_text", max_length=MAX_TEXT_CHARACTERS),
    repeat=text_option("remind_repeat", default=None, max_length=MAX_WHEN_CHARACTERS),
    where=text_option("remind_where", default=None, choices=choices("remind", "here", "dm")),
)
reply_command(remind.register, "remind_delete", reminders.delete, id=reminder_number_option())
reply_command(
    remind.register,
    "remind_resume",
    reminders.resume,
    id=reminder_number_option(is_offered=lambda schedule: schedule.status == "paused"),
)


@on_press(UnscheduleButton, not_yours=lambda words: words[ReminderTexts].not_yours)
async def cancel(
    press: Press[UnscheduleButton], schedules: ScheduleStore, updater: ReceiptUpdater
) -> EphemeralView | str:
    interaction, button, recipient = press
    [sentence] = (await reminders.cancel(recipient, button.schedule_id, schedules=schedules)).lines
    if await updater.redraw_after_undo(interaction, recipient.user_id, recipient.words):
        return sentence
    message = interaction.message
    others = tuple(each for each in buttons_of(message) if each.custom_id != interaction.custom_id)
    if message.flags & hikari.MessageFlag.IS_COMPONENTS_V2:
        return EphemeralView("\n".join((*texts_of(message), sentence)), buttons=others)
    before = page_of(message)  # a reminder
    page = replace(before, buttons=others, facts=before.facts.with_notes(sentence))
    await reply_in_place(interaction, before).show((page,))
    return sentence


@on_press(SnoozeButton, not_yours=lambda words: words[ReminderTexts].not_yours)
async def snooze(press: Press[SnoozeButton], schedules: ScheduleStore, recipients: Recipients) -> str | None:
    """Set the same reminder again for later, and replace the message's buttons."""
    interaction, button, recipient = press
    before = await schedules.get(recipient.user_id, button.schedule_id)
    if before is None:
        return recipient.words[ReminderTexts].gone
    due_at = recipients.clock() + timedelta(minutes=button.minutes)
    again = replace(before, due_at=due_at, repeat="", locale=recipient.locale, status="active", obstacle="")
    later = await schedules.add_copy(again)
    message = page_of(interaction.message)
    without_buttons = Page(message.content, facts=message.facts)
    page = snoozed_page(without_buttons, before, later, recipient.words)
    await reply_in_place(interaction, without_buttons).show((page,))
    return None
