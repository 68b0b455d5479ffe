"""What the line that is typed into completes, keeps and takes."""

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from cc_bot.domain import Locale, Message
from cc_bot.domain.proposal import KeepMemory
from cc_bot.stores import Stores
from cc_bot.terminal.chat import ChatCompleter, InputLine, open_history
from cc_bot.texts import texts
from tests.terminal.talk import KEY, Talk


@pytest.fixture
async def completer(stores: Stores, tmp_path: Path) -> ChatCompleter:
    file = tmp_path / "agents.toml"
    file.write_text("".join(f"[agents.{name}]\nprompt = 'x'\n" for name in ("tutor", "haiku")))
    session = await stores.sessions.open(KEY)
    turn = (Message("user", "これは？"), Message("assistant", "はい", tainted=True))
    kept = KeepMemory("猫が好き", "general", (), "anywhere")
    await stores.sessions.archive_turn(session, turn, proposals=[kept])
    return ChatCompleter(Talk(stores, Locale.EN, agents_file=file).chat)


async def offered(completer: ChatCompleter, typed: str) -> dict[str, str]:
    """What is offered for a text, and what is said about it."""
    found = completer.get_completions_async(Document(typed), CompleteEvent())
    return {item.text: item.display_meta_text async for item in found}


class TestCompletion:
    async def test_offers_ones_memories_and_proposals(self, completer: ChatCompleter, stores: Stores) -> None:
        for content in ("誕生日は3月15日", "牛乳を買う"):
            await stores.memories.add(0, content, tags=["家族"])
        await stores.memories.add(1, "someone else's 牛乳")
        assert await offered(completer, "/memory delete 牛乳") == {"2": "牛乳を買う #家族"}
        for typed, expected in {"delete ": ["2", "1"], "delete #1": ["1"], "edit 牛乳": ["2"]}.items():
            assert list(await offered(completer, f"/memory {typed}")) == expected
        assert list(await offered(completer, "／メモリ　削除　牛乳")) == ["2"]
        assert "/memory add " in await offered(completer, "/mem")
        assert {name.isascii() for name in await offered(completer, "/メモ")} == {False}
        for command in ("/accept", "/decline", "/実行"):
            assert await offered(completer, f"{command} #1") == {"1": "💾 Remember this"}


class TestHistory:
    def test_is_kept_in_a_file_that_only_its_user_reads(self, tmp_path: Path) -> None:
        file = tmp_path / "history"
        file.touch(0o644)
        history = open_history(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        history.append_string("明日の天気は？")
        history.append_string("/ask --temporary ひみつ")
        assert history.get_strings() == ["明日の天気は？", "/ask --temporary ひみつ"]
        assert list(open_history(file).load_history_strings()) == ["明日の天気は？"]
        open_history(tmp_path / "new").append_string("x")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


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
        assert await asyncio.wait_for(line.read(texts(Locale.JA), ["a.txt"]), timeout=60) == sent
