"""Reminders as messages: at their time, in lists, and when they did not come."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.reply import Action, Item, Reply
from cc_bot.discord.pages.page import CHOICE_CHARACTERS, NO_FACTS, Button, reply_view
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders import views as pages
from cc_bot.features.reminders.model import MAX_TEXT_CHARACTERS, Firing, FiringState, Obstacle, Schedule
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned
from tests.loopback.discord.limits import check_components

JA, EN = texts(Locale.JA), texts(Locale.EN)
USER = 2**63 - 1
MISSED: tuple[FiringState, ...] = ("missed", "uncertain")
NOON = datetime(2026, 11, 23, 3, tzinfo=UTC)
WORDS = mentioned(Locale.JA)
OWNER = Recipient(USER, Locale.JA, ZoneInfo("Asia/Tokyo"), WORDS, welcomed=True)
said = st.text(min_size=1, max_size=MAX_TEXT_CHARACTERS)


def schedule(number: int = 1, text: str = "薬") -> Schedule:
    return Schedule(number, SessionKey(USER, 2), "reminder", text, NOON, NOON, number=number)


class TestReminder:
    def test_says_for_whom_it_is_and_what_and_when_it_is_late(self) -> None:
        page = pages.reminder_page(Firing(schedule(), NOON), NOON + timedelta(minutes=1), JA)
        assert (page.content, page.facts) == (f"<@{USER}> ⏰ 薬", NO_FACTS)
        late = pages.reminder_page(Firing(schedule(), NOON), NOON + timedelta(minutes=3), JA)
        assert (late.content, bool(late.facts)) == (page.content, True)
        repeated = pages.reminder_page(Firing(replace(schedule(), repeat="0 9 * * *"), NOON), NOON, EN)
        labels = ["Again in 10 minutes", "Again in an hour", "Stop repeating"]
        assert [each.label for each in repeated.buttons] == labels

    @given(said)
    def test_fits_a_message_whatever_it_says(self, text: str) -> None:
        firing = Firing(replace(schedule(text=text), repeat="0 9 * * *"), NOON)
        page = pages.reminder_page(firing, NOON + timedelta(hours=1), JA)
        again = pages.snoozed_page(page, firing.schedule, schedule(2, text), JA)
        heartbeat = pages.heartbeat_page(replace(schedule(), target="channel"), text * 3)
        paused = replace(schedule(text=text), status="paused")
        stopped = (replace(paused, obstacle=obstacle) for obstacle in filter(None, get_args(Obstacle)))
        for each in (page, again, heartbeat, *(pages.paused_page(one, WORDS) for one in stopped)):
            assert utf16_length(each.content) <= MESSAGE_LIMIT
        for count in (1, 2, 5):
            limit = reminders.MAX_QUOTE_LENGTH // (2 * count - 1)
            lines = (reminders.reminder_sentence(schedule(text=text), NOON, OWNER, limit=limit),) * count
            action = Action(WORDS[ReminderTexts].cancel, "cancel", 1, "/remind delete 1")
            view = reply_view(Reply(lines, notes=("x" * 200,), actions=(action,) * count), OWNER)
            assert (utf16_length(view.content) <= MESSAGE_LIMIT, len(view.buttons)) == (True, count)
        assert len(pages.choice_name(schedule(text=text))) <= CHOICE_CHARACTERS

    @given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=20))
    def test_that_did_not_come_is_told_in_a_message_however_many_there_are(self, all_said: list[str]) -> None:
        said = [schedule(number, text) for number, text in enumerate(all_said, 1)]
        firings = [Firing(each, NOON, state) for state in MISSED for each in said]
        for words in (JA, EN):
            page = pages.undelivered_page(tuple(firings), words)
            assert utf16_length(page.content) <= MESSAGE_LIMIT
            assert ("+" in page.content.rpartition("\n")[2]) or len(said) <= 6


def test_a_list_fits_a_card_and_has_every_one_on_some_page() -> None:
    paused = replace(schedule(), status="paused", obstacle="bot_removed", repeat="0 9 * * 1-5")
    known = [replace(paused, id=10**6 + n, number=10**6 + n, text="*_薬" * 67) for n in range(30)]
    listed = reminders.describe_reminders(known, OWNER)

    def make_two(item: Item) -> tuple[Button, ...]:
        return Button("再開する", f"r{item.number}"), Button("取り消す", f"c{item.number}")

    views = [reply_view(listed, OWNER, page, str, make_two) for page in range(1, 6)]
    assert views[4] == views[3]
    for view in views:
        told = replace(view, content="x").components
        check_components([dict(component.build()[0]) for component in told], v2=True)
    seen = "".join(each.text for view in views for each in view.paragraphs)
    assert [each.id for each in known if f"#{each.id}\N{NO-BREAK SPACE}" not in seen] == []
