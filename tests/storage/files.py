import sqlite3
from contextlib import closing
from pathlib import Path

from cc_bot.chat.stores.opening import open_stores


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def change(path: Path, *statements: str, whole: bytes = b"") -> None:
    """Change the file, or what it once was, and break the database's own rules where it takes that."""
    if whole:
        path.write_bytes(whole)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.execute(statement)


def spoil(path: Path, *, start: int = 4096) -> None:
    """Overwrite every page but the first."""
    content = path.read_bytes()
    path.write_bytes(content[:start] + b"\xa5" * (len(content) - start))


async def memories(path: Path) -> list[str]:
    async with open_stores(f"sqlite:///{path}", embedder=None) as stores:
        return sorted(memory.content for memory in await stores.memories.list(1))
