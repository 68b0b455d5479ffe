"""Several memories that are erased at once."""

from cc_bot.domain.memory import ErasureCounts
from cc_bot.stores import Stores

ME, YOU = 123456789012345678, 876543210987654321


class TestSeveral:
    async def test_are_erased_with_their_versions_and_nobody_elses(self, stores: Stores) -> None:
        one, two, kept = [await stores.memories.add(ME, content) for content in ("一", "二", "三")]
        yours = await stores.memories.add(YOU, "四")
        await stores.memories.update(ME, one.id, content="いち")
        await stores.memories.delete(ME, two.id)
        ids = (one.id, two.id, yours.id, 999, 0, 10**30)
        assert await stores.memory_removal.count_messages(ME, *ids) == 0
        erased = await stores.memory_removal.erase(ME, *ids)
        assert erased == ErasureCounts(memories=2, versions=1)
        assert await stores.memories.list(ME) == [kept]
        assert await stores.memories.list(YOU) == [yours]
        assert await stores.memory_removal.erase(ME, *ids) is None
