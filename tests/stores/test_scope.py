"""Whose data a statement may touch, and how it finds it: rules for every statement of the stores.

One run of everything that the stores can do is recorded, and each statement of it is looked at.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from inspect import getmembers, iscoroutinefunction
from typing import Final

import pytest

from cc_bot.domain import Attachment, Locale, Message, SessionKey
from cc_bot.storage import Database, Statement
from cc_bot.stores import MemoryStore, SessionStore, SettingsStore, SummaryStore, TokenFactorStore
from cc_bot.stores.history import SELECT_EARLIER, SELECT_FILES, SELECT_OPEN_SESSION
from cc_bot.stores.unscoped import UNSCOPED
from tests.stores.backends import Recorder, stores_over, turn

USER: Final = 123456789012345678
KEY: Final = SessionKey(USER, channel_id=2)
USER_TABLES: Final = ("sessions", "messages", "attachments", "memories", "user_settings", "summaries")
FILE: Final = Attachment("a.txt", "text/plain", b"a")


async def do_everything(database: Database) -> set[str]:
    """Call every public method of every store, in each of its ways. Returns the names of the methods."""
    stores = stores_over(database)
    session = await stores.sessions.open(KEY)
    session = await stores.sessions.commit_turn(session, turn("やあ", attachments=(FILE,)))
    session = await stores.sessions.open(KEY, visibility="private")
    again = [Message("assistant", "また")]
    await stores.sessions.commit_turn(session, again, replaces=session.history[-1].id)
    backlog = await stores.summaries.backlog(KEY)
    assert backlog is not None
    await stores.summaries.put(backlog, {"public": "要約"})
    await stores.summaries.current(KEY)
    await stores.summaries.delete(KEY)
    await stores.sessions.archive_turn(session, turn("またね"))
    by_the_message = SessionStore(database, history_limit=0, page_size=1)
    await by_the_message.earlier(await by_the_message.open(KEY))
    await stores.sessions.clear(KEY)
    await stores.sessions.expire()
    await stores.summaries.waiting(5)
    await stores.summaries.settle(datetime.now(UTC))
    memory = await stores.memories.add(USER, "猫が好き", tags=("猫",))
    await stores.memories.get(USER, memory.id)
    await stores.memories.search(USER, "猫 犬", category="general", tags=("猫",), visibility="public")
    await stores.memories.search(USER, "")
    await stores.memories.matching(USER, f"#{memory.id}")
    await stores.memories.list(USER, category="general", before_id=9)
    await stores.memories.list(USER, after_id=0)
    await stores.memories.count(USER)
    await stores.memories.update(USER, memory.id, content="犬が好き")
    await stores.memories.delete(USER, memory.id)
    await stores.settings.get(USER)
    await stores.settings.set(USER, locale=Locale.JA)
    await stores.settings.claim_welcome(USER)
    await stores.token_factors.learn("model", estimated=100, counted=110)
    await stores.token_factors.get("model")
    return {
        *("open", "earlier", "commit_turn", "archive_turn", "clear", "expire"),
        *("add", "get", "search", "matching", "list", "count", "update", "delete"),
        *("set", "claim_welcome"),
        *("backlog", "put", "current", "waiting", "settle"),
        "learn",
    }


@pytest.fixture
async def run(database: Database) -> Sequence[Statement]:
    recorder = Recorder(database)
    await do_everything(recorder)
    return recorder.statements


def clauses(sql: str) -> list[str]:
    """The statement cut before each verb, so that no part hides behind another's WHERE."""
    return [
        part
        for part in re.split(r"(?=\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b(?! SET))", sql)
        if part.strip()
    ]


def tables(clause: str) -> set[str]:
    named = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", clause)
    return set(named) & set(USER_TABLES)


def names_its_user(clause: str, params: Sequence[object]) -> bool:
    """Whether each user table in it is held to the user, by a parameter that is the user's id."""
    if clause.startswith("INSERT INTO"):
        [columns] = re.findall(r"\((.*?)\)", clause, re.DOTALL)[:1]
        return "user_id" in re.split(r"[\s,]+", columns)
    held = re.findall(r"(?:WHERE|AND|ON)\s+(?:\w+\.)?user_id = \$(\d+)", clause)
    return len(held) >= len(tables(clause)) and all(params[int(number) - 1] == USER for number in held)


class TestUser:
    async def test_is_named_by_every_statement_that_touches_user_tables(
        self, run: Sequence[Statement]
    ) -> None:
        nameless = [
            clause
            for statement in run
            if statement.sql not in UNSCOPED
            for clause in clauses(statement.sql)
            if tables(clause) and not names_its_user(clause, statement.params)
        ]
        assert nameless == []

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT content FROM memories WHERE id = $1",
            "SELECT content FROM memories WHERE id = $1 OR user_id = $2",
            "SELECT content FROM memories WHERE user_id = $1",
            "DELETE FROM messages WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $2)",
            "SELECT 1 FROM sessions AS s JOIN messages AS m ON m.session_id = s.id WHERE s.user_id = $2",
            "UPDATE memories SET user_id = $2",
            "INSERT INTO memories (content) VALUES ($1)",
        ],
    )
    def test_would_be_missed_in_a_statement_without(self, sql: str) -> None:
        assert not all(names_its_user(clause, (1, USER)) for clause in clauses(sql) if tables(clause))

    async def test_is_missing_only_where_the_list_says_so(self, run: Sequence[Statement]) -> None:
        assert {statement.sql for statement in run} >= UNSCOPED

    async def test_is_named_by_inserts_with_their_id(self, run: Sequence[Statement]) -> None:
        inserts = [
            statement
            for statement in run
            if statement.sql.strip().startswith("INSERT") and tables(statement.sql)
        ]
        assert inserts
        assert all(USER in statement.params for statement in inserts)


class TestRecordedRun:
    async def test_covers_every_method_of_every_store(self, database: Database) -> None:
        public = {
            name
            for store in (SessionStore, MemoryStore, SettingsStore, SummaryStore, TokenFactorStore)
            for name, _ in getmembers(store, iscoroutinefunction)
            if not name.startswith("_")
        }
        assert await do_everything(database) == public


class TestPlans:
    async def test_no_statement_reads_a_whole_table(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        scans = [
            (statement.sql, step)
            for statement in run
            for step in await plan(database, statement)
            if re.match(rf"SCAN (?:{'|'.join(USER_TABLES)}|token_factors|s|m|a)\b", step)
        ]
        assert scans == []

    async def test_the_history_is_read_by_index_and_never_sorted(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        served_by = {
            SELECT_OPEN_SESSION: {
                *("sessions_open_by_key", "messages_by_session", "attachments_by_session"),
                *("summaries_by_key", "sessions_to_summarize", "sqlite_autoindex_sessions_1"),
            },
            SELECT_EARLIER: {"sqlite_autoindex_sessions_1", "messages_by_session", "attachments_by_session"},
            SELECT_FILES: {"attachments_by_session"},
        }
        for sql, indexes in served_by.items():
            [statement, *_] = [statement for statement in run if statement.sql == sql]
            steps = await plan(database, statement)
            assert not [step for step in steps if "TEMP B-TREE" in step]
            used = (re.search(r"USING (?:COVERING )?INDEX (\w+)", step) for step in steps)
            assert {match[1] for match in used if match} == indexes

    async def test_no_statement_sorts_messages_or_sessions(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        sorting = [
            statement.sql
            for statement in run
            if re.search(r"\b(?:sessions|messages|summaries)\b", statement.sql)
            if any("TEMP B-TREE" in step for step in await plan(database, statement))
        ]
        assert sorting == []

    async def test_pages_of_memories_are_not_sorted(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        pages = [statement for statement in run if "id > $2 AND id < $3" in statement.sql]
        assert len(pages) == 2
        assert not [step for page in pages for step in await plan(database, page) if "TEMP B-TREE" in step]


async def plan(database: Database, statement: Statement) -> list[str]:
    rows = await database.query(f"EXPLAIN QUERY PLAN {statement.sql}", *statement.params)
    return [str(row[3]) for row in rows]
