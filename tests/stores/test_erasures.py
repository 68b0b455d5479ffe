"""The logs of erasures of several processes, as each hands its lines to the others."""

import json
from datetime import UTC, datetime

from cc_bot.storage.erasures import LogLines
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
