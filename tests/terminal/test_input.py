"""The input line: completion, history and keys."""

import asyncio
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.clock import utc_now
from cc_bot.domain.text import Locale
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.terminal.chat import ChatCompleter, InputLine, TypedHistory
from cc_bot.terminal.commands import describe_command
from cc_bot.texts import texts
from tests.terminal.talk import KEY, Talk


@pytest.fixture
def completer(english: Talk) -> ChatCompleter:
    return ChatCompleter(english.chat)


async def offered(completer: ChatCompleter, typed: str) -> dict[str, str]:
    found = completer.get_completions_async(Document(typed), CompleteEvent())
    return {item.text: item.display_meta_text async for item in found}


async def test_completion_offers_commands_and_ones_own_memories_and_reminders(
    completer: ChatCompleter, stores: Stores
) -> None:
    for content in ("誕生日は3月15日", "牛乳を買う"):
        await stores.memories.add(0, content)
    await stores.memories.add(1, "someone else's 牛乳")
    await stores[ScheduleStore].add(KEY, "薬", utc_now() + timedelta(days=1), target="terminal")
    for typed, expected in {
        "/memory delete 牛乳": {"2": "牛乳を買う"},
        "／ｍｅｍｏｒｙ undo #1": {"1": "誕生日は3月15日"},
        "/remind delete ": {"1": "薬"},
        "/cle": {"/clear": describe_command("clear", texts(Locale.EN))},
        "質問": {},
    }.items():
        assert await offered(completer, typed) == expected, typed
    assert "/memory add " in await offered(completer, "/mem")


def test_history_is_kept_in_a_file_that_only_its_user_reads(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.touch(0o644)
    for line in ("明日の天気は？", f"sk-proj-{'a1' * 20}"):  # a key is not kept
        TypedHistory(file).append_string(line)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(TypedHistory(file).load_history_strings()) == ["明日の天気は？"]
    for nowhere in (None, tmp_path / "no" / "folder"):
        TypedHistory(nowhere).append_string("x")
        assert list(TypedHistory(nowhere).load_history_strings()) == []


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as keys, create_app_session(keys, DummyOutput()):
        yield keys


async def test_the_line_that_is_typed_keeps_lines_together_clears_up_and_ends(
    completer: ChatCompleter, keys: PipeInput
) -> None:
    line = InputLine(completer, InMemoryHistory())
    for typed, sent in (
        ("一行目\x1b\r二行目\r", "一行目\n二行目"),
        ("\x1b[200~一行目\r\n二行目\x1b[201~\r", "一行目\n二行目"),
        ("まちがい\x03/memory delte 3\r", "/memory delte 3"),
        ("\x1b[A\r", "/memory delte 3"),
        ("\x04", None),
    ):
        keys.send_text(typed)
        assert await asyncio.wait_for(line.read(texts(Locale.JA)), timeout=60) == sent
