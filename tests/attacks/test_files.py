import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.app.database import run_restore
from cc_bot.chat.stores.opening import open_stores
from cc_bot.config import read_config
from cc_bot.db import back_up
from cc_bot.db.backup import announce_nothing
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import BackupChanged, BackupDamaged
from tests.databases import laid_out

ATTACKER, VICTIM = 123456789012345678, 876543210987654321
SPY = f"""
    CREATE TRIGGER spy AFTER INSERT ON memories WHEN new.user_id <> {ATTACKER} BEGIN
        INSERT INTO memories (user_id, content, category, created_at, updated_at, search_content)
        VALUES ({ATTACKER}, new.content, 'general', new.created_at, new.updated_at, new.search_content);
    END
"""
VIEW = f"CREATE VIEW memories AS SELECT id, {ATTACKER} AS user_id, content FROM real_memories"
LEGACY = "PRAGMA legacy_alter_table = ON"
ONE_PAGE = """
    UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'memories')
    WHERE name = 'messages'
"""


def dump(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize(
    ("statements", "name"),
    [
        ((SPY,), "TRIGGER spy"),
        ((LEGACY, "ALTER TABLE memories RENAME TO real_memories", VIEW), "memories"),
        (("DROP VIEW session_history", "CREATE VIEW session_history AS SELECT 1"), "VIEW session_history"),
        (("ALTER TABLE memories ADD COLUMN spy TEXT AS (content || user_id)",), "TABLE memories"),
        (("PRAGMA writable_schema = ON", ONE_PAGE), ""),  # which is no whole file
    ],
)
async def test_a_backup_with_a_changed_schema_is_refused(
    tmp_path: Path, statements: tuple[str, ...], name: str
) -> None:
    database = tmp_path / "sessions.db"
    async with open_stores(laid_out(database), embedder=None) as stores:
        await stores.memories.add(VICTIM, "通帳は引き出しの二段目")
        backup = (await back_up(database, tmp_path / "backups", utc_now())).path
    with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    before = dump(database)
    config = read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{database}"}, tmp_path / ".env")
    with pytest.raises(BackupDamaged):  # by its manifest
        await run_restore(config, backup, lambda _: True, announce_nothing)
    backup.with_suffix(".json").unlink()
    with pytest.raises(BackupChanged if name else BackupDamaged) as refused:
        await run_restore(config, backup, lambda _: True, announce_nothing)
    assert name in str(refused.value.params.get("name", ""))
    assert dump(database) == before
