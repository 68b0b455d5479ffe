"""A site of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.pages import Site, Visit, open_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as site:
        yield site


@pytest.fixture
async def taro(site: Site) -> AsyncIterator[Visit]:
    """Taro's browser, signed in."""
    async with site.visit() as visit:
        yield visit
