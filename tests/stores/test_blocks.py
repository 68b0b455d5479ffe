from cc_bot.chat.stores.blocks import ContextState, read_context_state
from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.message import Block, ChannelKey, Message
from tests.stores.backends import KEY as SESSION
from tests.stores.backends import turn
from tests.stores.locations import list_waiting, read_page

CHANNEL = ChannelKey(1000)
THREAD = ChannelKey(1000, 50)
OTHER = ChannelKey(2000)
BOT = 99


async def say(stores: Stores, *ids: int, key: ChannelKey = CHANNEL, waiting: bool = False) -> None:
    for id_ in ids:
        message = Message("user", f"発言{id_}", author_id=7, author_name="花子", discord_id=id_)
        await stores.channels.add(key, message, is_question=waiting)


async def read(stores: Stores, key: ChannelKey = CHANNEL, limit: int = 100, **bounds: int) -> list[int]:
    first, before = bounds.pop("first", 0), bounds.pop("before", 10**6)
    page = await read_page(stores, key, first=first, before=before, limit=limit, **bounds)
    return [said.id for said in page]


async def state(stores: Stores, key: ChannelKey = CHANNEL, blocks: int = 100) -> ContextState:
    return await stores.blocks.run_read(lambda: read_context_state(key, bot_id=BOT, max_blocks=blocks))


def block(first: int, last: int, key: ChannelKey = CHANNEL, tokens: int = 10) -> Block:
    return Block(key, first, last, tokens)


class TestRows:
    async def test_are_read_newest_first_within_their_bounds_from_one_location(self, stores: Stores) -> None:
        await say(stores, 9, 100, 20)
        await say(stores, 60, key=THREAD)
        await say(stores, 70, key=OTHER)
        assert [await read(stores, key) for key in (CHANNEL, THREAD, OTHER)] == [[100, 20, 9], [60], [70]]
        assert await read(stores, limit=2) == [100, 20]
        assert await read(stores, first=20, before=100) == [20]

    async def test_that_are_not_for_everyone_never_come_out(self, stores: Stores, database: Database) -> None:
        await say(stores, 10, 20, 30, 40)
        for id_, change in (
            (10, "visibility = 'private'"),
            (20, "status = 'replaced'"),
            (30, "content = ''"),
        ):
            sql = f"UPDATE messages SET {change} WHERE discord_id = $1"
            await database.transaction([Statement(sql, (id_,))], ())
        assert await read(stores) == [40]
        session = await stores.sessions.open(SESSION)
        await stores.sessions.commit_turn(session, turn("秘密", visibility="private", discord_id=None))
        sql = "UPDATE messages SET discord_id = id + 500 WHERE session_id IS NOT NULL"
        await database.transaction([Statement(sql)], ())
        assert await read(stores, ChannelKey(SESSION.channel_id)) == []


class TestBlocks:
    async def test_stay_frozen_until_others_take_their_location_or_they_leave(self, stores: Stores) -> None:
        blocks = [block(1, 10), block(11, 20)]
        await stores.blocks.freeze(blocks)
        await stores.blocks.freeze([block(1, 10, tokens=99), block(5, 12), block(20, 30), block(21, 30)])
        assert (await state(stores)).blocks == (*blocks, block(21, 30))
        assert (await state(stores, blocks=2)).blocks == (block(11, 20), block(21, 30)), "the newest"
        await stores.blocks.freeze([block(6, 10)], replaced=[block(1, 10)])
        assert (await state(stores)).blocks == (block(6, 10), block(11, 20), block(21, 30))
        await stores.blocks.freeze([block(1, 5), block(4, 6)])
        assert (await state(stores)).blocks == (block(1, 5), block(6, 10), block(11, 20), block(21, 30))
        for first in (11, 5):
            await stores.blocks.freeze(window_starts={CHANNEL: first})
        assert (await state(stores)).blocks == (block(11, 20), block(21, 30))
        assert ((await state(stores)).window_start, (await state(stores, THREAD)).window_start) == (11, 0)

    async def test_of_a_thread_are_its_channels_up_to_its_start_and_its_own(self, stores: Stores) -> None:
        own = block(60, 70, THREAD)
        await stores.blocks.freeze([block(1, 20), block(21, 50), own, block(51, 80), block(1, 9, OTHER)])
        found = await state(stores, THREAD)
        assert (found.blocks, found.next_block_start) == ((block(1, 20), block(21, 50), own), 51)
        assert (await state(stores)).blocks == (block(1, 20), block(21, 50), block(51, 80))
        assert (await state(stores)).next_block_start is None


class TestState:
    async def test_tells_resets_and_who_waits_in_the_location_and_its_channel(self, stores: Stores) -> None:
        for key, ids in ((CHANNEL, (10, 30)), (THREAD, (70,)), (OTHER, (80,))):
            await say(stores, *ids, key=key, waiting=True)
        assert (await state(stores)).waiting_ids == {0: {10, 30}}
        assert (await state(stores, THREAD)).waiting_ids == {0: {10, 30}, 50: {70}}
        first, _ = await list_waiting(stores, CHANNEL)
        await stores.channels.archive_answer(CHANNEL, Message("assistant", "はい", discord_id=40), [first])
        assert (await state(stores)).waiting_ids == {0: {30}}
        for bot, id_ in ((BOT, 10), (0, 20), (98, 90)):
            await stores.channels.reset(CHANNEL, bot_id=bot, discord_id=id_)
        await stores.channels.reset(THREAD, bot_id=BOT, discord_id=60)
        assert (await state(stores)).reset_ids == {0: 20}, "of the bot's own and everyone's, the greater"
        assert (await state(stores, THREAD)).reset_ids == {0: 20, 50: 60}
