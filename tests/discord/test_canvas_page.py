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
from cc_bot.features.canvas.views import canvas_page, picture_name
from cc_bot.texts import texts
from tests.loopback.discord.limits import TEXT, V2_CHARACTERS, Component, check_components, walk

JA, EN = texts(Locale.JA), texts(Locale.EN)
AIKO = 7

SHOPPING = Card("card-1", "買い物", "- 牛乳\n- パン")
PLAN = Text("text-1", "朝は散歩、昼は図書館。")
SALES = Chart("chart-1", "売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


def built(canvas: Canvas, *, user_id: int | None = AIKO, with_pictures: bool = False) -> list[Component]:
    """The components as sent, checked by Discord's limits."""
    charts = [each for each in canvas.elements if isinstance(each, Chart)] if with_pictures else []
    pictures = {picture_name(each): b"png" for each in charts}
    page = canvas_page(canvas, JA, user_id=user_id, pictures=pictures)
    for components in (page.plain, page.components):
        sent = [dict(each.build()[0]) for each in components]
        check_components(sent, v2=True)
    return [*walk(sent)]


def texts_of(components: list[Component]) -> list[str]:
    return [each["content"] for each in components if each["type"] == TEXT]


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
        top, shopping, plan = texts_of(built(Canvas((SHOPPING, own)), user_id=None))
        assert (shopping.split("\n")[0], plan.split("\n")[0]) == ("### 買い物", "### 🔒")
        assert "🔒" in top
        assert "🔒" not in "".join(texts_of(built(Canvas((own,)), user_id=None)))

    def test_that_is_too_long_is_cut_fairly_and_comes_whole_in_a_file(self) -> None:
        long = [Card(f"card-{n}", f"{n}番", "長い話です。" * 160) for n in range(9)]
        top, first, *cut = texts_of(built(Canvas((SHOPPING, *long))))
        assert first == f"### 買い物\n{SHOPPING.content}"
        assert all(text.endswith("…") for text in cut)
        assert len(set(map(len, cut))) == 1
        assert JA[CanvasTexts].texts_cut_and_attached in top
        page = canvas_page(Canvas((SHOPPING, *long)), JA, user_id=AIKO, pictures={})
        [file] = page.components[0].build()[1]
        assert isinstance(file, hikari.Bytes)
        assert isinstance(file.data, bytes)
        assert file.data.decode().count("長い話です。") == 9 * 160

    def test_shows_boxes_to_tick_and_the_title_of_a_picture_once(self) -> None:
        listed = Text("list", "- [ ] 牛乳\n- [x] 卵\n1. [ ] パン\n[ ]", "買い物")
        _, text = texts_of(built(Canvas((listed, SALES)), with_pictures=True))
        assert text == "### 買い物\n⬜ 牛乳\n✅ 卵\n1. ⬜ パン\n[ ]"

    @pytest.mark.slow
    @given(canvases, st.booleans())
    def test_fits_a_message_whatever_it_is(self, canvas: Canvas, with_pictures: bool) -> None:
        components = built(canvas, with_pictures=with_pictures)
        assert all(text.strip() for text in texts_of(components))
        assert sum(map(utf16_length, texts_of(components))) <= V2_CHARACTERS


async def test_a_picture_that_fails_is_left_out_and_on_record_without_what_it_shows() -> None:
    def broken(*_: object) -> bytes | None:
        raise ValueError("no such font")

    assert await draw_pictures([SALES], Locale.JA, lambda *_: None) == {}
    with capture_logs() as records:
        assert await draw_pictures([SALES], Locale.JA, broken) == {}
    [record] = records
    assert record["event"] == "chart_not_drawn"
    assert "売上" not in str(record)
