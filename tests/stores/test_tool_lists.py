"""The tools of the operator's servers, kept."""

from cc_bot.domain.tool_server import StoredToolList
from tests.stores.backends import OpenStores


class TestToolLists:
    async def test_are_there_again_after_a_restart(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.tool_lists.put("time", StoredToolList("a", '[["時刻"]]', "[]"))
            await stores.tool_lists.put("git", StoredToolList("b", "[]", "[]"))
        async with open_again() as stores:
            assert await stores.tool_lists.get_all() == {
                "time": StoredToolList("a", '[["時刻"]]', "[]"),
                "git": StoredToolList("b", "[]", "[]"),
            }

    async def test_of_a_server_are_those_that_were_put_last(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.tool_lists.put("time", StoredToolList("a", "[1]", "[1]"))
            await stores.tool_lists.put("time", StoredToolList("c", "[2]", "[1]"))
            assert await stores.tool_lists.get_all() == {"time": StoredToolList("c", "[2]", "[1]")}
