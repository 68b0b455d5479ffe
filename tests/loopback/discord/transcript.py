"""What passed over the wire, for tests to read: every REST call, and every refusal."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One REST call. `route` is the template ("PATCH /channels/{channel}/…"); times are seconds of the loop.

    `status` None: the connection was cut on order of the test.
    """

    route: str
    params: dict[str, str]
    status: int | None
    at_s: float
    took_s: float
    body: Any
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.at_s:9.3f} {self.route} -> {self.status}"


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that Discord would not take. `code` is its JSON error code, or the gateway's close code;
    `token` is that of the interaction, where it is about one."""

    where: str
    status: int | None
    code: int
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    token: str = ""


@dataclass(slots=True)
class Transcript:
    entries: list[Entry] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def tail(self, entries: int = 12) -> str:
        lines = [str(entry) for entry in self.entries[-entries:]]
        lines += [
            f"  refused: {v.where} {v.status} {v.code} {v.message} {v.details}" for v in self.violations[-4:]
        ]
        return "\n".join(lines) or "no REST call at all"
