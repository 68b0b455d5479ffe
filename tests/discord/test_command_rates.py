"""How often somebody may have the bot do something within a minute."""

from datetime import UTC, datetime, timedelta

from cc_bot.discord.access import CHOICES_PER_COMMAND, CommandRates

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ME, YOU = 1, 2


class TestCommandRates:
    def test_let_so_many_through_and_tell_when_the_next_may_come(self) -> None:
        rates = CommandRates()
        assert [rates.count(ME, "command", 3, NOW + n * SECOND) for n in range(3)] == [None] * 3
        assert rates.count(ME, "command", 3, NOW + 3 * SECOND) == NOW + 60 * SECOND
        assert rates.count(ME, "command", 3, NOW + 60 * SECOND) is None
        assert rates.count(ME, "command", 3, NOW + 60 * SECOND) == NOW + 61 * SECOND

    def test_do_not_count_what_they_refused(self) -> None:
        rates = CommandRates()
        for _ in range(100):
            rates.count(ME, "command", 2, NOW)
        assert rates.count(ME, "command", 2, NOW + 60 * SECOND) is None

    def test_are_each_users_own(self) -> None:
        rates = CommandRates()
        assert rates.count(ME, "command", 1, NOW) is None
        assert rates.count(YOU, "command", 1, NOW) is None

    def test_count_lists_of_choices_apart_and_let_more_of_them_through(self) -> None:
        rates = CommandRates()
        assert [rates.count(ME, "choices", 1, NOW) for _ in range(CHOICES_PER_COMMAND)] == [None] * 10
        assert rates.count(ME, "choices", 1, NOW) is not None
        assert rates.count(ME, "command", 1, NOW) is None

    def test_forget_moments_that_are_yet_to_come(self) -> None:
        rates = CommandRates()
        rates.count(ME, "command", 1, NOW + timedelta(days=1))
        assert rates.count(ME, "command", 1, NOW) is None

    def test_refuse_from_the_first_refusal_until_the_next_may_come(self) -> None:
        rates = CommandRates()
        rates.count(ME, "command", 1, NOW)
        assert rates.refused_until(ME, "command", NOW) is None
        rates.count(ME, "command", 1, NOW)
        assert rates.refused_until(ME, "command", NOW) == NOW + 60 * SECOND
        assert rates.refused_until(ME, "choices", NOW) is None
        assert rates.refused_until(YOU, "command", NOW) is None
        assert rates.refused_until(ME, "command", NOW + 60 * SECOND) is None
        assert rates.refused_until(ME, "command", NOW - 60 * SECOND) is None  # the clock was put back
