"""A canvas as one message."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.canvas import (
    CanvasPage,
    canvas_page,
    fair_level,
    picture_name,
)
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.canvas import Canvas, Card, Chart, ChartKind, Element, Mode, Series, Text
from cc_bot.domain.locale import Locale
from cc_bot.texts import Texts, texts

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


class TestHeading:
    def test_names_whose_canvas_others_look_at(self) -> None:
        assert page_of(SHOPPING).content == "-# 🖼️ <@7> さんのキャンバス"

    def test_speaks_to_its_user_where_nobody_else_reads(self) -> None:
        page = canvas_page(Canvas((SHOPPING,)), EN, user_id=None)
        assert page.content == "-# 🖼️ Your canvas"


class TestList:
    def test_has_an_embed_for_each_element(self) -> None:
        card, text = page_of(SHOPPING, PLAN).panels
        assert (card.title, card.text) == ("買い物", "- 牛乳\n- パン")
        assert (text.title, text.text) == ("", "朝は散歩、昼は図書館。")

    def test_shows_a_chart_as_the_picture_that_there_is(self) -> None:
        page = canvas_page(Canvas((SALES,)), JA, user_id=AIKO, pictures={picture_name(SALES)})
        [panel] = page.panels
        assert (panel.title, panel.text, panel.picture) == ("売上", "", picture_name(SALES))
        assert page.pictures == {picture_name(SALES)}

    def test_shows_a_chart_without_a_picture_as_a_table(self) -> None:
        [panel] = page_of(SALES).panels
        assert panel.text.startswith("```\n")
        assert panel.text.endswith("\n```")
        assert "1月" in panel.text
        assert not panel.picture

    def test_keeps_a_table_together_whatever_its_labels_are(self) -> None:
        [panel] = page_of(replace(SALES, labels=("```", "2月"))).panels
        assert panel.text.count("```") == 2

    def test_says_something_of_a_card_that_says_nothing(self) -> None:
        [panel] = page_of(Card("a", "", "\u200b")).panels
        assert panel.text == "…"


class TestPictureName:
    def test_is_another_one_when_the_chart_looks_otherwise(self) -> None:
        changed = replace(SALES, labels=("1月", "3月"))
        assert picture_name(changed) != picture_name(SALES)

    def test_is_the_same_when_only_its_place_is_another(self) -> None:
        assert picture_name(replace(SALES, id="b", visibility="private")) == picture_name(SALES)


class TestBoard:
    def test_puts_cards_side_by_side(self) -> None:
        [panel] = page_of(SHOPPING, PLAN, mode="board").panels
        assert [(part.name, part.inline) for part in panel.fields] == [("買い物", True), ("\u200b", True)]

    def test_gives_a_long_text_a_row_of_its_own(self) -> None:
        [panel] = page_of(SHOPPING, replace(PLAN, content="あ" * 301), mode="board").panels
        assert [part.inline for part in panel.fields] == [True, False]

    def test_gives_a_chart_the_whole_width_where_it_stands(self) -> None:
        first, chart, last = page_of(SHOPPING, SALES, PLAN, mode="board").panels
        assert [part.name for part in first.fields] == ["買い物"]
        assert chart.title == "売上"
        assert [part.value for part in last.fields] == ["朝は散歩、昼は図書館。"]


class TestFocus:
    def test_shows_one_and_names_the_others(self) -> None:
        [panel] = page_of(SHOPPING, PLAN, SALES, mode="focus", focus="card-1").panels
        assert panel.title == "買い物"
        assert panel.footer == "ほかに: 朝は散歩、昼は図書館。 ・ 売上"

    def test_on_what_is_not_seen_here_shows_the_rest(self) -> None:
        page = page_of(SHOPPING, PLAN, mode="focus", focus="secret")
        assert len(page.panels) == 2
        assert not page.panels[-1].footer

    def test_draws_only_what_it_shows(self) -> None:
        canvas = Canvas((SHOPPING, SALES), "focus", "card-1")
        assert canvas.in_sight == (SHOPPING,)


class TestPrivateElements:
    def test_are_marked_beside_public_ones(self) -> None:
        canvas = Canvas((SHOPPING, replace(PLAN, visibility="private")))
        page = canvas_page(canvas, JA, user_id=None)
        assert [panel.title for panel in page.panels] == ["買い物", "🔒"]
        assert "🔒 のついたもの" in page.content

    def test_are_not_marked_where_all_are(self) -> None:
        page = canvas_page(Canvas((replace(PLAN, visibility="private"),)), JA, user_id=None)
        assert "🔒" not in page.content + page.panels[0].title


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

    def test_that_are_code_end_as_code(self) -> None:
        code = "```python\n" + "print('あ')\n" * 90 + "```"
        page = page_of(*(Text(f"text-{n}", code) for n in range(10)))
        assert all(panel.text.endswith("```\n…") for panel in page.panels)
        assert all(panel.text.count("```") == 2 for panel in page.panels)

    @pytest.mark.parametrize("words", [JA, EN])
    @pytest.mark.parametrize("mode", ["list", "board"])
    def test_of_emoji_alone_fit_too(self, words: Texts, mode: Mode) -> None:
        elements = tuple(Card(f"c{n}", "🎌" * 100, "👨‍👩‍👧‍👦" * 142) for n in range(10))
        page = canvas_page(Canvas(elements, mode), words, user_id=AIKO)
        assert characters(page) <= 6000


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

    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=10), st.integers(0, 6000))
    def test_leave_no_room_unused(self, lengths: list[int], room: int) -> None:
        level = fair_level(lengths, room)
        taken = sum(min(length, level) for length in lengths)
        assert taken <= room
        assert taken == sum(lengths) or taken + len(lengths) > room


class TestMoreElementsThanEmbeds:
    def test_are_named_under_the_last_one(self) -> None:
        """A user may have private ones beside ten public ones."""
        cards = tuple(Card(f"card-{n}", f"{n}番", "x") for n in range(12))
        page = page_of(*cards)
        assert len(page.panels) == 10
        assert page.panels[-1].footer == "ほかに: 10番 ・ 11番"
