import argparse
import asyncio
import gc
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/recall.py`

from bench import recall_meaning, recall_memory, recall_quality, recall_speed
from bench.recall_speed import Population
from bench.turn import one_core
from cc_bot.db import Database, apply_pending, open_database
from cc_bot.features.memory.stores.search import EmbeddingJob
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.llm.embeddings import LocalEmbedder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "recall"
USERS_THAT_SEARCH = 200
GOAL_ADD_RATIO = 3.0
GOAL_MEMORY_MB = 64.0


@dataclass(frozen=True, slots=True)
class Goal:
    """In milliseconds; no bound where there is none."""

    p50: float
    p99: float = float("inf")


GOAL_OF_SMALL = Goal(1.0, 5.0)
GOALS_OF_LARGE = {10_000: Goal(5.0), 100_000: Goal(20.0, 60.0)}


async def quality(folder: Path, data: Path) -> bool:
    """Print recall for each set, by words and with the encoder where it is installed; whether the goals are
    met."""
    met = True
    encoder = LocalEmbedder.create_if_installed()
    for notes in recall_quality.note_sets(data):
        async with open_database(f"sqlite:///{folder}/{notes.name}.db") as database:
            await apply_pending(database)
            store = MemoryStore(database)
            names = await recall_quality.keep(store, notes)
            ours = await recall_quality.ask(store, names, notes)
            plain = await recall_quality.ask_like(database, names, notes)
            goals = recall_quality.GOALS_OF_SETS.get(notes.name, {})
            met = recall_quality.report(notes.name, ours, plain, goals) and met
            if encoder:
                goals = recall_quality.GOALS_WITH_MEANING.get(notes.name, {})
                met = await quality_with(encoder, database, names, notes, plain, goals) and met
    if encoder:
        await encoder.close()
    return met


async def quality_with(
    encoder: LocalEmbedder,
    database: Database,
    names: dict[int, str],
    notes: recall_quality.NoteSet,
    plain: recall_quality.Tally,
    goals: dict[str, float],
) -> bool:
    """Print the same with the encoder, and what that costs; whether the goals are met."""
    embedding = EmbeddingJob(database, encoder)
    await encoder.embed(["よみこみ"])  # it is loaded by the first text
    begun = perf_counter()
    await embedding.catch_up()
    embedded = perf_counter()
    store = MemoryStore(database, embedding=embedding)
    ours = await recall_quality.ask(store, names, notes)
    asked = perf_counter()
    met = recall_quality.report(f"{notes.name}, with the encoder", ours, plain, goals)
    made_ms = 1000 * (embedded - begun) / len(notes.notes)
    asked_ms = 1000 * (asked - embedded) / len(notes.questions)
    print(f"  {made_ms:.1f} ms a note for its vector, {asked_ms:.1f} ms a question for all of its search")
    return met


async def fill(path: Path, population: Population) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database)
        await population.write(MemoryStore(database))
    population.copy(path)


async def speed(path: Path, population: Population) -> bool:
    """Print times, and return whether the goals are met."""
    async with open_database(f"sqlite:///{path}") as database:
        store = MemoryStore(database)
        gc.collect()
        gc.freeze()  # what was loaded at start is not looked through again in the middle of a search
        met = await speed_of_small(store, database, population)
        for index, notes in enumerate(population.large):
            who, user_id = f"{notes:,} notes of one user", population.large_user(index)
            asked = [user_id] * recall_speed.SEARCHES_OF_LARGE
            took = await recall_speed.report_searches(store, database, population, who, asked)
            ratio = await recall_speed.report_adds(store, database, user_id)
            goal = GOALS_OF_LARGE.get(notes, Goal(float("inf")))
            met = met and took.p50 < goal.p50 and took.p99 < goal.p99 and ratio < GOAL_ADD_RATIO
    return met


async def speed_of_small(store: MemoryStore, database: Database, population: Population) -> bool:
    chance = random.Random(5)
    users = [chance.randrange(population.small) + 1 for _ in range(recall_speed.SEARCHES_OF_SMALL)]
    who = f"{recall_speed.NOTES_OF_SMALL} notes of one among {population.small:,} users"
    took = await recall_speed.report_searches(store, database, population, who, users)
    ratio = await recall_speed.report_adds(store, database, users[0])
    return took.p50 < GOAL_OF_SMALL.p50 and took.p99 < GOAL_OF_SMALL.p99 and ratio < GOAL_ADD_RATIO


def memory(path: Path, population: Population) -> bool:
    """Print what searching adds, and return whether the goal is met."""
    chance = random.Random(6)
    large = [population.large_user(index) for index in range(len(population.large))]
    small = [chance.randrange(population.small) + 1 for _ in range(USERS_THAT_SEARCH - len(large))]
    added = recall_memory.added(path, [*small, *large])
    if added is None:
        print("memory: this system does not tell")
        return True
    print(f"memory: {added.own:.0f} MB added by {USERS_THAT_SEARCH} users, and {added.mapped:.0f} MB mapped")
    return added.own < GOAL_MEMORY_MB


def memory_with_encoder(path: Path, population: Population) -> None:
    """Print what searching adds where the encoder has to be loaded for it."""
    large = [population.large_user(index) for index in range(len(population.large))]
    if added := recall_memory.added(path, large, encoder=True):
        print(f"memory: {added.own:.0f} MB added with the encoder, and {added.mapped:.0f} MB mapped")


async def speed_with(encoder: LocalEmbedder, path: Path, population: Population) -> None:
    """Print times with the encoder; there is no goal for them."""
    async with open_database(f"sqlite:///{path}") as database:
        await recall_meaning.report(database, encoder, population)
    await encoder.close()


def options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="recall", description="How well and how fast memories are found")
    parser.add_argument("part", nargs="?", choices=("all", "quality", "speed"), default="all")
    parser.add_argument("--users", type=int, default=10_000, help="how many have a hundred notes each")
    parser.add_argument("--large", type=int, nargs="*", default=[10_000, 100_000], help="notes of more users")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of further sets")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Print it all; the exit code tells whether the goals are met."""
    chosen, met = options(arguments), True
    with TemporaryDirectory() as folder:
        if chosen.part != "speed":
            met = asyncio.run(quality(Path(folder), chosen.data))
        if chosen.part != "quality":
            path, population = Path(folder, "many.db"), Population(chosen.users, chosen.large)
            asyncio.run(fill(path, population))
            with one_core():
                met = asyncio.run(speed(path, population)) and met
            met = memory(path, population) and met
            if encoder := LocalEmbedder.create_if_installed():
                with one_core():
                    asyncio.run(speed_with(encoder, path, population))
                memory_with_encoder(path, population)
    print("all goals are met" if met else "a goal is missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
