"""The database: connections, schema and copies, independent of the data stored."""

from cc_bot.db.backup import back_up
from cc_bot.db.database import (
    MAINTENANCE_LOCK,
    PROCESSES_LOCK,
    Database,
    Dialect,
    LockKey,
    Row,
    ScrubOutcome,
    Statement,
    Transaction,
    channel_lock,
    guild_lock,
    run_all,
    user_lock,
)
from cc_bot.db.engines import open_database
from cc_bot.db.erasure_log import ErasureLog, Erasures, memory_log_id, thread_log_id
from cc_bot.db.files import DEFAULT_URL, sqlite_path
from cc_bot.db.schema import Migration, apply_pending, list_pending
from cc_bot.db.sqlite import TIMEOUT_S, Synchronous
