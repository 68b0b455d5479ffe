"""The system's Chromium, driven by tests, and what must hold for every page in it.

A module whose tests use it runs in one event loop, as the browser does:

    pytestmark = [pytest.mark.asyncio(loop_scope="module")]
    browser = browser_fixture()

    async def test_something(browser: Browser) -> None:
        async with new_page(browser) as page:
            await page.goto(url)

Pages forbid evaluated scripts, so a test waits on elements (`expect(locator)`), never on a function.
"""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
PHONE: Final = (390, 844)
DESKTOP: Final = (1280, 800)
PATIENCE_MS: Final = 60_000
"""Bounds a wait for what must come: it keeps a test from hanging, and says nothing of speed."""

Scope = Literal["session", "package", "module", "class", "function"]


def find_chromium() -> str:
    """The path of the system's Chromium. Skips the test where there is none, and fails it if CI_BROWSER is
    `required`."""
    named = os.environ.get("TEST_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"needs a Chromium: none of {', '.join(NAMES)} is on PATH, TEST_CHROMIUM is not set"
        if os.environ.get("CI_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    path = find_chromium()
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()


def browser_fixture(scope: Scope = "module") -> Callable[..., Any]:
    """A fixture with a browser for all tests of that scope, in the event loop of the same scope."""

    @pytest_asyncio.fixture(scope=scope, loop_scope=scope)
    async def browser() -> AsyncIterator[Browser]:
        async with running_browser() as started:
            yield started

    return browser


@dataclass
class Trouble:
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Requests to other hosts."""

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._see)
        page.on("websocket", lambda socket: self._see_url(socket.url))

    def forgive(self, words: str) -> None:
        """Take out of it what holds these words, such as a failed request that was meant to fail."""
        self.console = [each for each in self.console if words not in each]

    def check(self) -> None:
        assert (self.console, self.errors, self.elsewhere) == ([], [], [])

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _see(self, request: Request) -> None:
        self._see_url(request.url)

    def _see_url(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname not in LOOPBACK:
            self.elsewhere.append(url)


@asynccontextmanager
async def new_page(
    browser: Browser, *, size: tuple[int, int] = DESKTOP, trouble: Trouble | None = None, **options: Any
) -> AsyncIterator[Page]:
    """A page of a browser profile of its own. At the end nothing may have gone wrong in it: no error or
    warning in the console, no exception, no request to another host.

    `options` are those of a context: `color_scheme`, `java_script_enabled`, `locale`, `reduced_motion`.
    """
    watched = trouble or Trouble()
    width, height = size
    context = await browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(PATIENCE_MS)
    try:
        page = await context.new_page()
        watched.watch(page)
        yield page
    finally:
        await context.close()
    watched.check()
