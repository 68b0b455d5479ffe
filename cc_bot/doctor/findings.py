"""What a check found, and what that comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
    "model",
    "embedder",
    "font",
]
"""Of a check, for programs that read the report."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Holds no secret."""

    check: Name
    label: str
    verdict: Verdict
    detail: str
    mend: str = ""
    """What to do; empty where there is nothing to be done."""
    finished: bool = True
    """Whether all was looked at that there is to look at."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Writes the findings of one check."""

    check: Name
    label: str

    def ok(self, detail: str) -> Finding:
        return Finding(self.check, self.label, "ok", detail)

    def warning(self, detail: str, mend: str) -> Finding:
        return Finding(self.check, self.label, "warning", detail, mend)

    def failed(self, detail: str, mend: str) -> Finding:
        return Finding(self.check, self.label, "failed", detail, mend)

    def unfinished(self, verdict: Verdict, detail: str, mend: str) -> Finding:
        return Finding(self.check, self.label, verdict, detail, mend, finished=False)


@dataclass(frozen=True, slots=True)
class Report:
    findings: Sequence[Finding]

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        """The worst."""
        return "failed" if self.count("failed") else "warning" if self.count("warning") else "ok"

    @property
    def finished(self) -> bool:
        return all(finding.finished for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """1 where something failed. Warnings alone are no failure: a watchdog would never be quiet."""
        return 1 if self.verdict == "failed" else 0
