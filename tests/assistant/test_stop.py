import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cc_bot.chat.active import Stop
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import open_stores
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.errors import (
    BeingErased,
    DatabaseLocked,
    ModelError,
    ModelUnavailable,
    NotNewest,
    ShuttingDown,
)
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from tests.assistant.conftest import KEY, OPTIONS, Table, asked, call, done
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, Step, only

YOU = 7


class TestStop:
    async def test_before_the_first_word_stores_nothing(self, table: Table) -> None:
        stop = Stop()
        table.model.script = [[asyncio.Event()]]
        turn = await table.begin("お話して", stop=stop)
        stop.request()
        assert done(await turn).answer.status == "stopped"
        assert await table.said() == []

    async def test_of_a_waiting_turn_asks_no_model(self, table: Table) -> None:
        gate, stop = asyncio.Event(), Stop()
        table.model.script = [["一つ目", gate]]
        first = await table.begin("一つ目")
        second = asyncio.create_task(table.ask("二つ目", stop=stop))
        await asyncio.sleep(0)
        stop.request()
        assert done(await second).answer.status == "stopped"
        gate.set()
        await first
        assert await table.said() == ["一つ目", "一つ目"]
        assert len(table.model.requests) == 1

    async def test_by_cancelling_leaves_the_session_as_it_was(self, table: Table) -> None:
        table.model.script = [["途中まで", asyncio.Event()]]
        turn = await table.begin("途中")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await table.said(), table.model.ended_early) == ([], 1)
        assert (await table.answer("次")).content == "You said: 次"


async def test_a_time_limit_cuts_an_answer_that_never_ends(table: Table) -> None:
    table.assistant = Assistant(table.stores, only(table.model), discover_tools(), turn_limit_s=0.05)
    table.model.script = [["昔々、", asyncio.Event()]]
    assert (await table.answer("お話して")).status == "cut"


class TestDrain:
    async def test_cuts_the_rest_refuses_those_without_a_word_and_takes_no_new_ones(
        self, table: Table
    ) -> None:
        table.model.script = [["はじめ", asyncio.Event()], [asyncio.Event()]]
        begun, without_a_word = await table.begin("お話して"), await table.begin("?", key=SessionKey(YOU, 10))
        await table.assistant.turns.drain(0.01)
        assert done(await begun).answer.status == "cut"
        assert await table.said() == ["お話して", "はじめ"]
        for turn in (without_a_word, asyncio.create_task(table.ask("まだいい？"))):
            with pytest.raises(ShuttingDown):
                await turn


class TestErasure:
    """A user who is being forgotten."""

    async def test_ends_their_turns_without_a_trace_also_those_in_line_and_temporary_ones(
        self, table: Table
    ) -> None:
        table.model.script = [["昔々、", asyncio.Event()]] * 2
        turns = [await table.begin("お話して")]
        turns += [asyncio.create_task(table.ask("二つ目"))]
        temporary, elsewhere = replace(OPTIONS, temporary=True), replace(KEY, channel_id=11)
        turns += [asyncio.create_task(table.ask("内緒で", key=elsewhere, options=temporary))]
        await asyncio.sleep(0)
        async with table.assistant.turns.block_user(KEY.user_id):
            assert all(turn.done() for turn in turns)
        for turn in turns:
            with pytest.raises(BeingErased):
                await turn
        assert (await table.said(), await table.said(elsewhere)) == ([], [])

    async def test_ends_a_turn_of_a_channel(self, table: Table) -> None:
        table.model.script = [["あなたへ", asyncio.Event()]]
        turn = asyncio.create_task(table.ask_in(ChannelKey(3), asked(11, "あなた", YOU)))
        await table.model.asked()
        async with table.assistant.turns.block_user(YOU):
            pass
        with pytest.raises(BeingErased):
            await turn
        assert await table.stores.channels.get_newest_answer(ChannelKey(3)) is None

    async def test_lets_none_of_theirs_begin_meanwhile_and_others_go_on(self, table: Table) -> None:
        table.model.script = [["はい"], ["もちろん"]]
        async with table.assistant.turns.block_user(YOU):
            with pytest.raises(BeingErased):
                await table.ask("まだですか", key=SessionKey(YOU, 10))
            assert (await table.answer("いいですか")).content == "はい"
        assert (await table.answer("もういいですか", key=SessionKey(YOU, 10))).content == "もちろん"


class TestRegenerate:
    async def test_puts_a_new_answer_in_the_location_of_the_newest(self, table: Table) -> None:
        table.model.script = [["古い答え"], ["新しい答え"]]
        old = await table.answer("質問")
        assert done(await table.regenerate(old)).answer.content == "新しい答え"
        assert await table.said() == ["質問", "新しい答え"]
        assert "古い答え" not in table.shown()
        await table.ask("別の質問")
        with pytest.raises(NotNewest):
            await table.regenerate(old)
        assert len(await table.said()) == 4

    @pytest.mark.parametrize("before", [[], [call("recall", query="質問")]], ids=["at once", "after a tool"])
    async def test_that_fails_leaves_the_old_answer(self, table: Table, before: list[Step]) -> None:
        old = await table.answer("質問")
        failure: ModelError = ModelUnavailable()
        table.model.script = [before, [failure]] if before else [[failure]]
        with pytest.raises(ModelUnavailable):
            await table.regenerate(old)
        assert await table.said() == ["質問", "You said: 質問"]

    async def test_sees_what_the_first_answer_did_and_nothing_private_for_a_public_one(
        self, table: Table
    ) -> None:
        await table.ask("名前はディエゴ")
        for number in range(10):
            await table.ask(f"内緒の話{number}", visibility="private")
        old = await table.answer("私の名前は？")
        first = table.model.requests[-1].prompt
        assert done(await table.regenerate(old)).answer.visibility == "public"
        assert table.model.requests[-1].prompt[:-2] == first[:-2]
        assert "ディエゴ" in table.shown()
        assert "内緒" not in table.shown()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another program writes, and does not end."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


class TestLockedDatabase:
    @pytest.fixture
    async def hurried(self, tmp_path: Path) -> AsyncIterator[Table]:
        url = laid_out(tmp_path / "sessions.db")
        async with open_stores(url, timeout_s=0.2, embedder=None) as stores:
            model = ScriptedModel()
            yield Table(Assistant(stores, only(model), discover_tools()), stores, model)

    async def test_ends_a_turn_before_its_answer_is_stored_and_leaves_no_trace(
        self, hurried: Table, tmp_path: Path
    ) -> None:
        await hurried.ask("はじめまして")
        go_on = asyncio.Event()
        hurried.model.script = [["もう", go_on, "すぐです"]]
        turn = await hurried.begin("まだですか")
        with locked(tmp_path / "sessions.db"):
            go_on.set()
            with pytest.raises(DatabaseLocked):
                await turn
        assert await hurried.said() == ["はじめまして", "You said: はじめまして"]
        await hurried.ask("もう一度")
        assert (await hurried.said())[2:] == ["もう一度", "You said: もう一度"]
