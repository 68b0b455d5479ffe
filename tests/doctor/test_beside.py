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

asked, late, threads = [], [], set()

def heed(event, arguments):
    if event == "socket.connect":
        asked.append(event)
    elif event == "import" and arguments[0].partition(".")[0] in ("hikari", "lightbulb", "openai"):
        late.extend([arguments[0]] * bool(asked))
        if arguments[0] in ("hikari", "lightbulb", "openai"):
            threads.add(threading.current_thread() is threading.main_thread())

sys.addaudithook(heed)
settings = {
    "DISCORD_TOKEN": "MTIzNDU2Nzg5MDEyMzQ1Njc4.loopback.token",
    "DISCORD_API_URL": "http://127.0.0.1:1",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "CC_BOT_EMBEDDING_MODEL": "off",
}
asyncio.run(run_doctor(read_config(settings, Path("nowhere")), offline=False))
print([bool(asked), late, threads])
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


async def test_the_database_is_written_to_meanwhile_and_stays_the_programs_own(
    config: Config, core: Core
) -> None:
    running = asyncio.create_task(run_doctor(config, offline=False))
    written = 0
    while not running.done():
        await core.stores.memories.add(TARO, f"{written} 番目のメモ")
        written += 1
    reports = [await running, await run_doctor(config, offline=False)]
    found = [{each.check: each.verdict for each in report.findings} for report in reports]
    assert (found[0]["database"], found[0]["migrations"]) == ("ok", "ok")
    assert found[0] == found[1]
    await core.stores.memories.add(TARO, "あとのメモ")
    with pytest.raises(AlreadyRunning), sole_bot(database_file(config.database_url)):
        pass


async def test_the_encoder_in_use_is_asked_and_stays_open(config: Config) -> None:
    encoder = TopicEncoder()
    report = await run_doctor(config, offline=True, embedder=encoder)
    [found] = [each for each in report.findings if each.check == "embedder"]
    assert (found.verdict, encoder.name in found.detail) == ("ok", True)


def test_loading_is_a_threads_work_and_over_before_anybody_is_asked(tmp_path: Path) -> None:
    """It takes seconds on a slow machine, in which the answers would wait and their time run out."""
    told = subprocess.run(
        [sys.executable, "-c", LOADING], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    asked, late, on_the_main_thread = ast.literal_eval(told.stdout)
    assert (asked, late, on_the_main_thread) == (True, [], {False})
