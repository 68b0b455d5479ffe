"""What a memory does with a new column, in a copy of the package that has one: see test_new_column.py."""

import asyncio
import sys
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import cc_bot
from cc_bot.domain.memory_transfer import read_memories, to_json
from cc_bot.stores import Stores, open_stores

ME, YOU = 1, 2
CALM: Final[dict[str, Any]] = {"mood": "calm"}
GLAD: Final[dict[str, Any]] = {"mood": "glad"}

mood = attrgetter("mood")


async def keep_and_change(stores: Stores) -> None:
    plain = await stores.memories.add(ME, "犬が好き")
    kept = await stores.memories.add(ME, "猫が好き", **CALM)
    heir = await stores.memories.add(ME, "鳥が好き", supersedes=plain.id, **GLAD)
    found = [await stores.memories.get(ME, kept.id), *await stores.memories.search(ME, "猫")]
    assert [mood(memory) for memory in (plain, kept, heir, *found)] == ["", "calm", "glad", "calm", "calm"]
    same = await stores.memories.update(ME, kept.id, category="好み")
    assert mood(same) == "calm"
    changed = await stores.memories.update(ME, kept.id, **GLAD)
    assert changed is not None
    assert mood(changed) == "glad"
    assert [mood(former) for former in await stores.memory_history.list_versions(ME, kept.id)] == [
        "calm",
        "calm",
    ]
    told = await stores.memories.remember(ME, "猫が好き！", **CALM)
    assert (told.kind, told.unchanged, mood(told.memory)) == ("updated", False, "calm")


async def go_back(stores: Stores) -> None:
    memory = await stores.memories.add(ME, "お茶が好き", **CALM)
    changed = await stores.memories.update(ME, memory.id, **GLAD)
    assert changed is not None
    assert changed.supersedes is not None
    assert mood(await stores.memory_history.undo_update(ME, memory.id, changed.supersedes)) == "calm"
    await stores.memories.update(ME, memory.id, **GLAD)
    [former] = await stores.memory_history.list_versions(ME, memory.id)
    restored = await stores.memory_history.restore(ME, former.id)
    assert restored is not None
    assert mood(restored.memory) == "calm"
    assert not restored.unchanged
    assert await stores.memories.delete(ME, memory.id)
    assert mood(await stores.memory_removal.undelete(ME, memory.id)) == "calm"


async def leave_and_come_back(stores: Stores) -> None:
    memories = await stores.memory_transfer.list_all(ME)
    read = read_memories(to_json(memories, datetime.now(UTC)))
    assert read == memories
    await stores.memory_transfer.take(YOU, read)
    theirs = {memory.content: mood(memory) for memory in await stores.memories.list(YOU)}
    assert theirs == {memory.content: mood(memory) for memory in memories}
    assert "calm" in theirs.values()
    told = [record async for name, record in stores.personal_data.read_records(YOU) if name == "memories"]
    assert {record["content"]: record["mood"] for record in told} == theirs


async def main(folder: Path) -> None:
    assert Path(cc_bot.__file__).is_relative_to(folder)
    async with open_stores(f"sqlite:///{folder}/sessions.db", embedder=None) as stores:
        await keep_and_change(stores)
        await go_back(stores)
        await leave_and_come_back(stores)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
