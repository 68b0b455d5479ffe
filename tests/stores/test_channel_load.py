"""Channels with many messages: right to the last one, and found without passing the others.

What a statement costs is told by the steps of SQLite's virtual machine, which do not depend on the machine.
"""

import asyncio
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Database
from cc_bot.storage.dialect import expand
from cc_bot.stores import Stores
from cc_bot.stores import channels as sql
from cc_bot.stores.channels import DELETE_MESSAGES
from tests.stores.backends import OpenStores
from tests.stores.places import CHANNEL, answer, archived, freeze, frozen, said

LOAD = 10_000
PLACES = tuple(ChannelKey(100 + number // 3, number % 3 * 1000) for number in range(12))


def steps(path: Path, statement: str, *params: object) -> int:
    """How many hundreds of steps the statement takes."""
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN")
        database.set_progress_handler(count, 100)
        database.execute(re.sub(r"\$(\d+)", r"?\1", expand(statement, "sqlite")), params).fetchall()
        database.set_progress_handler(None, 0)
        database.execute("ROLLBACK")
    return counted


async def fill(stores: Stores, messages: int) -> dict[ChannelKey, dict[int, str]]:
    """So many messages more in each place, the places interleaved and each page shuffled."""
    order = random.Random(messages)
    texts: dict[ChannelKey, dict[int, str]] = {}
    for number, key in enumerate(PLACES):
        told = {messages * 100 + n * len(PLACES) + number: f"{n}番、{key}で" for n in range(messages)}
        page = [said(id_, text) for id_, text in told.items()]
        order.shuffle(page)
        assert await stores.channels.add_all(key, page) == messages
        texts[key] = told
    return texts


class TestLoad:
    @pytest.mark.slow
    async def test_of_ten_thousand_messages_is_kept_by_writers_side_by_side_edited_and_deleted_to_the_last(
        self, open_again: OpenStores, database: Database
    ) -> None:
        texts = {n: f"{n}番目の発言です。Message {n}." for n in range(1, LOAD + 1)}
        page = [said(id_, text) for id_, text in texts.items()]
        async with open_again() as stores, open_again() as other:
            counts = await asyncio.gather(
                *(
                    each.channels.add_all(CHANNEL, page[start : start + 2500])
                    for start in range(0, LOAD, 1250)
                    for each in (stores, other)
                ),
                *(each.channels.add(CHANNEL, message) for message in page[::500] for each in (stores, other)),
            )
            assert sum(counts) == LOAD
            await freeze(database, CHANNEL, *((first, first + 99) for first in range(1, LOAD, 100)))
            await stores.channels.commit_answer(CHANNEL, answer(LOAD + 1, "まとめました"), [])
            assert await stores.channels.edit(LOAD - 1, "直しました")
            assert len(await frozen(database)) == LOAD // 100 - 1
            assert await stores.channels.delete(range(1001, LOAD, 2)) == (LOAD - 1000) // 2
        assert len(await frozen(database)) == 10
        expected = texts | {LOAD - 1: "直しました", LOAD + 1: "まとめました"}
        for n in range(1001, LOAD, 2):
            del expected[n]
        assert await archived(database) == expected


@pytest.mark.sqlite("its own plans")
class TestCost:
    async def test_of_a_statement_is_the_same_in_a_longer_archive(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        path = tmp_path / "sessions.db"
        statements = {
            sql.PLACES: (0, 1),
            sql.NEWEST_ANSWER: (100, 0, 100),
            sql.RESET: (100, 1, 100, 5, 0),
            sql.EDIT: (1000, "直した", 0),
            DELETE_MESSAGES: ("[1001, 1002]",),
            sql.INSERT: (100, 0, 100, 0, '[[5, 1, "花子", "user", "はい", "[]", "complete", 0]]'),
            sql.THAW_NEW: (100, 0, 5, 100, "[5]"),
        }
        await fill(stores, 10)
        before = {statement: steps(path, statement, *params) for statement, params in statements.items()}
        texts = await fill(stores, 500)
        after = {statement: steps(path, statement, *params) for statement, params in statements.items()}
        assert [statement for statement in statements if after[statement] > before[statement] + 1] == []
        places = await stores.channels.list_places(limit=99)
        assert {place.key: place.newest_id for place in places} == {key: max(texts[key]) for key in PLACES}
