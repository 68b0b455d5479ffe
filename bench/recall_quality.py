import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from cc_bot.db import Database
from cc_bot.features.memory.stores.store import MemoryStore

OWN = Path(__file__).resolve().parent / "recall_set"
SHOWN = 5
USER = 1
NO_ANSWER = "none"

GOALS_OF_SETS = {
    "own": {"exact": 1.0, "reorder": 1.0, "variant": 0.88, "all": 0.62},
    "jsquad": {"all": 0.955},
}
GOALS_WITH_MEANING = {
    "own": {"exact": 1.0, "reorder": 1.0, "variant": 0.92, "all": 0.86},
    "jsquad": {"all": 0.955},
}
"""With the encoder of the semantic extra."""

LIKE = "SELECT * FROM memories WHERE user_id = $1 AND ({words}) ORDER BY id DESC LIMIT $2"


@dataclass(frozen=True, slots=True)
class Question:
    query: str
    relevant: frozenset[str]
    kind: str
    near: bool = False


@dataclass(frozen=True, slots=True)
class NoteSet:
    """Notes of one user, and what is asked of them."""

    name: str
    notes: dict[str, str]
    questions: tuple[Question, ...]


@dataclass
class Tally:
    recalls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def count(self, question: Question, found: Sequence[str]) -> None:
        if question.relevant:
            most = min(len(question.relevant), SHOWN)
            self.recalls[question.kind].append(len(question.relevant & set(found)) / most)
            self.shown["answered"].append(len(found))
        else:
            self.shown[f"{NO_ANSWER}, near" if question.near else NO_ANSWER].append(len(found))

    def by_class(self) -> dict[str, float]:
        """Recall@5 for each class, and over all questions that have an answer."""
        every = [recall for recalls in self.recalls.values() for recall in recalls]
        return {**{kind: fmean(recalls) for kind, recalls in self.recalls.items()}, "all": fmean(every)}


def note_sets(data: Path) -> list[NoteSet]:
    """Our own, and those in the folder, when it is there."""
    own = _read("own", OWN / "notes.jsonl", OWN / "questions.jsonl")
    found = sorted(data.glob("*.corpus.jsonl"))
    names = [path.name.removesuffix(".corpus.jsonl") for path in found]
    others = zip(names, found, strict=True)
    return [own, *(_read(name, path, data / f"{name}.queries.jsonl") for name, path in others)]


def _read(name: str, notes: Path, questions: Path) -> NoteSet:
    return NoteSet(
        name,
        {row["id"]: row["text"] for row in _lines(notes)},
        tuple(
            Question(row["query"], frozenset(row["relevant"]), row["class"], row.get("near", False))
            for row in _lines(questions)
        ),
    )


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


async def keep(store: MemoryStore, notes: NoteSet) -> dict[int, str]:
    """Store the notes, and return which row is which."""
    return {(await store.add(USER, text)).id: name for name, text in notes.notes.items()}


async def ask(store: MemoryStore, names: dict[int, str], notes: NoteSet) -> Tally:
    tally = Tally()
    for question in notes.questions:
        found = await store.find(USER, question.query, limit=SHOWN)
        tally.count(question, [names[each.memory.id] for each in found])
    return tally


async def ask_like(database: Database, names: dict[int, str], notes: NoteSet) -> Tally:
    tally = Tally()
    for question in notes.questions:
        found = await like(database, USER, question.query)
        tally.count(question, [names[number] for number in found])
    return tally


async def like(database: Database, user_id: int, query: str) -> list[int]:
    """The ids that LIKE finds, newest first."""
    words = [f"%{word}%" for word in query.split()]
    condition = " OR ".join(f"content LIKE ${3 + index}" for index in range(len(words)))
    rows = await database.query(LIKE.format(words=condition), user_id, SHOWN, *words)
    return [row[0] for row in rows]


def report(name: str, ours: Tally, plain: Tally, goals: dict[str, float]) -> bool:
    """Print one set's numbers, and return whether its goals are met."""
    recalls, beside = ours.by_class(), plain.by_class()
    print(f"{name}, recall@{SHOWN} (LIKE):")
    print("  " + "  ".join(f"{kind} {recall:.3f} ({beside[kind]:.3f})" for kind, recall in recalls.items()))
    for kind, shown in ours.shown.items():
        nothing = sum(not number for number in shown) / len(shown)
        print(f"  {kind}: {nothing:.0%} get nothing, {fmean(shown):.1f} notes shown on average")
    missed = [f"{kind} {goal}" for kind, goal in goals.items() if round(recalls[kind], 3) < goal]
    if missed:
        print(f"  goals missed: {', '.join(missed)}")
    return not missed
