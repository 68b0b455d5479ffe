"""What owners have decided while the program runs."""

from cc_bot.domain.locale import Locale
from cc_bot.domain.member import AccessRules, LimitKey, Maintenance, Subjects
from cc_bot.domain.message import UserSettings
from cc_bot.stores import AccessState, PlaceAgents, Stores
from cc_bot.stores.settings import ChannelAgent
from tests.stores.backends import OpenStores

OWNER = 9


class TestRules:
    async def test_of_all_subjects_are_told_at_once_each_as_it_was_last_set(self, stores: Stores) -> None:
        assert await stores.access.get_in_force() == AccessState(AccessRules(), None)
        await stores.access.set("user", 1, "allow", set_by=OWNER)
        await stores.access.set("user", 1, "deny", set_by=OWNER)
        await stores.access.set("role", 2, "allow", set_by=OWNER)
        await stores.access.set("channel", 3, "deny", set_by=OWNER)
        await stores.access.set("guild", 4, "allow", set_by=OWNER)
        rules = (await stores.access.get_in_force()).rules
        assert rules.deny == Subjects(users=frozenset({1}), channels=frozenset({3}))
        assert rules.allow == Subjects(roles=frozenset({2}), guilds=frozenset({4}))
        assert await stores.access.unset("user", 1)
        assert not await stores.access.unset("user", 1)
        assert (await stores.access.get_in_force()).rules.deny == Subjects(channels=frozenset({3}))


class TestMaintenance:
    async def test_holds_over_a_restart_until_it_is_ended(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.access.begin_maintenance("まもなく", set_by=OWNER)
            await stores.access.begin_maintenance("すぐ戻ります", set_by=OWNER)
        async with open_again() as stores:
            assert (await stores.access.get_in_force()).maintenance == Maintenance("すぐ戻ります")
            assert await stores.access.end_maintenance()
            assert not await stores.access.end_maintenance()
            assert (await stores.access.get_in_force()).maintenance is None


class TestModelsOfAChannel:
    async def test_are_a_chain_in_its_order_until_they_are_taken_back(self, stores: Stores) -> None:
        async def chain() -> tuple[str, ...]:
            return (await stores.agents.get_for_places(OWNER, (3,))).models.get(3, ())

        assert await chain() == ()
        await stores.channel_models.set(3, ("large", "小さい"), set_by=OWNER)
        await stores.channel_models.set(4, ("small",), set_by=OWNER)
        assert await chain() == ("large", "小さい")
        assert await stores.channel_models.list_chains() == {3: ("large", "小さい"), 4: ("small",)}
        assert await stores.channel_models.unset(3)
        assert not await stores.channel_models.unset(3)
        assert await chain() == ()


class TestAVisit:
    async def test_brings_all_that_is_asked_of_whoever_comes_and_nothing_of_others(
        self, stores: Stores
    ) -> None:
        thread, channel, elsewhere = 3, 4, 5
        await stores.access.set("user", 7, "deny", set_by=OWNER)
        await stores.limits.set("user", 7, "turns_per_minute", 2, set_by=OWNER)
        await stores.settings.set(7, locale=Locale.JA)
        await stores.agents.choose(7, channel, "tutor")
        await stores.agents.choose(8, elsewhere, "tutor")
        await stores.agents.set_default(thread, 5, "poet", OWNER)
        await stores.channel_models.set(channel, ("large",), set_by=OWNER)
        visit = await stores.access.get_visit(7, (thread, channel))
        assert visit.in_force == await stores.access.get_in_force()
        assert visit.limits == {LimitKey("user", 7, "turns_per_minute"): 2}
        assert visit.settings == await stores.settings.get(7)
        assert visit.agents == PlaceAgents(
            {channel: "tutor"}, {thread: ChannelAgent("poet", 5)}, {channel: ("large",)}
        )
        other = await stores.access.get_visit(8, (thread,))
        assert other.settings == UserSettings()
        assert other.agents == PlaceAgents({}, {thread: ChannelAgent("poet", 5)}, {})
