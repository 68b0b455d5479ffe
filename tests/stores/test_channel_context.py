"""What a channel's context is read from, and how it is found."""

from cc_bot.domain import ChannelKey, Message
from cc_bot.storage import Database, Statement
from cc_bot.stores import Stores
from tests.stores.backends import KEY as SESSION
from tests.stores.backends import turn

CHANNEL = ChannelKey(1000)
THREAD = ChannelKey(1000, 50)
OTHER = ChannelKey(2000)
BOT = 99


async def say(stores: Stores, *ids: int, key: ChannelKey = CHANNEL) -> None:
    for id_ in ids:
        message = Message("user", f"発言{id_}", author_id=7, author_name="花子", discord_id=id_)
        await stores.channels.add(key, message)


async def read(stores: Stores, key: ChannelKey = CHANNEL, limit: int = 100, **bounds: int) -> list[int]:
    first, before = bounds.pop("first", 0), bounds.pop("before", 10**6)
    page = await stores.channel_context.get_page(key, first=first, before=before, limit=limit, **bounds)
    return [said.id for said in page]


class TestRows:
    async def test_are_read_newest_first_within_their_bounds_from_one_place(self, stores: Stores) -> None:
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


async def test_resets_are_those_of_the_place_and_its_channel(stores: Stores) -> None:
    for bot, id_ in ((BOT, 10), (0, 20), (98, 90)):
        await stores.channels.reset(CHANNEL, bot_id=bot, discord_id=id_)
    await stores.channels.reset(THREAD, bot_id=BOT, discord_id=60)
    resets = stores.channel_context.get_resets
    assert await resets(CHANNEL, bot_id=BOT) == {0: 20}, "of the bot's own and everyone's, the greater"
    assert await resets(THREAD, bot_id=BOT) == {0: 20, 50: 60}
