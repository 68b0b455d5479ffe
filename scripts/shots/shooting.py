"""Takes the pictures, and goes on after a failure."""

import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final
from zoneinfo import ZoneInfo

from playwright.async_api import Browser, Page

from cc_bot.domain.when.repeats import next_time
from tests.browser import Trouble

TOKYO: Final = ZoneInfo("Asia/Tokyo")
PATIENCE_MS: Final = 10_000
VIEWPORTS: Final = 3  # of a long page


def due_at(hours: str, repeat: str) -> datetime:
    """The next time of a repeat, or a time after so many hours."""
    morning = datetime.now(TOKYO).replace(hour=9, minute=30, second=0, microsecond=0)
    return next_time(repeat, datetime.now(UTC), TOKYO) or morning + timedelta(hours=int(hours))


def read_data(name: str, **replaced: str) -> dict[str, Any]:
    """What is said: each `{word}` of `replaced` stands for its text."""
    data = Path(__file__).with_name(f"{name}.toml").read_text("utf-8")
    for word, text in replaced.items():
        data = data.replace(f"{{{word}}}", text)
    return tomllib.loads(data)


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
    pages: dict[float, Page] = field(default_factory=dict)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the other screens are drawn
            self.failed.append(name)
            sys.stdout.write(f"FAILED {name}: {type(error).__name__}: {str(error)[:600]}\n")

    async def shoot(self, page: Page, name: str) -> None:
        """Save the first viewport and, if there is more, the page in full."""
        await page.screenshot(path=self.folder / f"{name}.png")
        self.count += 1
        size = page.viewport_size or {"width": 0, "height": 0}
        height = await page.evaluate("document.documentElement.scrollHeight")
        if height > size["height"] + 8:
            clip: Any = {"x": 0, "y": 0, **size, "height": min(height, VIEWPORTS * size["height"])}
            path = self.folder / f"{name}-full.png"
            await page.screenshot(path=path, full_page=True, clip=clip)
            self.count += 1

    async def draw(self, html: str, name: str, width: int, *, scale: float = 1.0) -> None:
        """Save a picture of HTML, as high as it is."""
        with NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
            file.write(html)
            file.flush()
            if scale not in self.pages:
                self.pages[scale] = await self.browser.new_page(device_scale_factor=scale)
            page = self.pages[scale]
            await page.set_viewport_size({"width": round(width / scale), "height": 100})
            await page.goto(f"file://{file.name}")
            await page.screenshot(path=self.folder / f"{name}.png", full_page=True)
        self.count += 1
