"""Turns while the database is in the way: told once and in time, with nothing half done."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant, AssistantSettings
from cc_bot.domain import SessionKey
from cc_bot.domain.errors import DatabaseLocked
from cc_bot.stores import open_stores
from cc_bot.tools.registry import discover
from tests.assistant.conftest import Table
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
async def table(file: Path) -> AsyncIterator[Table]:
    """One over a database that waits for nobody for long."""
    async with open_stores(laid_out(file), patience_s=0.2, embedder=None) as stores:
        model = ScriptedModel()
        yield Table(
            Assistant(stores, only(model), discover(cc_bot.tools), AssistantSettings(max_turns=4)),
            stores,
            model,
        )


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another program writes, and does not end."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


class TestLockedDatabase:
    async def test_ends_a_turn_before_its_answer_is_stored_and_leaves_no_trace(
        self, table: Table, file: Path
    ) -> None:
        await table.ask("はじめまして")
        go_on = asyncio.Event()
        table.model.script = [["もう", go_on, "すぐです"]]
        asking = asyncio.create_task(table.ask("まだですか"))
        await table.model.asked()
        await table.model.asked()
        with locked(file):
            go_on.set()
            with pytest.raises(DatabaseLocked):
                await asking
        assert await table.said() == ["はじめまして", "You said: はじめまして"]
        await table.ask("もう一度")
        assert (await table.said())[2:] == ["もう一度", "You said: もう一度"]

    async def test_ends_the_turns_of_many_and_keeps_none_of_them(self, table: Table, file: Path) -> None:
        keys = [SessionKey(user, 10) for user in range(1, 21)]
        with locked(file):
            ends = await asyncio.gather(
                *(table.ask("こんにちは", key=key) for key in keys), return_exceptions=True
            )
        assert {type(end) for end in ends} == {DatabaseLocked}
        await asyncio.gather(*(table.ask("こんにちは", key=key) for key in keys))
        assert [len(await table.said(key)) for key in keys] == [2] * 20
