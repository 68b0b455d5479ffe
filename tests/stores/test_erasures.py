"""The logs of erasures of several processes, as each hands its lines to the others."""

import json
from datetime import UTC, datetime, timedelta

from cc_bot.storage.erasures import LogLines
from cc_bot.stores import Stores
from tests.stores.backends import OpenStores

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
HEAD = '{"version": 2, "salt": "00"}'


def line(name: str, at: datetime = NOW) -> str:
    return json.dumps({"kind": "user", "id": name, "at": at.isoformat()})


class TestLines:
    async def test_are_handed_to_all_once(self, open_again: OpenStores) -> None:
        async with open_again() as one, open_again() as other:
            await one.erasure_lines.add("one", [HEAD, line("猫")])
            await one.erasure_lines.add("one", [HEAD, line("猫"), line("犬")])
            for each in (other, one):  # this one too: its folder may have been copied
                assert await each.erasure_lines.list_new() == (
                    LogLines("one", (HEAD, line("猫"), line("犬"))),
                )
                assert await each.erasure_lines.list_new() == ()

    async def test_of_any_number_are_handed_over_when_they_come_until_no_copy_is_older(
        self, stores: Stores
    ) -> None:
        shared = stores.erasure_lines
        many = tuple(line(f"{number}", NOW - timedelta(days=9)) for number in range(3000))
        await shared.add("one", [HEAD, *many])
        assert await shared.list_new() == (LogLines("one", (HEAD, *many)),)
        await shared.add("one", [line("猫")])
        assert await shared.list_new() == (LogLines("one", (line("猫"),)),)
        assert await shared.list_new() == ()
        assert await shared.thin(NOW - timedelta(days=1)) == 3000
        shared.start_over()
        assert await shared.list_new() == (LogLines("one", (HEAD, line("猫"))),)
