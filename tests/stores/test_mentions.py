"""Mentions: who waits, who was answered, and by what."""

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from tests.stores.backends import OpenStores, contents
from tests.stores.locations import (
    BOT,
    CHANNEL,
    LOCATIONS,
    THREAD,
    answer,
    archived,
    ids,
    list_edited,
    list_waiting,
    said,
)


async def wait(stores: Stores, *numbers: int, key: ChannelKey = CHANNEL) -> tuple[Message, ...]:
    for number in numbers:
        assert await stores.channels.add(key, said(number, f"質問{number}"), is_question=True)
    return await list_waiting(stores, key)


async def edited(stores: Stores) -> list[str]:
    return contents(await list_edited(stores, CHANNEL))


class TestBegunAnswer:
    async def test_is_known_with_those_who_wait_and_its_message_after_a_crash(
        self, open_again: OpenStores
    ) -> None:
        async def begun(stores: Stores) -> list[tuple[int, int | None, int | None]]:
            due = await stores.ledger.list_due(CHANNEL)
            waiting = [each for each in due if each.state == "accepted"]
            return [
                (each.question.discord_id or 0, each.nonce_question_id, each.shown_in) for each in waiting
            ]

        async with open_again() as stores:
            asked = await wait(stores, 10, 11, 12, 14)
            assert {as_ for _, as_, _ in await begun(stores)} == {None}
            await stores.ledger.begin_answer(CHANNEL, asked, 14)
            await stores.channels.delete([11])
            await stores.ledger.mark_failed(CHANNEL, asked[2:3])
            await wait(stores, 15)
        async with open_again() as stores:
            assert await begun(stores) == [(10, 14, None), (14, 14, None), (15, None, None)]
            assert await stores.ledger.set_mention_answer(CHANNEL, asked, 20) == {10, 14}
        async with open_again() as stores:
            assert await begun(stores) == [(10, 14, 20), (14, 14, 20), (15, None, None)]
            assert await stores.ledger.get_answer_message_id(10) is None
            await stores.channels.archive_answer(CHANNEL, answer(20), asked)
            assert await begun(stores) == [(15, None, None)]


class TestDue:
    async def test_are_questions_that_wait_or_were_edited_or_whose_answer_is_not_shown(
        self, open_again: OpenStores
    ) -> None:
        async def due(stores: Stores, key: ChannelKey = CHANNEL) -> list[int]:
            return [each.question.author_id for each in await stores.ledger.list_due(key)]

        async with open_again() as stores:
            for number, author in ((10, 4), (11, 3), (12, 2), (13, 4), (14, 1)):
                question = said(number, "質問", author_id=author)
                await stores.channels.add(CHANNEL, question, is_question=True)
            assert (await due(stores), await due(stores, THREAD)) == ([4, 3, 2, 4, 1], [])
            for question in await list_waiting(stores, CHANNEL):
                of = (question.discord_id or 0) + 10
                await stores.channels.archive_answer(CHANNEL, answer(of), [question])
                if of != 21:
                    await stores.ledger.mark_shown(CHANNEL, of)
            await stores.channels.edit(14, "別の質問")
        async with open_again() as stores:
            assert await due(stores) == [3, 1]
            newest = await stores.channels.get_newest_answer(CHANNEL, 4)
            assert newest is not None
            assert newest.discord_id == 23
            await stores.channels.delete([21])
            assert await due(stores) == [1]


class TestStoredAnswer:
    async def test_is_to_be_shown_until_it_was_and_whenever_it_changes(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.channels.archive_answer(CHANNEL, answer(20, "答え"), await wait(stores, 10, 11))
        async with open_again() as stores:
            questions = await stores.ledger.list_questions(20)
            assert await stores.ledger.list_channels() == (CHANNEL,)
            [stored] = await stores.ledger.list_unshown(CHANNEL)
            assert (stored.content, stored.discord_id) == ("答え", 20)
            assert await stores.ledger.list_unshown(THREAD) == ()
            await stores.ledger.mark_shown(CHANNEL, 20)
            assert await stores.ledger.list_unshown(CHANNEL) == ()
            assert await stores.ledger.list_channels() == ()
            await stores.channels.archive_answer(CHANNEL, answer(20, "新しい答え"), questions)
            assert contents(await stores.ledger.list_unshown(CHANNEL)) == ["新しい答え"]
            await stores.channels.delete([20])
            assert await stores.ledger.list_unshown(CHANNEL) == ()
            assert await stores.ledger.list_channels() == ()


class TestEditedQuestion:
    async def test_is_known_until_its_answer_is_to_what_it_says(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            questions = await wait(stores, 10, 11)
            await stores.ledger.set_mention_answer(CHANNEL, questions, 20)
            await stores.channels.edit(10, "犬の話")
            assert await edited(stores) == [], "while it is being answered"
            await stores.channels.archive_answer(CHANNEL, answer(20), questions)
            await stores.ledger.mark_shown(CHANNEL, 20)
        async with open_again() as stores:
            assert await stores.ledger.list_channels() == (CHANNEL,)
            [question] = await list_edited(stores, CHANNEL)
            assert question.content == "犬の話"
            await stores.channels.edit(10, "猫の話")
            await stores.ledger.mark_edit_processed(CHANNEL, question)
            [question] = await list_edited(stores, CHANNEL)
            assert question.content == "猫の話"
            await stores.ledger.mark_edit_processed(CHANNEL, question)
            assert await edited(stores) == []
            assert await stores.ledger.list_channels() == ()


class TestReset:
    async def test_leaves_behind_who_waited_in_that_location_alone(self, stores: Stores) -> None:
        await wait(stores, 10, 11)
        await wait(stores, 9, key=THREAD)
        await stores.channels.reset(CHANNEL, bot_id=0, discord_id=11)
        await wait(stores, 12)
        left = [each.question for each in await stores.ledger.list_due(CHANNEL) if each.is_before_reset]
        assert ids(left) == [10, 11]
        assert ids(await list_waiting(stores, CHANNEL)) == [12]
        assert await stores.ledger.set_mention_answer(CHANNEL, left, 20) == frozenset()
        in_thread = await list_waiting(stores, THREAD)
        assert await stores.ledger.set_mention_answer(THREAD, in_thread, 20) == {9}


class TestWaiting:
    async def test_begins_with_the_message_and_outlives_a_restart(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.channels.add(CHANNEL, said(9, "独り言"))
            for number, key in enumerate(LOCATIONS):
                await wait(stores, 110 + number, 50 - number, 10 + number, key=key)
            await stores.channels.edit(10, "やっぱり猫の話")
        async with open_again() as stores:
            assert {*await stores.ledger.list_channels()} == {*LOCATIONS}
            for number, key in enumerate(LOCATIONS):
                assert ids(await list_waiting(stores, key)) == [10 + number, 50 - number, 110 + number]
            [first, second, _] = await list_waiting(stores, CHANNEL)
        assert (first.content, second.content) == ("やっぱり猫の話", "質問50")
        assert (first.role, first.author_id, first.author_name, first.discord_id) == ("user", 7, "花子", 10)

    async def test_ends_when_it_is_given_up_and_does_not_begin_again(self, stores: Stores) -> None:
        first, second = await wait(stores, 10, 11)
        await stores.ledger.set_mention_answer(CHANNEL, [first], 20)
        await stores.ledger.mark_failed(CHANNEL, [first])
        assert await list_waiting(stores, CHANNEL) == (second,)
        assert await stores.ledger.get_answer_message_id(10) is None
        assert await stores.ledger.list_questions(20) == ()
        assert not await stores.channels.add(CHANNEL, said(10), is_question=True)

    async def test_of_what_is_private_is_not_told(self, stores: Stores, database: Database) -> None:
        await wait(stores, 10, 11)
        sql = "UPDATE messages SET visibility = 'private' WHERE discord_id = 10"
        await database.transaction([Statement(sql)], ())
        assert ids(await list_waiting(stores, CHANNEL)) == [11]


class TestAnswer:
    async def test_ends_the_waiting_of_all_it_answers_and_of_no_other(self, stores: Stores) -> None:
        first, second, third, deleted = await wait(stores, 10, 11, 12, 13)
        await stores.channels.delete([13])
        with pytest.raises(ValueError, match="id"):
            await stores.channels.archive_answer(CHANNEL, Message("assistant", "はい"), [first])
        stored = await stores.channels.archive_answer(
            CHANNEL, answer(20, "まとめて"), [first, second, deleted]
        )
        assert await list_waiting(stores, CHANNEL) == (third,)
        assert await stores.ledger.list_questions(20) == (first, second)
        assert [await stores.ledger.get_answer_message_id(id_) for id_ in (10, 11, 12, 99)] == [
            20,
            20,
            None,
            None,
        ]
        newest = await stores.channels.get_newest_answer(CHANNEL)
        assert newest == stored.messages[0]
        assert newest is not None
        assert newest.id == stored.messages[0].id

    async def test_replaces_its_placeholder_and_the_former(self, stores: Stores, database: Database) -> None:
        question = await wait(stores, 10)
        await stores.channels.add_all(CHANNEL, [Message("user", "考え中…", discord_id=20, author_id=BOT)])
        before = await stores.channels.archive_answer(CHANNEL, answer(20, "犬です"), question)
        assert await stores.channels.get_newest_answer(CHANNEL) == before.messages[0]
        await stores.channels.edit(10, "猫は？")
        question = await stores.ledger.list_questions(20)
        after = await stores.channels.archive_answer(CHANNEL, answer(20, "猫です", status="cut"), question)
        assert after.messages[0].id == before.messages[0].id
        assert await archived(database) == {10: "猫は？", 20: "猫です"}
        assert await stores.channels.get_newest_answer(CHANNEL) == after.messages[0]

    async def test_never_overwrites_a_session_or_location(self, stores: Stores, database: Database) -> None:
        question = await wait(stores, 10)
        key = SessionKey(7, CHANNEL.channel_id)
        session = await stores.sessions.open(key)
        await stores.sessions.commit_turn(session, [Message("user", "質問"), answer(20, "その人だけに")])
        await stores.channels.add(THREAD, said(21, "スレッド"))
        for taken in (20, 21):
            with pytest.raises(StorageError):
                await stores.channels.archive_answer(CHANNEL, answer(taken, "みんなに"), question)
        assert await list_waiting(stores, CHANNEL) == question
        assert contents((await stores.sessions.open(key)).history) == ["質問", "その人だけに"]
        assert await archived(database, THREAD) == {21: "スレッド"}
