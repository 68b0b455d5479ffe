"""How the database is doing: for whoever watches over the program, and about nobody in particular."""

from typing import Final

from cc_bot.storage import Database

COUNT_OPEN: Final = "SELECT count(*) FROM sessions WHERE closed_at IS NULL"
"""Read from the index of open sessions alone."""

SELECT_VERSION: Final = "SELECT max(version) FROM schema_migrations"

VITAL_STATEMENTS: Final = frozenset({COUNT_OPEN, SELECT_VERSION})


class VitalsStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_sessions(self) -> int:
        """Conversations that go on."""
        [(count,)] = await self._database.query(COUNT_OPEN)
        return int(count)

    async def size_bytes(self) -> int:
        """On the disk: the file, and its log, where what was written last stands."""
        usage = await self._database.usage()
        return usage.bytes + usage.log_bytes

    async def schema_version(self) -> int:
        """The number of the newest migration that the database has."""
        [(version,)] = await self._database.query(SELECT_VERSION)
        return int(version)

    async def check_writable(self) -> None:
        """Take the place of the one who writes, and give it back. Nothing is written, so that a check every
        few seconds wears no disk and leaves the file as quiet as it is. Raises StorageError."""
        await self._database.transaction(())
