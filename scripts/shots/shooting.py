"""Takes the pictures, and goes on after a failure."""

import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, Page

from tests.browser import Trouble, new_page

PATIENCE_MS: Final = 10_000
VIEWPORTS: Final = 3  # of a long page


def read_data(locale: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{locale}.toml").read_text("utf-8"))


class Quiet(Trouble):
    """Reports what goes wrong in a page, and fails nothing."""

    def check(self) -> None:
        self.forgive("responded with a status of 4")
        for each in (*dict.fromkeys(self.console), *self.errors, *self.elsewhere):
            sys.stdout.write(f"  in the browser: {each[:200]}\n")


@dataclass
class Shooter:
    browser: Browser
    folder: Path
    failed: list[str] = field(default_factory=list)
    count: int = 0

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the other screens are drawn
            self.failed.append(name)
            sys.stdout.write(f"FAILED {name}: {type(error).__name__}: {str(error)[:600]}\n")

    async def shoot(self, page: Page, name: str) -> None:
        """Save the first viewport and, if there is more, the page in full."""
        await page.screenshot(path=self.folder / f"{name}.png", animations="disabled")
        self.count += 1
        size = page.viewport_size or {"width": 0, "height": 0}
        height = await page.evaluate("document.documentElement.scrollHeight")
        if height > size["height"] + 8:
            clip: Any = {"x": 0, "y": 0, **size, "height": min(height, VIEWPORTS * size["height"])}
            path = self.folder / f"{name}-full.png"
            await page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")
            self.count += 1

    async def draw(self, html: str, name: str, *widths: int) -> None:
        """Save a picture of HTML, as high as it is, at each width."""
        for width in widths:
            async with new_page(self.browser, size=(width, 100), trouble=Quiet()) as page:
                await page.set_content(html)
                await page.screenshot(path=self.folder / f"{name}-{width}.png", full_page=True)
                self.count += 1
