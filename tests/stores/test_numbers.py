from datetime import UTC, datetime

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.features.reminders.store import ScheduleStore
from tests.proposals import remembering
from tests.stores.backends import KEY, OTHER_USER, got, turn

ME, YOU = KEY.user_id, OTHER_USER.user_id
DUE = datetime(2030, 1, 1, tzinfo=UTC)


class TestMemories:
    async def test_of_each_user_count_from_one_and_are_looked_up_among_them(self, stores: Stores) -> None:
        mine = [await stores.memories.add(ME, text) for text in ("猫", "犬")]
        yours = [await stores.memories.add(YOU, text) for text in ("鳥", "魚", "虫")]
        assert [each.number for each in (*mine, *yours)] == [1, 2, 1, 2, 3]
        assert len({each.id for each in (*mine, *yours)}) == 5
        assert await stores.memories.get_by_number(ME, 1) == mine[0]
        assert await stores.memories.get_id(ME, 1) == mine[0].id
        assert await stores.memories.get_id(ME, 3) is None
        for nothing in (3, 0, -1, 2**63, 10**30):
            assert await stores.memories.get_by_number(ME, nothing) is None
        assert [each.id for each in await stores.memories.suggest(ME, "#1")] == [mine[0].id]

    async def test_keep_their_number_through_changes_and_leave_no_gaps(self, stores: Stores) -> None:
        cat = await stores.memories.add(ME, "猫")
        changed = got(await stores.memories.update(ME, cat.id, content="三毛猫"))
        assert changed.number == 1
        assert [each.number for each in await stores.memories.list_versions(ME, cat.id)] == [0]
        assert (await stores.memories.add(ME, "犬")).number == 2
        back = got(await stores.memories.undo_update(ME, cat.id, changed.supersedes or 0))
        assert back.number == 1
        await stores.memories.delete(ME, cat.id)
        assert await stores.memories.get_by_number(ME, 1) is None
        assert await stores.memories.get_id(ME, 1) == cat.id
        back = got(await stores.memory_removal.undelete(ME, cat.id))
        assert back.number == 1

    async def test_never_get_a_gone_ones_number_unless_all_of_the_user_is(self, stores: Stores) -> None:
        first = await stores.memories.add(ME, "猫")
        await stores.memories.add(YOU, "鳥")
        await stores.memory_removal.erase(ME, first.id)
        second = await stores.memories.add(ME, "犬")
        await stores.memory_removal.erase_all(ME)
        third = (await stores.memories.remember(ME, "鳥")).memory
        assert (second.number, third.number) == (2, 3)
        await stores.personal_data.erase(ME)
        assert (await stores.memories.add(ME, "犬")).number == 1
        assert (await stores.memories.add(YOU, "魚")).number == 2


class TestReminders:
    async def test_of_each_user_count_from_one_and_never_again(self, stores: Stores) -> None:
        beat = await stores[ScheduleStore].add(KEY, "", DUE, kind="heartbeat", repeat="every 6h")
        mine = [await stores[ScheduleStore].add(KEY, text, DUE) for text in ("薬", "水")]
        yours = await stores[ScheduleStore].add(OTHER_USER, "茶", DUE)
        assert [each.number for each in (beat, *mine, yours)] == [0, 1, 2, 1]
        assert await stores[ScheduleStore].get_by_number(ME, 1) == mine[0]
        assert await stores[ScheduleStore].get_by_number(YOU, 2) is None
        await stores[ScheduleStore].cancel(ME, mine[1].id)
        assert (await stores[ScheduleStore].add(KEY, "水", DUE)).number == 3
        assert await stores[ScheduleStore].get_by_number(ME, 2) is None


class TestProposals:
    async def test_of_each_user_count_from_one_and_never_again(self, stores: Stores) -> None:
        async def propose(key: SessionKey, *texts: str) -> list[Proposal]:
            wanted = [remembering(text) for text in texts]
            session = await stores.sessions.open(key)
            return [*(await stores.sessions.store_turn(session, turn("覚えて"), proposals=wanted)).proposals]

        mine, yours = await propose(KEY, "猫", "犬"), await propose(OTHER_USER, "鳥")
        assert [each.number for each in (*mine, *yours)] == [1, 2, 1]
        for each in mine:
            assert await stores.proposals.decline(each, lambda told: told)
        assert [each.number for each in await propose(KEY, "魚")] == [3]
