"""Stored tool calls refer to memories: what a memory says is looked up when they are read."""

import json
from dataclasses import replace

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.tool_calls import UNAVAILABLE
from cc_bot.features.memory.model import Source
from tests.stores.backends import KEY, OTHER_USER
from tests.stores.forgetting import FACT, NUMBER, calls_of, everything, recalled, remembered, stored
from tests.stores.locations import CHANNEL, answer, said
from tests.stores.memory.notes import ME, YOU, keep


def said_by(call: ToolCall) -> object:
    return json.loads(call.arguments), json.loads(call.result)


class TestStoredCalls:
    async def test_say_what_they_said(self, stores: Stores) -> None:
        [memory, cat] = await keep(stores, FACT, "猫はタマ")
        other = ToolCall("3", "draw", '{"text": "x"}', '{"ref": 1, "content": "y"}')
        calls = (remembered(memory), recalled(memory, cat), other)
        await stored(stores, "覚えて", "はい", *calls)
        assert await calls_of(stores) == list(calls)

    async def test_hold_no_text_of_a_memory(self, stores: Stores, database: Database) -> None:
        [memory] = await keep(stores, FACT)
        await stored(stores, "覚えて", "はい", remembered(memory), recalled(memory))
        await stores.channels.add(CHANNEL, question := said(10, "覚えて", author_id=ME), is_question=True)
        done = answer(11, "はい", tool_calls=(remembered(memory),))
        await stores.channels.archive_answer(CHANNEL, done, [question])
        await stores.ledger.note_calls("turn", ME, [remembered(memory)])
        await stores.memory_removal.erase(ME, memory.id)
        assert NUMBER not in await everything(database)

    async def test_say_what_a_memory_says_now(self, stores: Stores) -> None:
        [memory] = await keep(stores, "東京在住")
        await stored(stores, "覚えて", "はい", remembered(memory), recalled(memory))
        now = await stores.memories.update(ME, memory.id, content="大阪在住")
        assert now is not None
        await stores.memories.delete(ME, memory.id)
        assert await calls_of(stores) == [remembered(now), recalled(now)], "as long as it can be had back"

    async def test_of_an_erased_memory_say_so_and_lose_their_sealed_reasoning(self, stores: Stores) -> None:
        [memory, cat] = await keep(stores, FACT, "猫はタマ")
        kept = replace(remembered(memory), native='{"by": "a"}')
        await stored(stores, "覚えて", "はい", kept, recalled(memory, cat), recalled(cat))
        await stores.memory_removal.erase(ME, memory.id)
        first, second, third = await calls_of(stores)
        assert said_by(first) == (UNAVAILABLE, {"remembered": UNAVAILABLE})
        assert first.native == "{}"
        _, cats = json.loads(second.result)["memories"]
        assert json.loads(second.result)["memories"] == [UNAVAILABLE, cats]
        assert cats["content"] == "猫はタマ"
        assert third == recalled(cat)

    async def test_never_say_another_users(self, stores: Stores) -> None:
        [yours] = await keep(stores, FACT, user_id=YOU)
        await stored(stores, "?", "はい", recalled(yours))
        await stored(stores, "?", "はい", recalled(yours), key=OTHER_USER)
        assert said_by((await calls_of(stores))[0]) == ({"query": "金庫"}, {"memories": [UNAVAILABLE]})
        assert await calls_of(stores, OTHER_USER) == [recalled(yours)]

    async def test_that_others_read_never_say_what_was_made_private_since(self, stores: Stores) -> None:
        [memory] = await keep(stores, FACT)
        await stored(stores, "?", "はい", recalled(memory))
        await stored(stores, "?", "はい", recalled(memory, call_id="9"), visibility="private")
        await stores.memories.update(ME, memory.id, audience="private")
        public, private = await calls_of(stores)
        assert json.loads(public.result) == {"memories": [UNAVAILABLE]}
        assert private == recalled(memory, call_id="9")

    async def test_in_other_peoples_words_taint_their_answer(self, stores: Stores) -> None:
        [memory] = await keep(stores, FACT)
        foreign = await stores.memories.add(ME, "他人の言葉", source=Source("import"))
        for each in (memory, foreign):
            turn = [
                Message("user", "?"),
                Message("assistant", "はい", tool_calls=(recalled(each),), tainted=False),
            ]
            await stores.sessions.commit_turn(await stores.sessions.open(KEY), turn)
        history = (await stores.sessions.open(KEY)).history
        assert [each.tainted for each in history if each.role == "assistant"] == [False, True]
