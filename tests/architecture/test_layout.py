import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bench.__main__ import FIGURES
from bench.figures import load
from bench.report import PAGES, fill

ROOT: Final = Path(__file__).parents[2]
REGISTRY: Final = re.compile(
    "|".join([r"pypi" r"\.org", r"python" r"hosted\.", r"index" r"[-_]url", r"find" r"[-_]links"])
)
"""Hosts and settings of package registries; in pieces, so that this file does not match itself."""
MACHINE: Final = re.compile(
    r"(?<![\w.:/~-])/(?:root|work|Users/\w+|home/\w+)/\w" + r"|\b[A-Z]:\\" + r"Users\b"
)
"""An absolute path of someone's machine."""
VARIABLE: Final = re.compile(r"\b(?:CC_BOT|DISCORD|OPENAI)_[A-Z][A-Z0-9_]*\b")


@pytest.mark.slow
def test_no_tracked_file_is_a_database_or_names_a_registry_or_one_machine() -> None:
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    tracked = [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]
    assert [path for path in tracked if ".db" in path.suffixes] == []
    texts = [(path, data.decode("utf-8")) for path in tracked if b"\0" not in (data := path.read_bytes())]
    lines = [(path, line) for path, text in texts for line in text.splitlines()]
    assert [each for each in lines if REGISTRY.search(each[1]) or MACHINE.search(each[1])] == []


def test_env_example_lists_exactly_what_the_configuration_reads() -> None:
    read = {*VARIABLE.findall((ROOT / "cc_bot" / "config.py").read_text("utf-8"))}
    example = (ROOT / ".env.example").read_text("utf-8")
    assert {*re.findall(r"^#?\s*([A-Z][A-Z0-9_]*)=", example, flags=re.MULTILINE)} == read


def test_pages_of_figures_have_every_one_as_it_was_measured() -> None:
    known, lines = load(FIGURES)
    for language, name in PAGES.items():
        page = (FIGURES.parent / name).read_text(encoding="utf-8")
        assert page == fill(page, known, lines, language)
