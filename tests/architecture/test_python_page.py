import asyncio
import re
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Final

import pytest

import cc_bot

DOCS: Final = Path(str(cc_bot.__file__)).parents[1] / "docs"
BLOCK: Final = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["python.md", "python.ja.md"])
async def test_the_example_prints_what_its_page_says(page: str, tmp_path: Path) -> None:
    blocks = dict(BLOCK.findall((DOCS / page).read_text("utf-8")))
    command = (sys.executable, "-X", "utf8", "-c", blocks["python"])
    script = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, stdout=PIPE)
    printed, _ = await script.communicate()
    assert printed.decode() == blocks["text"]


def test_what_is_stable_is_what_can_be_imported() -> None:
    for page in ("python.md", "python.ja.md"):
        stable = (DOCS / page).read_text("utf-8").rpartition("from cc_bot import")[2]
        names = {name for name in cc_bot.__all__ if not name.startswith("__")}
        assert names == {*re.findall(r"`(\w+)`", re.split("[)）]", stable)[0])}
        assert all(hasattr(cc_bot, name) for name in names)
