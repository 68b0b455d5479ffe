"""What must never be in the repository, and the settings that its example lists.

Only what git tracks is looked at: an operator's own files in the checkout are nobody's business.
"""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

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


def tracked() -> list[Path]:
    """Every tracked file that is still there; whoever owns the folder (CI often runs as someone else)."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def test_paths_of_one_machine_are_told_from_others() -> None:
    machines = ("see /" + "root/x", "cd /" + "home/ann/cc-bot", "C:" + r"\Users\ann")
    others = ("~/work/x", "https://example.org/work/x", "/path/to/cc-bot", "docs/work/x")
    assert [bool(MACHINE.search(line)) for line in (*machines, *others)] == [True] * 3 + [False] * 4


@pytest.mark.slow
def test_no_tracked_file_is_a_database_or_names_a_registry_or_one_machine() -> None:
    assert [path for path in tracked() if ".db" in path.suffixes] == []
    contents = [(path, path.read_bytes()) for path in tracked()]
    found = [
        f"{path}: {line}"
        for path, data in contents
        if b"\0" not in data
        for line in data.decode("utf-8").splitlines()
        if REGISTRY.search(line) or MACHINE.search(line)
    ]
    assert found == []


def test_env_example_lists_exactly_what_the_configuration_reads() -> None:
    read = {*VARIABLE.findall((ROOT / "cc_bot" / "config.py").read_text("utf-8"))}
    example = (ROOT / ".env.example").read_text("utf-8")
    assert {*re.findall(r"^#?\s*([A-Z][A-Z0-9_]*)=", example, flags=re.MULTILINE)} == read
