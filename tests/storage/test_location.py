"""CC_BOT_DATABASE_URL as an operator may write it, and the locks of processes beside the database."""

import shutil
from pathlib import Path

import pytest

from cc_bot.db import DEFAULT_URL, sqlite_path
from cc_bot.db.files import EXAMPLE_URLS, instance_lock
from cc_bot.domain.errors import AlreadyRunning, InvalidSetting


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
        assert refusal.value.params["expected"] == EXAMPLE_URLS
        assert "himitsu" not in str(refusal.value)


def test_a_slot_tells_who_held_it_and_has_ended(tmp_path: Path) -> None:
    database = tmp_path / "postgresql"
    with instance_lock(database) as slot:
        assert slot.previous == ""
        slot.write("cat")
        with instance_lock(database, shards="0-3-of-8") as beside:
            assert beside.previous == ""
        with pytest.raises(AlreadyRunning), instance_lock(database):
            pass
    with instance_lock(database) as slot:
        assert slot.previous == "cat"
    copy = shutil.copytree(tmp_path, tmp_path / "copy") / database.name
    with instance_lock(copy) as beside:
        assert beside.previous == ""
    slot.path.write_bytes(b"\xff")
    with instance_lock(database) as slot:
        assert slot.previous == ""
