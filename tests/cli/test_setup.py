"""`cc-bot` without a command, on a terminal of its own, beside doubles of Discord and of a model server."""

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from cc_bot.config import read_dotenv
from cc_bot.domain.errors import RefusedToken
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.texts import DoctorTexts, SetupTexts
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import CliTexts, TerminalTexts
from tests.end_to_end.program import QUICK, Program
from tests.loopback.discord import LoopbackDiscord
from tests.loopback.model_server import LoopbackModelServer

JA = texts(Locale.JA)
SETUP, DOCTOR = JA[SetupTexts], JA[DoctorTexts]


def plain(sentence: str) -> str:
    """A sentence up to its first parameter or line break."""
    return sentence.partition("{")[0].partition("\n")[0]


class Terminal:
    """A program on a pseudo-terminal. What it has written is in `shown`."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        pty = pytest.importorskip("pty", reason="Windows has none")
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cc_bot"],
            cwd=folder,
            env={**os.environ, **QUICK, "CC_BOT_LOCALE": "ja", "TERM": "dumb", **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def _read(self) -> str:
        try:
            return os.read(self._master, 4096).decode("utf-8", "ignore").replace("\r\n", "\n")
        except OSError:  # it has ended
            return ""

    async def wait_for(self, sentence: str) -> str:
        """Return what it wrote up to the sentence, which is then taken."""
        async with asyncio.timeout(60):
            while sentence not in self.shown:
                text = await asyncio.to_thread(self._read)
                assert text, f"it ended without “{sentence}”: {self.shown}"
                self.shown += text
        before, _, self.shown = self.shown.partition(sentence)
        return before

    async def answer(self, prompt: str, line: str) -> str:
        before = await self.wait_for(prompt)
        os.write(self._master, f"{line}\n".encode())
        return before

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


@asynccontextmanager
async def setup(folder: Path, discord: LoopbackDiscord) -> AsyncIterator[Terminal]:
    with closing(Terminal(folder, {"DISCORD_API_URL": discord.api_url})) as terminal:
        yield terminal


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_without_a_terminal_it_says_what_to_set(tmp_path: Path) -> None:
    code, output = await Program(tmp_path, {"CC_BOT_LOCALE": "en"}).run()
    assert (code, "DISCORD_TOKEN" in output, "cc-bot chat" in output) == (2, True, True)


@pytest.mark.slow
@pytest.mark.usefixtures("no_settings")
class TestOnATerminal:
    async def test_asks_until_token_and_model_work_then_saves_them_and_runs(
        self, discord: LoopbackDiscord, tmp_path: Path
    ) -> None:
        async with LoopbackModelServer() as server, setup(tmp_path, discord) as terminal:
            await terminal.answer(SETUP.token, discord.other_token)
            await terminal.wait_for(plain(explain(RefusedToken(), JA)))
            await terminal.answer(SETUP.token, discord.token)
            await terminal.answer(SETUP.server, "http://127.0.0.1:9/v1")
            await terminal.answer(SETUP.key, "sk-#1 '")
            await terminal.answer(plain(SETUP.model), "llama3:8b")
            before = await terminal.answer(SETUP.server, server.base_url)  # the one that was wrong
            assert DOCTOR.model_unreachable.format(model="llama3:8b", host="127.0.0.1:9")[:30] in before
            assert SETUP.key not in await terminal.wait_for(f"client_id={discord.application_id}&")
            await terminal.wait_for(JA[CliTexts].ready.format(name=discord.bot.name))
            assert discord.token not in terminal.shown
        file = tmp_path / ".env"
        assert read_dotenv(file) == {
            "DISCORD_TOKEN": discord.token,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-#1 '",
            "CC_BOT_MODEL": "llama3:8b",
        }
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    async def test_changes_an_existing_file_only_with_consent(
        self, discord: LoopbackDiscord, tmp_path: Path
    ) -> None:
        file = tmp_path / ".env"
        file.write_text("# 設定\nOPENAI_API_KEY=", "utf-8")
        for answer, expected in (("n", ""), ("y", discord.token)):
            async with setup(tmp_path, discord) as terminal:
                await terminal.answer(SETUP.token, discord.token)
                await terminal.answer(SETUP.server, "")
                await terminal.answer(SETUP.key, "")
                await terminal.answer(SETUP.add_to_file.format(path=file.resolve()), answer)
                await terminal.wait_for(JA[CliTexts].ready.format(name=discord.bot.name))
            assert read_dotenv(file).get("DISCORD_TOKEN", "") == expected
            assert file.read_text("utf-8").startswith("# 設定\nOPENAI_API_KEY=")

    async def test_enter_instead_of_a_token_starts_the_chat(
        self, discord: LoopbackDiscord, tmp_path: Path
    ) -> None:
        async with setup(tmp_path, discord) as terminal:
            for question in (SETUP.token, SETUP.server, SETUP.key):
                await terminal.answer(question, "")
            await terminal.wait_for(JA[TerminalTexts].examples[0][0])
        assert not (tmp_path / ".env").exists()
        assert discord.transcript == []

    async def test_a_model_without_a_token_answers_in_the_chat(
        self, discord: LoopbackDiscord, tmp_path: Path
    ) -> None:
        async with LoopbackModelServer() as server, setup(tmp_path, discord) as terminal:
            answers = {
                SETUP.token: "",
                SETUP.server: server.base_url,
                SETUP.key: "",
                SETUP.model: "llama3:8b",
            }
            for question, line in answers.items():
                await terminal.answer(plain(question), line)
            await terminal.wait_for(JA[TerminalTexts].name.format(model="llama3:8b"))
        assert read_dotenv(tmp_path / ".env") == {
            "OPENAI_BASE_URL": server.base_url,
            "CC_BOT_MODEL": "llama3:8b",
        }
