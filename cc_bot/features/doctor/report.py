"""`cc-bot doctor`: finds problems in the setup, and says how to fix them.

Read-only, so the bot may be running. A check that crashes or times out becomes a finding.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from cc_bot.chat.checks import Finding, Verdict
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.texts import Texts


@dataclass(frozen=True, slots=True)
class Report:
    findings: Sequence[Finding]

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        """The worst one."""
        return "failed" if self.count("failed") else "warning" if self.count("warning") else "ok"

    @property
    def exit_code(self) -> int:
        """Not 1 for warnings, which would keep a monitor alarming."""
        return 1 if self.verdict == "failed" else 0


_SIGNS: Final[dict[Verdict, str]] = {"ok": "✓", "warning": "!", "failed": "✗"}


def as_lines(report: Report, texts: Texts, *, offline: bool) -> list[str]:
    """Return the report for a terminal."""
    said, lines = texts[DoctorTexts], list[str]()
    for each in report.findings:
        title = f"{_SIGNS[each.verdict]} {said.verdicts[each.verdict]}  {each.label}"
        lines.append(f"{title}: {each.detail}")
        if each.fix:
            lines.append(f"  → {each.fix}")
    if offline:
        lines.append(said.offline)
    counts = {"failed": report.count("failed"), "warnings": report.count("warning")}
    return [*lines, said.summary.format(**counts) if any(counts.values()) else said.all_well]


def as_json(report: Report, *, version: str, offline: bool) -> str:
    """One object. Names and verdicts are stable, sentences are not."""
    checks = [{**asdict(each), "fix": each.fix or None} for each in report.findings]
    document = {"version": version, "verdict": report.verdict, "offline": offline, "checks": checks}
    return json.dumps(document, ensure_ascii=False, indent=2)
