"""A user who is signed in, in a real browser."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser import new_page
from tests.web.pages import Site, open_site

AGENTS = '[agents.writer]\ndisplay_name = { ja = "作家", en = "Writer" }\nprompt = "書く"\n'


def site_fixture() -> Callable[..., Any]:
    """A fixture with a site for each test, in the event loop of its module's browser."""

    @pytest_asyncio.fixture(loop_scope="module")
    async def site(tmp_path: Path) -> AsyncIterator[Site]:
        (tmp_path / "agents.toml").write_text(AGENTS, encoding="utf-8")
        async with open_site(tmp_path) as opened:
            yield opened

    return site


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("nav").first).to_be_visible()


@asynccontextmanager
async def signed_in(browser: Browser, site: Site, path: str = "", **options: Any) -> AsyncIterator[Page]:
    """A page of a signed-in user. `options`: those of `new_page`."""
    async with new_page(browser, **{"locale": "ja-JP", **options}) as page:
        await sign_in(page, site)
        if path:
            await page.goto(site.url + path)
        yield page
