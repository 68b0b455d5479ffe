"""What `/help` says of messages is what the operator's mode does with them."""

import re

import pytest

from cc_bot.discord.commands.settings import help_text
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Reading
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

LONGEST_DESCRIPTION = 4096


class TestHelp:
    @pytest.mark.parametrize("locale", list(Locale))
    def test_speaks_of_mentions_where_they_are_answered(self, locale: Locale) -> None:
        words = texts(locale).session
        assert words.help_mention not in help_text(words, "off")
        assert words.help_mention in help_text(words, "mentions")
        assert words.help_mention in help_text(words, "all")

    @pytest.mark.parametrize("locale", list(Locale))
    def test_tells_everyone_that_everything_is_stored_where_it_is(self, locale: Locale) -> None:
        words = texts(locale).session
        assert help_text(words, "all").endswith(words.help_stored_all)
        assert help_text(words, "mentions").endswith(words.help_stored_mentions)
        assert words.help_stored_all not in help_text(words, "off")

    @pytest.mark.parametrize("locale", list(Locale))
    @pytest.mark.parametrize("reading", ["off", "mentions", "all"])
    def test_fits_one_embed(self, locale: Locale, reading: Reading) -> None:
        told = help_text(mentioned(locale).session, reading, owner=True)
        assert len(told) <= LONGEST_DESCRIPTION

    @pytest.mark.parametrize("locale", list(Locale))
    def test_names_every_command_of_members_and_none_in_code(self, locale: Locale) -> None:
        told = help_text(mentioned(locale).session, "all")
        assert "`<" not in told
        names = set(re.findall(r"</([a-z -]+):", told))
        assert {"ask", "memory delete-all", "canvas clear", "agent default", "privacy erase"} <= names
        assert not any(name.startswith("admin") for name in names)
        assert "</admin status:" in help_text(mentioned(locale).session, "all", owner=True)
