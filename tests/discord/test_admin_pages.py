import re
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.page import EphemeralView
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.message import Agent, ChannelReading
from cc_bot.domain.text import Locale
from cc_bot.features.agents.commands import agent_list_view
from cc_bot.features.agents.file import MAX_DESCRIPTION_LENGTH, MAX_DISPLAY_NAME_LENGTH
from cc_bot.features.agents.texts import AgentTexts
from cc_bot.features.settings.commands import help_sections
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import Texts, texts
from tests.discord.mentioned import mentioned
from tests.loopback.discord.limits import check_components


@given(
    count=st.integers(1, 100),
    display=st.integers(0, MAX_DISPLAY_NAME_LENGTH),
    description=st.integers(0, MAX_DESCRIPTION_LENGTH),
    locale=st.sampled_from(Locale),
    gone=st.booleans(),
)
def test_agents_fit_one_message_that_tells_how_many_it_leaves_out(
    count: int, display: int, description: int, locale: Locale, gone: bool
) -> None:
    names, about = (dict.fromkeys(Locale, each) for each in ("名" * display, "説" * description))
    known = [Agent(f"a{number}", names, about) for number in range(count)]
    words = mentioned(locale)
    caller = Recipient(2**63, locale, ZoneInfo("Asia/Tokyo"), words)
    view = agent_list_view(known, caller, in_use="a0", default=f"a{count - 1}", gone=gone)
    check_components([dict(component.build()[0]) for component in view.components], v2=True)
    left_out = count - len(view.paragraphs[:-1])
    more = words[AgentTexts].more.format(count=left_out)
    assert count == 1 or left_out == 0 or more in view.paragraphs[-1].text


@pytest.mark.parametrize("locale", list(Locale))
def test_help_tells_what_is_done_with_messages_and_every_command_and_fits_one_card(locale: Locale) -> None:
    words = texts(locale)[SessionTexts]
    off, some, everything = (told_in_help(texts(locale), reading) for reading in ("off", "mentions", "all"))
    assert [words.help_mention.strip() in told for told in (off, some, everything)] == [False, True, True]
    assert words.help_stored_all not in off
    assert some.endswith(words.help_stored_mentions)
    assert everything.endswith(words.help_stored_all)
    told = told_in_help(mentioned(locale), "all")
    names = set(re.findall(r"</([a-z -]+):", told))
    assert {"ask", "memory delete-all", "canvas clear", "agent default", "privacy erase"} <= names
    assert not any(name.startswith("admin") for name in names)
    assert "</admin status:" in told_in_help(mentioned(locale), "all", is_owner=True)


def told_in_help(words: Texts, reading: ChannelReading, *, is_owner: bool = False) -> str:
    """All that the help says. Raises Refusal if Discord would not take it."""
    sections = help_sections(words, reading, is_owner=is_owner)
    view = EphemeralView(title=words[SessionTexts].help_title, paragraphs=sections)
    check_components([dict(component.build()[0]) for component in view.components], v2=True)
    return "\n".join(each.text for each in sections)
