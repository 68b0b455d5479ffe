"""Pictures of charts: drawn once, and done without where they can't be."""

from dataclasses import replace

from structlog.testing import capture_logs

from cc_bot.discord.delivery.canvas_messages import KEPT, Pictures
from cc_bot.discord.pages.canvas import picture_name
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.locale import Locale

SALES = Chart("sales", "売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


class Draughtsman:
    """Draws a chart's title; counts."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, Locale]] = []

    def draw(self, chart: Chart, locale: Locale) -> bytes | None:
        self.drawn.append((chart.title, locale))
        return chart.title.encode()


class TestPictures:
    async def test_are_drawn_once_while_they_stay_the_same(self) -> None:
        draughtsman = Draughtsman()
        pictures = Pictures(draughtsman.draw)
        first = await pictures.of([SALES], Locale.JA)
        assert await pictures.of([SALES], Locale.JA) == first == {picture_name(SALES): "売上".encode()}
        assert draughtsman.drawn == [("売上", Locale.JA)]

    async def test_of_another_language_are_others(self) -> None:
        draughtsman = Draughtsman()
        pictures = Pictures(draughtsman.draw)
        await pictures.of([SALES], Locale.JA)
        await pictures.of([SALES], Locale.EN)
        assert len(draughtsman.drawn) == 2

    async def test_that_were_not_used_for_long_are_drawn_again(self) -> None:
        draughtsman = Draughtsman()
        pictures = Pictures(draughtsman.draw)
        many = [replace(SALES, title=f"{number}番") for number in range(KEPT + 1)]
        await pictures.of(many, Locale.JA)
        await pictures.of(many[:1], Locale.JA)
        assert len(draughtsman.drawn) == KEPT + 2

    async def test_that_there_can_be_none_of_are_left_out(self) -> None:
        assert await Pictures(lambda *_: None).of([SALES], Locale.JA) == {}

    async def test_that_fail_are_left_out_and_on_record_without_what_they_show(self) -> None:
        def broken(*_: object) -> bytes | None:
            raise ValueError("no such font")

        with capture_logs() as records:
            assert await Pictures(broken).of([SALES], Locale.JA) == {}
        [record] = records
        assert record["event"] == "chart_not_drawn"
        assert "売上" not in str(record)
