import gc
import json
import os
import platform
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Literal, NamedTuple

Unit = Literal["x", "MB", "µs", "ms", "s", "%"]
Block = Callable[[], Awaitable[float]]
"""Does a contender's work some times over, and returns what once took."""


class Words(NamedTuple):
    """The same in both languages of the documentation."""

    ja: str
    en: str


class Spread(NamedTuple):
    """The median of some values, and where eight tenths of them lie."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        tenths = quantiles(values, n=10, method="inclusive")
        return cls(median(values), tenths[0], tenths[-1])

    @classmethod
    def of_ratios(cls, ours: Sequence[float], theirs: Sequence[float]) -> "Spread":
        """The spread of the ratios of neighbours."""
        return cls.of([mine / peer for mine, peer in zip(ours, theirs, strict=True)])


@dataclass(frozen=True, slots=True)
class Line:
    part: str
    what: Words
    beside: Words
    found: Spread
    unit: Unit = "x"
    goal: float | None = None
    bound: Literal["most", "least", "under"] = "most"

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        found = self.found.middle
        match self.bound:
            case "most":
                return found <= self.goal
            case "least":
                return found >= self.goal
            case "under":
                return found < self.goal

    def __str__(self) -> str:
        verdict = {None: "     ", True: "ok   ", False: "MISS "}[self.met]
        goal = "" if self.goal is None else f" (goal: {self.bound} {self.goal:g} {self.unit})"
        low, high = self.found.low, self.found.high
        spread = "" if low == high else f" [{low:.3g} to {high:.3g}]"
        return f"{verdict}{self.what.en}, {self.beside.en}: {self.found.middle:.3g} {self.unit}{spread}{goal}"


async def by_turns(contenders: Mapping[str, Block], rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            with no_collection():
                took = await contenders[name]()
            if number:
                found[name].append(took)
    return found


@contextmanager
def no_collection() -> Iterator[None]:
    """No block pays for the garbage of the one before it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


MEASURED_WITH = (
    *("openai-agents", "langgraph-checkpoint-sqlite", "langchain-community", "mem0ai", "qdrant-client"),
    *("hikari", "hikari-lightbulb", "aiosqlite", "asyncpg", "openai"),
)


def surroundings() -> dict[str, Any]:
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in MEASURED_WITH},
    }


def save(path: Path, part: str, lines: Sequence[Line]) -> None:
    known = json.loads(path.read_text(encoding="utf-8"))["lines"] if path.exists() else []
    kept = [line for line in known if line["part"] != part]
    new = [{**asdict(line), "met": line.met} for line in lines]
    text = json.dumps({**surroundings(), "lines": kept + new}, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def load(path: Path) -> tuple[dict[str, Any], list[Line]]:
    """The surroundings and the lines."""
    known = json.loads(path.read_text(encoding="utf-8"))
    return known, [_line(**line) for line in known.pop("lines")]


def _line(*, what: Sequence[str], beside: Sequence[str], found: Sequence[float], **rest: Any) -> Line:
    rest.pop("met")
    return Line(what=Words(*what), beside=Words(*beside), found=Spread(*found), **rest)
