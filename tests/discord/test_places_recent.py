"""What is remembered is bounded."""

from cc_bot.discord.places import Recent


class TestRecent:
    def test_forgets_what_was_not_used_for_longest(self) -> None:
        recent = Recent[str, int](2)
        recent["一"], recent["二"] = 1, 2
        assert recent.get("一") == 1
        recent["三"] = 3
        assert [recent.get(key) for key in ("一", "二", "三")] == [1, None, 3]
        assert "二" not in recent

    def test_knows_an_entry_that_is_set_again_as_new(self) -> None:
        recent = Recent[str, int](2)
        recent["一"], recent["二"] = 1, 2
        recent["一"] = 11
        recent["三"] = 3
        assert [recent.get(key) for key in ("一", "二", "三")] == [11, None, 3]

    def test_forgets_what_it_is_told_to(self) -> None:
        recent = Recent[int, str](2)
        recent[1] = "a"
        recent.discard(1)
        recent.discard(2)
        assert 1 not in recent
