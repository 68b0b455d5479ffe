from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.message import ChannelKey, Location
from cc_bot.domain.session import SessionKey
from tests.stores.backends import got
from tests.stores.locations import CHANNEL, DM, LOCATIONS, answer, ask_in_dm, list_waiting, said

HEARTBEAT = """
    INSERT INTO messages (
        discord_id, channel_id, parent_channel_id, author_id, role, content, visibility, timestamp, created_at
    ) VALUES ($1, $2, $2, 1, 'assistant', 'その人だけに', 'private', 0, 0)
"""


async def talk(stores: Stores, database: Database) -> None:
    """Ids 100 to 139 go round the four places: a question each, and an answer to every second."""
    for number in range(100, 120):
        key = LOCATIONS[number % 4]
        await stores.channels.add(key, said(number, name(key)), is_question=True)
    for number in range(120, 130):
        key = LOCATIONS[number % 4]
        oldest, *_ = await list_waiting(stores, key)
        await stores.channels.archive_answer(key, answer(number, name(key)), [oldest])
    for number, location in enumerate(LOCATIONS):  # a thread is a channel of its own to a session
        session = await stores.sessions.open(SessionKey(7, location.location_id))
        said_there = [said(200 + number, "人の質問"), answer(300 + number, "人への答え")]
        await stores.sessions.commit_turn(session, said_there)
    await ask_in_dm(stores, 400)
    await database.transaction([Statement(HEARTBEAT, (500, CHANNEL.channel_id))], ())


def name(key: ChannelKey) -> str:
    return f"{key.channel_id}の{key.thread_id}"


class TestLocation:
    async def test_is_told_what_was_said_in_it_alone(self, stores: Stores, database: Database) -> None:
        await talk(stores, database)
        for key in LOCATIONS:
            waiting = await list_waiting(stores, key)
            newest = got(await stores.channels.get_newest_answer(key))
            answered = await stores.ledger.list_questions(newest.discord_id or 0)
            assert waiting
            assert answered
            assert {message.content for message in (*waiting, newest, *answered)} == {name(key)}
        for key in LOCATIONS:
            await stores.channels.record_channel(Location(key, 5))
        locations = {
            location.key: location.newest_id for location in await stores.channels.list_channels(limit=99)
        }
        assert locations == dict(zip(LOCATIONS, (116, 117, 118, 119), strict=True))
        here, there = LOCATIONS[:2]
        waiting = await list_waiting(stores, there)
        await stores.channels.archive_answer(here, answer(140), waiting)
        assert await list_waiting(stores, there) == waiting, "no place answers for another"
        assert not await stores.channels.add(CHANNEL, said(400, "割り込み"), is_question=True)
        assert await stores.ledger.list_questions(400) == ()
        private = (await stores.sessions.open(DM, visibility="private")).history
        assert private[0].content == "秘密の質問"
