"""When a summary is due, and how much goes into one: pure decisions."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.summaries import SummaryPlan, is_due


class TestSummary:
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
