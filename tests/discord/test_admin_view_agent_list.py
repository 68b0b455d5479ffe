"""The list of agents fits one message, whatever the operator has written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.agents import LONGEST_DESCRIPTION, LONGEST_DISPLAY_NAME, find_agent, matching_agents
from cc_bot.discord.pages.admin import agent_list
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Agent
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

LONGEST_MESSAGE = 2000
LONGEST_CHOICE = 100


def agents(count: int, *, display: str = "", description: str = "") -> list[Agent]:
    names = {locale: display for locale in Locale if display}
    about = {locale: description for locale in Locale if description}
    return [Agent(f"a{number}", names, about) for number in range(count)]


class TestList:
    @given(
        count=st.integers(1, 100),
        display=st.integers(0, LONGEST_DISPLAY_NAME),
        description=st.integers(0, LONGEST_DESCRIPTION),
        locale=st.sampled_from(Locale),
        gone=st.booleans(),
    )
    def test_fits_one_message(
        self, count: int, display: int, description: int, locale: Locale, gone: bool
    ) -> None:
        known = agents(count, display="名" * display, description="説" * description)
        shown = agent_list(known, mentioned(locale), in_use="a0", default=f"a{count - 1}", gone=gone)
        assert len(shown) <= LONGEST_MESSAGE

    @pytest.mark.parametrize(
        ("locale", "more"), [(Locale.JA, "ほかに{}個あります"), (Locale.EN, "There are {} more")]
    )
    def test_tells_how_many_it_leaves_out(self, locale: Locale, more: str) -> None:
        shown = agent_list(
            agents(100, description="説" * 100), texts(locale), in_use="a0", default="", gone=False
        )
        listed = shown.count("\n- **")
        assert 0 < listed < 100
        assert more.format(100 - listed) in shown

    def test_of_one_is_a_sentence(self) -> None:
        shown = agent_list([Agent()], texts(Locale.EN), in_use="default", default="default", gone=False)
        assert shown == "The only agent here is default."


class TestNames:
    TUTOR = Agent("tutor", {Locale.JA: "英語の先生", Locale.EN: "English Teacher"})
    ENGLISH = Agent("english", {Locale.JA: "イングリッシュ"})

    def test_that_begin_with_what_was_typed_come_first(self) -> None:
        known = [Agent("not-english"), self.TUTOR, self.ENGLISH]
        found = [name for _, name in matching_agents(known, "eng", Locale.JA)]
        assert found == ["tutor", "english", "not-english"]

    def test_of_agents_come_before_what_others_are_called(self) -> None:
        other = Agent("x", {Locale.EN: "tutor"})
        assert find_agent([other, self.TUTOR], "tutor") is self.TUTOR

    @given(st.text(max_size=40))
    def test_are_those_of_an_agent_or_nobodys(self, given: str) -> None:
        found = find_agent([self.TUTOR, self.ENGLISH], given)
        assert found in (None, self.TUTOR, self.ENGLISH)

    def test_fit_a_choice(self) -> None:
        longest = Agent("a" * 32, dict.fromkeys(Locale, "名" * LONGEST_DISPLAY_NAME))
        [(label, _)] = matching_agents([longest], "", Locale.JA)
        assert len(label) <= LONGEST_CHOICE
