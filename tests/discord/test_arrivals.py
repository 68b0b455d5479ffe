"""How long a new message waits for Discord to tell where it stands."""

from cc_bot.discord.messages.arrivals import PLACE_PAUSES_S


class TestPatience:
    def test_outlasts_minutes_of_trouble_and_asks_ever_more_rarely(self) -> None:
        assert sum(PLACE_PAUSES_S) >= 180
        assert list(PLACE_PAUSES_S) == sorted(PLACE_PAUSES_S)
