"""The pages with figures tell what was measured, and nothing else."""

import pytest

from bench.__main__ import FIGURES
from bench.figures import Line, Spread, Words, load
from bench.report import PAGES, Language, put, surroundings, table

WORDS = Words("何か", "something")


def line(found: float, goal: float | None, **rest: str) -> Line:
    return Line("turn", WORDS, WORDS, Spread.of([found]), goal=goal, **rest)  # type: ignore[arg-type]


class TestLines:
    def test_a_goal_is_met_at_its_bound_where_that_is_allowed(self) -> None:
        assert line(3.0, 3.0).met is True
        assert line(3.0, 3.0, bound="least").met is True
        assert line(3.0, 3.0, bound="under").met is False

    def test_a_goal_is_missed_beyond_its_bound(self) -> None:
        assert line(3.1, 3.0).met is False
        assert line(2.9, 3.0, bound="least").met is False

    def test_what_has_no_goal_is_not_judged(self) -> None:
        assert line(3.0, None).met is None

    def test_a_ratio_is_that_of_neighbouring_blocks(self) -> None:
        assert Spread.of_ratios([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("language", PAGES)
class TestPages:
    def test_a_page_has_every_figure_as_it_was_measured(self, language: Language) -> None:
        known, lines = load(FIGURES)
        page = (FIGURES.parent / PAGES[language]).read_text(encoding="utf-8")
        expected = put(page, "surroundings", surroundings(known, language))
        for part in {each.part for each in lines}:
            expected = put(expected, part, table([each for each in lines if each.part == part], language))
        assert page == expected

    def test_new_figures_leave_the_words_of_a_page(self, language: Language) -> None:
        page = "前\n<!-- turn -->\nold\n<!-- /turn -->\n後\n"
        assert put(page, "turn", "new\n") == "前\n<!-- turn -->\nnew\n<!-- /turn -->\n後\n"
