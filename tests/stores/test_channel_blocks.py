"""Frozen blocks: what thaws them, and what leaves them as they are."""

from collections.abc import Awaitable, Callable

from cc_bot.storage import Database, Statement
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

TABLES = ("messages", "mentions", "answer_pages", "block_boundaries", "thread_metadata")
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
        """Three blocks in the channel and one in every other place, all around id 20, and nothing else."""
        await database.transaction([Statement(f"DELETE FROM {table}") for table in TABLES], ())
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=5)
        await stores.channels.add_all(CHANNEL, [said(number) for number in (10, 19, 20, 29, 30, 39)])
        await stores.channels.add(CHANNEL, answer(26, "古"))
        await stores.channels.add_pages(CHANNEL.place_id, 26, [27])
        await stores.channels.add_all(THREAD, [said(21)])
        await stores.channels.add_all(OTHER_CHANNEL, [said(22)])
        await ask_in_dm(stores, 23)
        await freeze(database, CHANNEL, (10, 19), (20, 29), (30, 39))

    async def test_thaw_from_where_something_changes_on_and_stay_frozen_otherwise(
        self, stores: Stores, database: Database
    ) -> None:
        wrong = []
        for changes, left in ((THAWING, [(10, 19)]), (HARMLESS, [(10, 19), (20, 29), (30, 39)])):
            for name, change in changes.items():
                await self.prepare(stores, database)
                elsewhere = [(1, 99)] if changes is THAWING else []
                for key in PLACES[1:]:
                    await freeze(database, key, *elsewhere)
                await change(stores)
                found = [await frozen(database, key) for key in PLACES]
                if found != [left, *[elsewhere] * 3]:
                    wrong.append((name, found))
        assert wrong == []
