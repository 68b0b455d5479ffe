"""The archive of channels: what is kept, what is changed, and what is removed."""

import asyncio
from datetime import UTC, datetime

import pytest

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.message import ChannelKey, ToolCall
from cc_bot.storage import Database
from cc_bot.stores import Stores
from tests.stores.backends import OpenStores
from tests.stores.conversation import attachments_kept
from tests.stores.places import (
    BOT,
    CHANNEL,
    DM,
    THREAD,
    answer,
    archived,
    ask_in_dm,
    heard_in_dm,
    said,
)


class TestWhatIsRepliedTo:
    async def test_is_found_in_its_place_and_nowhere_else(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, said(10, "ここで"))
        found = await stores.channels.get_said(10, CHANNEL.place_id, 99)
        assert found is not None
        assert (found.user_id, found.message.content) == (0, "ここで")
        assert await stores.channels.get_said(10, THREAD.place_id, 99) is None
        assert await stores.channels.get_said(11, CHANNEL.place_id, 99) is None

    async def test_is_the_whole_answer_of_a_page(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, answer(20, "長い答え"))
        await stores.channels.add_pages(CHANNEL.place_id, 20, [21])
        found = await stores.channels.get_said(21, CHANNEL.place_id, 99)
        assert found is not None
        assert (found.message.content, found.message.discord_id) == ("長い答え", 20)
        await stores.channels.add(CHANNEL, said(22, "賛成", reply_to=21))
        [row] = await stores.blocks.get_page(CHANNEL, first=22, before=23, limit=5)
        assert (row.reply_to, row.replied, row.replied_name) == (20, "長い答え", None)

    async def test_in_a_session_is_told_to_its_user_alone(self, stores: Stores) -> None:
        await ask_in_dm(stores, 30, "秘密の質問")
        assert await stores.channels.get_said(30, DM.channel_id, DM.user_id + 1) is None
        found = await stores.channels.get_said(30, DM.channel_id, DM.user_id)
        assert found is not None
        assert (found.user_id, found.message.content) == (DM.user_id, "秘密の質問")

    async def test_is_told_with_the_message_until_it_is_deleted_or_the_place_is_reset(
        self, stores: Stores
    ) -> None:
        await stores.channels.add_all(CHANNEL, [said(10, "あ" * 90), said(11, "賛成", reply_to=10)])
        await stores.channels.add_all(THREAD, [said(12, "よそから", reply_to=10)])

        async def replied(key: ChannelKey = CHANNEL, first: int = 11, reset: int = 0) -> str | None:
            [row] = await stores.blocks.get_page(key, first=first, before=first + 1, limit=5, reset=reset)
            return row.replied

        assert await replied() == "あ" * 60
        assert await replied(THREAD, 12) is None
        assert await replied(reset=10) is None
        await stores.channels.delete([10])
        assert await replied() is None


class TestMessage:
    async def test_is_kept_once_and_as_it_was_first_said(self, stores: Stores, database: Database) -> None:
        assert await stores.channels.add(CHANNEL, said(10, "最初"))
        assert not await stores.channels.add(CHANNEL, said(10, "二度目"))
        assert not await stores.channels.add(THREAD, said(10, "よその二度目"), waiting=True)
        assert await stores.mentions.list_places() == ()
        assert await archived(database) == {10: "最初"}
        assert await archived(database, THREAD) == {}

    async def test_that_is_blank_is_not_kept(self, stores: Stores, database: Database) -> None:
        assert not await stores.channels.add(CHANNEL, said(10, ""))
        assert not await stores.channels.add(CHANNEL, said(11, " \n\u3000"), waiting=True)
        assert await stores.channels.add_all(CHANNEL, [said(12, ""), said(13, "はい"), said(14, "\0")]) == 1
        assert await archived(database) == {13: "はい"}
        assert await stores.mentions.list_waiting(CHANNEL) == ()

    async def test_comes_back_with_all_that_was_kept_of_it(self, stores: Stores) -> None:
        call = ToolCall("c1", "recall", '{"query": "猫"}', '"猫が好き"')
        mine = answer(20, '三毛猫です。"引用" \\ 100% 🐈', tool_calls=(call,), status="stopped")
        await stores.channels.add(CHANNEL, mine)
        assert (await stores.channels.get_newest_answer(CHANNEL)) == Message(
            "assistant",
            '三毛猫です。"引用" \\ 100% 🐈',
            tool_calls=(call,),
            status="stopped",
            author_id=BOT,
            discord_id=20,
            tainted=True,  # who knows what its model had read
            created_at=(await newest(stores)).created_at,
        )

    async def test_with_half_an_emoji_or_a_nul_is_kept_without_it(
        self, stores: Stores, database: Database
    ) -> None:
        await stores.channels.add_all(CHANNEL, [said(10, "猫\ud83d"), said(11, "a\0b"), said(12, "\\u0000")])
        assert await archived(database) == {10: "猫?", 11: "ab", 12: "\\u0000"}

    async def test_was_said_when_its_id_tells(self, stores: Stores, database: Database) -> None:
        # The example of Discord's API reference.
        await stores.channels.add(CHANNEL, said(175928847299117063))
        await stores.channels.commit_answer(CHANNEL, answer(175928847299117064), [])
        told = datetime(2016, 4, 30, 11, 18, 25, 796000, UTC)
        assert await database.query("SELECT DISTINCT timestamp FROM messages") == [
            (round(told.timestamp() * 1000),)
        ]

    @pytest.mark.parametrize("message", [Message("user", "id"), said(10, visibility="private")])
    async def test_without_an_id_or_for_one_person_is_no_channels(
        self, stores: Stores, database: Database, message: Message
    ) -> None:
        with pytest.raises(ValueError, match="not private"):
            await stores.channels.add(CHANNEL, message)
        with pytest.raises(ValueError, match="not private"):
            await stores.channels.add_all(CHANNEL, [said(9), message])
        assert await archived(database) == {}

    async def test_of_a_session_is_not_taken_over(self, stores: Stores, database: Database) -> None:
        await ask_in_dm(stores, 10)
        assert not await stores.channels.add(CHANNEL, said(10, "同じ番号"), waiting=True)
        assert await stores.mentions.list_waiting(CHANNEL) == ()
        assert await archived(database) == {}
        assert await heard_in_dm(stores) == ["秘密の質問", "はい"]

    async def test_of_a_session_in_the_same_channel_does_not_wait(self, stores: Stores) -> None:
        session = await stores.sessions.open(SessionKey(7, CHANNEL.channel_id))
        await stores.sessions.commit_turn(session, [said(10), answer(11)])
        await stores.channels.commit_answer(CHANNEL, answer(20), [])
        for number in (10, 11, 20):
            assert not await stores.channels.add(CHANNEL, said(number), waiting=True)
        assert await stores.mentions.list_places() == ()


async def newest(stores: Stores, key: ChannelKey = CHANNEL) -> Message:
    found = await stores.channels.get_newest_answer(key)
    assert found is not None
    return found


class TestPage:
    async def test_tells_how_many_of_it_were_new(self, stores: Stores, database: Database) -> None:
        await stores.channels.add(CHANNEL, said(2, "二"))
        page = [said(3, "三"), said(1, "一"), said(2, "また二"), said(3, "また三")]
        assert await stores.channels.add_all(CHANNEL, page) == 2
        assert await stores.channels.add_all(CHANNEL, page) == 0
        assert await archived(database) == {1: "一", 2: "二", 3: "三"}

    async def test_of_nothing_is_nothing(self, stores: Stores) -> None:
        assert await stores.channels.add_all(CHANNEL, []) == 0

    async def test_is_in_the_order_of_ids_of_any_length(self, stores: Stores, database: Database) -> None:
        numbers = [10**18, 999_999_999_999_999_999, 9, 80, 175928847299117063]
        await stores.channels.add_all(CHANNEL, [said(number, f"{number}番") for number in numbers])
        assert [*await archived(database)] == sorted(numbers)
        [place] = await stores.channels.list_places(limit=5)
        assert place.newest_id == 10**18

    @pytest.mark.slow
    async def test_of_ten_thousand_is_kept_whole_by_writers_side_by_side(
        self, open_again: OpenStores, database: Database
    ) -> None:
        texts = {1000 + n: f"{n}番目の発言です。Message {n}." for n in range(10_000)}
        page = [said(id_, text) for id_, text in texts.items()]
        async with open_again() as first, open_again() as second:
            counts = await asyncio.gather(
                *(
                    stores.channels.add_all(CHANNEL, page[start : start + 2500])
                    for start in range(0, 10_000, 1250)
                    for stores in (first, second)
                ),
                *(
                    stores.channels.add(CHANNEL, message)
                    for message in page[::500]
                    for stores in (first, second)
                ),
            )
        assert sum(counts) == 10_000
        assert await archived(database) == texts


class TestEdit:
    async def test_changes_what_was_said(self, stores: Stores, database: Database) -> None:
        await stores.channels.add_all(CHANNEL, [said(10, "犬"), said(11, "犬")])
        assert await stores.channels.edit(10, "猫")
        assert await archived(database) == {10: "猫", 11: "犬"}

    async def test_of_nothing_known_or_to_the_same_is_none(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, said(10, "猫"))
        assert not await stores.channels.edit(10, "猫")
        assert not await stores.channels.edit(11, "猫")

    @pytest.mark.parametrize("blank", ["", " ", "\u3164"])
    async def test_without_content_overwrites_nothing(
        self, stores: Stores, database: Database, blank: str
    ) -> None:
        await stores.channels.add(CHANNEL, said(10, "猫"))
        assert not await stores.channels.edit(10, blank)
        assert await archived(database) == {10: "猫"}

    async def test_leaves_answers_to_their_commits(self, stores: Stores) -> None:
        await stores.channels.commit_answer(CHANNEL, answer(20, "長い答え"), [])
        assert not await stores.channels.edit(20, "最初のページだけ")
        assert (await newest(stores)).content == "長い答え"

    async def test_reaches_a_question_of_a_session(self, stores: Stores) -> None:
        await ask_in_dm(stores, 10)
        assert await stores.channels.edit(10, "直した質問")
        assert await heard_in_dm(stores) == ["直した質問", "はい"]


class TestDeletion:
    async def test_removes_messages_and_that_they_wait(self, stores: Stores, database: Database) -> None:
        await stores.channels.add_all(CHANNEL, [said(10), said(11, "残る")])
        await stores.channels.add(THREAD, said(12), waiting=True)
        assert await stores.channels.delete([10, 12, 99]) == 2
        assert await archived(database) == {11: "残る"}
        assert await archived(database, THREAD) == {}
        assert await stores.mentions.list_places() == ()
        assert await stores.channels.delete([10, 12, 99]) == 0
        assert await stores.channels.delete([]) == 0

    @pytest.mark.parametrize("page", [20, 21, 22])
    async def test_of_any_page_removes_the_whole_answer(
        self, stores: Stores, database: Database, page: int
    ) -> None:
        await stores.channels.add(CHANNEL, said(10, "質問"), waiting=True)
        question = await stores.mentions.list_waiting(CHANNEL)
        await stores.channels.commit_answer(CHANNEL, answer(20), question)
        await stores.channels.add_pages(CHANNEL.place_id, 20, [21, 22])
        assert await stores.channels.delete([page]) == 1
        assert await archived(database) == {10: "質問"}
        assert await stores.channels.delete([20, 21, 22]) == 0
        assert await database.query("SELECT * FROM answer_pages") == []
        assert await stores.mentions.list_waiting(CHANNEL) == ()
        assert await stores.mentions.get_answer(10) is None

    async def test_of_a_page_that_was_dropped_leaves_the_answer(self, stores: Stores) -> None:
        await stores.channels.commit_answer(CHANNEL, answer(20), [])
        await stores.channels.add_pages(CHANNEL.place_id, 20, [21, 22])
        await stores.channels.drop_pages(CHANNEL.place_id, [22])
        assert await stores.channels.delete([22]) == 0
        assert (await newest(stores)).discord_id == 20
        assert await stores.channels.delete([21]) == 1

    async def test_of_the_posted_placeholder_leaves_the_question_waiting(self, stores: Stores) -> None:
        await stores.channels.add(CHANNEL, said(10), waiting=True)
        question = await stores.mentions.list_waiting(CHANNEL)
        await stores.mentions.note_answer(CHANNEL, question, 20)
        await stores.channels.delete([20])
        assert await stores.mentions.list_waiting(CHANNEL) == question
        assert await stores.mentions.get_pending_answer(CHANNEL) is None

    async def test_of_a_question_in_a_session_removes_it_with_its_files(
        self, stores: Stores, database: Database
    ) -> None:
        await ask_in_dm(stores, 10)
        await ask_in_dm(stores, 11, "次の質問")
        assert await stores.channels.delete([10]) == 1
        assert await heard_in_dm(stores) == ["次の質問", "はい"]
        assert await attachments_kept(database) == 1


class TestHeard:
    async def test_is_the_end_of_what_a_question_says(self, stores: Stores) -> None:
        question = said(10, "何時から？\n[file: 会議.mp3]")
        await stores.channels.add(CHANNEL, question, waiting=True)
        await stores.channels.note_heard(CHANNEL, question, "十時です")
        [waiting] = await stores.mentions.list_waiting(CHANNEL)
        assert (waiting.content, waiting.heard) == (f"{question.content}\n十時です", "十時です")

    async def test_stays_where_what_was_typed_is_edited(self, stores: Stores, database: Database) -> None:
        question = said(10, "何時から？")
        await stores.channels.add(CHANNEL, question, waiting=True)
        await stores.channels.note_heard(CHANNEL, question, "十時です")
        assert not await stores.channels.edit(10, "何時から？")
        assert await stores.channels.edit(10, "いつから？")
        assert await archived(database) == {10: "いつから？\n十時です"}

    async def test_stands_below_what_was_typed_and_not_below_what_the_model_was_told_of_it(
        self, stores: Stores, database: Database
    ) -> None:
        await stores.channels.add(CHANNEL, said(10, "何時から？"), waiting=True)
        for _ in range(2):
            await stores.channels.note_heard(CHANNEL, said(10, "何時から？\n[not shown]"), "十時です")
        assert await archived(database) == {10: "何時から？\n十時です"}

    async def test_is_noted_for_whoever_said_it_alone(self, stores: Stores, database: Database) -> None:
        question = said(10, "何時から？", author_id=7)
        await stores.channels.add(CHANNEL, question)
        await stores.channels.note_heard(CHANNEL, said(10, "何時から？", author_id=8), "十時です")
        assert await archived(database) == {10: "何時から？"}

    async def test_is_no_edit_of_the_question(self, stores: Stores) -> None:
        question = said(10, "何時から？")
        await stores.channels.add(CHANNEL, question, waiting=True)
        await stores.channels.note_heard(CHANNEL, question, "十時です")
        [asked] = await stores.mentions.list_waiting(CHANNEL)
        await stores.channels.commit_answer(CHANNEL, answer(20), [asked])
        assert await stores.mentions.list_edited(CHANNEL) == ()
