"""When a summary is due, and how much goes into one: pure decisions."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.summaries import MAX_BACKLOG
from cc_bot.summaries import SummaryPlan, is_due


def due(plan: SummaryPlan, *, turns: int, tokens: int = 0, closed: bool = False) -> bool:
    return is_due(plan, turns=turns, messages=2 * turns, tokens=tokens, budget_tokens=1000, closed=closed)


def first(every: int, limit: int) -> int:
    """After how many turns a summary is due."""
    return next(turns for turns in range(1, 200) if due(SummaryPlan(every, limit), turns=turns))


class TestSummary:
    def test_is_due_before_anything_is_missing(self) -> None:
        assert [first(every, 100) for every in (1, 3, 5)] == [1, 3, 5]
        assert [first(100, limit) for limit in (2, 4, 5, 20)] == [1, 2, 2, 10]
        assert [first(1000, limit) for limit in (0, 1000)] == [MAX_BACKLOG // 2] * 2
        half = SummaryPlan(100, 0)
        assert [due(half, turns=3, tokens=tokens) for tokens in (500, 501)] == [False, True]

    @given(
        every=st.integers(1, 40),
        limit=st.integers(2, 30),
        late=st.lists(st.integers(0, 1), min_size=60, max_size=60),
    )
    def test_leaves_no_gap_to_the_history(self, every: int, limit: int, late: list[int]) -> None:
        """Whatever the settings, and though a summary may take until the answer after the next question."""
        plan, covered, said, pending = SummaryPlan(every, limit), 0, 0, None
        for turn in range(60):
            assert covered >= said - limit, "the request misses a message that is in no summary"
            before, said = said, said + 2
            if pending is not None and (pending[1] < before or not late[turn]):
                assert covered <= pending[0], "the covered range went backwards"
                covered, pending = pending[0], None
            new = said - covered
            if pending is None and is_due(
                plan, turns=new // 2, messages=new, tokens=0, budget_tokens=1, closed=False
            ):
                pending = (said, said - 1)
                if not late[turn]:
                    covered, pending = said, None
