import asyncio
from collections.abc import Mapping

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import AccessState, ChannelAgent, StoredAgentChoices
from cc_bot.domain.access import AccessRule, AccessRules, Maintenance
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.message import UserSettings
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import LimitKey
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.features.mcp.model import StoredToolList
from cc_bot.features.mcp.store import ToolListStore
from tests.stores.backends import KEY, OTHER_USER, OpenStores, turn

ME, YOU = KEY.user_id, OTHER_USER.user_id
CHANNEL = KEY.channel_id


class TestChoices:
    async def test_are_ones_own_and_kept_until_they_are_changed(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            assert await stores.settings.get(ME) == UserSettings()
            chosen = UserSettings(locale=Locale.EN, timezone="Europe/London")
            assert await stores.settings.set(ME, locale=Locale.EN, timezone="Europe/London") == chosen
        async with open_again() as stores:
            assert await stores.settings.get(ME) == await stores.settings.set(ME) == chosen
            assert await stores.settings.claim_welcome(ME)
            changed = UserSettings(Locale.JA, "Europe/London", welcomed=True)
            assert await stores.settings.set(ME, locale=Locale.JA) == changed
            unset = UserSettings(None, "Europe/London", welcomed=True)
            assert await stores.settings.set(ME, locale=None) == unset
            assert await stores.settings.set(ME, timezone=None) == UserSettings(welcomed=True)
            assert await stores.settings.get(YOU) == UserSettings()

    async def test_of_an_unknown_time_zone_are_refused_and_change_nothing(self, stores: Stores) -> None:
        before = await stores.settings.set(ME, locale=Locale.JA, timezone="Asia/Tokyo")
        for name in ("Tokyo", "", "Asia", "../etc/passwd", "/etc/localtime", "Asia/Tokyo\0", "日本"):
            with pytest.raises(UnknownTimezone):
                await stores.settings.set(ME, locale=Locale.EN, timezone=name)
        assert await stores.settings.get(ME) == before


class TestWelcome:
    async def test_is_claimed_once_by_many_at_once(self, stores: Stores) -> None:
        claims = await asyncio.gather(*(stores.settings.claim_welcome(ME) for _ in range(20)))
        assert sum(claims) == 1
        assert (await stores.settings.get(ME)).welcomed is True


class TestAgents:
    async def test_are_each_users_choice_in_a_channel(self, stores: Stores) -> None:
        async def choices(user_id: int) -> Mapping[int, str]:
            return (await stores.agents.get_choices(user_id, (CHANNEL, CHANNEL + 1))).choices

        for name in ("tutor", "poet", None):
            await stores[ChoiceStore].choose(ME, CHANNEL, name)
            assert await choices(ME) == ({CHANNEL: name} if name else {})
            assert await choices(YOU) == {}

    async def test_have_a_default_in_a_channel_of_a_server(self, stores: Stores) -> None:
        async def default(channel_id: int = CHANNEL) -> ChannelAgent | None:
            return (await stores.agents.get_choices(ME, (channel_id,))).defaults.get(channel_id)

        assert await default() is None
        await stores[ChoiceStore].set_default(CHANNEL, 5, "tutor", ME)
        await stores[ChoiceStore].set_default(CHANNEL, 5, "poet", YOU)
        assert (await default(), await default(CHANNEL + 1)) == (ChannelAgent("poet", 5), None)
        await stores[ChoiceStore].unset_default(CHANNEL)
        assert await default() is None

    async def test_are_known_of_an_answer_to_its_user_alone(self, stores: Stores) -> None:
        for agent in ("default", "tutor"):
            key = SessionKey(ME, CHANNEL, agent)
            session = await stores.sessions.commit_turn(await stores.sessions.open(key), turn("やあ"))
            answer_id = session.history[-1].id or 0
            assert await stores.agents.get_for_answer(ME, answer_id) == agent
            await stores.sessions.clear(key)
            assert await stores.agents.get_for_answer(ME, answer_id) == agent
            assert await stores.agents.get_for_answer(YOU, answer_id) is None
            assert await stores.agents.get_for_answer(ME, answer_id + 1) is None


class TestTokenFactor:
    async def test_is_each_models_own_and_kept(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            assert await stores.token_factors.get("new") == 1
            await stores.token_factors.learn("a", estimated=100, counted=130)
            await stores.token_factors.learn("b", estimated=100, counted=90)
        async with open_again() as stores:
            assert await stores.token_factors.get("a") == pytest.approx(1.3)
            assert await stores.token_factors.get("b") == pytest.approx(0.9)


class TestToolLists:
    async def test_are_there_after_a_restart_as_they_were_put_last(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores[ToolListStore].put("time", StoredToolList("[1]", "[1]"))
            await stores[ToolListStore].put("time", StoredToolList('[["時刻"]]', "[]"))
            await stores[ToolListStore].put("git", StoredToolList("[]", "[]"))
        async with open_again() as stores:
            assert await stores[ToolListStore].get_all() == {
                "time": StoredToolList('[["時刻"]]', "[]"),
                "git": StoredToolList("[]", "[]"),
            }


OWNER = 9


class TestRules:
    async def test_of_all_subjects_are_told_at_once_each_as_it_was_last_set(self, stores: Stores) -> None:
        assert await stores.access.get_state() == AccessState(AccessRules(), None)
        await stores.access.set("user", 1, "allow", set_by=OWNER)
        await stores.access.set("user", 1, "deny", set_by=OWNER)
        await stores.access.set("role", 2, "allow", set_by=OWNER)
        await stores.access.set("channel", 3, "deny", set_by=OWNER)
        await stores.access.set("guild", 4, "allow", set_by=OWNER)
        rules = {
            *(AccessRule("deny", "user", 1), AccessRule("allow", "role", 2)),
            *(AccessRule("deny", "channel", 3), AccessRule("allow", "guild", 4)),
        }
        assert (await stores.access.get_state()).rules == rules
        assert await stores.access.unset("user", 1)
        assert not await stores.access.unset("user", 1)
        rules.remove(AccessRule("deny", "user", 1))
        assert (await stores.access.get_state()).rules == rules


class TestMaintenance:
    async def test_holds_over_a_restart_until_it_is_ended(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.access.begin_maintenance("まもなく", set_by=OWNER)
            await stores.access.begin_maintenance("すぐ戻ります", set_by=OWNER)
        async with open_again() as stores:
            assert (await stores.access.get_state()).maintenance == Maintenance("すぐ戻ります")
            assert await stores.access.end_maintenance()
            assert not await stores.access.end_maintenance()
            assert (await stores.access.get_state()).maintenance is None


class TestModelsOfAChannel:
    async def test_are_a_chain_in_its_order_until_they_are_taken_back(self, stores: Stores) -> None:
        async def chain() -> tuple[str, ...]:
            return (await stores.agents.get_choices(OWNER, (3,))).models.get(3, ())

        assert await chain() == ()
        await stores.channel_models.set(3, ("large", "小さい"), set_by=OWNER)
        await stores.channel_models.set(4, ("small",), set_by=OWNER)
        assert await chain() == ("large", "小さい")
        assert await stores.channel_models.list_chains() == {3: ("large", "小さい"), 4: ("small",)}
        assert await stores.channel_models.unset(3)
        assert not await stores.channel_models.unset(3)
        assert await chain() == ()


class TestAVisit:
    async def test_brings_all_that_is_asked_of_who_comes_and_nothing_of_others(self, stores: Stores) -> None:
        thread, channel, elsewhere = 3, 4, 5
        await stores.access.set("user", 7, "deny", set_by=OWNER)
        await stores.limits.set(LimitKey("user", 7, "turns_per_minute"), 2, set_by=OWNER)
        await stores.settings.set(7, locale=Locale.JA)
        await stores[ChoiceStore].choose(7, channel, "tutor")
        await stores[ChoiceStore].choose(8, elsewhere, "tutor")
        await stores[ChoiceStore].set_default(thread, 5, "poet", OWNER)
        await stores.channel_models.set(channel, ("large",), set_by=OWNER)
        visit = await stores.access.get_user_record(7, (thread, channel))
        assert visit.access == await stores.access.get_state()
        assert visit.limits == {LimitKey("user", 7, "turns_per_minute"): 2}
        assert visit.settings == await stores.settings.get(7)
        assert visit.agents == StoredAgentChoices(
            {channel: "tutor"}, {thread: ChannelAgent("poet", 5)}, {channel: ("large",)}
        )
        other = await stores.access.get_user_record(8, (thread,))
        assert other.settings == UserSettings()
        assert other.agents == StoredAgentChoices({}, {thread: ChannelAgent("poet", 5)}, {})
