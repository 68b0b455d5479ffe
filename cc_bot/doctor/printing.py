"""The report as a person reads it, in a terminal of any width, and as a program does."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from cc_bot.doctor.findings import Report, Verdict
from cc_bot.texts import Texts

Breaks = Callable[[str, int], Sequence[int]]
"""Where a line is cut so that each piece takes at most so many cells."""

_SIGNS: Final[dict[Verdict, str]] = {"ok": "✓", "warning": "!", "failed": "✗"}
_LEAST: Final = 12
"""Cells: less is no width for words."""


def as_lines(report: Report, words: Texts, *, offline: bool, width: int | None, breaks: Breaks) -> list[str]:
    """A line for each finding, and one below for what to do. `width` is in cells; None: lines are as long as
    they are, for files and for grep."""
    said = words.doctor
    verdicts: dict[Verdict, str] = {
        "ok": said.verdict_ok,
        "warning": said.verdict_warning,
        "failed": said.verdict_failed,
    }
    lines: list[str] = []

    def add(text: str, first: str, rest: str) -> None:
        pieces = [text] if width is None else _pieces(text, max(width - len(rest), _LEAST), breaks)
        lines.extend((first if number == 0 else rest) + piece for number, piece in enumerate(pieces))

    for finding in report.findings:
        sign = _SIGNS[finding.verdict]
        add(f"{sign} {verdicts[finding.verdict]}  {finding.label}: {finding.detail}", "", "    ")
        if finding.mend:
            add(finding.mend, "  → ", "    ")
    if offline:
        add(said.offline, "", "")
    failed, warnings = report.count("failed"), report.count("warning")
    add(
        said.summary.format(failed=failed, warnings=warnings) if failed or warnings else said.all_well, "", ""
    )
    return lines


def as_json(report: Report, *, version: str, offline: bool) -> str:
    """One object. Names and verdicts are for programs, and stay; details are sentences, and don't."""
    told: dict[str, Any] = {
        "version": version,
        "verdict": report.verdict,
        "offline": offline,
        "checks": [
            {
                "check": finding.check,
                "verdict": finding.verdict,
                "detail": finding.detail,
                "mend": finding.mend or None,
                "finished": finding.finished,
            }
            for finding in report.findings
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2)


def _pieces(text: str, width: int, breaks: Breaks) -> list[str]:
    return [piece.rstrip() for piece in _cut(text, breaks(text, width))]


def _cut(text: str, offsets: Sequence[int]) -> Iterator[str]:
    start = 0
    for offset in (*offsets, len(text)):
        yield text[start:offset]
        start = offset
