"""Who chose whom, and which agent gave an answer."""

import pytest

from cc_bot.domain import SessionKey
from cc_bot.stores import Stores
from cc_bot.stores.settings import ChannelAgent
from tests.stores.backends import KEY, OTHER_USER, turn

USER, CHANNEL = KEY.user_id, KEY.channel_id


class TestChoice:
    async def test_is_none_at_first(self, stores: Stores) -> None:
        assert await stores.agents.get_choice(USER, CHANNEL) is None

    async def test_is_the_users_own_in_that_channel(self, stores: Stores) -> None:
        await stores.agents.choose(USER, CHANNEL, "tutor")
        assert await stores.agents.get_choice(USER, CHANNEL) == "tutor"
        assert await stores.agents.get_choice(USER, CHANNEL + 1) is None
        assert await stores.agents.get_choice(OTHER_USER.user_id, CHANNEL) is None

    async def test_can_be_changed_and_taken_back(self, stores: Stores) -> None:
        for name in ("tutor", "poet", None):
            await stores.agents.choose(USER, CHANNEL, name)
            assert await stores.agents.get_choice(USER, CHANNEL) == name


async def default(stores: Stores, channel_id: int) -> ChannelAgent | None:
    return (await stores.agents.get_for_places(USER, (channel_id,))).defaults.get(channel_id)


class TestDefault:
    async def test_is_that_of_the_channel_with_its_server(self, stores: Stores) -> None:
        assert await default(stores, CHANNEL) is None
        await stores.agents.set_default(CHANNEL, 5, "tutor", USER)
        await stores.agents.set_default(CHANNEL, 5, "poet", OTHER_USER.user_id)
        assert await default(stores, CHANNEL) == ChannelAgent("poet", 5)
        assert await default(stores, CHANNEL + 1) is None

    async def test_is_taken_back(self, stores: Stores) -> None:
        await stores.agents.set_default(CHANNEL, 5, "tutor", USER)
        await stores.agents.unset_default(CHANNEL)
        assert await default(stores, CHANNEL) is None


class TestAnswer:
    @pytest.mark.parametrize("agent", ["default", "tutor"])
    async def test_is_of_the_agent_of_its_session(self, stores: Stores, agent: str) -> None:
        key = SessionKey(USER, CHANNEL, agent)
        session = await stores.sessions.commit_turn(await stores.sessions.open(key), turn("やあ"))
        answer_id = session.history[-1].id
        assert answer_id is not None
        assert await stores.agents.get_for_answer(USER, answer_id) == agent
        await stores.sessions.clear(key)
        assert await stores.agents.get_for_answer(USER, answer_id) == agent

    async def test_of_somebody_else_is_nobodys(self, stores: Stores) -> None:
        session = await stores.sessions.commit_turn(await stores.sessions.open(KEY), turn("やあ"))
        answer_id = session.history[-1].id
        assert answer_id is not None
        assert await stores.agents.get_for_answer(OTHER_USER.user_id, answer_id) is None
        assert await stores.agents.get_for_answer(USER, answer_id + 1) is None
