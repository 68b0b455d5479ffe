"""The language of a server, for those whose own is not known."""

from cc_bot.discord.recipients import GuildLocales
from cc_bot.domain.locale import Locale
from tests.discord.hikari_messages import CHANNEL, GUILD, guild


class TestLanguage:
    def test_is_what_a_community_chose(self) -> None:
        locales = GuildLocales()
        locales.learn(guild("COMMUNITY", locale="en-GB"))
        locales.place(CHANNEL, GUILD)
        assert locales.of(CHANNEL) is Locale.EN

    def test_of_other_servers_is_not_known(self) -> None:
        locales = GuildLocales()
        locales.learn(guild(locale="en-US"))
        locales.place(CHANNEL, GUILD)
        assert locales.of(CHANNEL) is None

    def test_changes_with_the_servers_settings(self) -> None:
        locales = GuildLocales()
        locales.learn(guild("COMMUNITY", locale="en-US"))
        locales.place(CHANNEL, GUILD)
        locales.learn(guild("COMMUNITY", locale="ja"))
        assert locales.of(CHANNEL) is Locale.JA
        locales.learn(guild(locale="en-US"))
        assert locales.of(CHANNEL) is None

    def test_of_places_that_nobody_wrote_in_is_not_known(self) -> None:
        assert GuildLocales().of(CHANNEL) is None

    def test_is_remembered_for_the_places_that_were_written_in_last(self) -> None:
        locales = GuildLocales(remembered=2)
        locales.learn(guild("COMMUNITY", locale="ja"))
        for place in (1, 2, 1, 3):
            locales.place(place, GUILD)
        assert [locales.of(place) for place in (1, 2, 3)] == [Locale.JA, None, Locale.JA]
