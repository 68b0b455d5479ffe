from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        yield stores
