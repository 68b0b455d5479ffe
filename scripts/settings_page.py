"""Writes docs/settings.md and docs/settings.ja.md: `.venv/bin/python -m scripts.settings_page`.

Names, defaults and examples come from `cc_bot/config.py`, groups and meanings from `.env.example`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from cc_bot.config import Config, Setting
from cc_bot.domain.text import Locale

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = {Locale.EN: "docs/settings.md", Locale.JA: "docs/settings.ja.md"}
HEADERS: Final = {
    Locale.EN: """# Settings

[Documentation](README.md) · [日本語](settings.ja.md)

Write them into `.env` or the environment, which wins. `.env.example` has all of them to uncomment.
After `=` is the default. A change takes effect at the next start. A misspelt name stops the start.
Limits, models and agents have [files of their own](operation.md#files).

This page is generated: `python -m scripts.settings_page`.
""",
    Locale.JA: """# 設定

[ドキュメント](README.ja.md) · [English](settings.md)

`.env` か環境変数に書きます（両方にあれば環境変数が優先）。\
`.env.example` にすべて並んでいるので、使う行の # を外してください。`=` のあとは既定の値です。\
変更は次の起動から効きます。名前を書き間違えると起動しません。\
使える量・モデル・エージェントには[それぞれのファイル](operation.ja.md#ファイル)があります。

このページは `python -m scripts.settings_page` で作ります。
""",
}
EXAMPLE: Final = {Locale.EN: "for example ", Locale.JA: "例: "}
JAPANESE: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SECTION: Final = re.compile(r"# --- (.+?)(?: / (.+?))? -+$")
VARIABLE: Final = re.compile(r"#([A-Z][A-Z0-9_]*)=")
CODE: Final = re.compile(r"\b(?:CC_BOT|DISCORD|OPENAI)_[A-Z0-9_]+\b")


@dataclass(frozen=True)
class Entry:
    variables: Sequence[str]
    comment: Sequence[str]


def sections(text: str) -> Iterator[tuple[dict[Locale, str], list[Entry]]]:
    """Yield the groups of `.env.example` with their titles; variables that share a comment are one entry."""
    title: dict[Locale, str] = {}
    entries: list[Entry] = []
    comment: list[str] = []
    variables: list[str] = []
    for line in [*text.splitlines(), ""]:
        if variables and not VARIABLE.match(line):
            entries.append(Entry(variables, comment))
            comment, variables = [], []
        if found := SECTION.match(line):
            if entries:
                yield title, entries
            title, entries, comment = {Locale.JA: found[1], Locale.EN: found[2] or found[1]}, [], []
        elif found := VARIABLE.match(line):
            variables.append(found[1])
        elif line.startswith("# "):
            comment.append(line[2:])
    yield title, entries


def meaning(comment: Sequence[str], locale: Locale) -> str:
    """Return the lines of a comment that are in this language, as Markdown."""
    is_japanese = locale == Locale.JA
    text = ("" if is_japanese else " ").join(
        line for line in comment if bool(JAPANESE.search(line)) == is_japanese
    )
    text = re.sub(r"docs/([\w.-]+\w)", r"[\1](\1)", text)
    return CODE.sub(r"`\g<0>`", text)


def assignment(setting: Setting, locale: Locale) -> str:
    """Return the name with its default, else with the possible values or an example."""
    name = f"**`{setting.variable}`**"
    if setting.default:
        return f"{name} = `{setting.default}`"
    if setting.is_secret or not setting.example or "(" in setting.example:
        return name
    example = f"`{setting.example}`"
    return f"{name} ({example if ' / ' in example else EXAMPLE[locale] + example})"


def page(locale: Locale) -> str:
    settings = {
        each.metadata["setting"].variable: each.metadata["setting"]
        for each in fields(Config)
        if each.metadata
    }
    lines = [HEADERS[locale]]
    for title, entries in sections((ROOT / ".env.example").read_text("utf-8")):
        lines += [f"## {title[locale]}", ""]
        for entry in entries:
            names = ", ".join(assignment(settings[name], locale) for name in entry.variables)
            lines.append(f"- {names}: {meaning(entry.comment, locale)}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    for locale, name in PAGES.items():
        (ROOT / name).write_text(page(locale), encoding="utf-8")
