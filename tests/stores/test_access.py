"""What owners have decided while the program runs."""

from cc_bot.domain.access import AccessRules, Maintenance, Subjects
from cc_bot.stores import InForce, StoredRule, Stores
from tests.stores.backends import OpenStores

OWNER = 9


class TestRules:
    async def test_are_told_all_at_once(self, stores: Stores) -> None:
        assert await stores.access.in_force() == InForce(AccessRules(), None)
        await stores.access.set("user", 1, "deny", set_by=OWNER)
        await stores.access.set("role", 2, "allow", set_by=OWNER)
        await stores.access.set("channel", 3, "deny", set_by=OWNER)
        await stores.access.set("guild", 4, "allow", set_by=OWNER)
        rules = (await stores.access.in_force()).rules
        assert rules.deny == Subjects(users=frozenset({1}), channels=frozenset({3}))
        assert rules.allow == Subjects(roles=frozenset({2}), guilds=frozenset({4}))

    async def test_of_one_subject_take_each_others_place(self, stores: Stores) -> None:
        await stores.access.set("user", 1, "deny", set_by=OWNER)
        await stores.access.set("user", 1, "allow", set_by=OWNER)
        assert await stores.access.rules() == (StoredRule("user", 1, "allow"),)

    async def test_can_be_removed(self, stores: Stores) -> None:
        await stores.access.set("user", 1, "deny", set_by=OWNER)
        assert await stores.access.remove("user", 1)
        assert not await stores.access.remove("user", 1)
        assert await stores.access.rules() == ()


class TestMaintenance:
    async def test_holds_over_a_restart_until_it_is_ended(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.access.begin_maintenance("まもなく", set_by=OWNER)
            await stores.access.begin_maintenance("すぐ戻ります", set_by=OWNER)
        async with open_again() as stores:
            assert (await stores.access.in_force()).maintenance == Maintenance("すぐ戻ります")
            assert await stores.access.end_maintenance()
            assert not await stores.access.end_maintenance()
            assert (await stores.access.in_force()).maintenance is None


class TestModelsOfAChannel:
    async def test_are_a_chain_in_its_order(self, stores: Stores) -> None:
        assert await stores.channel_models.chain(3) == ()
        await stores.channel_models.put(3, ("large", "小さい"), set_by=OWNER)
        await stores.channel_models.put(4, ("small",), set_by=OWNER)
        assert await stores.channel_models.chain(3) == ("large", "小さい")
        assert await stores.channel_models.chains() == {3: ("large", "小さい"), 4: ("small",)}

    async def test_can_be_taken_back(self, stores: Stores) -> None:
        await stores.channel_models.put(3, ("large",), set_by=OWNER)
        assert await stores.channel_models.unset(3)
        assert not await stores.channel_models.unset(3)
        assert await stores.channel_models.chain(3) == ()
