import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib_fontja
from matplotlib import font_manager, pyplot
from matplotlib.ticker import FuncFormatter

from bench.figures import Line, Words, load

Language = Literal["ja", "en"]
PAGES: dict[Language, str] = {"ja": "benchmarks.ja.md", "en": "benchmarks.md"}
HEADS: dict[Language, str] = {
    "ja": "| 測ったもの | 比べた相手 | 結果 | 目標 |\n| --- | --- | --- | --- |\n",
    "en": "| what | beside | found | goal |\n| --- | --- | --- | --- |\n",
}
VERDICTS: dict[Language, dict[bool | None, str]] = {
    "ja": {True: "、達成", False: "、**未達**", None: ""},
    "en": {True: ", met", False: ", **missed**", None: ""},
}
BOUNDS: dict[Language, dict[str, str]] = {
    "ja": {"most": "{} 以下", "least": "{} 以上", "under": "{} 未満"},
    "en": {"most": "at most {}", "least": "at least {}", "under": "under {}"},
}
INK, OURS, PEERS, MISSED = "#24292f", "#0969da", "#8c959f", "#bc4c00"


def write(figures: Path) -> None:
    """Write tables and plots beside the figures."""
    known, lines = load(figures)
    folder = figures.parent
    for language, name in PAGES.items():
        page = folder / name
        page.write_text(fill(page.read_text(encoding="utf-8"), known, lines, language), encoding="utf-8")
    for plot in PLOTS:
        chosen = [line for line in lines if line.part == plot.part and plot.what in line.what.en]
        for language in PAGES:
            if chosen:
                draw(plot, chosen, language, folder / f"{plot.name}.{language}.png")


def fill(text: str, known: dict[str, Any], lines: Sequence[Line], language: Language) -> str:
    """The page with these figures. A comparison with a commit is in the file of figures alone."""
    for part in {line.part for line in lines} - {"base"}:
        text = put(text, part, table([line for line in lines if line.part == part], language))
    return put(text, "surroundings", surroundings(known, language))


def put(text: str, part: str, content: str) -> str:
    """The page with a part's new content."""
    pattern = re.compile(rf"(<!-- {part} -->\n).*?(<!-- /{part} -->)", re.DOTALL)
    found = pattern.search(text)
    assert found, f"the page has no place for {part}"
    return f"{text[: found.end(1)]}{content}{text[found.start(2) :]}"


def table(lines: Sequence[Line], language: Language) -> str:
    """The lines as a table, which names each subject once."""
    befores = (None, *(line.what for line in lines))
    return HEADS[language] + "".join(
        row("" if line.what == before else word(line.what, language), line, language)
        for before, line in zip(befores, lines, strict=False)
    )


def row(what: str, line: Line, language: Language) -> str:
    goal = "" if line.goal is None else BOUNDS[language][line.bound].format(amount(line.goal, line, language))
    verdict = VERDICTS[language][line.met]
    return f"| {what} | {word(line.beside, language)} | {found(line, language)} | {goal}{verdict} |\n"


def found(line: Line, language: Language) -> str:
    middle, low, high = line.found
    if low == high:
        return amount(middle, line, language)
    lowest = amount(low, line, language).removesuffix(unit_of(line, language))
    return f"{amount(middle, line, language)} ({lowest} – {amount(high, line, language)})"


def amount(value: float, line: Line, language: Language) -> str:
    """A ratio below a tenth is read better as a part."""
    if line.unit == "x" and 0 < value < 0.1:
        return f"1/{1 / value:.0f}"
    return f"{shortest(value)}{unit_of(line, language)}"


def unit_of(line: Line, language: Language) -> str:
    return {"x": "倍" if language == "ja" else "x", "%": " %"}.get(line.unit, f" {line.unit}")


def shortest(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def word(words: Words, language: Language) -> str:
    return words.ja if language == "ja" else words.en


def surroundings(known: dict[str, Any], language: Language) -> str:
    said = (
        "{measured}、{system}、プロセッサー {processors} 個、Python {python}、SQLite {sqlite}。\n"
        if language == "ja"
        else "{measured}, {system}, {processors} processors, Python {python}, SQLite {sqlite}.\n"
    )
    return said.format(**known)


# ---- plots -------------------------------------------------------------------------------------------------


class Plot(NamedTuple):
    """A picture of some lines of a part."""

    name: str
    part: str
    what: str
    """In the English name of each line that it shows."""
    title: Words
    axis: Words


PLOTS = (
    Plot(
        "benchmarks-turn",
        "turn",
        "NORMAL",
        Words("1ターンの保存：cc-bot にかかる時間", "One turn's storage: the time that cc-bot takes"),
        Words("相手の時間を1とする（短いほど速い）", "the other's time is 1 (shorter is faster)"),
    ),
)


def draw(plot: Plot, lines: Sequence[Line], language: Language, path: Path) -> None:
    """Horizontal bars with their spread, wide enough for a phone held upright. The axis begins at nothing."""
    with mpl.rc_context({"font.family": _font(), "font.size": 15, "text.color": INK, "axes.labelcolor": INK}):
        figure, axes = pyplot.subplots(figsize=(7.2, 1.4 + 0.95 * len(lines)), layout="constrained")
        for location, line in enumerate(reversed(lines)):
            _bar(axes, location, line, language)
        farthest = max(line.found.high for line in lines)
        axes.set_xlim(0, farthest * 1.3)
        axes.set_ylim(-0.45, len(lines) - 0.35)
        axes.set_yticks([])
        axes.set_xlabel(word(plot.axis, language))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.axvline(1, color=PEERS, linewidth=1.5, linestyle="--", zorder=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.suptitle(word(plot.title, language), x=0.02, ha="left", fontsize=17)
        figure.savefig(path, dpi=110)
        pyplot.close(figure)


def _bar(axes: Any, location: int, line: Line, language: Language) -> None:
    middle, low, high = line.found
    ours = line.beside.en == "cc-bot"
    colour = MISSED if line.met is False else OURS if ours or line.unit == "x" else PEERS
    axes.barh(location, middle, height=0.34, color=colour)
    if low != high:
        axes.plot([low, high], [location, location], color=INK, linewidth=2)
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # no line goes through words
    axes.text(0, location + 0.24, word(line.beside, language), va="bottom", fontsize=15, bbox=paper)
    label = amount(middle, line, language)
    if line.met is False:
        label += "（未達）" if language == "ja" else " (missed)"
    axes.text(max(middle, high), location, f"  {label}", va="center", fontsize=15, bbox=paper)


def _font() -> str:
    """The family of the font with Japanese."""
    file = Path(matplotlib_fontja.__file__).parent / "fonts" / "ipaexg.ttf"
    font_manager.fontManager.addfont(file)
    return str(font_manager.FontProperties(fname=file).get_name())
