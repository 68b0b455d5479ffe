"""Draws charts into docs/: the one of the pages, and thirty by lot.

`.venv/bin/python scripts/docs_charts.py [SEED]`
"""

import random
import sys
from io import BytesIO
from pathlib import Path
from typing import get_args

from PIL import Image

from cc_bot.charts.png import draw_png
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.text import Locale

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MAX_BYTES = 350_000

EXAMPLE = Chart(
    "chart-line",
    "札幌の気温",
    "line",
    tuple(f"{month}月" for month in range(1, 13)),
    (
        Series("最高気温", (-0.4, 0.4, 4.5, 11.7, 17.9, 21.8, 25.4, 26.4, 22.8, 16.4, 8.7, 2.0)),
        Series("最低気温", (-6.4, -6.2, -2.4, 3.4, 9.0, 13.4, 17.9, 19.1, 14.8, 8.0, 1.6, -4.0)),
    ),
    y_title="℃",
)

TITLES = {
    Locale.JA: "月ごとの売上|今月の歩数|家計簿|体重と睡眠の記録|読んだ本を分野ごとに数えた結果|アンケート🍎",
    Locale.EN: "Monthly sales|Steps this month|Household budget|Votes 🎉|Commits by author and week",
}
NAMES = {
    Locale.JA: "東京|大阪の本店と支店|りんご🍎|食費|光熱費|インターネット通販サイト|交通費|本・雑誌|家賃"
    "|その他の雑費|👨‍👩‍👧 家族|ゲーム|医療費|保険（火災・地震）|おこづかい",
    Locale.EN: "Tokyo|Osaka main store|Apples 🍎|Food|Rent|Internet mail order|Travel|Books|Other things"
    "|👍|Games|Insurance|Health|Pocket money",
}
UNITS = {Locale.JA: ("円", "歩", "kg", "人", ""), Locale.EN: ("yen", "steps", "kg", "people", "")}
XS = {Locale.JA: ("日付", "分野", ""), Locale.EN: ("date", "field", "")}


def random_labels(lot: random.Random, kind: ChartKind, locale: Locale) -> list[str]:
    count = lot.choice((1, 2, 4, 5, 7, 12, 30, 62))
    if kind == "scatter":
        return [f"{lot.uniform(0, lot.choice((10, 4000))):.1f}" for _ in range(max(count, 5))]
    if count > 12 or lot.random() < 0.4:
        if count == 12:
            return [f"{month}月" if locale is Locale.JA else f"{month}/2026" for month in range(1, 13)]
        return [f"{10 + at // 31}/{at % 31 + 1}" for at in range(count)]
    return lot.sample(NAMES[locale].split("|"), count)


def random_chart(lot: random.Random, number: int, locale: Locale) -> Chart:
    kinds: tuple[ChartKind, ...] = get_args(ChartKind)
    kind = kinds[number % len(kinds)]
    labels = random_labels(lot, kind, locale)
    size = lot.choice((5, 100, 12_000, 3e5, 4e8))
    low = 0 if kind in ("pie", "area") else lot.choice((0, 0, 0.9, -0.6)) * size
    rows = 1 if kind == "pie" else lot.choice((1, 1, 2, 3, 6))
    series = tuple(
        Series(name, tuple(float(round(lot.uniform(low, size), lot.choice((0, 1)))) for _ in labels))
        for name in lot.sample(NAMES[locale].split("|"), rows)
    )
    title = lot.choice(TITLES[locale].split("|"))
    x_title, y_title = lot.choice(XS[locale]), lot.choice(UNITS[locale])
    return Chart(f"lot-{number}", title, kind, tuple(labels), series, x_title=x_title, y_title=y_title)


def picture(chart: Chart, locale: Locale) -> bytes:
    png = draw_png(chart, locale)
    if png is None:
        raise SystemExit(f"{chart.id}: the extra `charts` or a glyph is missing: make charts")
    return png


def save_small(image: Image.Image, path: Path) -> None:
    """Raises SystemExit if the file is too large."""
    image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path.name}: {path.stat().st_size} bytes")


def contact_sheet(charts: list[tuple[Chart, Locale]]) -> Image.Image:
    """Return pictures half as large, like on a desk."""
    sheet = Image.new("RGB", (5 * 410, 6 * 310), "#313338")
    for at, (chart, locale) in enumerate(charts):
        with Image.open(BytesIO(picture(chart, locale))) as image:
            image.thumbnail((400, 300))
            sheet.paste(image, (at % 5 * 410 + 5, at // 5 * 310 + 5))
    return sheet


def main() -> None:
    (DOCS / f"{EXAMPLE.id}.png").write_bytes(picture(EXAMPLE, Locale.JA))
    lot = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)  # noqa: S311 - no secret
    locales = [Locale.JA if at % 3 else Locale.EN for at in range(30)]
    charts = [(random_chart(lot, at, locale), locale) for at, locale in enumerate(locales)]
    save_small(contact_sheet(charts), DOCS / "charts.png")


if __name__ == "__main__":
    main()
