"""The doctor in a process that does something else as well: it takes nothing away, and holds nobody up."""

import ast
import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.app.core import Core, open_core
from cc_bot.app.doctor import run_doctor
from cc_bot.config import Config, read_config
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import AlreadyRunning
from cc_bot.storage.files import database_file, sole_bot
from tests.stores.encoders import TopicEncoder

pytestmark = pytest.mark.slow

TARO = 123456789012345678
LOADING = """
import asyncio, sys, threading
from pathlib import Path
from cc_bot.app.doctor import run_doctor
from cc_bot.config import read_config

threads = set()

def heed(event, arguments):
    if event == "import" and arguments[0] in ("hikari", "lightbulb", "openai"):
        threads.add(threading.current_thread() is threading.main_thread())

sys.addaudithook(heed)
settings = {
    "DISCORD_TOKEN": "MTIzNDU2Nzg5MDEyMzQ1Njc4.loopback.token",
    "DISCORD_API_URL": "http://127.0.0.1:1",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "CC_BOT_EMBEDDING_MODEL": "off",
}
asyncio.run(run_doctor(read_config(settings, Path("nowhere")), offline=False))
print(threads)
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    url = f"sqlite:////{(tmp_path / 'bot.db').absolute().as_posix().lstrip('/')}"
    return read_config({"CC_BOT_DATABASE_URL": url, "CC_BOT_EMBEDDING_MODEL": "off"}, tmp_path / "no.env")


@pytest.fixture
async def core(config: Config) -> AsyncIterator[Core]:
    """A program at work: it holds the lock of the database, and its connection."""
    with sole_bot(database_file(config.database_url)):
        async with open_core(config, utc_now) as core:
            yield core


class TestTheDatabase:
    async def test_is_written_to_meanwhile_and_stays_the_programs_own(
        self, config: Config, core: Core
    ) -> None:
        running = asyncio.create_task(run_doctor(config, offline=False))
        written = 0
        while not running.done():
            await core.stores.memories.add(TARO, f"{written} 番目のメモ")
            written += 1
        verdicts = {each.check: each.verdict for each in (await running).findings}
        assert (verdicts["database"], verdicts["migrations"]) == ("ok", "ok")
        await core.stores.memories.add(TARO, "あとのメモ")
        with pytest.raises(AlreadyRunning), sole_bot(database_file(config.database_url)):
            pass

    async def test_is_looked_at_again_and_again(self, config: Config, core: Core) -> None:
        reports = [await run_doctor(config, offline=False) for _ in range(3)]
        assert len({tuple((each.check, each.verdict) for each in report.findings) for report in reports}) == 1


class TestTheEncoder:
    async def test_in_use_is_asked_and_stays_open(self, config: Config) -> None:
        encoder = TopicEncoder()
        report = await run_doctor(config, offline=True, embedder=encoder)
        [found] = [each for each in report.findings if each.check == "embedder"]
        assert found.verdict == "ok"
        assert encoder.name in found.detail


class TestLoading:
    def test_is_a_threads_work(self, tmp_path: Path) -> None:
        told = subprocess.run(
            [sys.executable, "-c", LOADING], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ast.literal_eval(told.stdout) == {False}
