"""The database: connections, schema and copies, independent of the data stored."""

from cc_bot.storage.backup import back_up
from cc_bot.storage.database import (
    MAINTENANCE_LOCK,
    PROCESSES,
    Database,
    Dialect,
    Row,
    ScrubOutcome,
    Statement,
    Steps,
    Subject,
    channel,
    guild,
    run_all,
    user,
)
from cc_bot.storage.engines import open_database
from cc_bot.storage.erasures import ErasureLog, Erasures, memory_name, place_name
from cc_bot.storage.files import DEFAULT_URL, sqlite_path
from cc_bot.storage.schema import Migration, apply_pending, list_pending
from cc_bot.storage.sqlite import TIMEOUT_S, Synchronous
