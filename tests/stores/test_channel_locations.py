"""Channels and threads as a whole: which there are, from where on they are read, and when they are gone."""

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.message import ChannelKey, Location, Message
from cc_bot.domain.session import SessionKey
from tests.stores.conversation import heard
from tests.stores.locations import (
    BOT,
    CHANNEL,
    OTHER_CHANNEL,
    OTHER_THREAD,
    THREAD,
    answer,
    ask_in_dm,
    freeze,
    list_waiting,
    said,
)


class TestLocations:
    async def test_are_told_newest_first_up_to_a_limit_with_their_newest_reset(self, stores: Stores) -> None:
        await ask_in_dm(stores, 9)
        assert await stores.channels.list_channels(limit=5) == ()
        for number, key in enumerate((THREAD, CHANNEL, OTHER_THREAD, OTHER_CHANNEL)):
            await stores.channels.record_channel(Location(key, 5))
            await stores.channels.add_all(key, [said(10 + number), said(9**number * 100)])
        await stores.channels.reset(OTHER_THREAD, bot_id=0, discord_id=7)
        await stores.channels.reset(OTHER_THREAD, bot_id=BOT, discord_id=8)
        locations = await stores.channels.list_channels(limit=3)
        assert [
            (location.key, location.newest_id, location.last_id_before_reset) for location in locations
        ] == [(OTHER_CHANNEL, 72900, 0), (OTHER_THREAD, 8100, 8), (CHANNEL, 900, 0)]

    async def test_are_still_told_when_their_last_message_is_deleted(self, stores: Stores) -> None:
        await stores.channels.record_channel(Location(CHANNEL, 5))
        await stores.channels.mark_read_to(CHANNEL, 9)
        assert await stores.channels.list_channels(limit=3) == ()
        await stores.channels.add(CHANNEL, said(10))
        await stores.channels.delete([10])
        await stores.channels.mark_read_to(CHANNEL, 11)
        [location] = await stores.channels.list_channels(limit=3)
        assert location.newest_id == 11


class TestALocation:
    async def test_is_known_from_its_note_until_it_is_gone(self, stores: Stores, database: Database) -> None:
        async def known() -> set[ChannelKey]:
            keys = (THREAD, CHANNEL, OTHER_CHANNEL)
            found = [await stores.channels.find_channel(key.location_id) for key in keys]
            assert {location for location in found if location} <= {Location(key, 5) for key in keys}
            return {location.key for location in found if location}

        assert await known() == set()
        for key in (THREAD, CHANNEL, OTHER_CHANNEL, THREAD):
            await stores.channels.record_channel(Location(key, 5))
        await stores.channels.forget_channel(THREAD)
        assert await known() == {CHANNEL, OTHER_CHANNEL}
        await stores.channels.record_channel(Location(THREAD, 5))
        await stores.channels.forget_channel(CHANNEL)
        assert await known() == {OTHER_CHANNEL}
        await stores.channels.forget_channel(OTHER_CHANNEL)
        await stores.channels.record_channel(Location(CHANNEL, is_dm=True))  # it is its user's own
        assert await database.query("SELECT * FROM places") == []


class TestOwnerOfAnAnswer:
    async def test_is_found_by_any_of_its_messages_and_is_nobody_for_others(self, stores: Stores) -> None:
        key = SessionKey(7, CHANNEL.channel_id, agent="sensei")
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, [Message("user", "質問"), answer(20)])
        await stores.channels.add_pages(CHANNEL.location_id, 20, [21, 22])
        await stores.channels.add_pages(CHANNEL.location_id, 20, [22])
        await ask_in_dm(stores, 10)
        await stores.channels.archive_answer(CHANNEL, answer(30), [])
        owners = [await stores.channels.get_session_key(id_) for id_ in (20, 21, 22, 10, 30, 99)]
        assert owners == [key, key, key, None, None, None]


class TestForgottenLocation:
    KEYS = (CHANNEL, THREAD, OTHER_CHANNEL, OTHER_THREAD, ChannelKey(OTHER_CHANNEL.channel_id, 2**61))

    async def fill(self, stores: Stores, database: Database) -> None:
        """Something of every kind about each place, by which it is known: 1 to 5."""
        for number, key in enumerate(self.KEYS, start=1):
            await stores.channels.reset(key, bot_id=BOT, discord_id=number)
            await stores.channels.add(key, said(number * 10), is_question=True)
            await stores.channels.add(key, said(number * 10 + 1), is_question=True)
            first, _ = await list_waiting(stores, key)
            await stores.channels.archive_answer(key, answer(number * 10 + 2), [first])
            await stores.channels.add_pages(key.location_id, number * 10 + 2, [number * 10 + 3])
            await freeze(database, key, (number * 10, number * 10 + 1))
            window = "INSERT INTO channel_windows VALUES ($1, $2, $3)"
            params = (key.channel_id, key.thread_id, number * 10)
            await database.transaction([Statement(window, params)], ())

    async def known(self, database: Database) -> list[list[int]]:
        """By table, which places it still knows."""
        columns = (
            "discord_id / 10 FROM messages WHERE session_id IS NULL",
            "question_id / 10 FROM turns",
            "discord_id / 10 FROM answer_pages",
            "first_message_id / 10 FROM block_boundaries",
            "first_message_id / 10 FROM channel_windows",
            "last_reset_discord_message_id FROM thread_metadata",
        )
        found = [await database.query(f"SELECT DISTINCT {column}") for column in columns]
        return [sorted(number for (number,) in rows) for rows in found]

    async def test_takes_all_about_it_and_nothing_of_others(self, stores: Stores, database: Database) -> None:
        await self.fill(stores, database)
        key = SessionKey(7, CHANNEL.channel_id)
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, [said(110, "質問"), answer(111, "答え")])
        assert await self.known(database) == [[1, 2, 3, 4, 5]] * 6
        for gone, left in ((OTHER_THREAD, [1, 2, 3, 5]), (CHANNEL, [3, 5]), (OTHER_CHANNEL, [])):
            await stores.channels.forget_channel(gone)
            assert await self.known(database) == [left] * 6
        assert await heard(stores, key) == ["質問", "答え"]
