import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

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


def write(figures: Path) -> None:
    """Write the tables into the pages beside the figures."""
    known, lines = load(figures)
    folder = figures.parent
    for language, name in PAGES.items():
        page = folder / name
        page.write_text(fill(page.read_text(encoding="utf-8"), known, lines, language), encoding="utf-8")


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
