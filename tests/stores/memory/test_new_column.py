"""A new column of memories takes four places: they are written here, in a copy of the package."""

import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree
from typing import Final

import pytest

from cc_bot.storage.migrate import known_migrations
from tests.stores.memory import new_column

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[3]
MIGRATION: Final = f"storage/migrations/{len(known_migrations()) + 1:04}_moods.sql"
FIELDS: Final = {
    "domain/memory.py": ("    def is_expired(self", '    mood: str = ""\n\n'),
    "domain/memory_transfer.py": ("    pinned: bool = False\n", '    mood: str = ""\n'),
    "stores/memory/store.py": ("    expires_at: datetime | Keep | None\n", "    mood: str | None\n"),
}
"""Beside the migration: in which file, before which line, and what is added."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package whose memories have a mood."""
    made = copytree(ROOT / "cc_bot", tmp_path / "cc_bot")
    (made / MIGRATION).write_text("ALTER TABLE memories ADD COLUMN mood TEXT NOT NULL DEFAULT '';\n")
    for name, (before, added) in FIELDS.items():
        start, end = (made / name).read_text("utf-8").split(before)
        (made / name).write_text(f"{start}{added}{before}{end}", "utf-8")
    return made


class TestNewColumn:
    def test_is_written_read_exported_imported_edited_and_undone_by_four_places(self, package: Path) -> None:
        script = copy(new_column.__file__, package.parent)
        ended = subprocess.run(
            [sys.executable, script, package.parent], capture_output=True, text=True, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, "")
