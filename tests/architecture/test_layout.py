"""The shape of the repository: what a reader may rely on, and what must never be in it.

Only what git tracks is looked at: an operator's own files in the checkout are nobody's business.
"""

import re
import subprocess
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]


VAGUE = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}

REGISTRY = re.compile(
    "|".join([r"pypi" r"\.org", r"python" r"hosted\.", r"index" r"[-_]url", r"find" r"[-_]links"])
)
"""Hosts and settings of package registries; in pieces, so that this file does not match itself."""

MACHINE = re.compile(r"(?<![\w.:/~-])/(?:root|work|Users/\w+|home/\w+)/\w" + r"|\b[A-Z]:\\" + r"Users\b")
"""An absolute path of someone's machine."""

VARIABLE = re.compile(r"\b(?:CC_BOT|DISCORD|OPENAI)_[A-Z][A-Z0-9_]*\b")


@cache
def tracked() -> tuple[PurePosixPath, ...]:
    """Every tracked file that is still there; whoever owns the folder (CI often runs as someone else)."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return tuple(PurePosixPath(name) for name in listing.split("\0") if name and (ROOT / name).is_file())


def modules() -> list[PurePosixPath]:
    return [path for path in tracked() if path.suffix == ".py" and path.parts[0] == "cc_bot"]


def texts() -> list[tuple[PurePosixPath, str]]:
    """Tracked files that are text, with their text."""
    raw = [(path, (ROOT / path).read_bytes()) for path in tracked()]
    return [(path, data.decode("utf-8")) for path, data in raw if b"\0" not in data]


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


class TestModules:
    def test_every_module_is_named_after_what_is_in_it(self) -> None:
        assert [str(path) for path in modules() if VAGUE & {*path.parts, path.stem}] == []

    def test_every_module_opens_with_its_idea(self) -> None:
        silent = [
            str(path) for path in modules() if not re.match(r'\s*"""[^"]', (ROOT / path).read_text("utf-8"))
        ]
        assert silent == []


class TestTrackedFiles:
    def test_no_database_is_tracked(self) -> None:
        assert [str(path) for path in tracked() if ".db" in path.suffixes] == []

    def test_no_line_names_a_package_registry(self) -> None:
        assert lines_matching(REGISTRY) == []

    @pytest.mark.slow
    def test_no_line_holds_a_path_of_one_machine(self) -> None:
        assert lines_matching(MACHINE) == []

    @pytest.mark.parametrize("line", ["see /" + "root/x", "cd /" + "home/ann/cc-bot", "C:" + r"\Users\ann"])
    def test_a_path_of_one_machine_is_recognised(self, line: str) -> None:
        assert MACHINE.search(line)

    @pytest.mark.parametrize(
        "line", ["~/work/x", "https://example.org/work/x", "/path/to/cc-bot", "docs/work/x"]
    )
    def test_other_paths_are_not_mistaken_for_one(self, line: str) -> None:
        assert not MACHINE.search(line)


class TestEnvironment:
    def test_env_example_lists_exactly_what_the_configuration_reads(self) -> None:
        source = (ROOT / "cc_bot" / "config.py").read_text("utf-8")
        read = set(VARIABLE.findall(source))
        example = (ROOT / ".env.example").read_text("utf-8")
        listed = set(re.findall(r"^#?\s*([A-Z][A-Z0-9_]*)=", example, flags=re.MULTILINE))
        assert listed == read

    def test_the_environment_is_read_at_the_rim_alone(self) -> None:
        readers = [
            path
            for path in modules()
            if re.search(r"\bos\.environ|\bgetenv\(", (ROOT / path).read_text("utf-8"))
        ]
        assert {path.parts[1] for path in readers} <= {"config.py", "cli.py"}
