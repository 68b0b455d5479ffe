from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.stores import Stores, open_stores


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/chat.db"


@pytest.fixture
async def stores(url: str) -> AsyncIterator[Stores]:
    async with open_stores(url) as opened:
        yield opened
