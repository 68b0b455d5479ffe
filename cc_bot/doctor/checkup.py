"""The checkup: checks side by side, each within its time, and the report of what they found."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from cc_bot.domain.errors import CcBotError
from cc_bot.texts import Texts, explain

# ---- findings --------------------------------------------------------------------------------------------

Verdict = Literal["ok", "warning", "failed"]
"""warning: the program runs, but not as it should or not for long."""

Name = Literal[
    "settings",
    "program",
    "token",
    "intents",
    "commands",
    "clock",
    "timezone",
    "database",
    "migrations",
    "schema",
    "disk",
    "backups",
    "erasures",
    "files",
    "agents",
    "policy",
    "tools",
    "model",
    "embedder",
    "hearing",
    "speaking",
    "font",
    "documents",
    "sandbox",
    "reading",
    "search",
    "pages",
]
"""Of a check, for programs that read the report."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report. Holds no secret."""

    check: Name
    verdict: Verdict
    detail: str
    mend: str = ""
    """What to do; empty where there is nothing to be done."""


@dataclass(frozen=True, slots=True)
class FindingWriter:
    """The check whose findings are made."""

    check: Name

    def ok(self, detail: str) -> Finding:
        return Finding(self.check, "ok", detail)

    def warning(self, detail: str, mend: str) -> Finding:
        return Finding(self.check, "warning", detail, mend)

    def failed(self, detail: str, mend: str) -> Finding:
        return Finding(self.check, "failed", detail, mend)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of all checks, and what they come to."""

    findings: Sequence[Finding]

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return "failed" if self.count("failed") else "warning" if self.count("warning") else "ok"

    @property
    def exit_code(self) -> int:
        """1 if something failed. Warnings alone are no failure: a monitor would never be quiet."""
        return 1 if self.verdict == "failed" else 0


# ---- checkup ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """A check to run, and the time that it has."""

    name: Name
    """What it is called where it breaks or takes too long; it may find out about more than that."""
    run: Callable[[], Awaitable[Sequence[Finding]]]
    limit_s: float = 15.0


async def run_checks(checks: Sequence[Check], words: Texts) -> Report:
    """Run all checks at once. Returns their findings in the order of the checks."""
    found = await asyncio.gather(*(_run(check, words) for check in checks))
    return Report(tuple(finding for findings in found for finding in findings))


async def _run(check: Check, words: Texts) -> Sequence[Finding]:
    notes = FindingWriter(check.name)
    try:
        async with asyncio.timeout(check.limit_s):
            return await check.run()
    except TimeoutError:
        seconds = round(check.limit_s)
        told = words.doctor.took_too_long.format(seconds=seconds)
        return [notes.failed(told, words.doctor.took_too_long_mend)]
    except CcBotError as error:
        return [notes.failed(explain(error, words), "")]
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are worth reading
        told = words.doctor.broke.format(error=type(error).__name__)
        return [notes.failed(told, words.doctor.broke_mend)]


# ---- printing --------------------------------------------------------------------------------------------

Breaks = Callable[[str, int], Sequence[int]]
"""Where a line is cut so that each piece takes at most so many cells."""

_SIGNS: Final[dict[Verdict, str]] = {"ok": "✓", "warning": "!", "failed": "✗"}
_LEAST: Final = 12
"""Cells: less is no width for words."""


def as_lines(report: Report, words: Texts, *, offline: bool, width: int | None, breaks: Breaks) -> list[str]:
    """Return a line for each finding, and one below for what to do. `width` is in cells; None: lines are as
    long as they are, for files and for grep."""
    said = words.doctor
    lines: list[str] = []

    def add(text: str, first: str, rest: str) -> None:
        pieces = [text] if width is None else _pieces(text, max(width - len(rest), _LEAST), breaks)
        lines.extend((first if number == 0 else rest) + piece for number, piece in enumerate(pieces))

    for finding in report.findings:
        sign = _SIGNS[finding.verdict]
        add(
            f"{sign} {said.verdicts[finding.verdict]}  {said.labels[finding.check]}: {finding.detail}",
            "",
            "    ",
        )
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
    """Return one object. Names and verdicts are for programs, and stay; details are sentences, and don't."""
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
            }
            for finding in report.findings
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2)


def from_json(text: str | bytes) -> Report:
    """Read what `as_json` wrote. Raises ValueError for anything else."""
    try:
        checks = json.loads(text)["checks"]
        return Report(
            [Finding(each["check"], each["verdict"], each["detail"], each["mend"] or "") for each in checks]
        )
    except (KeyError, TypeError) as error:
        raise ValueError("not a report") from error


def _pieces(text: str, width: int, breaks: Breaks) -> list[str]:
    offsets = breaks(text, width)
    return [text[start:end].rstrip() for start, end in pairwise((0, *offsets, len(text)))]
