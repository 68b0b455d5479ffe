import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from time import perf_counter, process_time
from typing import NamedTuple

from bench.recall_quality import like
from bench.recall_text import Everyday, Phrase
from cc_bot.db import Database, Statement
from cc_bot.features.memory.stores.rows import make_search_data
from cc_bot.features.memory.stores.store import MemoryStore

NOTES_OF_SMALL = 100
TEMPLATES = 200
SEARCHES_OF_SMALL = 2000
SEARCHES_OF_LARGE = 300
ADDS = 1000
OTHER_USER = 2**40

COPY = """
    WITH RECURSIVE copies (copy) AS (
        SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < {copies}
    )
    INSERT INTO memories (user_id, {columns})
    SELECT user_id + {templates} * copy, {columns} FROM memories CROSS JOIN copies
    WHERE user_id <= {templates}
    ORDER BY id, copy
"""
COPY_TERMS = """
    INSERT INTO memory_terms (user_id, term, memory_id, occurrences)
    SELECT copy.user_id, term, copy.id, occurrences
    FROM memories AS copy
    JOIN memories AS original
        ON original.user_id = (copy.user_id - 1) % {templates} + 1 AND original.number = copy.number
    JOIN memory_terms ON memory_terms.user_id = original.user_id AND memory_id = original.id
    WHERE copy.user_id > {templates} AND copy.user_id <= {small}
    ORDER BY copy.user_id, term, copy.id
"""


class Took(NamedTuple):
    """One call in milliseconds: by the clock, and of the processor."""

    clock: float
    processor: float


class Percentiles(NamedTuple):
    p50: float
    p99: float


class Stopwatch:
    def __init__(self) -> None:
        self._clock, self._processor = perf_counter(), process_time()

    def took(self) -> Took:
        return Took((perf_counter() - self._clock) * 1e3, (process_time() - self._processor) * 1e3)


@dataclass
class Population:
    small: int
    large: Sequence[int]
    known: dict[int, list[Phrase]] = field(default_factory=dict)
    """Notes by template, and by large user: some of what they have, to ask for."""

    @property
    def templates(self) -> int:
        return min(TEMPLATES, self.small)

    def large_user(self, index: int) -> int:
        return self.small + 1 + index

    def template_of(self, user_id: int) -> int:
        return (user_id - 1) % self.templates + 1 if user_id <= self.small else user_id

    async def write(self, store: MemoryStore) -> None:
        """Store the notes of the templates, and those of the large users, by turns."""
        for position in range(NOTES_OF_SMALL):
            for user_id in range(1, self.templates + 1):
                await self._note(store, user_id, Everyday(user_id * 1000 + position).note())
        sources = [Everyday(-1 - index) for index in range(len(self.large))]
        for position in range(max(self.large, default=0)):
            for index, size in enumerate(self.large):
                if position * size // max(self.large) != (position + 1) * size // max(self.large):
                    await self._note(store, self.large_user(index), sources[index].note())

    async def _note(self, store: MemoryStore, user_id: int, note: Phrase) -> None:
        await store.add(user_id, note.text)
        known = self.known.setdefault(user_id, [])
        if len(known) < 1000:
            known.append(note)

    def copy(self, path: Path) -> None:
        """Give the rest of the small users the notes of the templates."""
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("PRAGMA synchronous = OFF")
            copies = -(-self.small // self.templates) - 1
            if copies:
                names = [row[1] for row in raw.execute("PRAGMA table_info(memories)")]
                columns = ", ".join(name for name in names if name not in ("id", "user_id"))
                raw.execute(COPY.format(copies=copies, columns=columns, templates=self.templates))
                raw.execute(COPY_TERMS.format(templates=self.templates, small=self.small))
            raw.commit()


async def searches(
    store: MemoryStore, database: Database, population: Population, users: Sequence[int]
) -> tuple[list[Took], list[Took]]:
    """A search for each of the users, and the same with LIKE."""
    chance, source = random.Random(2), Everyday(2)
    ours, plain = [], []
    for number, user_id in enumerate(users):
        if number % 10 == 9:
            await store.add(user_id, source.note().text)
        query = source.question(chance.choice(population.known[population.template_of(user_id)]))
        watch = Stopwatch()
        await store.find(user_id, query)
        ours.append(watch.took())
        watch = Stopwatch()
        await like(database, user_id, query)
        plain.append(watch.took())
    return ours, plain


async def report_searches(
    store: MemoryStore, database: Database, population: Population, who: str, users: Sequence[int]
) -> Percentiles:
    """Print, and return what the processor took."""
    ours, plain = await searches(store, database, population, users)
    print(f"{who}: first search {ours[0].clock:.1f} ms; then p50 and p99 beside LIKE over the same rows:")
    processor, _ = (
        print_beside(name, at, ours[1:], plain[1:]) for at, name in ((1, "processor"), (0, "clock"))
    )
    return processor


def print_beside(name: str, at: int, ours: Sequence[Took], plain: Sequence[Took]) -> Percentiles:
    mine, beside = (percentiles([took[at] for took in all_]) for all_ in (ours, plain))
    print(
        f"  {name} {mine.p50:.2f} and {mine.p99:.2f} ms, LIKE {beside.p50:.2f} and {beside.p99:.2f} ms,"
        f" ratio {mine.p50 / beside.p50:.2f} and {mine.p99 / beside.p99:.2f}"
    )
    return mine


async def report_adds(store: MemoryStore, database: Database, user_id: int) -> float:
    """Print, and return how many times as long as an INSERT of the same row an add takes.

    An INSERT that comes right after another statement takes less than one that comes after work of another
    kind, as an add's own does, and as every one does in the program: that one is printed as well.
    """
    source, ours, plain, after_work = Everyday(3), list[float](), list[float](), list[float]()
    for _ in range(ADDS):
        text = source.note().text
        watch = Stopwatch()
        added = await store.add(user_id, text)
        ours.append(watch.took().clock * 1e3)
        statement = await insert_again(database, added.id)
        for times in (plain, after_work):
            if times is after_work:
                make_search_data(source.note().text, ())
            watch = Stopwatch()
            await database.transaction([statement], ())
            times.append(watch.took().clock * 1e3)
    ratio, fairer = median(ours) / median(plain), median(ours) / median(after_work)
    print(
        f"  add p50 {median(ours):.0f} µs, INSERT of the same row {median(plain):.0f} µs, ratio {ratio:.2f}"
        f" (right after other work {median(after_work):.0f} µs, ratio {fairer:.2f});"
        f" on average, checkpoints included, {fmean(ours):.0f} and {fmean(plain):.0f} µs"
    )
    return ratio


async def insert_again(database: Database, number: int) -> Statement:
    """A statement that stores this row once more, for a user of no consequence."""
    columns = [row[1] for row in await database.query("PRAGMA table_info(memories)") if row[1] != "id"]
    [row] = await database.query(f"SELECT {', '.join(columns)} FROM memories WHERE id = $1", number)
    values = [
        OTHER_USER if column == "user_id" else value for column, value in zip(columns, row, strict=True)
    ]
    marks = ", ".join(f"${at}" for at in range(1, len(values) + 1))
    return Statement(f"INSERT INTO memories ({', '.join(columns)}) VALUES ({marks})", tuple(values))


def percentiles(values: Sequence[float]) -> Percentiles:
    return Percentiles(median(values), quantiles(values, n=100)[98])
