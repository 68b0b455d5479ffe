"""Floods: what one user sends beyond what a person can is dropped, and they are told once."""

from cc_bot.discord.floods import MAX_AT_ONCE, QUIET_S, REFILL_PER_S, FloodGuard

ME, YOU = 1, 2
AT_ONCE = MAX_AT_ONCE["interaction"]


def flooded() -> FloodGuard:
    """With as much from one user as still passes."""
    guard = FloodGuard()
    assert not any(guard.drops(ME, "interaction", 0.0, answerable=n) for n in range(AT_ONCE))
    return guard


class TestFlood:
    def test_has_its_first_interaction_refused_and_the_others_dropped(self) -> None:
        guard = flooded()
        assert not guard.drops(ME, "interaction", 0.0, answerable=1000)
        assert guard.refuses(ME, 1000)
        assert all(guard.drops(ME, "interaction", 0.0, answerable=n) for n in range(1001, 1100))
        assert not any(guard.refuses(ME, n) for n in range(1001, 1100))

    def test_that_begins_with_what_cannot_be_answered_has_the_first_that_can_be_refused(self) -> None:
        guard = flooded()
        assert guard.drops(ME, "interaction", 0.0)
        assert not guard.drops(ME, "interaction", 0.0, answerable=1000)
        assert guard.refuses(ME, 1000)

    def test_lasts_until_its_user_was_quiet(self) -> None:
        guard = flooded()
        guard.drops(ME, "interaction", 0.0, answerable=1000)
        almost_s = QUIET_S - 0.1
        assert guard.drops(ME, "interaction", almost_s, answerable=1001)
        assert guard.drops(ME, "interaction", 2 * almost_s, answerable=1002)
        assert not guard.drops(ME, "interaction", 2 * almost_s + QUIET_S, answerable=1003)
        assert not guard.refuses(ME, 1003)

    def test_is_one_users_own_and_leaves_messages_alone(self) -> None:
        guard = flooded()
        guard.drops(ME, "interaction", 0.0, answerable=1000)
        assert not guard.drops(YOU, "interaction", 0.0, answerable=1001)
        assert not guard.drops(ME, "message", 0.0)

    def test_is_not_what_keeps_to_the_pace(self) -> None:
        guard = flooded()
        moments = (1.01 * n / REFILL_PER_S for n in range(1, 1000))
        assert not any(guard.drops(ME, "interaction", at_s, answerable=1) for at_s in moments)


class TestMessages:
    def test_are_dropped_beyond_their_number(self) -> None:
        guard = FloodGuard()
        dropped = [guard.drops(ME, "message", 0.0) for _ in range(MAX_AT_ONCE["message"] + 10)]
        assert dropped == [False] * MAX_AT_ONCE["message"] + [True] * 10
