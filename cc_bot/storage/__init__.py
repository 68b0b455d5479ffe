"""The database: a connection, its schema, and copies of it. What is stored in it is not known here."""

from cc_bot.storage.backup import BackupResult, back_up
from cc_bot.storage.database import Database, DatabaseUsage, Dialect, Row, Statement, Steps
from cc_bot.storage.erasures import ErasureLog, Erasures, memory_name, place_name
from cc_bot.storage.files import DEFAULT_URL, sqlite_path
from cc_bot.storage.migrate import Migration, apply_pending, list_pending
from cc_bot.storage.rewriting import Rewriting
from cc_bot.storage.sqlite import PATIENCE_S, Synchronous, open_database

__all__ = [
    "DEFAULT_URL",
    "PATIENCE_S",
    "BackupResult",
    "Database",
    "DatabaseUsage",
    "Dialect",
    "ErasureLog",
    "Erasures",
    "Migration",
    "Rewriting",
    "Row",
    "Statement",
    "Steps",
    "Synchronous",
    "apply_pending",
    "back_up",
    "list_pending",
    "memory_name",
    "open_database",
    "place_name",
    "sqlite_path",
]
