"""The doctor in a process of its own beside a program at work, as the console runs it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.app.core import Core, open_core
from cc_bot.config import Config, read_config
from cc_bot.db.files import database_file, instance_lock
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import AlreadyRunning
from cc_bot.domain.text import Locale
from cc_bot.features.admin.status import DoctorRunner
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.texts import texts

pytestmark = pytest.mark.slow

TARO = 123456789012345678


@pytest.fixture
def config(tmp_path: Path) -> Config:
    url = f"sqlite:////{(tmp_path / 'bot.db').absolute().as_posix().lstrip('/')}"
    return read_config({"CC_BOT_DATABASE_URL": url, "CC_BOT_EMBEDDING_MODEL": "off"}, tmp_path / "no.env")


@pytest.fixture
async def core(config: Config) -> AsyncIterator[Core]:
    """A program at work: it holds the lock of the database, and its connection."""
    with instance_lock(database_file(config.database_url)):
        async with open_core(config, utc_now) as core:
            yield core


@pytest.mark.parametrize("locale", list(Locale))
async def test_the_database_is_written_to_meanwhile_and_stays_the_programs_own(
    config: Config, core: Core, locale: Locale
) -> None:
    running = asyncio.create_task(DoctorRunner(config.variables).run(locale))
    written = 0
    while not running.done():
        await core.stores.memories.add(TARO, f"{written} 番目のメモ")
        written += 1
    found = {each["check"]: each for each in await running}
    assert (found["database"]["verdict"], found["migrations"]["verdict"]) == ("ok", "ok")
    detail, _, fix = texts(locale)[DoctorTexts].token_missing.partition("\n→ ")
    assert (found["token"]["detail"], found["token"]["fix"]) == (detail, fix)
    await core.stores.memories.add(TARO, "あとのメモ")
    with pytest.raises(AlreadyRunning), instance_lock(database_file(config.database_url)):
        pass
