"""Words and meaning as one order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.search.ranking import Evidence, Usual, fuse, nearness

COSINES = st.dictionaries(st.integers(1, 30), st.floats(-1, 1), max_size=30)
EVIDENCE = st.lists(
    st.builds(Evidence, st.integers(1, 30), st.booleans(), st.floats(0, 1)),
    max_size=20,
    unique_by=lambda item: item.id,
)
USUAL = {100 + number: -0.07 + 0.28 * number / 80 for number in range(80)}
"""What most notes of a user have to do with most queries."""
KNOWN = Usual(mean=0.07, spread=0.08)


def ids(evidence: list[Evidence], cosines: dict[int, float]) -> list[int]:
    return [hit.id for hit in fuse(evidence, nearness({**USUAL, **cosines}))]


class TestOrder:
    def test_is_that_of_meaning_where_words_fail(self) -> None:
        assert ids([], {1: 0.45, 2: 0.6, 3: 0.1}) == [2, 1]

    def test_puts_the_note_with_every_word_before_a_nearer_one(self) -> None:
        assert ids([Evidence(1, False, 1.0)], {1: 0.3, 2: 0.6})[0] == 1

    def test_puts_a_near_note_before_one_that_shares_the_lesser_part_of_the_query(self) -> None:
        assert ids([Evidence(1, False, 0.3)], {1: 0.1, 2: 0.5}) == [2]

    def test_begins_with_what_contains_the_query_as_written(self) -> None:
        evidence = [Evidence(1, True, 0.2), Evidence(2, False, 1.0)]
        assert ids(evidence, {1: 0.0, 2: 0.9})[0] == 1

    def test_is_by_words_for_a_note_that_has_no_vector_yet(self) -> None:
        assert ids([Evidence(1, False, 0.9)], {2: 0.4})[0] == 1

    def test_does_not_hang_on_how_an_encoder_spreads_its_cosines(self) -> None:
        cosines = {**USUAL, 1: 0.3, 2: 0.5, 3: 0.2}
        squeezed = {note: 0.8 + 0.2 * cosine for note, cosine in cosines.items()}
        evidence = [Evidence(1, False, 0.4), Evidence(3, False, 0.9)]
        order = [hit.id for hit in fuse(evidence, nearness(cosines))]
        assert [hit.id for hit in fuse(evidence, nearness(squeezed))] == order

    def test_is_newest_first_among_equals(self) -> None:
        assert ids([Evidence(5, True, 1.0), Evidence(8, True, 1.0)], {5: 0.4, 8: 0.4}) == [8, 5]

    @given(EVIDENCE, COSINES)
    def test_has_each_note_once_and_all_that_contain_the_query(
        self, evidence: list[Evidence], cosines: dict[int, float]
    ) -> None:
        found = [hit.id for hit in fuse(evidence, nearness(cosines))]
        written = {item.id for item in evidence if item.as_written}
        assert len(found) == len(set(found))
        assert set(found[: len(written)]) == written


class TestHits:
    def test_leave_out_what_is_as_near_as_notes_are_to_any_query(self) -> None:
        assert ids([], {1: 0.12, 2: 0.15}) == []

    def test_leave_out_what_is_nearest_and_yet_unlike(self) -> None:
        assert [hit.id for hit in fuse([], nearness(dict.fromkeys(range(50), 0.01) | {99: 0.2}))] == []

    def test_keep_what_is_enough_by_its_words(self) -> None:
        assert ids([Evidence(1, False, 0.2, enough=True)], {1: 0.1}) == [1]
        assert ids([Evidence(1, False, 0.2)], {1: 0.1}) == []

    def test_trust_meaning_less_where_a_query_is_spelt_in_kana_or_signs_alone(self) -> None:
        cosines = {**USUAL, 1: 0.4}
        assert nearness(cosines, query="うちあわせ？")[1] == nearness(cosines, query="打ち合わせ")[1] / 2
        assert nearness(cosines, query="ギター")[1] == nearness(cosines)[1]
        assert nearness(cosines, query="🐈！")[1] == nearness(cosines)[1] / 2

    def test_leave_out_what_is_far_behind_one_that_answers(self) -> None:
        assert ids([Evidence(1, False, 1.0)], {1: 0.7, 2: 0.3}) == [1]

    @pytest.mark.parametrize("written", [(0.0, 0.0), (1.0, 6.0)], ids=["written alone", "near as well"])
    def test_beside_one_as_written_are_those_that_answer_however_much_speaks_for_that_one(
        self, written: tuple[float, float]
    ) -> None:
        covered, near = written
        hits = fuse(
            [Evidence(1, True, covered), Evidence(2, False, 0.1, enough=True)], {1: near, 2: 1.0, 3: 3.5}
        )
        assert [hit.id for hit in hits] == [1, 3]
        assert hits[1].confidence < 0.1

    def test_are_sure_when_written_so(self) -> None:
        [hit] = fuse([Evidence(1, True, 0.0)], {})
        assert hit.confidence == 1

    @given(EVIDENCE, COSINES)
    def test_are_less_sure_the_further_down_they_stand(
        self, evidence: list[Evidence], cosines: dict[int, float]
    ) -> None:
        sure = [hit.confidence for hit in fuse(evidence, nearness(cosines))]
        assert sure == sorted(sure, reverse=True)
        assert all(0 <= confidence <= 1 for confidence in sure)


class TestFewNotes:
    """Who has begun to use it: of one note, or three, none is far from their average."""

    @pytest.mark.parametrize("cosines", [{2: 0.45}, {1: 0.1, 2: 0.45, 3: 0.05}, {2: 0.45, 5: 0.3}])
    def test_hold_the_one_that_answers(self, cosines: dict[int, float]) -> None:
        assert fuse([], nearness(cosines, usual=KNOWN))[0].id == 2

    @pytest.mark.parametrize("cosines", [{1: 0.1}, {1: 0.2, 2: -0.05, 3: 0.05}, {1: 0.24, 2: 0.23}])
    def test_hold_none_that_answers(self, cosines: dict[int, float]) -> None:
        assert fuse([], nearness(cosines, usual=KNOWN)) == []

    @given(st.dictionaries(st.integers(1, 5), st.floats(-1, 1), min_size=1, max_size=5))
    def test_are_found_by_words_alone_with_an_encoder_of_which_nothing_is_known(
        self, cosines: dict[int, float]
    ) -> None:
        assert fuse([], nearness(cosines)) == []
        note = min(cosines)
        found = fuse([Evidence(note, False, 0.5, enough=True)], nearness(cosines))
        assert note in [hit.id for hit in found]

    def test_are_measured_by_themselves_once_they_are_twenty(self) -> None:
        cosines = {note: note / 100 for note in range(20)}
        assert nearness(cosines, usual=KNOWN) == nearness(cosines)
