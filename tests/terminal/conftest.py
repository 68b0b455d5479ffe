from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.text import Locale
from tests.databases import laid_out
from tests.terminal.talk import Talk


@pytest.fixture
def url(tmp_path: Path) -> str:
    return laid_out(tmp_path / "chat.db")


@pytest.fixture
async def stores(url: str) -> AsyncIterator[Stores]:
    async with open_stores(url) as opened:
        yield opened


@pytest.fixture
def chat(stores: Stores) -> Talk:
    return Talk(stores)


@pytest.fixture
def english(stores: Stores) -> Talk:
    return Talk(stores, Locale.EN)
