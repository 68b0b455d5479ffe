from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.stores import Stores, open_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"sqlite:///{tmp_path}/sessions.db") as stores:
        yield stores
