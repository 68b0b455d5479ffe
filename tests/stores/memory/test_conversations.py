import json

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import Attachment, Message, ToolCall
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.features.canvas.drawing import canvas_from_json, make_redraw
from cc_bot.features.canvas.model import Canvas, Card, Edit
from cc_bot.features.canvas.store import CanvasMessageStore
from cc_bot.features.memory.model import ErasureCounts, Memory
from tests.proposals import remembering
from tests.stores.backends import KEY, OTHER_USER, contents, got
from tests.stores.forgetting import FACT, MARK, NUMBER, everything, recalled, remembered, stored, summarized
from tests.stores.locations import CHANNEL, answer, archived, freeze, frozen, list_edited, said
from tests.stores.memory.notes import ME, YOU, keep


async def erase(stores: Stores, memory: Memory, mark: str | None = MARK) -> ErasureCounts:
    return got(await stores.memory_removal.erase(ME, memory.id, stub=mark))


async def answered_in_channel(
    stores: Stores, question: Message, text: str, *calls: ToolCall, bystander: Message | None = None
) -> None:
    await stores.channels.add(CHANNEL, question, is_question=True)
    await stores.channels.archive_answer(CHANNEL, answer(11, text, tool_calls=calls), [question])
    if bystander:
        await stores.channels.add(CHANNEL, bystander)


class TestSummaries:
    async def test_of_its_turns_alone_are_deleted(self, stores: Stores) -> None:
        [memory] = await keep(stores, FACT)
        await stored(stores, "何番？", "はい", recalled(memory))
        await summarized(stores, "- 金庫の話をした")
        unrelated, private = (SessionKey(ME, KEY.channel_id + n) for n in (1, 2))
        await stored(stores, "?", "はい", key=unrelated)
        await summarized(stores, "- 天気の話", unrelated)
        await stored(stores, "天気は？", "晴れ", key=private)
        await stored(stores, "何番？", "はい", recalled(memory), key=private, visibility="private")
        await summarized(stores, "- 話をした", private)
        assert (await erase(stores, memory)).summaries == 2
        left = [await stores.summaries.list_current(key) for key in (KEY, unrelated, private)]
        assert [[each.visibility for each in summaries] for summaries in left] == [[], ["public"], ["public"]]

    async def test_are_made_no_more_of_what_was_said_until_then(self, stores: Stores) -> None:
        [memory] = await keep(stores, FACT)
        await stored(stores, "覚えて", "はい", remembered(memory))
        running = got(await stores.summaries.get_backlog(KEY))
        await erase(stores, memory)
        assert not await stores.summaries.put(running, {"public": FACT})
        assert await stores.summaries.get_backlog(KEY) is None
        await stored(stores, "次の話", "はい")
        backlog = got(await stores.summaries.get_backlog(KEY))
        assert contents(backlog.messages) == ["次の話", "はい"]


class TestCanvas:
    async def test_loses_what_was_drawn_beside_a_call_about_it(
        self, stores: Stores, database: Database
    ) -> None:
        [memory] = await keep(stores, FACT)
        arguments = json.dumps({"title": "金庫", "content": FACT}, ensure_ascii=False)
        call = ToolCall("1", "canvas_add_card", arguments, '{"id": "card-1"}')
        session = await stores.sessions.open(KEY)
        exchange = [
            Message("user", "出して"),
            Message("assistant", "はい", tool_calls=(recalled(memory), call)),
        ]
        cards = [Edit(Card("", *card), "public") for card in (("金庫", FACT), ("天気", "晴れ"))]
        await stores.sessions.commit_turn(session, exchange, redraw=make_redraw(cards))
        seen = got(await stores.canvases.get(KEY))
        await stores[CanvasMessageStore].record(KEY, 5, seen.revision)
        await erase(stores, memory)
        assert canvas_from_json((await stores.sessions.open(KEY)).canvas) == Canvas(
            (Card("card-2", "天気", "晴れ"),)
        )
        assert await stores[CanvasMessageStore].list_outdated_keys(5) == [KEY]
        assert NUMBER not in await everything(database)


class TestProposals:
    async def test_of_an_answer_that_looked_it_up_are_deleted(self, stores: Stores) -> None:
        [memory], made = await keep(stores, FACT), list[Proposal]()
        for calls in ((recalled(memory),), ()):
            session = await stores.sessions.open(KEY)
            turn = [Message("user", "?"), Message("assistant", "はい", tool_calls=calls)]
            proposal = remembering(f"{FACT}です" if calls else "猫が好き")
            made += (await stores.sessions.store_turn(session, turn, proposals=[proposal])).proposals
        await erase(stores, memory)
        left = [await stores.proposals.get(ME, each.id) for each in made]
        assert left == [None, made[-1]]


class TestUnrelatedText:
    @pytest.mark.parametrize(
        ("memory", "said"),
        [
            ("5", "牛乳 5本、卵 10個"),
            ("Yokohama", "Yokohama is sunny"),
            ("lives in room 5", "Ken lives in room 50"),
            ("art is a passion", "Smart is a passion"),
        ],
    )
    async def test_that_only_contains_a_memory_stays(self, stores: Stores, memory: str, said: str) -> None:
        [kept] = await keep(stores, memory)
        session = await stores.sessions.open(KEY)
        card = Edit(Card("", "買い物", said), "public")
        await stores.sessions.commit_turn(
            session, [Message("user", said), Message("assistant", "はい")], redraw=make_redraw([card])
        )
        await summarized(stores, said)
        assert await erase(stores, kept) == ErasureCounts(memories=1)
        assert canvas_from_json((await stores.sessions.open(KEY)).canvas) == Canvas(
            (Card("card-1", "買い物", said),)
        )
        [summary] = await stores.summaries.list_current(KEY)
        assert summary.content == said


class TestConversations:
    @pytest.fixture
    async def safe(self, stores: Stores) -> Memory:
        [memory] = await keep(stores, FACT)
        file = Attachment("memo.txt", "text/plain", FACT.encode())
        await stored(
            *(stores, "これ、覚えておいて", "覚えました。", remembered(memory)),
            attachments=(file,),
            heard=FACT,
        )
        await stored(stores, "何番だっけ？", "ZEBRA-57110です。", recalled(memory))
        await stored(stores, "そう、金庫の番号はzebra-57110", "はい。")
        await stored(stores, "天気は？", "晴れです。")
        return memory

    async def test_are_left_alone_unless_it_is_wanted(self, stores: Stores, safe: Memory) -> None:
        await summarized(stores)
        assert await erase(stores, safe, mark=None) == ErasureCounts(memories=1)
        assert await stores.summaries.list_current(KEY)
        history = (await stores.sessions.open(KEY)).history
        assert "そう、金庫の番号はzebra-57110" in contents(history)
        assert history[0].attachments

    async def test_of_ones_own_are_emptied(self, stores: Stores, database: Database, safe: Memory) -> None:
        assert (await erase(stores, safe)).messages == 4
        history = (await stores.sessions.open(KEY)).history
        assert contents(history) == [
            *(MARK, MARK, "何番だっけ？", MARK, MARK, "はい。", "天気は？", "晴れです。")
        ]
        assert not any(message.attachments for message in history)
        assert NUMBER not in await everything(database), "not even as it was heard"
        [again] = await keep(stores, FACT)
        await stored(stores, FACT, FACT, key=OTHER_USER)
        assert (await erase(stores, again)).messages == 0
        assert contents((await stores.sessions.open(OTHER_USER)).history) == [FACT, FACT]

    async def test_are_emptied_with_everything(self, stores: Stores, database: Database) -> None:
        memories = await keep(stores, *(f"{FACT}-第{number:03}" for number in range(60)))
        await stored(stores, f"あのね、{FACT}-第041 だよ", "第041 ですね")
        await stored(stores, "金庫の番号はZEBRA-57110-第059", "はい", remembered(memories[3]))
        erased = await stores.memory_removal.erase_all(ME, stub=MARK)
        assert (erased.memories, erased.messages) == (60, 3)
        rest = await everything(database)
        assert "第059" not in rest
        assert rest.count("第041") == 1

    async def test_in_channels_are_emptied_and_stay_so(self, stores: Stores, database: Database) -> None:
        [memory] = await keep(stores, FACT)
        question, bystander = said(10, FACT, author_id=ME), said(12, "へえ", author_id=YOU)
        await answered_in_channel(
            *(stores, question, f"覚えました: {FACT}", remembered(memory)), bystander=bystander
        )
        await freeze(database, CHANNEL, (10, 12))
        assert (await erase(stores, memory)).messages == 2
        assert await frozen(database) == []
        assert not await stores.channels.edit(10, FACT), "which Discord may tell of late"
        assert not await stores.channels.add(CHANNEL, question, is_question=True)
        assert await list_edited(stores, CHANNEL) == ()
        assert await archived(database) == {10: MARK, 11: MARK, 12: "へえ"}
        assert NUMBER not in await everything(database)
