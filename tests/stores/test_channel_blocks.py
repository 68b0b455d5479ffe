"""Frozen blocks: what thaws them, and what leaves them as they are."""

from collections.abc import Awaitable, Callable
from typing import Final

from cc_bot.domain import SessionKey
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
from tests.stores.test_public_turns import ME, ask, regenerate

TABLES: Final = ("messages", "mentions", "answer_pages", "sessions", "block_boundaries", "thread_metadata")
BLOCKS: Final = ((10, 19), (20, 29), (30, 39))
Change = Callable[[Stores, int], Awaitable[object]]
"""Told the row of the answer of the turn that everybody read."""

THAWING: Final[dict[str, Change]] = {
    "late message": lambda stores, _: stores.channels.add(CHANNEL, said(25)),
    "late mention": lambda stores, _: stores.channels.add(CHANNEL, said(25), waiting=True),
    "page": lambda stores, _: stores.channels.add_all(CHANNEL, [said(90), said(10), said(25)]),
    "edit": lambda stores, _: stores.channels.edit(20, "直した"),
    "edit at the end": lambda stores, _: stores.channels.edit(29, "直した"),
    "deletion": lambda stores, _: stores.channels.delete([20, 90]),
    "deletion of an answer's page": lambda stores, _: stores.channels.delete([27]),
    "answer": lambda stores, _: stores.channels.commit_answer(CHANNEL, answer(25), []),
    "answer made anew": lambda stores, _: stores.channels.commit_answer(CHANNEL, answer(26, "新"), []),
    "late turn": lambda stores, _: ask(stores, 28, 90),
    "answer of a turn made anew": lambda stores, row: regenerate(stores, row, "やっぱりうどん", 24),
    "edit of a turn": lambda stores, _: stores.channels.edit(22, "直した"),
    "deletion of the question of a turn": lambda stores, _: stores.channels.delete([22]),
    "erasure": lambda stores, _: stores.personal_erasure.erase(ME),
}
HARMLESS: Final[dict[str, Change]] = {
    "newest message": lambda stores, _: stores.channels.add(CHANNEL, said(90)),
    "newest page": lambda stores, _: stores.channels.add_all(CHANNEL, [said(90), said(91)]),
    "redelivery": lambda stores, _: stores.channels.add(CHANNEL, said(20, "また")),
    "mention that was known": lambda stores, _: stores.channels.add(CHANNEL, said(20), waiting=True),
    "page of what is known": lambda stores, _: stores.channels.add_all(CHANNEL, [said(10), said(90)]),
    "late message before a reset": lambda stores, _: stores.channels.add_all(CHANNEL, [said(3), said(90)]),
    "edit to the same": lambda stores, _: stores.channels.edit(20, "こんにちは"),
    "edit without content": lambda stores, _: stores.channels.edit(20, ""),
    "edit in a thread": lambda stores, _: stores.channels.edit(21, "スレッドで"),
    "edit in another channel": lambda stores, _: stores.channels.edit(15, "よそで"),
    "late message in a thread": lambda stores, _: stores.channels.add(THREAD, said(25)),
    "deletion in a session": lambda stores, _: stores.channels.delete([23]),
    "deletion of nothing": lambda stores, _: stores.channels.delete([16]),
    "newest answer": lambda stores, _: stores.channels.commit_answer(CHANNEL, answer(90), []),
    "newest turn": lambda stores, _: ask(stores, 90, 91),
    "turn in a thread": lambda stores, _: ask(stores, 28, 25, place=THREAD),
    "turn without a place": lambda stores, _: ask(stores, 28, 25, place=None),
    "edit of a turn to the same": lambda stores, _: stores.channels.edit(22, "お昼は？"),
    "deletion of what stands in no channel": lambda stores, _: stores.channels.delete([17]),
    "end of the session": lambda stores, _: stores.sessions.clear(SessionKey(ME, CHANNEL.place_id)),
}


async def prepare(stores: Stores, database: Database, elsewhere: tuple[tuple[int, int], ...]) -> int:
    """Three blocks in the channel, and these in every other place; something in each, and nothing else."""
    await database.transaction([Statement(f"DELETE FROM {table}") for table in TABLES], ())
    await stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=5)
    numbers = (10, 19, 20, 29, 30, 39)
    await stores.channels.add_all(CHANNEL, [said(number, author_id=8) for number in numbers])
    await stores.channels.add(CHANNEL, answer(26, "古"))
    await stores.channels.add_pages(CHANNEL.place_id, 26, [27])
    await stores.channels.add_all(THREAD, [said(21, author_id=8)])
    await stores.channels.add_all(OTHER_CHANNEL, [said(15, author_id=8)])
    row = await ask(stores, 22, 24)
    await ask(stores, 17, 18, place=None, user_id=9)
    await ask_in_dm(stores, 23)
    for key in PLACES:
        await freeze(database, key, *(BLOCKS if key == CHANNEL else elsewhere))
    return row


class TestBlocks:
    async def test_thaw_from_where_something_changes_on_and_stay_frozen_otherwise(
        self, stores: Stores, database: Database
    ) -> None:
        wrong = []
        for changes, left, elsewhere in ((THAWING, [(10, 19)], ((1, 99),)), (HARMLESS, [*BLOCKS], ())):
            for name, change in changes.items():
                await change(stores, await prepare(stores, database, elsewhere))
                found = [await frozen(database, key) for key in PLACES]
                if found != [left, *[[*elsewhere]] * 3]:
                    wrong.append((name, found))
        assert wrong == []
