"""Frozen blocks: what thaws them, and what leaves them as they are."""

from collections.abc import Awaitable, Callable

import pytest

from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.places import (
    BOT,
    CHANNEL,
    OTHER_CHANNEL,
    PLACES,
    THREAD,
    answer,
    ask_in_dm,
    freeze,
    frozen,
    said,
)

Change = Callable[[Stores], Awaitable[object]]

THAWING: dict[str, Change] = {
    "late message": lambda stores: stores.channels.add(CHANNEL, said(25)),
    "late mention": lambda stores: stores.channels.add(CHANNEL, said(25), waiting=True),
    "page": lambda stores: stores.channels.add_all(CHANNEL, [said(90), said(10), said(25)]),
    "edit": lambda stores: stores.channels.edit(20, "直した"),
    "edit at the end": lambda stores: stores.channels.edit(29, "直した"),
    "deletion": lambda stores: stores.channels.delete([20, 90]),
    "deletion of an answer's page": lambda stores: stores.channels.delete([27]),
    "answer": lambda stores: stores.channels.commit_answer(CHANNEL, answer(25), []),
    "answer made anew": lambda stores: stores.channels.commit_answer(CHANNEL, answer(26, "新"), []),
}

HARMLESS: dict[str, Change] = {
    "newest message": lambda stores: stores.channels.add(CHANNEL, said(90)),
    "newest page": lambda stores: stores.channels.add_all(CHANNEL, [said(90), said(91)]),
    "redelivery": lambda stores: stores.channels.add(CHANNEL, said(20, "また")),
    "mention that was known": lambda stores: stores.channels.add(CHANNEL, said(20), waiting=True),
    "page of what is known": lambda stores: stores.channels.add_all(CHANNEL, [said(10), said(20), said(90)]),
    "late message before a reset": lambda stores: stores.channels.add_all(CHANNEL, [said(3), said(90)]),
    "edit to the same": lambda stores: stores.channels.edit(20, "こんにちは"),
    "edit without content": lambda stores: stores.channels.edit(20, ""),
    "edit in a thread": lambda stores: stores.channels.edit(21, "スレッドで"),
    "edit in another channel": lambda stores: stores.channels.edit(22, "よそで"),
    "late message in a thread": lambda stores: stores.channels.add(THREAD, said(25)),
    "deletion in a session": lambda stores: stores.channels.delete([23]),
    "deletion of nothing": lambda stores: stores.channels.delete([24]),
    "newest answer": lambda stores: stores.channels.commit_answer(CHANNEL, answer(90), []),
}


class TestBlocks:
    async def prepare(self, stores: Stores, database: Database) -> None:
        """Three blocks in the channel and one in every other place, all around id 20."""
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=5)
        await stores.channels.add_all(CHANNEL, [said(number) for number in (10, 19, 20, 29, 30, 39)])
        await stores.channels.add(CHANNEL, answer(26, "古"))
        await stores.channels.add_pages(CHANNEL.place_id, 26, [27])
        await stores.channels.add_all(THREAD, [said(21)])
        await stores.channels.add_all(OTHER_CHANNEL, [said(22)])
        await ask_in_dm(stores, 23)
        await freeze(database, CHANNEL, (10, 19), (20, 29), (30, 39))

    @pytest.mark.parametrize("change", THAWING.values(), ids=THAWING.keys())
    async def test_thaw_from_where_something_changes_on(
        self, stores: Stores, database: Database, change: Change
    ) -> None:
        await self.prepare(stores, database)
        for key in PLACES[1:]:
            await freeze(database, key, (1, 99))
        await change(stores)
        assert await frozen(database) == [(10, 19)]
        assert [await frozen(database, key) for key in PLACES[1:]] == [[(1, 99)]] * 3

    @pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS.keys())
    async def test_stay_frozen_when_nothing_in_them_changes(
        self, stores: Stores, database: Database, change: Change
    ) -> None:
        await self.prepare(stores, database)
        await change(stores)
        assert await frozen(database) == [(10, 19), (20, 29), (30, 39)]
