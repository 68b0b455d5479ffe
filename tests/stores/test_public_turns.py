from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelKey, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn
from tests.stores.conversation import heard
from tests.stores.locations import (
    BOT,
    CHANNEL,
    DM,
    LOCATIONS,
    OTHER_CHANNEL,
    THREAD,
    answer,
    ask_in_dm,
    freeze,
    frozen,
    read_page,
    said,
)

ME: Final = 7
ASKED: Final = 20
ANSWERED: Final = 21
MARK: Final = "（消去しました）"


async def ask(
    stores: Stores,
    question_id: int | None = ASKED,
    answer_id: int | None = ANSWERED,
    *,
    location: ChannelKey | None = CHANNEL,
    user_id: int = ME,
    text: str = "お昼は？",
    visibility: Visibility = "public",
    key: SessionKey | None = None,
) -> int:
    """A turn of a session, and the row of its answer."""
    key = key or SessionKey(user_id, (location or CHANNEL).location_id)
    session = await stores.sessions.open(key, visibility=visibility)
    question = said(0, text, author_id=user_id, visibility=visibility)
    replied = answer(0, f"{text}の答え", visibility=visibility)
    turn = (replace(question, discord_id=question_id), replace(replied, discord_id=answer_id))
    stored = await stores.sessions.store_turn(session, turn, channel=location)
    return stored.messages[-1].id or 0


async def regenerate(stores: Stores, replaced: int, text: str, answer_id: int | None = ANSWERED) -> None:
    session = await stores.sessions.open(SessionKey(ME, CHANNEL.location_id))
    new = replace(answer(0, text), discord_id=answer_id)
    await stores.sessions.store_turn(session, (new,), replaces=replaced)


async def session(stores: Stores) -> list[str]:
    return await heard(stores, SessionKey(ME, CHANNEL.location_id))


async def read(stores: Stores, key: ChannelKey = CHANNEL, *, asked: int = 2**62) -> list[tuple[int, str]]:
    page = await read_page(stores, key, first=0, before=2**62, asked=asked, limit=100)
    return [(each.id, each.content) for each in reversed(page)]


class TestTurn:
    async def test_stands_in_its_location_with_who_asked_and_in_its_session(self, stores: Stores) -> None:
        for number in (10, 30):
            await stores.channels.add(CHANNEL, said(number, f"発言{number}"))
        await ask(stores)
        await stores.channels.add_all(CHANNEL, [said(ASKED, "また"), answer(ANSWERED, "また")])
        page = await read_page(stores, CHANNEL, first=0, before=99, limit=9)
        told = [(each.id, each.role, each.name, each.content, each.author_id) for each in reversed(page)]
        assert told == [
            (10, "user", "花子", "発言10", 7),
            (ASKED, "user", "花子", "お昼は？", ME),
            (ANSWERED, "assistant", "", "お昼は？の答え", 555),
            (30, "user", "花子", "発言30", 7),
        ]
        assert await session(stores) == ["お昼は？", "お昼は？の答え"]
        await stores.sessions.clear(SessionKey(ME, CHANNEL.location_id))
        assert [id_ for id_, _ in await read(stores)] == [10, ASKED, ANSWERED, 30]

    async def test_after_the_question_that_is_asked_is_not_told(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, said(ASKED + 1))
        await stores.channels.archive_answer(CHANNEL, answer(30), [])
        await ask(stores, ASKED, 25)
        assert [id_ for id_, _ in await read(stores, asked=ASKED + 1)] == [ASKED, 30]

    async def test_stands_in_no_other_location_and_in_none_where_it_is_private(self, stores: Stores) -> None:
        await ask(stores, location=THREAD)
        await ask(stores, 30, 31, location=None)
        with pytest.raises(ValueError, match="private"):
            await ask(stores, 40, 41, visibility="private")
        assert [id_ for id_, _ in await read(stores, THREAD)] == [ASKED, ANSWERED]
        assert [await read(stores, key) for key in LOCATIONS if key != THREAD] == [[]] * 3


class TestAnswerMadeAnew:
    async def test_stands_where_the_one_before_stood(self, stores: Stores) -> None:
        here = await ask(stores)
        in_thread = await ask(stores, 30, 31, location=THREAD, key=SessionKey(ME, CHANNEL.location_id))
        nowhere = await ask(stores, None, None, location=None)
        for row, answer_id in ((here, ANSWERED), (in_thread, 31), (nowhere, 41)):
            await regenerate(stores, row, "やっぱりうどん", answer_id)
        assert await read(stores) == [(ASKED, "お昼は？"), (ANSWERED, "やっぱりうどん")]
        assert await read(stores, THREAD) == [(30, "お昼は？"), (31, "やっぱりうどん")]


class TestWhatLeaves:
    async def test_is_question_and_answer_where_either_is_deleted_or_erased(self, stores: Stores) -> None:
        await ask(stores, 10, 11, text="朝は？")
        await ask(stores)
        await ask(stores, 30, 31, user_id=8, text="夜は？")
        await stores.channels.add_pages(CHANNEL.location_id, ANSWERED, [22, 23])
        for page in (ANSWERED, 22, 23):
            assert sorted(await stores.channels.list_with_answers([page])) == [ANSWERED, 22, 23]
        await stores.channels.delete([22])
        night = [(30, "夜は？"), (31, "夜は？の答え")]
        assert await read(stores) == [(10, "朝は？"), (11, "朝は？の答え"), *night]
        assert await session(stores) == ["朝は？", "朝は？の答え", "お昼は？"]
        await stores.channels.delete(await stores.channels.list_with_answers([10]))
        assert await read(stores) == night
        await ask(stores, 40, 41)
        await stores.personal_data.erase(ME)
        assert await read(stores) == night

    async def test_thaws_the_blocks_from_its_question_on(self, stores: Stores, database: Database) -> None:
        await ask(stores, 12, 35)
        await freeze(database, CHANNEL, (1, 11), (12, 20), (21, 40))
        await stores.channels.delete([35])
        assert await frozen(database) == [(1, 11)]

    async def test_is_what_tells_of_an_erased_memory(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, "金庫の鍵は本棚の裏にある")
        await ask(stores, text="金庫の鍵は本棚の裏にあるだよ")
        await freeze(database, CHANNEL, (1, 19), (20, 40))
        await stores.memory_removal.erase(ME, memory.id, stub=MARK)
        assert await read(stores) == [(ASKED, MARK), (ANSWERED, MARK)]
        assert await frozen(database) == [(1, 19)]

    async def test_is_what_its_user_alone_reads_by_then(self, stores: Stores, database: Database) -> None:
        key = SessionKey(ME, CHANNEL.location_id)
        await ask(stores, 10, 11, text="朝は？")
        row = await ask(stores)
        await freeze(database, CHANNEL, (1, 19), (20, 40))
        turn = PendingTurn("t", key, "ask", "public", utc_now(), state="answered", answer_id=row)
        await stores.ledger.move(turn, CHANNEL.location_id, ())
        assert [id_ for id_, _ in await read(stores)] == [10, 11, ASKED, ANSWERED]
        await stores.ledger.move(turn, DM.channel_id, ())
        assert [id_ for id_, _ in await read(stores)] == [10, 11]
        assert await frozen(database) == [(1, 19)]

    async def test_is_what_has_become_old(self, stores: Stores, database: Database) -> None:
        await ask(stores)
        await stores.sessions.clear(SessionKey(ME, CHANNEL.location_id))
        await freeze(database, CHANNEL, (1, 19), (20, 40))
        await stores.retention.prune_messages(utc_now() + timedelta(days=30))
        assert await read(stores) == []
        assert await frozen(database) == [(1, 19)]

    async def test_is_nothing_of_a_session_whose_channel_is_deleted(self, stores: Stores) -> None:
        await ask(stores)
        await stores.channels.forget_channel(CHANNEL)
        assert await session(stores) == ["お昼は？", "お昼は？の答え"]


TABLES: Final = ("messages", "turns", "answer_pages", "sessions", "block_boundaries", "thread_metadata")
BLOCKS: Final = ((10, 19), (20, 29), (30, 39))
Change = Callable[[Stores, int], Awaitable[object]]

THAWING: Final[dict[str, Change]] = {
    "late message": lambda stores, _: stores.channels.add(CHANNEL, said(25)),
    "page": lambda stores, _: stores.channels.add_all(CHANNEL, [said(90), said(10), said(25)]),
    "edit": lambda stores, _: stores.channels.edit(20, "直した"),
    "deletion": lambda stores, _: stores.channels.delete([20, 90]),
    "deletion of an answer's page": lambda stores, _: stores.channels.delete([27]),
    "answer": lambda stores, _: stores.channels.archive_answer(CHANNEL, answer(25), []),
    "answer made anew": lambda stores, _: stores.channels.archive_answer(CHANNEL, answer(26, "新"), []),
    "late turn": lambda stores, _: ask(stores, 28, 90),
    "answer of a turn made anew": lambda stores, row: regenerate(stores, row, "やっぱりうどん", 24),
    "edit of a turn": lambda stores, _: stores.channels.edit(22, "直した"),
    "deletion of the question of a turn": lambda stores, _: stores.channels.delete([22]),
    "erasure": lambda stores, _: stores.personal_data.erase(ME),
}
HARMLESS: Final[dict[str, Change]] = {
    "newest message": lambda stores, _: stores.channels.add(CHANNEL, said(90)),
    "redelivery": lambda stores, _: stores.channels.add(CHANNEL, said(20, "また")),
    "late message before a reset": lambda stores, _: stores.channels.add_all(CHANNEL, [said(3), said(90)]),
    "edit to the same": lambda stores, _: stores.channels.edit(20, "こんにちは"),
    "edit in a thread": lambda stores, _: stores.channels.edit(21, "スレッドで"),
    "late message in a thread": lambda stores, _: stores.channels.add(THREAD, said(25)),
    "deletion in a session": lambda stores, _: stores.channels.delete([23]),
    "newest answer": lambda stores, _: stores.channels.archive_answer(CHANNEL, answer(90), []),
    "newest turn": lambda stores, _: ask(stores, 90, 91),
    "turn in a thread": lambda stores, _: ask(stores, 28, 25, location=THREAD),
    "edit of a turn to the same": lambda stores, _: stores.channels.edit(22, "お昼は？"),
    "deletion of what stands in no channel": lambda stores, _: stores.channels.delete([17]),
    "end of the session": lambda stores, _: stores.sessions.clear(SessionKey(ME, CHANNEL.location_id)),
}


async def prepare(stores: Stores, database: Database, elsewhere: tuple[tuple[int, int], ...]) -> int:
    """Three blocks in the channel, and these in every other place; something in each, and nothing else."""
    await database.transaction([Statement(f"DELETE FROM {table}") for table in TABLES], ())
    await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=5)
    numbers = (10, 19, 20, 29, 30, 39)
    await stores.channels.add_all(CHANNEL, [said(number, author_id=8) for number in numbers])
    await stores.channels.add(CHANNEL, answer(26, "古"))
    await stores.channels.add_pages(CHANNEL.location_id, 26, [27])
    await stores.channels.add_all(THREAD, [said(21, author_id=8)])
    await stores.channels.add_all(OTHER_CHANNEL, [said(15, author_id=8)])
    row = await ask(stores, 22, 24)
    await ask(stores, 17, 18, location=None, user_id=9)
    await ask_in_dm(stores, 23)
    for key in LOCATIONS:
        await freeze(database, key, *(BLOCKS if key == CHANNEL else elsewhere))
    return row


class TestBlocks:
    async def test_thaw_from_where_something_changes_alone(self, stores: Stores, database: Database) -> None:
        wrong = []
        for changes, left, elsewhere in ((THAWING, [(10, 19)], ((1, 99),)), (HARMLESS, [*BLOCKS], ())):
            for name, change in changes.items():
                await change(stores, await prepare(stores, database, elsewhere))
                found = [await frozen(database, key) for key in LOCATIONS]
                if found != [left, *[[*elsewhere]] * 3]:
                    wrong.append((name, found))
        assert wrong == []
