"""The pages with figures tell what was measured, and whether a goal was met, as it is."""

import pytest

from bench.__main__ import FIGURES
from bench.figures import Line, Spread, Words, load
from bench.report import PAGES, Language, put, surroundings, table

WORDS = Words("何か", "something")


@pytest.mark.parametrize("language", PAGES)
def test_a_page_has_every_figure_as_it_was_measured(language: Language) -> None:
    known, lines = load(FIGURES)
    page = (FIGURES.parent / PAGES[language]).read_text(encoding="utf-8")
    expected = put(page, "surroundings", surroundings(known, language))
    for part in {each.part for each in lines}:
        expected = put(expected, part, table([each for each in lines if each.part == part], language))
    assert page == expected


def test_a_goal_is_met_up_to_its_bound() -> None:
    def is_met(found: float, goal: float | None, **rest: str) -> bool | None:
        return Line("turn", WORDS, WORDS, Spread.of([found]), goal=goal, **rest).met  # type: ignore[arg-type]

    assert is_met(3.0, None) is None
    assert (is_met(3.0, 3.0), is_met(3.1, 3.0), is_met(3.0, 3.0, bound="under")) == (True, False, False)
    assert (is_met(3.0, 3.0, bound="least"), is_met(2.9, 3.0, bound="least")) == (True, False)
