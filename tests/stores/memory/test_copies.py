"""The copies of a memory that go with it: tool calls, summaries, canvases, and conversations if wanted."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cc_bot.domain import Attachment, Message, SessionKey, ToolCall
from cc_bot.domain.canvas import AddCard, Canvas, Card, Drawn
from cc_bot.domain.memory import Memory
from cc_bot.storage import Database, Statement
from cc_bot.stores import MemoryRemovalStore, Stores
from tests.stores.backends import KEY, OTHER_USER, Recorder, contents
from tests.stores.forgetting import (
    FACT,
    MARK,
    ME,
    NUMBER,
    YOU,
    calls_of,
    everything,
    recalled,
    remembered,
    stored,
    summarized,
)
from tests.stores.places import CHANNEL, answer, archived, freeze, frozen, said


class TestToolCalls:
    async def test_of_the_memory_are_redacted_and_the_others_stay(self, stores: Stores) -> None:
        safe = await stores.memories.add(ME, FACT)
        cat = await stores.memories.add(ME, "猫はタマ")
        await stored(stores, "覚えて", "はい", remembered(safe), remembered(cat, "9"))
        await stored(stores, "何番？", "はい", recalled(safe, cat))
        other = ToolCall("3", "draw", json.dumps({"text": FACT}), "{}")
        await stored(stores, "描いて", "はい", other)
        erased = await stores.memory_removal.erase(ME, safe.id)
        assert erased is not None
        assert erased.tool_calls == 2
        first, kept, second, drawn = await calls_of(stores)
        for call, name in ((first, "remember"), (second, "recall")):
            assert (call.name, json.loads(call.arguments), json.loads(call.result)) == (
                *(name, {"forgotten": True}),
                {"forgotten": True},
            )
        assert kept == remembered(cat, "9")
        assert drawn == other

    @pytest.mark.parametrize(
        "call",
        [
            ToolCall("1", "remember", json.dumps({"content": FACT}), '{"error": "…"}', ok=False),
            ToolCall("1", "recall", json.dumps({"query": "ZEBRA-4711とは 金庫の番号はZebra-4711?"}), "{}"),
            ToolCall("1", "list_memories", "{}", f"not json: {FACT}"),
            ToolCall("1", "update_memory", json.dumps({"id": "#{id}", "content": "?"}), "{}"),
            ToolCall("1", "update_memory", '{"id": 99}', '{"updated": {"id": 99, "ref": {id}}}'),
            ToolCall("1", "forget", '{"id": 99}', '{"proposed": true, "ref": {id}}'),
            ToolCall("1", "list_memories", "{}", '{"memories": [{"id": {id}, "content": "?"}]}'),
        ],
        ids=lambda call: call.name,
    )
    async def test_are_found_by_text_and_by_number(self, stores: Stores, call: ToolCall) -> None:
        memory = await stores.memories.add(ME, FACT)
        arguments, result = (text.replace("{id}", str(memory.id)) for text in (call.arguments, call.result))
        await stored(stores, "?", "はい", ToolCall(call.id, call.name, arguments, result, call.ok))
        erased = await stores.memory_removal.erase(ME, memory.id)
        assert erased is not None
        assert erased.tool_calls == 1
        [redacted] = await calls_of(stores)
        assert json.loads(redacted.arguments) == {"forgotten": True}

    async def test_of_another_whose_number_is_that_ones_row_stay(self, stores: Stores) -> None:
        await stores.memories.add(YOU, "ずれる")
        erased = await stores.memories.add(ME, FACT)
        cat = await stores.memories.add(ME, "猫はタマ")
        assert (erased.id, cat.number) == (2, 2)
        await stored(stores, "?", "はい", call := recalled(cat))
        await stores.memory_removal.erase(ME, erased.id)
        assert await calls_of(stores) == [call]

    @pytest.mark.parametrize(
        "arguments", ['{"id": "' + "9" * 5000 + '"}', '{"id": ' + "[" * 900 + "1" + "]" * 900 + "}"]
    )
    async def test_are_stored_and_redacted_whatever_a_model_wrote(
        self, stores: Stores, arguments: str
    ) -> None:
        safe = await stores.memories.add(ME, FACT)
        odd = ToolCall("1", "recall", arguments, recalled(safe).result)
        await stored(stores, "何番？", "はい", odd)
        assert await calls_of(stores) == [odd]
        await stores.memory_removal.erase(ME, safe.id)
        [call] = await calls_of(stores)
        assert json.loads(call.result) == {"forgotten": True}

    async def test_of_a_former_text_are_redacted(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, "?", "はい", recalled(memory))
        await stores.memories.update(ME, memory.id, content="金庫は捨てた")
        await stores.memory_removal.erase(ME, memory.id)
        assert NUMBER not in await everything(database)

    async def test_in_answers_of_channels_are_redacted(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        question = said(10, "覚えて", author_id=ME)
        await stores.channels.add(CHANNEL, question, waiting=True)
        replied = answer(11, "覚えました", tool_calls=(remembered(memory),))
        await stores.channels.commit_answer(CHANNEL, replied, [question])
        erased = await stores.memory_removal.erase(ME, memory.id)
        assert erased is not None
        assert (erased.tool_calls, erased.told_in) == (1, 2)
        assert NUMBER not in await everything(database)

    async def test_in_replaced_and_closed_conversations_are_redacted(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        replaced = await stored(stores, "?", "はい", recalled(memory))
        session = await stores.sessions.open(KEY)
        await stores.sessions.commit_turn(session, [Message("assistant", "また")], replaces=replaced)
        await stores.sessions.clear(KEY)
        await stores.memories.delete(ME, memory.id)
        await stores.memory_removal.purge(datetime.now(UTC))
        assert NUMBER not in await everything(database)

    async def test_of_thousands_of_answers_are_found(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        other = await stores.memories.add(ME, "猫")
        for number in range(450):
            await stored(stores, "?", "はい", recalled(memory if number % 200 == 0 else other))
        erased = await stores.memory_removal.erase(ME, memory.id)
        assert erased is not None
        assert erased.tool_calls == 3
        assert NUMBER not in await everything(database)


class TestRunningTurn:
    @pytest.mark.parametrize("way", ["erase", "erase_all", "purge"])
    async def test_that_ends_after_the_erasure_does_not_bring_the_text_back(
        self, stores: Stores, database: Database, way: str
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        session = await stores.sessions.open(KEY)
        if way == "erase_all":
            await stores.memory_removal.erase_all(ME)
        elif way == "erase":
            await stores.memory_removal.erase(ME, memory.id)
        else:
            await stores.memories.delete(ME, memory.id)
            await stores.memory_removal.purge(datetime.now(UTC))
        cat = await stores.memories.add(ME, "猫はタマ")
        calls = (recalled(memory), remembered(cat))
        await stores.sessions.commit_turn(
            session, [Message("user", "?"), Message("assistant", "はい", tool_calls=calls)]
        )
        gone, kept = await calls_of(stores)
        assert (json.loads(gone.result), kept) == ({"forgotten": True}, remembered(cat))
        assert NUMBER not in await everything(database)

    async def test_in_a_channel_does_not_either(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        question = said(10, "金庫は？", author_id=ME)
        await stores.channels.add(CHANNEL, question, waiting=True)
        await stores.memory_removal.erase(ME, memory.id)
        replied = answer(11, "はい", tool_calls=(recalled(memory),))
        await stores.channels.commit_answer(CHANNEL, replied, [question])
        assert NUMBER not in await everything(database)

    async def test_that_ends_while_the_text_is_looked_for_does_not_either(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        session = await stores.sessions.open(KEY)
        late = Message("assistant", "はい", tool_calls=(recalled(memory),))
        meanwhile = Meanwhile(database, stores.sessions.commit_turn(session, [Message("user", "?"), late]))
        await MemoryRemovalStore(meanwhile).erase(ME, memory.id)
        assert meanwhile.happened
        [call] = await calls_of(stores)
        assert json.loads(call.result) == {"forgotten": True}
        assert NUMBER not in await everything(database)

    async def test_may_be_about_a_memory_that_can_still_be_had_back(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stores.memories.delete(ME, memory.id)
        await stored(stores, "忘れて", "はい", recalled(memory))
        assert await calls_of(stores) == [recalled(memory)]

    async def test_that_names_someone_elses_memory_learns_nothing_of_it(self, stores: Stores) -> None:
        yours = await stores.memories.add(YOU, FACT)
        await stored(stores, "?", "はい", recalled(yours))
        [call] = await calls_of(stores)
        assert json.loads(call.result) == {"forgotten": True}


class Meanwhile(Recorder):
    """A connection during whose first reading of tool calls something else happens."""

    happened = False

    def __init__(self, database: Database, event: Any) -> None:
        super().__init__(database)
        self._event = event

    async def query(self, sql: str, *params: Any) -> Any:
        found = await super().query(sql, *params)
        if not self.happened and "memory_user_id" in sql:
            self.happened = True
            await self._event
        return found


class TestSummaries:
    async def test_that_hold_the_text_or_were_made_of_its_turns_are_deleted(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, "何番？", "はい", recalled(memory))
        await summarized(stores, "- 金庫の話をした")
        elsewhere = SessionKey(ME, KEY.channel_id + 1)
        await stored(stores, "?", "はい", key=elsewhere)
        await summarized(stores, f"- {FACT}", elsewhere)
        unrelated = SessionKey(ME, KEY.channel_id + 2)
        await stored(stores, "?", "はい", key=unrelated)
        await summarized(stores, "- 天気の話", unrelated)
        erased = await stores.memory_removal.erase(ME, memory.id)
        assert erased is not None
        assert erased.summaries == 2
        assert [await stores.summaries.list_current(key) for key in (KEY, elsewhere)] == [(), ()]
        assert len(await stores.summaries.list_current(unrelated)) == 1

    async def test_of_what_was_said_in_public_stay_when_it_was_used_in_private(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, "天気は？", "晴れ")
        await stored(stores, "何番？", "はい", recalled(memory), visibility="private")
        await summarized(stores, "- 話をした")
        await stores.memory_removal.erase(ME, memory.id)
        assert [each.visibility for each in await stores.summaries.list_current(KEY)] == ["public"]

    @pytest.mark.parametrize("way", ["erase", "purge"])
    async def test_are_made_no_more_of_what_was_said_until_then(self, stores: Stores, way: str) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, f"{FACT}。覚えて", "はい")
        running = await stores.summaries.get_backlog(KEY)
        assert running is not None
        if way == "erase":
            await stores.memory_removal.erase(ME, memory.id)
        else:
            await stores.memories.delete(ME, memory.id)
            await stores.memory_removal.purge(datetime.now(UTC))
        assert not await stores.summaries.put(running, {"public": FACT})
        assert await stores.summaries.get_backlog(KEY) is None
        await stored(stores, "次の話", "はい")
        backlog = await stores.summaries.get_backlog(KEY)
        assert backlog is not None
        assert contents(backlog.messages) == ["次の話", "はい"]

    async def test_that_are_being_written_from_a_deleted_one_are_not_stored(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, "何番？", "はい", recalled(memory))
        await summarized(stores, f"- {FACT}")
        await stored(stores, "別の話", "はい")
        running = await stores.summaries.get_backlog(KEY)
        assert running is not None
        await stores.memory_removal.erase(ME, memory.id)
        assert not await stores.summaries.put(running, {"public": f"- {FACT} - 別の話"})


class TestCanvas:
    async def test_loses_the_elements_that_hold_the_text(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stores.sessions.open(KEY)
        elements = [{"kind": "card", "lines": ["天気", FACT]}, {"kind": "text", "text": "晴れ"}]
        put = "UPDATE sessions SET canvas_state = $1"
        await database.transaction([Statement(put, (json.dumps({"elements": elements}),))], ())
        await stores.memory_removal.erase(ME, memory.id)
        [(canvas,)] = await database.query("SELECT canvas_state FROM sessions")
        assert json.loads(canvas) == {"elements": elements[1:]}

    async def test_loses_the_call_that_drew_it_and_its_message_is_behind(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        arguments = json.dumps({"title": "金庫", "content": FACT}, ensure_ascii=False)
        call = ToolCall("1", "canvas_add_card", arguments, '{"id": "card-1"}')
        session = await stores.sessions.open(KEY)
        exchange = [Message("user", "出して"), Message("assistant", "はい", tool_calls=(call,))]
        cards = [Drawn(AddCard(*card), "public") for card in (("金庫", FACT), ("天気", "晴れ"))]
        await stores.sessions.commit_turn(session, exchange, drawn=cards)
        seen = await stores.canvases.get(KEY)
        assert seen is not None
        await stores.canvases.note_message(KEY, 5, seen.revision)
        await stores.memory_removal.erase(ME, memory.id)
        assert (await stores.sessions.open(KEY)).canvas == Canvas((Card("card-2", "天気", "晴れ"),))
        assert await stores.canvases.list_stale(5) == [KEY]
        [(calls,)] = await database.query("SELECT tool_calls FROM messages WHERE role = 'assistant'")
        assert FACT not in calls

    @pytest.mark.parametrize("canvas", [f"not json {FACT}", json.dumps({"title": FACT, "elements": []})])
    async def test_of_an_unknown_form_is_emptied(
        self, stores: Stores, database: Database, canvas: str
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stores.sessions.open(KEY)
        await database.transaction([Statement("UPDATE sessions SET canvas_state = $1", (canvas,))], ())
        await stores.memory_removal.erase(ME, memory.id)
        assert await database.query("SELECT canvas_state FROM sessions") == [('{"elements":[]}',)]


class TestConversations:
    @pytest.fixture
    async def safe(self, stores: Stores) -> Memory:
        """A memory that was told, kept, used and spoken of."""
        memory = await stores.memories.add(ME, FACT)
        file = Attachment("memo.txt", "text/plain", FACT.encode())
        await stored(stores, "これ、覚えておいて", "覚えました。", remembered(memory), attachments=(file,))
        await stored(stores, "何番だっけ？", "ZEBRA-4711です。", recalled(memory))
        await stored(stores, "そう、金庫の番号はzebra-4711", "はい。")
        await stored(stores, "天気は？", "晴れです。")
        return memory

    async def test_are_left_alone_and_counted(self, stores: Stores, safe: Memory) -> None:
        assert await stores.memory_removal.count_messages(ME, safe.id) == 4
        erased = await stores.memory_removal.erase(ME, safe.id)
        assert erased is not None
        assert (erased.told_in, erased.messages) == (4, 0)
        history = (await stores.sessions.open(KEY)).history
        assert "そう、金庫の番号はzebra-4711" in contents(history)
        assert history[0].attachments

    async def test_are_emptied_where_their_user_wants_it(
        self, stores: Stores, database: Database, safe: Memory
    ) -> None:
        erased = await stores.memory_removal.erase(ME, safe.id, mark=MARK)
        assert erased is not None
        assert (erased.told_in, erased.messages) == (0, 4)
        history = (await stores.sessions.open(KEY)).history
        assert contents(history) == [
            *(MARK, MARK, "何番だっけ？", MARK, MARK, "はい。", "天気は？", "晴れです。")
        ]
        assert not any(message.attachments for message in history)
        assert NUMBER not in await everything(database)

    async def test_are_emptied_of_what_was_heard_too(self, stores: Stores, database: Database) -> None:
        safe = await stores.memories.add(ME, FACT)
        session = await stores.sessions.open(KEY)
        spoken = Message("user", FACT, heard=FACT)
        call = (Message("assistant", "はい", tool_calls=(remembered(safe),)),)
        await stores.sessions.archive_turn(session, (spoken, *call))
        await stores.memory_removal.erase(ME, safe.id, mark=MARK)
        assert await database.query("SELECT content, heard FROM messages WHERE role = 'user'") == [(MARK, "")]

    async def test_are_emptied_with_everything(self, stores: Stores, database: Database) -> None:
        memories = [await stores.memories.add(ME, f"{FACT}-第{number:03}") for number in range(60)]
        await stored(stores, f"あのね、{FACT}-第041 だよ", "第041 ですね")
        await stored(stores, "金庫の番号はZEBRA-4711-第059", "はい", remembered(memories[3]))
        erased = await stores.memory_removal.erase_all(ME, mark=MARK)
        assert (erased.memories, erased.messages) == (60, 3)
        rest = await everything(database)
        assert "第059" not in rest
        assert rest.count("第041") == 1

    async def test_in_channels_are_emptied_and_their_blocks_thaw(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        question, bystander = said(10, "これ覚えて", author_id=ME), said(12, "へえ", author_id=YOU)
        await stores.channels.add(CHANNEL, question, waiting=True)
        replied = answer(11, f"覚えました: {FACT}", tool_calls=(remembered(memory),))
        await stores.channels.commit_answer(CHANNEL, replied, [question])
        await stores.channels.add(CHANNEL, bystander)
        await freeze(database, CHANNEL, (10, 12))
        erased = await stores.memory_removal.erase(ME, memory.id, mark=MARK)
        assert erased is not None
        assert erased.messages == 2
        assert await archived(database) == {10: MARK, 11: MARK, 12: "へえ"}
        assert await frozen(database) == []

    async def test_stay_emptied_when_discord_tells_of_an_edit(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, FACT)
        question = said(10, FACT, author_id=ME)
        await stores.channels.add(CHANNEL, question, waiting=True)
        await stores.channels.commit_answer(CHANNEL, answer(11, tool_calls=(remembered(memory),)), [question])
        await stores.memory_removal.erase(ME, memory.id, mark=MARK)
        assert not await stores.channels.edit(10, FACT)
        assert not await stores.channels.add(CHANNEL, question, waiting=True)
        assert await stores.mentions.list_edited(CHANNEL) == ()
        assert NUMBER not in await everything(database)

    async def test_of_others_are_never_touched(self, stores: Stores) -> None:
        await stored(stores, FACT, FACT, key=OTHER_USER)
        memory = await stores.memories.add(ME, FACT)
        erased = await stores.memory_removal.erase(ME, memory.id, mark=MARK)
        assert erased is not None
        assert erased.messages == 0
        assert contents((await stores.sessions.open(OTHER_USER)).history) == [FACT, FACT]

    async def test_are_found_in_any_script_width_and_case(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "ｶﾌｪの名前は Blue")
        await stored(stores, "カフェの名前は ＢＬＵＥ だよ", "はい")
        assert await stores.memory_removal.count_messages(ME, memory.id) == 1
        assert await stores.memory_removal.count_messages(YOU, memory.id) == 0
