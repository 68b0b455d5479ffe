"""Channels and threads as a whole: which there are, from where on they are read, and when they are gone."""

import pytest

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.message import ChannelKey, KnownPlace
from cc_bot.domain.process import WHOLE, Shard
from cc_bot.storage import Database, Statement
from cc_bot.stores import Stores
from tests.stores.conversation import heard
from tests.stores.places import (
    BOT,
    CHANNEL,
    OTHER_CHANNEL,
    OTHER_THREAD,
    THREAD,
    answer,
    archived,
    ask_in_dm,
    freeze,
    said,
)


class TestPlaces:
    async def test_are_told_newest_first_up_to_a_limit(self, stores: Stores) -> None:
        assert await stores.channels.list_places(limit=5) == ()
        for number, key in enumerate((THREAD, CHANNEL, OTHER_THREAD, OTHER_CHANNEL)):
            await stores.channels.add_all(key, [said(10 + number), said(9**number * 100)])
        places = await stores.channels.list_places(limit=3)
        assert [place.key for place in places] == [OTHER_CHANNEL, OTHER_THREAD, CHANNEL]
        assert [place.newest_id for place in places] == [72900, 8100, 900]

    async def test_tell_the_newest_reset_of_any_bot(self, stores: Stores) -> None:
        for key in (CHANNEL, THREAD):
            await stores.channels.add(key, said(key.place_id))
        await stores.channels.reset(THREAD, bot_id=0, discord_id=7)
        await stores.channels.reset(THREAD, bot_id=BOT, discord_id=8)
        places = await stores.channels.list_places(limit=9)
        assert {place.key: place.reset_id for place in places} == {CHANNEL: 0, THREAD: 8}

    async def test_are_those_of_a_connection_and_those_that_nobody_is_known_to_tell_of(
        self, stores: Stores
    ) -> None:
        for key in (THREAD, CHANNEL, OTHER_CHANNEL):
            await stores.channels.add(key, said(key.place_id))
        await stores.channels.note_place(KnownPlace(THREAD, 5 << 22))
        await stores.channels.note_place(KnownPlace(CHANNEL, 6 << 22))

        async def told_by(shard: Shard) -> set[ChannelKey]:
            return {place.key for place in await stores.channels.list_places(limit=9, shard=shard)}

        assert await told_by(Shard(1, 4)) == {THREAD, OTHER_CHANNEL}
        assert await told_by(Shard(2, 4)) == {CHANNEL, OTHER_CHANNEL}
        assert await told_by(Shard(0, 4)) == {OTHER_CHANNEL}
        assert await told_by(WHOLE) == {THREAD, CHANNEL, OTHER_CHANNEL}

    async def test_are_those_of_a_connection_however_many_others_are_newer(self, stores: Stores) -> None:
        for number, key in enumerate((THREAD, CHANNEL, OTHER_CHANNEL)):
            await stores.channels.add(key, said(10 + number))
            await stores.channels.note_place(KnownPlace(key, number << 22))
        [place] = await stores.channels.list_places(limit=1, shard=Shard(0, 3))
        assert place.key == THREAD

    async def test_are_no_sessions(self, stores: Stores) -> None:
        await ask_in_dm(stores, 10)
        assert await stores.channels.list_places(limit=9) == ()


class TestAPlace:
    async def test_is_known_once_it_was_noted(self, stores: Stores) -> None:
        assert await stores.channels.find_place(THREAD.place_id) is None
        for key in (THREAD, CHANNEL):
            await stores.channels.note_place(known := KnownPlace(key, 5))
            await stores.channels.note_place(known)
            assert await stores.channels.find_place(key.place_id) == known

    async def test_that_is_a_dm_is_its_users_own(self, stores: Stores, database: Database) -> None:
        await stores.channels.note_place(KnownPlace(CHANNEL, is_dm=True))
        assert await database.query("SELECT * FROM places") == []

    async def test_that_is_gone_is_forgotten_with_its_threads(self, stores: Stores) -> None:
        async def known() -> set[ChannelKey]:
            found = [
                await stores.channels.find_place(key.place_id) for key in (THREAD, CHANNEL, OTHER_CHANNEL)
            ]
            return {place.key for place in found if place}

        for key in (THREAD, CHANNEL, OTHER_CHANNEL):
            await stores.channels.note_place(KnownPlace(key, 5))
        await stores.channels.forget_place(THREAD)
        assert await known() == {CHANNEL, OTHER_CHANNEL}
        await stores.channels.note_place(KnownPlace(THREAD, 5))
        await stores.channels.forget_place(CHANNEL)
        assert await known() == {OTHER_CHANNEL}


class TestOwnerOfAnAnswer:
    async def test_is_found_by_any_of_its_messages(self, stores: Stores) -> None:
        key = SessionKey(7, CHANNEL.channel_id, agent="sensei")
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, [Message("user", "質問"), answer(20)])
        await stores.channels.add_pages(CHANNEL.place_id, 20, [21, 22])
        await stores.channels.add_pages(CHANNEL.place_id, 20, [22])
        assert [await stores.channels.get_session_key(id_) for id_ in (20, 21, 22)] == [key] * 3

    async def test_is_nobody_for_questions_and_for_answers_of_a_channel(self, stores: Stores) -> None:
        await ask_in_dm(stores, 10)
        await stores.channels.commit_answer(CHANNEL, answer(20), [])
        assert [await stores.channels.get_session_key(id_) for id_ in (10, 20, 99)] == [None] * 3


class TestForgottenPlace:
    KEYS = (CHANNEL, THREAD, OTHER_CHANNEL, OTHER_THREAD, ChannelKey(OTHER_CHANNEL.channel_id, 2**61))

    async def fill(self, stores: Stores, database: Database) -> None:
        """Something of every kind about each place, by which it is known: 1 to 5."""
        for number, key in enumerate(self.KEYS, start=1):
            await stores.channels.reset(key, bot_id=BOT, discord_id=number)
            await stores.channels.add(key, said(number * 10), waiting=True)
            await stores.channels.add(key, said(number * 10 + 1), waiting=True)
            first, _ = await stores.mentions.list_waiting(key)
            await stores.channels.commit_answer(key, answer(number * 10 + 2), [first])
            await stores.channels.add_pages(key.place_id, number * 10 + 2, [number * 10 + 3])
            await freeze(database, key, (number * 10, number * 10 + 1))
            window = "INSERT INTO channel_windows VALUES ($1, $2, $3)"
            params = (key.channel_id, key.thread_id, number * 10)
            await database.transaction([Statement(window, params)], ())

    async def known(self, database: Database) -> list[list[int]]:
        """By table, which places it still knows."""
        columns = (
            "discord_id / 10 FROM messages",
            "discord_id / 10 FROM mentions",
            "discord_id / 10 FROM answer_pages",
            "first_message_id / 10 FROM block_boundaries",
            "first_message_id / 10 FROM channel_windows",
            "last_reset_discord_message_id FROM thread_metadata",
        )
        found = [await database.query(f"SELECT DISTINCT {column}") for column in columns]
        return [sorted(number for (number,) in rows) for rows in found]

    @pytest.mark.parametrize(
        ("gone", "left"), [(CHANNEL, [3, 4, 5]), (OTHER_CHANNEL, [1, 2]), (OTHER_THREAD, [1, 2, 3, 5])]
    )
    async def test_takes_all_about_it_and_its_threads_and_about_no_other(
        self, stores: Stores, database: Database, gone: ChannelKey, left: list[int]
    ) -> None:
        await self.fill(stores, database)
        assert await self.known(database) == [[1, 2, 3, 4, 5]] * 6
        await stores.channels.forget_place(gone)
        assert await self.known(database) == [left] * 6

    async def test_leaves_the_sessions_of_its_users(self, stores: Stores) -> None:
        key = SessionKey(7, CHANNEL.channel_id)
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, [said(10, "質問"), answer(11, "答え")])
        await stores.channels.forget_place(CHANNEL)
        assert await heard(stores, key) == ["質問", "答え"]


class TestReset:
    @pytest.mark.parametrize("bot_id", [BOT, 0])
    async def test_refuses_what_was_said_up_to_it(
        self, stores: Stores, database: Database, bot_id: int
    ) -> None:
        await stores.channels.reset(CHANNEL, bot_id=bot_id, discord_id=100)
        late = [said(99), said(100), said(101, "その後")]
        assert not await stores.channels.add(CHANNEL, late[0], waiting=True)
        assert await stores.channels.add_all(CHANNEL, late) == 1
        assert await archived(database) == {101: "その後"}
        assert await stores.mentions.list_waiting(CHANNEL) == ()

    async def test_does_not_make_wait_what_was_known_before(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, said(99))
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=100)
        assert not await stores.channels.add(CHANNEL, said(99), waiting=True)
        assert await stores.mentions.list_waiting(CHANNEL) == ()

    async def test_holds_in_its_own_place_alone(self, stores: Stores) -> None:
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=100)
        assert await stores.channels.add(THREAD, said(50))
        assert await stores.channels.add(OTHER_CHANNEL, said(51))
        await stores.channels.reset(THREAD, bot_id=BOT, discord_id=200)
        assert await stores.channels.add(CHANNEL, said(150))

    async def test_never_moves_back(self, stores: Stores) -> None:
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=100)
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=80)
        assert not await stores.channels.add(CHANNEL, said(90))

    async def test_notes_the_last_row_there_was(self, stores: Stores, database: Database) -> None:
        await stores.channels.reset(THREAD, bot_id=BOT, discord_id=5)
        await stores.channels.add_all(CHANNEL, [said(10), said(11)])
        await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=100)
        rows = await database.query("SELECT thread_id, last_reset_row_id FROM thread_metadata")
        [(last,)] = await database.query("SELECT max(id) FROM messages")
        assert set(rows) == {(THREAD.thread_id, 0), (CHANNEL.channel_id, last)}


class TestReading:
    async def test_goes_on_since_it_began(self, stores: Stores) -> None:
        assert await stores.channels.set_reading("all", 100) == 100
        assert await stores.channels.set_reading("all", 200) == 100

    async def test_of_other_messages_begins_anew(self, stores: Stores) -> None:
        await stores.channels.set_reading("all", 100)
        assert await stores.channels.set_reading("mentions", 200) == 200
        assert await stores.channels.set_reading("all", 300) == 300
