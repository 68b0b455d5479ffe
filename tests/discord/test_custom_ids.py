from typing import get_args

from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.discord.pages import custom_ids as of
from cc_bot.discord.pages.custom_ids import Control, UsedMemoriesButton, parse_custom_id
from cc_bot.features.memory.model import MAX_CATEGORY_CHARACTERS, Order

users = st.integers(0, 2**63 - 1)
ids = st.integers(0, 10**12)
pages = st.integers(1, 10**6)
categories = st.text(max_size=MAX_CATEGORY_CHARACTERS)
earlier = st.lists(users, max_size=4).map(tuple)
controls = st.one_of(
    st.builds(of.SummaryButton, users),
    st.builds(of.AskForm, users, users),
    st.builds(of.StopButton, users, st.text("0123456789abcdef", min_size=8, max_size=8)),
    st.builds(of.AnswerButton, st.sampled_from(["again", "more"]), users, st.integers(1, 10**12), earlier),
    st.builds(of.ListButton, users, st.sampled_from(get_args(Order)), pages, categories),
    st.builds(of.SearchButton, users, pages, categories),
    st.builds(of.MemoryButton, st.sampled_from(get_args(of.MemoryAction)), users, ids, ids),
    st.builds(of.OpenButton, users, ids),
    st.builds(of.ShowButton, users, st.just("memory")),
    st.builds(of.SettingsButton, users, st.sampled_from(get_args(of.Setting)), st.sampled_from(("ja", ""))),
    st.builds(of.TimezoneForm, users),
    st.builds(of.AgentButton, users, st.just("a" * 32)),
    st.builds(of.EditForm, users, ids),
    st.builds(of.ConfirmButton, users, st.sampled_from(get_args(of.Decision)), ids, st.integers(0, 2**40)),
    st.builds(of.UndoButton, st.sampled_from(("added", "updated", "deleted")), users, users, users),
    st.builds(of.UnscheduleButton, users, ids),
    st.builds(of.SnoozeButton, users, ids, pages),
    st.builds(of.RemindersButton, users, pages, ids, ids),
)


@given(controls)
def test_a_control_is_read_back_from_a_custom_id_that_discord_takes(control: Control) -> None:
    custom_id = control.custom_id()
    assert 1 <= len(custom_id) <= 100
    assert parse_custom_id(custom_id) == control


@given(users, st.lists(st.integers(1, 2**63 - 1), max_size=60).map(tuple))
@example(2**63 - 1, (2**63 - 1,) * 60)
def test_a_button_has_as_many_memories_as_fit(user_id: int, memories: tuple[int, ...]) -> None:
    custom_id = UsedMemoriesButton(user_id, memories).custom_id()
    known = parse_custom_id(custom_id)
    assert len(custom_id) <= 100
    assert isinstance(known, UsedMemoriesButton)
    assert known.memory_ids == memories[: len(known.memory_ids)]
    assert known.memory_ids == memories or len(custom_id) > 85


@given(st.text())
def test_a_broken_custom_id_is_nobodys_button(custom_id: str) -> None:
    found = parse_custom_id(custom_id)
    assert found is None or parse_custom_id(found.custom_id()) == found
    broken = [
        *("", "stop", "again:", "again:1", "list:newest:1:1:", "more:ü:1", "x:1:2", "list", "list:1"),
        *("list:1:sideways:1:", "search:1", "memory:1:burn:1:1", "open:1", "edit:1:", "x:1"),
        *("snooze", "snooze:1:2", "unschedule:1:!", "reminders:1:2:3:4:5"),
    ]
    assert [each for each in broken if parse_custom_id(each) is not None] == []
