"""CC_BOT_DATABASE_URL as an operator may write it, and the places of processes beside the database."""

import shutil
from pathlib import Path

import pytest

from cc_bot.domain.errors import InvalidSetting
from cc_bot.storage import DEFAULT_URL, files, sqlite_path
from cc_bot.storage.files import MOST_SLOTS, hold_slot


def test_a_url_is_that_of_a_file_or_refused_with_examples_and_without_its_password() -> None:
    assert sqlite_path("sqlite:///data/sessions.db") == sqlite_path(DEFAULT_URL) == Path("data/sessions.db")
    assert sqlite_path("sqlite:////srv/ボット/a b.db") == Path("/srv/ボット/a b.db")
    for url in (
        *("", "sqlite:///", "sqlite:///  ", "sqlite://data/x.db", "data/x.db", "mysql:///x"),
        *("sqlite:///a\0b", "sqlite:////", "sqlite:///.", "sqlite:///data/.."),
        *(f"sqlite:////{'x' * 400}/a.db", f"sqlite:///{'あ' * 100}.db", f"sqlite:///{'folder/' * 600}a.db"),
        "postgresql://bot:himitsu@localhost/cc_bot",
    ):
        with pytest.raises(InvalidSetting) as refusal:
            sqlite_path(url)
        assert refusal.value.params["name"] == "CC_BOT_DATABASE_URL"
        assert DEFAULT_URL in str(refusal.value.params["expected"])
        assert "himitsu" not in str(refusal.value)


def ended(database: Path) -> tuple[str, ...]:
    """Who held a place and has ended, as the next one is told that takes it."""
    with hold_slot(database, most=MOST_SLOTS) as slot:
        return slot.ended


class TestASlot:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        """One whose only process has ended without a word."""
        (tmp_path / "one").mkdir()
        database = tmp_path / "one" / "postgresql"
        with hold_slot(database, most=MOST_SLOTS) as slot:
            slot.write_owner("cat")
        return database

    def test_tells_who_held_it_and_has_ended(self, database: Path) -> None:
        with hold_slot(database, most=MOST_SLOTS) as slot:
            assert slot.ended == ("cat",)
            slot.write_owner("a")
            slot.write_owner("dog")
            with hold_slot(database, most=MOST_SLOTS) as beside:
                assert beside.ended == ()
                beside.write_owner("bird")
        assert ended(database) == ("dog", "bird")

    def test_of_a_copied_folder_or_a_cloned_machine_or_without_all_of_it_known_tells_of_nobody(
        self, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert ended(shutil.copytree(database.parent, tmp_path / "other") / database.name) == ()
        assert ended(database) == ("cat",)
        (tmp_path / "boot_id").write_text("another\n")
        monkeypatch.setattr(files, "_BOOT_ID", tmp_path / "boot_id")  # the files' numbers are the same there
        assert ended(database) == ()
        monkeypatch.undo()
        for note in (b"cat", b"", b"\xff", b"cat :1:2"):  # as a version wrote that noted the name alone
            database.with_name("postgresql.process").write_bytes(note)
            assert ended(database) == ()
