import re
from collections.abc import Sequence
from dataclasses import fields
from inspect import getmembers, iscoroutinefunction
from typing import Final

import pytest

from cc_bot.chat.stores import ledger, settings, usage
from cc_bot.chat.stores.channels import SELECT_ARCHIVED_CHANNELS
from cc_bot.chat.stores.files import SELECT_FILE_BYTES
from cc_bot.chat.stores.proposals import ADOPT_APPROVED, PRUNE_PROPOSALS, SELECT_APPROVED
from cc_bot.chat.stores.receipts import SELECT_STALE_USERS
from cc_bot.chat.stores.settings import PRUNE_CODES, PRUNE_SESSIONS, SELECT_ALL_MODELS, SELECT_LIVE
from cc_bot.db import MAINTENANCE_LOCK, Database, ErasureLog, Statement
from cc_bot.db import process as processes
from cc_bot.features.canvas.store import SELECT_OUTDATED_KEYS
from cc_bot.features.mcp.store import SELECT_LISTS
from cc_bot.features.memory.stores.store import LIST_MEMORIES
from cc_bot.features.privacy.personal_data import SELECT_UNFINISHED, personal_tables, users_sql
from cc_bot.features.privacy.retention import COUNT_OPEN_SESSIONS, SELECT_VERSION
from cc_bot.features.reminders.store import MARK_UNCERTAIN, RELEASE_REPORTS
from tests.stores.backends import Recorder, stores_over
from tests.stores.everything import USER, do_everything

FEW: Final = {"erased_usage"}  # a few rows a month
USER_TABLES: Final = (
    "erasing",
    *({each.table for each in personal_tables() if each.erasure == "delete"} - FEW),
)
ALL_TABLES: Final = (
    *USER_TABLES,
    *("token_factors", "block_boundaries", "channel_windows", "thread_metadata", "answer_pages"),
    *("tool_lists", "processes", "duties", "places", "access_rules", "maintenance"),
    *("channel_models", "channel_agents", "limits", "usage_totals"),
    *("s", "m", "a", "b", "t", "r", "old", "q", "next", "held", "newer", "older", "now", "former"),  # aliases
)
MARK: Final = re.compile(r"/\* scope: (all users|any row|channel) \*/")
WHOLE: Final = {
    *(*(ledger.ADOPT_TURNS, ledger.SELECT_UNFINISHED, ledger.FORGET_INTERRUPTED),),
    SELECT_ARCHIVED_CHANNELS,  # a row a channel
    *(SELECT_OUTDATED_KEYS, SELECT_STALE_USERS),
    *(settings.SELECT_LIMITS, usage.SELECT_ABANDONED, usage.FORGET_SETTLED, settings.SELECT_ACCESS),
    SELECT_FILE_BYTES,  # of all users, from the index alone
    *(PRUNE_PROPOSALS, ADOPT_APPROVED, SELECT_APPROVED, MARK_UNCERTAIN, RELEASE_REPORTS),
    *(SELECT_ALL_MODELS, SELECT_LISTS),
    *(processes.SELECT_PROCESSES, processes.SELECT_DUTIES, processes.DELETE_LAPSED),
    *(COUNT_OPEN_SESSIONS, SELECT_VERSION, PRUNE_CODES, PRUNE_SESSIONS, SELECT_LIVE),
}

WITHOUT_SCANS: Final = Statement("SET LOCAL enable_seqscan = off")


@pytest.fixture
async def run(database: Database) -> Sequence[Statement]:
    recorder = Recorder(database)
    await do_everything(recorder)
    return recorder.statements


def clauses(sql: str) -> list[str]:
    """The statement cut before each verb, and each query in parentheses by itself, so that no part hides
    behind another's WHERE."""
    inner: list[str] = []

    def taken_out(match: re.Match[str]) -> str:
        inner.append(match[1])
        return "…"

    while (outer := re.sub(r"\(\s*(SELECT\b(?:[^()]|\([^()]*\))*)\)", taken_out, sql)) != sql:
        sql = outer
    return [
        part
        for each in (sql, *inner)
        for part in re.split(r"(?=\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b(?! SET))", each)
        if part.strip()
    ]


def tables(clause: str) -> set[str]:
    named = re.findall(r"(?:\b(?:FROM|JOIN|INTO|UPDATE)|@cross_join) (\w+)", clause)
    return set(named) & set(USER_TABLES)


def names_its_user(clause: str, params: Sequence[object]) -> bool:
    if clause.startswith("INSERT INTO"):
        [columns] = re.findall(r"\((.*?)\)", clause, re.DOTALL)[:1]
        return "user_id" in re.split(r"[\s,]+", columns)
    held = re.findall(r"(?:WHERE|AND|ON)\s+\+?(?:\w+\.)?(?:memory_)?user_id = \$(\d+)", clause)
    return len(held) >= len(tables(clause)) and all(params[int(number) - 1] == USER for number in held)


def scope(sql: str) -> str:
    marks = MARK.findall(sql)
    return min(marks, default="user")


class TestUser:
    async def test_is_named_by_every_statement_on_user_tables_but_those_marked(
        self, run: Sequence[Statement]
    ) -> None:
        nameless = {
            statement.sql
            for statement in run
            for clause in clauses(statement.sql)
            if tables(clause)
            if not names_its_user(clause, statement.params)
            or (clause.startswith("INSERT") and USER not in statement.params)
        }
        assert {sql for sql in nameless if scope(sql) == "user"} == set()
        assert {each.sql for each in run if scope(each.sql) != "user"} <= nameless, "no other is marked"
        assert any(each.sql.strip().startswith("INSERT") and tables(each.sql) for each in run)

    def test_would_be_missed_in_a_statement_without(self) -> None:
        for sql in (
            "SELECT content FROM memories WHERE id = $1",
            "SELECT content FROM memories WHERE id = $1 OR user_id = $2",
            "SELECT content FROM memories WHERE user_id = $1",
            "DELETE FROM messages WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $2)",
            "SELECT 1 FROM sessions AS s JOIN messages AS m ON m.session_id = s.id WHERE s.user_id = $2",
            "UPDATE memories SET user_id = $2",
            "INSERT INTO memories (content) VALUES ($1)",
        ):
            named = [names_its_user(clause, (1, USER)) for clause in clauses(sql) if tables(clause)]
            assert not all(named), sql


class Scene:
    async def test_statements_read_and_change_no_row_of_a_session_that_not_everybody_read(
        self, run: Sequence[Statement]
    ) -> None:
        reaching = [
            clause
            for sql in {each.sql for each in run if scope(each.sql) == "channel"}
            for clause in clauses(sql)
            if re.search(r"(?:\b(?:FROM|JOIN|UPDATE)|@cross_join) messages\b", clause)
            if not re.search(r"\b(?:user_id IS NULL|in_channel = 1)\b", clause)
        ]
        assert reaching == []


class TestRecordedRun:
    async def test_covers_every_method_of_every_store(self, database: Database) -> None:
        stores = stores_over(database)
        public = {
            f"{type(store).__name__}.{name}"
            for store in (*(getattr(stores, each.name) for each in fields(stores)), *stores.features.values())
            if not isinstance(store, ErasureLog)  # it is a file
            for name, _ in getmembers(store, iscoroutinefunction)
            if not name.startswith("_")
        }
        assert await do_everything(database) == public


class TestPlans:
    @pytest.mark.sqlite("its own plans")
    async def test_read_no_whole_table(self, run: Sequence[Statement], database: Database) -> None:
        scans = [
            (statement.sql, step)
            for statement in run
            for step in of_tables(await plan(database, statement))
            if statement.sql not in (SELECT_UNFINISHED, users_sql())  # the second: of a restored copy
            if "set_by = $1" not in statement.sql  # of tables that only owners and managers add to
            if statement.sql not in WHOLE
            if re.match(rf"SCAN (?:{'|'.join(ALL_TABLES)})\b", step)
            if not re.search(
                r"INDEX (?:turns_due|turns_of_sessions|sessions_deleted)$", step
            )  # these hold only what is meant
        ]
        assert scans == []

    @pytest.mark.sqlite("its own plans")
    async def test_sort_no_history(self, run: Sequence[Statement], database: Database) -> None:
        pages = {LIST_MEMORIES["newest"], LIST_MEMORIES["oldest"]}
        sorting = [
            statement.sql
            for statement in run
            if statement.sql != users_sql()  # see above
            if statement.sql in pages
            or scope(statement.sql) in ("channel", "any row")
            or re.search(r"\b(?:sessions|messages|summaries)\b", statement.sql)
            if any("TEMP B-TREE" in step for step in await plan(database, statement))
        ]
        assert sorting == []
        assert {statement.sql for statement in run} >= pages

    @pytest.mark.postgresql("its own plans")
    async def test_of_a_server_read_no_whole_table(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        scans = []
        for statement in run:
            if statement.sql not in {*WHOLE, SELECT_UNFINISHED, users_sql()}:
                asked = Statement(f"EXPLAIN {statement.sql}", statement.params)
                _, rows = await database.transaction([WITHOUT_SCANS, asked], [MAINTENANCE_LOCK])
                scans += [
                    (statement.sql, step)
                    for (step,) in rows
                    if re.search(rf"Seq Scan on ({'|'.join(USER_TABLES)})\b", step)
                ]
        assert scans == []


async def plan(database: Database, statement: Statement) -> list[str]:
    rows = await database.query(f"EXPLAIN QUERY PLAN {statement.sql}", *statement.params)
    return [str(row[3]) for row in rows]


def of_tables(steps: Sequence[str]) -> list[str]:
    """The steps that read what is stored, and not what one of them has made."""
    made = {step.removeprefix("MATERIALIZE ") for step in steps if step.startswith("MATERIALIZE ")}
    return [step for step in steps if made.isdisjoint(step.split()[1:2])]
