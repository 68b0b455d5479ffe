"""What a channel's context is read from, and how it is found."""

import re

import pytest

from cc_bot.domain import Block, ChannelKey, ContextMessage, Message
from cc_bot.storage import Database, Statement
from cc_bot.stores import Stores
from cc_bot.stores.blocks import SELECT_CONTEXT, SELECT_ROWS, ContextState
from tests.stores.backends import KEY as SESSION
from tests.stores.backends import turn

CHANNEL = ChannelKey(1000)
THREAD = ChannelKey(1000, 50)
OTHER = ChannelKey(2000)
BOT = 99


async def say(stores: Stores, *ids: int, key: ChannelKey = CHANNEL, waiting: bool = False) -> None:
    for id_ in ids:
        message = Message("user", f"発言{id_}", author_id=7, author_name="花子", discord_id=id_)
        await stores.channels.add(key, message, waiting=waiting)


async def read(stores: Stores, key: ChannelKey = CHANNEL, limit: int = 100, **bounds: int) -> list[int]:
    first, before = bounds.pop("first", 0), bounds.pop("before", 10**6)
    page = await stores.blocks.get_page(key, first=first, before=before, limit=limit, **bounds)
    return [said.id for said in page]


async def state(stores: Stores, key: ChannelKey = CHANNEL, blocks: int = 100) -> ContextState:
    return await stores.blocks.get_state(key, bot_id=BOT, blocks=blocks)


def block(first: int, last: int, key: ChannelKey = CHANNEL, tokens: int = 10) -> Block:
    return Block(key, first, last, tokens)


class TestRows:
    async def test_are_read_newest_first_within_their_bounds(self, stores: Stores) -> None:
        await say(stores, 9, 100, 20)
        assert await read(stores) == [100, 20, 9]
        assert await read(stores, limit=2) == [100, 20]
        assert await read(stores, first=20, before=100) == [20]

    async def test_are_those_of_one_place(self, stores: Stores) -> None:
        await say(stores, 10)
        await say(stores, 60, key=THREAD)
        await say(stores, 70, key=OTHER)
        assert [await read(stores, key) for key in (CHANNEL, THREAD, OTHER)] == [[10], [60], [70]]

    async def test_carry_who_said_what(self, stores: Stores) -> None:
        await say(stores, 10)
        answer = Message("assistant", "はい", author_id=BOT, discord_id=20)
        await stores.channels.commit_answer(CHANNEL, answer, [])
        rows = await stores.blocks.get_page(CHANNEL, first=0, before=100, limit=9)
        assert rows == [
            ContextMessage(20, "assistant", "", "はい", BOT),
            ContextMessage(10, "user", "花子", "発言10", 7),
        ]

    async def test_after_the_question_are_answers_alone(self, stores: Stores) -> None:
        await say(stores, 10, 30)
        await stores.channels.commit_answer(CHANNEL, Message("assistant", "はい", discord_id=20), [])
        assert await read(stores, asked=10) == [20]

    async def test_of_sessions_never_come_out(self, stores: Stores, database: Database) -> None:
        session = await stores.sessions.open(SESSION)
        await stores.sessions.commit_turn(session, turn("秘密", visibility="private", discord_id=None))
        await database.transaction([Statement("UPDATE messages SET discord_id = id + 500")], ())
        assert await read(stores, ChannelKey(SESSION.channel_id)) == []

    @pytest.mark.parametrize("change", ["visibility = 'private'", "status = 'replaced'", "content = ''"])
    async def test_that_are_not_for_everyone_never_come_out(
        self, stores: Stores, database: Database, change: str
    ) -> None:
        await say(stores, 10, 20)
        await database.transaction([Statement(f"UPDATE messages SET {change} WHERE discord_id = 10")], ())
        assert await read(stores) == [20]


class TestBlocks:
    async def test_are_kept_over_a_second_freeze(self, stores: Stores) -> None:
        blocks = [block(1, 10), block(11, 20)]
        await stores.blocks.freeze(blocks)
        await stores.blocks.freeze([block(1, 10, tokens=99), block(5, 12), block(20, 30), block(21, 30)])
        assert (await state(stores)).blocks == (*blocks, block(21, 30))

    async def test_may_be_frozen_before_others(self, stores: Stores) -> None:
        await stores.blocks.freeze([block(20, 30)])
        await stores.blocks.freeze([block(1, 10), block(15, 20)])
        assert (await state(stores)).blocks == (block(1, 10), block(20, 30))

    async def test_take_the_place_of_those_that_thaw(self, stores: Stores) -> None:
        await stores.blocks.freeze([block(1, 10)])
        await stores.blocks.freeze([block(6, 12)], thawed=[block(1, 10)])
        assert (await state(stores)).blocks == (block(6, 12),)

    async def test_of_a_thread_are_its_channels_up_to_its_start_and_its_own(self, stores: Stores) -> None:
        own = block(60, 70, THREAD)
        await stores.blocks.freeze([block(1, 20), block(21, 50), own, block(51, 80), block(1, 9, OTHER)])
        found = await state(stores, THREAD)
        assert (found.blocks, found.next_first) == ((block(1, 20), block(21, 50), own), 51)
        assert (await state(stores)).blocks == (block(1, 20), block(21, 50), block(51, 80))
        assert (await state(stores)).next_first is None

    async def test_are_the_newest_when_there_are_very_many(self, stores: Stores) -> None:
        await stores.blocks.freeze([block(number, number) for number in range(1, 10)])
        assert (await state(stores, blocks=2)).blocks == (block(8, 8), block(9, 9))

    async def test_that_left_are_not_read(self, stores: Stores) -> None:
        await stores.blocks.freeze([block(1, 10), block(11, 20)], windows={CHANNEL: 11})
        assert (await state(stores)).blocks == (block(11, 20),)


class TestWindow:
    async def test_never_moves_back(self, stores: Stores) -> None:
        for first in (20, 10):
            await stores.blocks.freeze(windows={CHANNEL: first})
        assert ((await state(stores)).window, (await state(stores, THREAD)).window) == (20, 0)


class TestMarkers:
    async def test_are_the_greater_of_the_bots_own_and_everyones(self, stores: Stores) -> None:
        for bot, id_ in ((BOT, 10), (0, 20), (98, 90)):
            await stores.channels.reset(CHANNEL, bot_id=bot, discord_id=id_)
        await stores.channels.reset(THREAD, bot_id=BOT, discord_id=60)
        assert (await state(stores)).resets == {0: 20}
        assert (await state(stores, THREAD)).resets == {0: 20, 50: 60}


class TestWaiting:
    async def test_is_told_of_the_place_and_its_channel(self, stores: Stores) -> None:
        await say(stores, 10, 20, waiting=True)
        await say(stores, 60, key=THREAD, waiting=True)
        await say(stores, 70, key=OTHER, waiting=True)
        assert (await state(stores)).waiting == {0: {10, 20}}
        assert (await state(stores, THREAD)).waiting == {0: {10, 20}, 50: {60}}


@pytest.mark.sqlite("its own plans")
class TestQueries:
    async def test_are_served_by_indexes_and_never_sorted(self, database: Database) -> None:
        used: dict[str, set[str]] = {}
        for sql, params in ((SELECT_CONTEXT, (1, 2, 2, 3, 9)), (SELECT_ROWS, (1, 2, 3, 4, 5, 6, 7))):
            steps = [str(row[3]) for row in await database.query(f"EXPLAIN QUERY PLAN {sql}", *params)]
            assert not [step for step in steps if re.match(r"SCAN (?!found$)", step) or "TEMP B" in step]
            found = (re.search(r"USING (?:COVERING )?INDEX (\w+)", step) for step in steps)
            used[sql] = {match[1] for match in found if match}
        assert used == {
            SELECT_CONTEXT: {
                "sqlite_autoindex_channel_windows_1",
                "sqlite_autoindex_thread_metadata_1",
                "mentions_waiting",
                "block_boundaries_by_last",
            },
            SELECT_ROWS: {
                *("messages_by_channel", "messages_asked_in_channel", "messages_by_discord_id"),
            },
        }
