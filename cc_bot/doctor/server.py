"""The check of a database on a server: whether it answers, and what it has to spare."""

from collections.abc import Sequence

from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.errors import CcBotError
from cc_bot.storage import Database, list_pending
from cc_bot.storage.engines import open_database
from cc_bot.texts import Texts, explain

_CROWDED = 0.9
"""Of the connections that the server takes."""
_SELECT_FACTS = """
    SELECT
        current_setting('server_version'),
        pg_database_size(current_database()),
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
        CAST(current_setting('max_connections') AS BIGINT)
"""
_SELECT_DEAD = """
    SELECT
        CAST(coalesce(sum(n_dead_tup), 0) AS BIGINT),
        CAST(coalesce(sum(n_live_tup), 0) AS BIGINT),
        current_setting('autovacuum')
    FROM pg_stat_user_tables
"""


async def check_server(url: str, words: Texts) -> Sequence[Finding]:
    """Check the server, the schema and what deleted rows take."""
    notes, said = FindingWriter("database"), words.doctor_server
    try:
        async with open_database(url) as database:
            return [*await _look(database, words)]
    except CcBotError as error:
        return [notes.failed(explain(error, words), said.unreachable_mend)]


async def _look(database: Database, words: Texts) -> Sequence[Finding]:
    notes, said = FindingWriter("database"), words.doctor_server
    [(version, size, used, most)] = await database.query(_SELECT_FACTS)
    [(dead, live, autovacuum)] = await database.query(_SELECT_DEAD)
    found = [notes.ok(said.answers.format(where=database.location, version=version, size=round(size / 1e6)))]
    if pending := await list_pending(database):
        found.append(notes.warning(said.pending.format(count=len(pending)), said.pending_mend))
    if used > most * _CROWDED:
        found.append(notes.warning(said.crowded.format(used=used, most=most), said.crowded_mend))
    if autovacuum != "on" or dead > max(10_000, live):
        found.append(notes.warning(said.dead.format(dead=f"{dead:,}"), said.dead_mend))
    return found
