"""Draws the charts of one canvas into docs/, for the READMEs: `.venv/bin/python scripts/docs_charts.py`."""

from pathlib import Path

from cc_bot.charts import draw
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.model import Canvas

DOCS = Path(__file__).resolve().parents[1] / "docs"

CANVAS = Canvas(
    (
        Chart(
            "chart-bar",
            "札幌への行き方と料金",
            "bar",
            ("飛行機（早割）", "飛行機（直前）", "新幹線と特急", "フェリー（個室）", "夜行バスとフェリー"),
            (Series("片道の料金", (12800, 31400, 27760, 24500, 9900)),),
        ),
        Chart(
            "chart-line",
            "札幌の気温",
            "line",
            tuple(f"{month}月" for month in range(1, 13)),
            (
                Series("最高気温", (-0.4, 0.4, 4.5, 11.7, 17.9, 21.8, 25.4, 26.4, 22.8, 16.4, 8.7, 2.0)),
                Series("最低気温", (-6.4, -6.2, -2.4, 3.4, 9.0, 13.4, 17.9, 19.1, 14.8, 8.0, 1.6, -4.0)),
            ),
        ),
        Chart(
            "chart-pie",
            "旅行の予算",
            "pie",
            ("交通費", "宿（3泊）", "食事", "おみやげ", "体験とチケット"),
            (Series("円", (27760, 33000, 18000, 6000, 9200)),),
        ),
    )
)

for chart in CANVAS.elements:
    if not isinstance(chart, Chart) or (png := draw(chart, Locale.JA)) is None:
        raise SystemExit("The extra `charts` is missing: make charts")
    (DOCS / f"{chart.id}.png").write_bytes(png)
