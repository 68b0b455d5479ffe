"""Memories in numbers, as Discord shows them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.memory import BARS, CELLS, bar, statistics_view
from cc_bot.domain import Locale
from cc_bot.domain.memory import MemoryStatistics, SourceKind
from cc_bot.texts import texts

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)


def kept(*counts: int, name: str = "分類") -> MemoryStatistics:
    categories = tuple((f"{name}{place}", count) for place, count in enumerate(counts))
    return MemoryStatistics(
        count=sum(counts),
        private=1,
        expired=0,
        categories=categories,
        sources=(("command", sum(counts)), ("", 1)),
        oldest=WHEN,
        newest=WHEN,
    )


class TestBars:
    @given(st.integers(1, 10**6), st.integers(1, 10**6))
    def test_have_as_many_cells_and_are_never_empty(self, count: int, more: int) -> None:
        drawn = bar(count, count + more)
        assert len(drawn) == CELLS
        assert drawn.startswith("▰")
        assert bar(count, count) == "▰" * CELLS

    def test_of_the_smallest_categories_are_one_line(self) -> None:
        view = statistics_view(kept(*range(20, 0, -1)), JA, paused=False)
        assert view.embed is not None
        lines = view.embed.fields[0].value.splitlines()
        assert len(lines) == BARS + 1
        assert lines[-1] == "ほか12カテゴリ 78件"


class TestStatistics:
    def test_leave_out_what_is_nought(self) -> None:
        view = statistics_view(kept(3), JA, paused=False)
        assert view.embed is not None
        assert "期限切れ" not in (view.embed.description or "")
        assert "だけ使う: 1件" in (view.embed.description or "")

    def test_name_every_source(self) -> None:
        sources = tuple((kind, 1) for kind in get_args(SourceKind))
        view = statistics_view(replace(kept(3), sources=sources), JA, paused=False)
        assert view.embed is not None
        told = view.embed.fields[1].value
        assert (told.count("1件"), "確認した提案 1件" in told) == (len(sources), True)

    def test_say_so_while_memory_is_paused(self) -> None:
        nothing = MemoryStatistics(0, 0, 0, None, None)
        assert statistics_view(nothing, JA, paused=True).content.startswith("⏸️")
        view = statistics_view(kept(3), JA, paused=True)
        assert view.embed is not None
        assert (view.embed.description or "").startswith("⏸️")

    def test_fit_an_embed_however_long_the_names_are(self) -> None:
        view = statistics_view(kept(*range(20, 0, -1), name="*" * 48), JA, paused=True)
        assert view.embed is not None
        assert all(len(field.value) <= 1024 for field in view.embed.fields)
