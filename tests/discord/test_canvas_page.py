"""A canvas as one message, and the pictures of its charts."""

from dataclasses import replace

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.delivery import draw_pictures
from cc_bot.features.canvas.model import Canvas, Card, Text
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.features.canvas.views import CanvasPage, canvas_page
from cc_bot.texts import texts

JA, EN = texts(Locale.JA), texts(Locale.EN)
AIKO = 7

SHOPPING = Card("card-1", "買い物", "- 牛乳\n- パン")
PLAN = Text("text-1", "朝は散歩、昼は図書館。")
SALES = Chart("chart-1", "売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


def footer_of(embed: hikari.Embed) -> str:
    return (embed.footer.text or "") if embed.footer else ""


def characters(page: CanvasPage) -> int:
    return sum(
        utf16_length((embed.title or "") + (embed.description or "") + footer_of(embed))
        + sum(utf16_length(part.name + part.value) for part in embed.fields)
        for embed in page.embeds
    )


short = st.text(max_size=100)
lines = st.one_of(st.text(max_size=1000), short.map(lambda text: (text + "\n") * 10))
cards = st.builds(Card, short, short, lines)
free_texts = st.builds(Text, short, lines, short)
values = st.floats(-1e9, 1e9)


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    labels = draw(st.lists(st.text(max_size=40), min_size=1, max_size=31))
    row = st.lists(values, min_size=len(labels), max_size=len(labels)).map(tuple)
    series = draw(st.lists(st.builds(Series, st.text(max_size=40), row), min_size=1, max_size=6))
    kinds: tuple[ChartKind, ...] = ("bar", "line")
    kind = draw(st.sampled_from(kinds))
    return Chart("chart", draw(short), kind, tuple(labels), tuple(series))


canvases = st.builds(
    Canvas,
    st.lists(st.one_of(cards, free_texts, charts()), min_size=1, max_size=20).map(tuple),
    st.sampled_from(("list", "board", "focus")),
    short,
)


class TestCanvas:
    def test_marks_private_elements_beside_public_ones(self) -> None:
        own = replace(PLAN, visibility="private")
        page = canvas_page(Canvas((SHOPPING, own)), JA, user_id=None)
        assert [embed.title for embed in page.embeds] == ["買い物", "🔒"]
        assert "🔒" in page.content
        alone = canvas_page(Canvas((own,)), JA, user_id=None)
        assert "🔒" not in alone.content + (alone.embeds[0].title or "")

    def test_that_is_too_long_is_cut_fairly_and_comes_whole_in_a_file(self) -> None:
        long = [Card(f"card-{n}", f"{n}番", "長い話です。" * 160) for n in range(9)]
        page = canvas_page(Canvas((SHOPPING, *long)), JA, user_id=AIKO)
        assert page.embeds[0].description == SHOPPING.content
        cut = [embed.description or "" for embed in page.embeds[1:]]
        assert all(text.endswith("…") for text in cut)
        assert len(set(map(len, cut))) == 1
        assert page.file
        assert page.file.text.count("長い話です。") == 9 * 160
        assert JA[CanvasTexts].texts_cut_and_attached in page.content

    @pytest.mark.slow
    @given(canvases)
    def test_fits_a_message_whatever_it_is(self, canvas: Canvas) -> None:
        page = canvas_page(canvas, JA, user_id=AIKO)
        assert 1 <= len(page.embeds) <= 10
        assert characters(page) <= 6000
        assert utf16_length(page.content) <= 2000
        for embed in page.embeds:
            assert utf16_length(embed.title or "") <= 256
            assert utf16_length(embed.description or "") <= 4096
            assert utf16_length(footer_of(embed)) <= 2048
            assert len(embed.fields) <= 25
            for part in embed.fields:
                assert 1 <= utf16_length(part.name) <= 256
                assert part.name.strip()
                assert 1 <= utf16_length(part.value) <= 1024
                assert part.value.strip()
            assert (embed.title or embed.description or "").strip() or embed.fields


async def test_a_picture_that_fails_is_left_out_and_on_record_without_what_it_shows() -> None:
    def broken(*_: object) -> bytes | None:
        raise ValueError("no such font")

    assert await draw_pictures([SALES], Locale.JA, lambda *_: None) == {}
    with capture_logs() as records:
        assert await draw_pictures([SALES], Locale.JA, broken) == {}
    [record] = records
    assert record["event"] == "chart_not_drawn"
    assert "売上" not in str(record)
