import argparse
import asyncio
import logging
import sys
import time
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from scripts.shots.shooting import Shooter
from tests.browser import running_browser

PARTS = ("pages", "discord", "terminal", "readme")


async def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.shots")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", choices=(*PARTS, "demo"), default=PARTS)
    parser.add_argument("--locale", nargs="+", choices=("ja", "en"), default=("ja", "en"))
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    given.out.mkdir(parents=True, exist_ok=True)
    async with running_browser() as browser:
        shooter = Shooter(browser, given.out.resolve())
        for part in given.only:
            for locale in given.locale:
                began, before = time.monotonic(), shooter.count
                with shooter.attempt(f"{part} {locale}"), TemporaryDirectory() as folder:
                    await import_module(f"scripts.shots.{part}").shoot(shooter, locale, Path(folder))
                seconds = time.monotonic() - began
                sys.stdout.write(f"{part} {locale}: {shooter.count - before} pictures in {seconds:.0f} s\n")
    return bool(shooter.failed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
