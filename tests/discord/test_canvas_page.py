"""A canvas as one message, and the pictures of its charts."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cc_bot.discord.delivery.canvas_messages import KEPT, Pictures, shows
from cc_bot.discord.pages.canvas import CanvasPage, Panel, canvas_page, picture_name
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.canvas import Canvas, Card, Chart, ChartKind, Element, Mode, Series, Text
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts
from tests.discord.hikari_messages import message

JA, EN = texts(Locale.JA), texts(Locale.EN)
AIKO = 7

SHOPPING = Card("card-1", "買い物", "- 牛乳\n- パン")
PLAN = Text("text-1", "朝は散歩、昼は図書館。")
SALES = Chart("chart-1", "売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


def page_of(*elements: Element, mode: Mode = "list", focus: str = "") -> CanvasPage:
    return canvas_page(Canvas(elements, mode, focus), JA, user_id=AIKO)


def characters(page: CanvasPage) -> int:
    """What Discord counts towards the 6000."""
    return sum(
        utf16_length(panel.title + panel.text + panel.footer)
        + sum(utf16_length(part.name + part.value) for part in panel.fields)
        for panel in page.panels
    )


class TestList:
    def test_shows_a_chart_as_the_picture_that_there_is_or_else_as_a_table(self) -> None:
        name = picture_name(SALES)
        page = canvas_page(Canvas((SALES,)), JA, user_id=AIKO, pictures={name})
        [panel] = page.panels
        assert (panel.title, panel.text, panel.picture, page.pictures) == (
            "売上",
            "",
            name,
            frozenset({name}),
        )
        [panel] = page_of(replace(SALES, labels=("```", "2月"))).panels
        assert (panel.text[:4], panel.text[-4:], panel.text.count("```")) == ("```\n", "\n```", 2)
        assert ("2月" in panel.text, panel.picture) == (True, "")


class TestModes:
    def test_mark_private_elements_beside_public_ones(self) -> None:
        own = replace(PLAN, visibility="private")
        page = canvas_page(Canvas((SHOPPING, own)), JA, user_id=None)
        assert [panel.title for panel in page.panels] == ["買い物", "🔒"]
        assert "🔒" in page.content
        alone = canvas_page(Canvas((own,)), JA, user_id=None)
        assert "🔒" not in alone.content + alone.panels[0].title


class TestLongTexts:
    def test_are_cut_fairly_and_come_whole_in_a_file(self) -> None:
        long = [Card(f"card-{n}", f"{n}番", "長い話です。" * 160) for n in range(9)]
        page = page_of(SHOPPING, *long)
        assert page.panels[0].text == SHOPPING.content
        assert all(panel.text.endswith("…") for panel in page.panels[1:])
        assert len({len(panel.text) for panel in page.panels[1:]}) == 1
        assert page.file
        assert page.file.text.count("長い話です。") == 9 * 160
        assert JA.canvas.cut in page.content

    def test_that_are_code_end_as_code_and_emoji_count_as_discord_counts(self) -> None:
        code = "```python\n" + "print('あ')\n" * 90 + "```"
        for panel in page_of(*(Text(f"text-{n}", code) for n in range(10))).panels:
            assert (panel.text.endswith("```\n…"), panel.text.count("```")) == (True, 2)
        elements = tuple(Card(f"c{n}", "🎌" * 100, "👨‍👩‍👧‍👦" * 142) for n in range(10))
        modes: tuple[Mode, ...] = ("list", "board")
        for words, mode in product((JA, EN), modes):
            assert characters(canvas_page(Canvas(elements, mode), words, user_id=AIKO)) <= 6000


short = st.text(max_size=100)
lines = st.one_of(st.text(max_size=1000), short.map(lambda text: (text + "\n") * 10))
cards = st.builds(Card, short, short, lines)
free_texts = st.builds(Text, short, lines, short)
values = st.floats(-1e9, 1e9)


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    labels = draw(st.lists(st.text(max_size=40), min_size=1, max_size=24))
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


class TestLimits:
    @pytest.mark.slow
    @given(canvases)
    def test_hold_for_any_canvas(self, canvas: Canvas) -> None:
        page = canvas_page(canvas, JA, user_id=AIKO)
        assert 1 <= len(page.panels) <= 10
        assert characters(page) <= 6000
        assert utf16_length(page.content) <= 2000
        for panel in page.panels:
            assert utf16_length(panel.title) <= 256
            assert utf16_length(panel.text) <= 4096
            assert utf16_length(panel.footer) <= 2048
            assert len(panel.fields) <= 25
            for part in panel.fields:
                assert 1 <= utf16_length(part.name) <= 256
                assert part.name.strip()
                assert 1 <= utf16_length(part.value) <= 1024
                assert part.value.strip()
            assert panel.title.strip() or panel.text.strip() or panel.fields


class Draughtsman:
    """Draws a chart's title; counts."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, Locale]] = []

    def draw(self, chart: Chart, locale: Locale) -> bytes | None:
        self.drawn.append((chart.title, locale))
        return chart.title.encode()


class TestPictures:
    async def test_are_drawn_once_for_each_language_while_they_stay_the_same_and_are_used(self) -> None:
        draughtsman = Draughtsman()
        pictures = Pictures(draughtsman.draw)
        for _ in range(2):
            assert await pictures.of([SALES], Locale.JA) == {picture_name(SALES): "売上".encode()}
            await pictures.of([SALES], Locale.EN)
        assert draughtsman.drawn == [("売上", Locale.JA), ("売上", Locale.EN)]
        many = [replace(SALES, title=f"{number}番") for number in range(KEPT + 1)]
        await pictures.of(many, Locale.JA)
        await pictures.of(many[:1], Locale.JA)
        assert len(draughtsman.drawn) == 2 + KEPT + 2

    async def test_that_fail_are_left_out_and_on_record_without_what_they_show(self) -> None:
        def broken(*_: object) -> bytes | None:
            raise ValueError("no such font")

        assert await Pictures(lambda *_: None).of([SALES], Locale.JA) == {}
        with capture_logs() as records:
            assert await Pictures(broken).of([SALES], Locale.JA) == {}
        [record] = records
        assert record["event"] == "chart_not_drawn"
        assert "売上" not in str(record)

    def test_that_an_edit_left_alone_are_missing_where_discord_did_not_find_them(self) -> None:
        page = CanvasPage("-# 🖼️", (Panel("買い物", "- 牛乳"), Panel("売上", picture="chart-1.png")))
        text: dict[str, Any] = {"type": "rich", "title": "買い物"}

        def picture(url: str) -> list[dict[str, Any]]:
            image = {"url": url, "proxy_url": url, "width": 1, "height": 1}
            return [text, {"type": "rich", "title": "売上", "image": image}]

        found = picture("https://cdn.discordapp.com/chart-1.png")
        assert shows(message(embeds=found), page)
        assert not shows(message(embeds=[text, {**text, "title": "売上"}]), page)
        assert not shows(message(embeds=picture("attachment://chart-1.png")), page)
        assert not shows(message(embeds=found, files=["chart-1.png"]), page), "beside its embed as well"
