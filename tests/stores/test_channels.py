"""The archive of channels: what is kept, what is changed, and what is removed."""

from dataclasses import replace

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.session import SessionKey
from tests.stores.backends import got
from tests.stores.conversation import attachments_kept
from tests.stores.locations import (
    CHANNEL,
    DM,
    THREAD,
    answer,
    archived,
    ask_in_dm,
    heard_in_dm,
    list_edited,
    list_waiting,
    read_page,
    said,
)


async def newest(stores: Stores, key: ChannelKey = CHANNEL) -> Message:
    return got(await stores.channels.get_newest_answer(key))


class TestWhatIsRepliedTo:
    async def test_is_found_whole_in_its_location_and_for_whom_it_was_said(self, stores: Stores) -> None:
        async def found(discord_id: int, location_id: int, user_id: int = 99) -> tuple[int, str, int | None]:
            each, _ = await stores.channels.get_if_readable(discord_id, location_id, user_id)
            return (each.user_id, each.message.content, each.message.discord_id) if each else (0, "", None)

        nothing = (0, "", None)
        await stores.channels.add(CHANNEL, said(10, "ここで"))
        assert await found(10, CHANNEL.location_id) == (0, "ここで", 10)
        assert await found(10, THREAD.location_id) == await found(11, CHANNEL.location_id) == nothing
        await stores.channels.add(CHANNEL, answer(20, "長い答え"))
        await stores.channels.add_pages(CHANNEL.location_id, 20, [21])
        assert await found(21, CHANNEL.location_id) == (0, "長い答え", 20)
        await stores.channels.add(CHANNEL, said(22, "賛成", reply_to=21))
        [row] = await read_page(stores, CHANNEL, first=22, before=23, limit=5)
        assert (row.reply_to, row.replied, row.replied_name) == (20, "長い答え", None)
        await ask_in_dm(stores, 30, "秘密の質問")
        assert await found(30, DM.channel_id, DM.user_id + 1) == nothing
        assert await found(30, DM.channel_id, DM.user_id) == (DM.user_id, "秘密の質問", 30)

    async def test_is_told_with_the_message_until_deleted_or_reset(self, stores: Stores) -> None:
        await stores.channels.add_all(CHANNEL, [said(10, "あ" * 90), said(11, "賛成", reply_to=10)])
        await stores.channels.add_all(THREAD, [said(12, "よそから", reply_to=10)])

        async def replied(key: ChannelKey = CHANNEL, first: int = 11, reset: int = 0) -> str | None:
            [row] = await read_page(stores, key, first=first, before=first + 1, limit=5, reset_id=reset)
            return row.replied

        assert await replied() == "あ" * 60
        assert await replied(THREAD, 12) is None
        assert await replied(reset=10) is None
        await stores.channels.delete([10])
        assert await replied() is None


class TestMessage:
    async def test_is_kept_once_as_it_was_first_said(self, stores: Stores, database: Database) -> None:
        assert await stores.channels.add(CHANNEL, said(10, "最初"))
        assert not await stores.channels.add(CHANNEL, said(10, "二度目"))
        assert not await stores.channels.add(THREAD, said(10, "よその二度目"), is_question=True)
        for number, blank in enumerate(("", " \n\u3000", "\u3164")):
            assert not await stores.channels.add(CHANNEL, said(11 + number, blank), is_question=True)
        assert await stores.ledger.list_channels() == ()
        page = [said(20, "猫\ud83d"), said(21, "a\0b"), said(22, "\\u0000"), said(23, "\0"), said(24, "")]
        assert await stores.channels.add_all(CHANNEL, [*page, said(10, "また")]) == 3
        assert await stores.channels.add_all(CHANNEL, []) == 0
        assert await archived(database) == {10: "最初", 20: "猫?", 21: "ab", 22: "\\u0000"}
        assert await archived(database, THREAD) == {}

    async def test_comes_back_with_all_that_was_kept_of_it(self, stores: Stores) -> None:
        call = ToolCall("c1", "recall", '{"query": "猫"}', '"猫が好き"')
        text = '三毛猫です。"引用" \\ 100% 🐈'
        mine = answer(175928847299117063, text, tool_calls=(call,), status="stopped")
        await stores.channels.add(CHANNEL, mine)
        kept = await newest(stores)
        # Who knows what its model had read: it is tainted.
        assert kept == replace(mine, tainted=True, created_at=kept.created_at)

    async def test_of_a_session_is_not_taken_over(self, stores: Stores, database: Database) -> None:
        await ask_in_dm(stores, 10)
        session = await stores.sessions.open(SessionKey(7, CHANNEL.channel_id))
        await stores.sessions.commit_turn(session, [said(30), answer(31)])
        await stores.channels.archive_answer(CHANNEL, answer(20), [])
        for number in (10, 30, 31, 20):
            assert not await stores.channels.add(CHANNEL, said(number, "同じ番号"), is_question=True)
        assert await stores.ledger.list_channels() == ()
        assert await archived(database) == {20: answer(20).content}
        assert await heard_in_dm(stores) == ["秘密の質問", "はい"]


class TestEdit:
    async def test_changes_what_was_said_and_nothing_else(self, stores: Stores, database: Database) -> None:
        await stores.channels.add_all(CHANNEL, [said(10, "犬"), said(11, "犬")])
        await stores.channels.archive_answer(CHANNEL, answer(20, "長い答え"), [])
        await ask_in_dm(stores, 30)
        assert await stores.channels.edit(10, "猫")
        assert await stores.channels.edit(30, "直した質問")
        for discord_id, text in ((10, "猫"), (99, "猫"), (10, ""), (10, " "), (10, "\u3164"), (20, "一枚目")):
            assert not await stores.channels.edit(discord_id, text), (discord_id, text)
        assert await archived(database) == {10: "猫", 11: "犬", 20: "長い答え"}
        assert await heard_in_dm(stores) == ["直した質問", "はい"]


class TestDeletion:
    async def test_of_any_page_removes_the_whole_answer(self, stores: Stores, database: Database) -> None:
        for number, page in enumerate((20, 21, 22)):
            await stores.channels.add(CHANNEL, said(10 + number, "質問"), is_question=True)
            question = await list_waiting(stores, CHANNEL)
            await stores.channels.archive_answer(CHANNEL, answer(20), question)
            await stores.channels.add_pages(CHANNEL.location_id, 20, [21, 22])
            assert await stores.channels.delete([page]) == 1
            assert await stores.channels.delete([20, 21, 22]) == 0
            assert 20 not in await archived(database)
            assert await database.query("SELECT * FROM answer_pages") == []
            assert await list_waiting(stores, CHANNEL) == ()
            assert await stores.ledger.get_answer_message_id(10 + number) is None
        assert await archived(database) == dict.fromkeys((10, 11, 12), "質問")

    async def test_of_a_dropped_page_or_placeholder_removes_nothing_else(self, stores: Stores) -> None:
        await stores.channels.archive_answer(CHANNEL, answer(20), [])
        await stores.channels.add_pages(CHANNEL.location_id, 20, [21, 22])
        await stores.channels.drop_pages(CHANNEL.location_id, [22])
        assert await stores.channels.delete([22]) == 0
        assert (await newest(stores)).discord_id == 20
        await stores.channels.add(CHANNEL, said(30), is_question=True)
        question = await list_waiting(stores, CHANNEL)
        await stores.ledger.begin_answer(CHANNEL, question, 30)
        await stores.ledger.set_mention_answer(CHANNEL, question, 40)
        await stores.channels.delete([40])
        assert await list_waiting(stores, CHANNEL) == question
        [due] = await stores.ledger.list_due(CHANNEL)
        assert (due.nonce_question_id, due.shown_in) == (30, None)

    async def test_of_a_sessions_question_takes_its_files(self, stores: Stores, database: Database) -> None:
        await ask_in_dm(stores, 10)
        await ask_in_dm(stores, 11, "次の質問")
        assert await stores.channels.delete([10]) == 1
        assert await heard_in_dm(stores) == ["次の質問", "はい"]
        assert await attachments_kept(database) == 1


class TestHeard:
    async def test_is_the_end_of_its_question_and_no_edit(self, stores: Stores, database: Database) -> None:
        question = said(10, "何時から？\n[file: 会議.mp3]")
        await stores.channels.add(CHANNEL, question, is_question=True)
        other = said(10, question.content, author_id=8)
        await stores.channels.store_transcript(CHANNEL, other, "他人の言葉")
        shown = said(10, f"{question.content}\n[not shown]")  # as the model was told of it
        for each in (shown, question):
            await stores.channels.store_transcript(CHANNEL, each, "十時です")
        [waiting] = await list_waiting(stores, CHANNEL)
        assert (waiting.content, waiting.heard) == (f"{question.content}\n十時です", "十時です")
        await stores.channels.archive_answer(CHANNEL, answer(20), [waiting])
        assert await list_edited(stores, CHANNEL) == ()
        assert not await stores.channels.edit(10, question.content)
        assert await stores.channels.edit(10, "いつから？")
        assert (await archived(database))[10] == "いつから？\n十時です"
