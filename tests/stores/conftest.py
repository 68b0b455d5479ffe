"""The contract's fixtures: every backend, on a real database."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.db import Database, apply_pending, open_database
from tests.stores.backends import OpenStores


@pytest.fixture
def open_again(url: str, tmp_path: Path) -> OpenStores:
    def open_(
        *, history_limit: int = 20, session_ttl: timedelta = timedelta(days=1)
    ) -> AbstractAsyncContextManager[Stores]:
        return open_stores(url, history_limit=history_limit, session_ttl=session_ttl, data_folder=tmp_path)

    return open_


@pytest.fixture
async def stores(open_again: OpenStores) -> AsyncIterator[Stores]:
    async with open_again() as opened:
        yield opened


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """A second connection to the same database."""
    async with open_database(url) as opened:
        await apply_pending(opened)
        yield opened
