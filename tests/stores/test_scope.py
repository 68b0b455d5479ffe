"""Whose data a statement may touch, and how it finds it: rules for every statement of the stores.

One run of everything that the stores can do is recorded, and each statement of it is looked at.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from inspect import getmembers, iscoroutinefunction
from typing import Final

import pytest

from cc_bot.domain import Attachment, Block, ChannelKey, Locale, Message, SessionKey, ToolCall
from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.domain.matters import Mark
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.domain.schedule import Firing, Quiet
from cc_bot.storage import Database, Statement
from cc_bot.stores import (
    AgentStore,
    BlockStore,
    CanvasStore,
    ChannelStore,
    HeartbeatStore,
    MemoryHistoryStore,
    MemoryRemovalStore,
    MemoryStore,
    MemoryTransferStore,
    MentionStore,
    PersonalAnswer,
    PersonalAnswerStore,
    ScheduleStore,
    SessionStore,
    SettingsStore,
    Stores,
    SummaryStore,
    TokenFactorStore,
)
from cc_bot.stores import channel_statements as channels
from cc_bot.stores import memory_search_statements as searches
from cc_bot.stores.canvases import SELECT_ALL_SHOWN, SELECT_KEY, SELECT_STALE
from cc_bot.stores.channel_removal import DELETE_MESSAGES, FORGET_MESSAGES
from cc_bot.stores.history import SELECT_EARLIER, SELECT_FILES, SELECT_OPEN_SESSION
from cc_bot.stores.meaning import Meaning
from cc_bot.stores.memory_remaking import REMAKING_STATEMENTS
from cc_bot.stores.memory_removal_statements import SELECT_DUE, SELECT_OLDEST_HIDDEN
from cc_bot.stores.memory_statements import LIST
from cc_bot.stores.memory_upkeep import MemoryUpkeep
from cc_bot.stores.personal_answers import SELECT_LEFT
from cc_bot.stores.schedule_statements import SCHEDULE_STATEMENTS
from cc_bot.stores.sketches import make_sketches
from cc_bot.stores.unscoped import (
    CLOSE_EXPIRED,
    DELETE_EXPIRED_ATTACHMENTS,
    SELECT_TO_SUMMARIZE,
    SETTLE_SUMMARIZED,
    UNSCOPED,
)
from cc_bot.stores.value_lists import ListStatement
from tests.stores.backends import Recorder, stores_over, turn
from tests.stores.encoders import TopicEncoder
from tests.stores.places import answer, said

USER: Final = 123456789012345678
KEY: Final = SessionKey(USER, channel_id=2)
USER_TABLES: Final = (
    *("sessions", "messages", "attachments", "memories", "user_settings", "summaries"),
    *("personal_answers", "canvas_messages"),
    *("memory_vectors", "memory_sketches"),
    *("memory_segments", "memory_chunks", "memory_postings"),
    "agent_choices",
    *("schedules", "firings", "heartbeat_marks"),
)
STORES: Final = (
    *(SessionStore, CanvasStore, MemoryStore, MemoryHistoryStore, MemoryTransferStore, MemoryRemovalStore),
    *(SettingsStore, SummaryStore, TokenFactorStore),
    *(BlockStore, ChannelStore, MentionStore, PersonalAnswerStore, AgentStore),
    *(ScheduleStore, HeartbeatStore),
)
ALL_TABLES: Final = (
    *USER_TABLES,
    *("token_factors", "block_boundaries", "channel_windows", "thread_metadata", "answer_pages"),
    "channel_agents",
    *("s", "m", "a", "b", "w", "r", "q", "next", "held", "newer", "older", "now", "former"),  # aliases
)
OF_ALL_USERS: Final = {
    *(DELETE_EXPIRED_ATTACHMENTS, CLOSE_EXPIRED),
    *(SELECT_TO_SUMMARIZE, SETTLE_SUMMARIZED),
    *(SELECT_KEY, SELECT_ALL_SHOWN, SELECT_STALE),
    *(SELECT_LEFT, SELECT_DUE, SELECT_OLDEST_HIDDEN, *REMAKING_STATEMENTS, *SCHEDULE_STATEMENTS),
}
TO_ANY_ROW: Final = {
    *(channels.EDIT, DELETE_MESSAGES),  # as on Discord, whoever's it is
    channels.SESSION_OF,  # tells whose it is
    *(channels.THAW_NEW, channels.RESET),  # look at ids alone
}
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
    drawn = [Drawn(AddCard("買い物", "牛乳"), "public")]
    await stores.sessions.archive_turn(session, turn("またね"), drawn=drawn)
    by_the_message = SessionStore(database, history_limit=0, page_size=1)
    await by_the_message.earlier(await by_the_message.open(KEY))
    await stores.sessions.clear(KEY)
    await stores.sessions.expire()
    await stores.summaries.waiting(5)
    await stores.summaries.settle(datetime.now(UTC))
    memory = await stores.memories.add(USER, "猫が好き", tags=("猫",))
    newer = await stores.memories.remember(USER, "猫が大好き", supersedes=memory.id)
    await stores.memories.remember(USER, "猫が、大好き")
    other = await stores.memories.add(USER, "犬も好き")
    await stores.memories.supersede(USER, newer.memory.id, other.id)
    memory = newer.memory
    await stores.memories.get(USER, memory.id)
    await stores.memories.search(USER, "猫 犬", category="general", tags=("猫",), audience="anywhere")
    await stores.memories.search(USER, "")
    await stores.memories.matching(USER, f"#{memory.id}")
    await stores.memories.list(USER, category="general", before_id=9)
    await stores.memories.list(USER, after_id=0)
    await stores.memories.list(USER, order="updated")
    await stores.memories.count(USER)
    await stores.memories.statistics(USER)
    await keep_an_index(stores, database)
    await stores.memories.update(USER, memory.id, content="犬が好き")
    await stores.memories.embedded()
    await Meaning(database, TopicEncoder()).nearness(USER, "犬")
    await database.write(lambda: make_sketches(USER, "topics"))
    await stores.memories.delete(USER, memory.id)
    await forget_everything(stores, database)
    await stores.settings.get(USER)
    await stores.settings.set(USER, locale=Locale.JA)
    await stores.settings.claim_welcome(USER)
    await stores.settings.pause_memory(USER, True)
    await stores.token_factors.learn("model", estimated=100, counted=110)
    await stores.token_factors.get("model")
    begun = PersonalAnswer(40, KEY.channel_id, USER)
    await stores.personal_answers.opened(begun)
    await stores.personal_answers.unfinished()
    await stores.personal_answers.stored(begun)
    await stores.personal_answers.taken_over(begun)
    await stores.personal_answers.ended(begun)
    await choose_agents(stores)
    await do_everything_with_schedules(stores.schedules)
    await stores.heartbeats.look(USER, [Mark("named 1 20261125", datetime.now(UTC))])
    await stores.heartbeats.looked_at(USER)
    await stores.heartbeats.missed(USER, datetime.now(UTC) - timedelta(days=8))
    await stores.heartbeats.forget(USER)
    thread = ChannelKey(5, 7)
    await stores.blocks.freeze(
        [Block(thread, 8, 9, 100)], windows={thread: 8}, thawed=[Block(thread, 8, 10, 120)]
    )
    await stores.blocks.state(thread, bot_id=3, blocks=20)
    await stores.blocks.page(thread, first=0, before=9, limit=10)
    return {
        *await do_everything_in_channels(stores),
        *await do_everything_with_canvases(stores),
        *("open", "earlier", "commit_turn", "archive_turn", "clear", "expire"),
        *("add", "remember", "get", "find", "search", "matching", "list", "count", "statistics"),
        *(
            "embedded",
            "update",
            "supersede",
            "delete",
            "of",
            "restore",
            "undo_update",
            "undo_add",
            "undelete",
            "told_in",
        ),
        *("erase", "erase_all", "purge", "next_purge", "write_back", "rewrite"),
        *("set", "claim_welcome", "pause_memory"),
        *("backlog", "put", "current", "waiting", "settle"),
        *("everything", "plan", "take"),
        "learn",
        *("opened", "unfinished", "stored", "taken_over", "ended"),
        *("state", "page", "freeze"),
        *("choose", "choice", "set_default", "unset_default", "default", "of_answer"),
        *("cancel", "pause", "resume", "rezone", "claim_due", "sent", "skipped", "failed", "lost"),
        *("unreported", "next_due", "prune", "said", "last_said"),
        *("look", "looked_at", "missed", "forget"),
    }


async def do_everything_with_canvases(stores: Stores) -> set[str]:
    await stores.sessions.open(KEY)
    assert await stores.canvases.draw(KEY, [Drawn(AddCard("猫", "モチ"), "public")])
    seen = await stores.canvases.get(KEY)
    assert seen is not None
    await stores.canvases.note_shown(KEY, 60, seen.revision)
    await stores.canvases.shown(KEY)
    await stores.canvases.key_of(60)
    await stores.canvases.clear(KEY)
    assert await stores.canvases.stale(5) == await stores.canvases.all_shown(5) == [KEY]
    assert await stores.canvases.shown_in(KEY.channel_id, 5) == [KEY]
    await stores.canvases.forget_message(KEY)
    return {"draw", "shown", "note_shown", "forget_message", "key_of", "stale", "all_shown", "shown_in"}


async def choose_agents(stores: Stores) -> None:
    await stores.agents.choose(USER, KEY.channel_id, "tutor")
    await stores.agents.choice(USER, KEY.channel_id)
    await stores.agents.choose(USER, KEY.channel_id, None)
    await stores.agents.set_default(KEY.channel_id, 1, "tutor", USER)
    await stores.agents.default(KEY.channel_id)
    await stores.agents.unset_default(KEY.channel_id)
    await stores.agents.of_answer(USER, 1)


async def do_everything_with_schedules(schedules: ScheduleStore) -> None:
    """Make some of every kind, have them claimed, and settle that in every way."""
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", quiet=Quiet(1320, 420))
    beat = await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", place="dm")
    daily = await schedules.add(KEY, "薬", now - hour * 30, repeat="0 9 * * *")
    once = [await schedules.add(KEY, f"{number}回だけ", now - hour / 2) for number in range(3)]
    assert await schedules.pause(USER, daily.id)
    assert await schedules.resume(USER, daily.id)
    await schedules.rezone(USER, "Europe/Berlin")
    assert await schedules.next_due(("channel", "dm"))
    claimed = await schedules.claim_due(now + hour * 24, ("channel", "dm"), "p", user_id=USER, limit=9)
    claimed = [*claimed, *(Firing(each, each.due_at) for each in (beat, *once))]
    await schedules.sent(claimed[0], Message("assistant", "薬", discord_id=77))
    await schedules.skipped(claimed[1])
    await schedules.failed(claimed[2], "dms_closed")
    await schedules.claim_due(now - hour * 48, ("channel", "dm"), "p")
    await schedules.lost(now + hour)
    assert await schedules.unreported(("channel", "dm"), user_id=USER)
    assert await schedules.said(77)
    assert await schedules.last_said(USER, KEY.channel_id)
    assert await schedules.get(USER, once[0].id)
    assert await schedules.list(USER)
    assert await schedules.cancel(USER, daily.id)
    await schedules.prune()


async def keep_an_index(stores: Stores, database: Database) -> None:
    """Make the user's memories anew, fold them into the index and find them there."""
    sql = "UPDATE memories SET terms_version = 0 WHERE user_id = $1"
    await database.transaction([Statement(sql, (USER,))])
    for segments in (1, 0):
        await MemoryUpkeep(database, waiting=1, segments=segments).catch_up(USER)
        assert await stores.memories.search(USER, "犬 好き")


async def forget_everything(stores: Stores, database: Database) -> None:
    """Go back in the history of a memory, and erase it where everything that can hold one does."""
    memory = await stores.memories.add(USER, "猫の名前はタマ")
    for content in ("猫の名前はモチ", "猫の名前はミケ"):
        await stores.memories.update(USER, memory.id, content=content)
    newest, oldest = await stores.memory_history.of(USER, memory.id)
    assert await stores.memory_history.undo_update(USER, memory.id, newest.id)
    assert await stores.memory_history.restore(USER, oldest.id)
    assert await stores.memory_history.undo_add(USER, memory.id)
    await stores.memory_transfer.everything(USER)
    imported = [PortableMemory("取り込んだもの")]
    assert len((await stores.memory_transfer.plan(USER, imported)).new) == 1
    assert await stores.memory_transfer.take(USER, imported) == 1
    assert await stores.memory_removal.undelete(USER, memory.id)
    call = ToolCall("1", "remember", "{}", json.dumps({"remembered": {"id": memory.id}}))
    session = await stores.sessions.open(KEY)
    for _ in range(2):
        exchange = [Message("user", "猫の名前はタマ"), Message("assistant", "はい", tool_calls=(call,))]
        session = await stores.sessions.commit_turn(session, exchange)
        backlog = await stores.summaries.backlog(KEY)
        assert backlog is not None
        await stores.summaries.put(backlog, {"public": "猫の名前はタマ"})
    told, answered = said(50, author_id=USER), answer(51, tool_calls=(call,))
    await stores.channels.add(ChannelKey(8), told, waiting=True)
    await stores.channels.commit_answer(ChannelKey(8), answered, [told])
    canvas = json.dumps({"elements": [{"text": "猫の名前はタマ"}]})
    await database.transaction(
        [Statement("UPDATE sessions SET canvas_state = $2 WHERE user_id = $1", (USER, canvas))]
    )
    assert await stores.memory_removal.told_in(USER, memory.id)
    erased = await stores.memory_removal.erase(USER, memory.id, mark="（消去しました）")
    assert erased is not None
    assert 0 not in (erased.versions, erased.tool_calls, erased.summaries, erased.messages)
    await stores.memories.delete(USER, (await stores.memories.add(USER, "犬が好き")).id)
    await stores.memory_removal.next_purge()
    assert await stores.memory_removal.purge(datetime.now(UTC)) > 0
    await stores.memory_removal.erase_all(USER)
    await stores.memory_removal.write_back()
    assert await stores.memory_removal.rewrite() == "done"


async def do_everything_in_channels(stores: Stores) -> set[str]:
    key = ChannelKey(3)
    await stores.channels.add(key, said(10), waiting=True)
    await stores.channels.add_all(key, [said(11), said(12)])
    questions = await stores.mentions.waiting(key)
    await stores.mentions.places()
    await stores.mentions.place_of(10)
    await stores.mentions.unattended(key)
    await stores.mentions.answering(questions, 20)
    await stores.mentions.answer_of(key)
    await stores.channels.commit_answer(key, answer(20), questions)
    await stores.mentions.left_behind(key)
    await stores.mentions.edited(key)
    await stores.mentions.read(said(10))
    await stores.mentions.to_show(key)
    await stores.mentions.shown(20)
    await stores.mentions.rewriting(20)
    await stores.mentions.give_up(questions)
    await stores.mentions.questions(20)
    await stores.mentions.answered_by(10)
    await stores.channels.newest_answer(key)
    await stores.channels.session_of(20)
    await stores.channels.add_pages(20, [21])
    await stores.channels.pages(20)
    await stores.channels.shows_answer(21)
    await stores.channels.drop_pages([21])
    await stores.channels.places(limit=5)
    await stores.channels.reading("all", 30)
    await stores.channels.reset(key, bot_id=0, discord_id=15)
    await stores.channels.edit(10, "直した")
    await stores.channels.delete([11])
    await stores.channels.forget_place(key)
    return {
        *("add", "add_all", "commit_answer", "newest_answer", "session_of", "add_pages", "drop_pages"),
        *("pages", "shows_answer"),
        *("reading", "reset", "edit", "delete", "forget_place", "places"),
        *("waiting", "answering", "answer_of", "give_up", "questions", "answered_by"),
        *("to_show", "shown", "left_behind", "edited", "read", "place_of", "unattended", "rewriting"),
    }


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
    named = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", clause)
    return set(named) & set(USER_TABLES)


def names_its_user(clause: str, params: Sequence[object]) -> bool:
    """Whether each user table in it is held to the user, by a parameter that is the user's id."""
    if clause.startswith("INSERT INTO"):
        [columns] = re.findall(r"\((.*?)\)", clause, re.DOTALL)[:1]
        return "user_id" in re.split(r"[\s,]+", columns)
    held = re.findall(r"(?:WHERE|AND|ON)\s+(?:\w+\.)?(?:memory_)?user_id = \$(\d+)", clause)
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
            if statement.sql.strip().startswith("INSERT")
            and tables(statement.sql)
            and statement.sql not in UNSCOPED
        ]
        assert inserts
        assert all(USER in statement.params for statement in inserts)


class TestChannel:
    async def test_statements_read_and_change_no_row_of_a_session(self) -> None:
        reaching = [
            clause
            for sql in UNSCOPED - OF_ALL_USERS - TO_ANY_ROW
            for clause in clauses(sql)
            if re.search(r"\b(?:FROM|JOIN|UPDATE) messages\b", clause) and "user_id IS NULL" not in clause
        ]
        assert reaching == []


class TestRecordedRun:
    async def test_covers_every_method_of_every_store(self, database: Database) -> None:
        public = {
            name
            for store in STORES
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
            if statement.sql not in (SELECT_LEFT, SELECT_ALL_SHOWN, SELECT_STALE)  # which are all of theirs
            if re.match(rf"SCAN (?:{'|'.join(ALL_TABLES)})\b", step)
            or re.match(
                r"SCAN mentions\b(?!.* mentions_(?:waiting|to_show|edited)$)", step
            )  # which hold only those
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
            assert used(steps) == indexes

    async def test_nothing_in_channels_is_sorted(self, run: Sequence[Statement], database: Database) -> None:
        steps = [
            step
            for statement in run
            if statement.sql in UNSCOPED - OF_ALL_USERS
            for step in await plan(database, statement)
        ]
        assert steps
        assert not [step for step in steps if "TEMP B-TREE" in step]

    async def test_what_was_said_in_channels_is_found_by_its_own_indexes(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        served_by = {
            channels.PLACES: {"messages_by_channel", "sqlite_autoindex_thread_metadata_1"},
            channels.NEWEST_ANSWER: {"messages_answers_by_channel", "sqlite_autoindex_thread_metadata_1"},
            channels.EDIT: {"messages_by_discord_id"},
            DELETE_MESSAGES: {"messages_by_discord_id", "sqlite_autoindex_attachments_1"},
            channels.THAW_ANSWER: {"block_boundaries_by_last"},
            FORGET_MESSAGES: {"messages_by_channel", "sqlite_autoindex_attachments_1"},
        }
        for sql, indexes in served_by.items():
            [statement, *_] = [statement for statement in run if statement.sql == sql]
            assert used(await plan(database, statement)) == indexes

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
        pages = [statement for statement in run if statement.sql in (LIST["older"], LIST["newer"])]
        assert {page.sql for page in pages} == {LIST["older"], LIST["newer"]}
        assert not [step for page in pages for step in await plan(database, page) if "TEMP B-TREE" in step]

    async def test_a_search_reads_what_it_needs_by_indexes_made_for_it(
        self, run: Sequence[Statement], database: Database
    ) -> None:
        served_by = {
            searches.SELECT_WAITING: "INDEX memories_waiting (user_id=?)",
            searches.SELECT_SEGMENTS: "INDEX sqlite_autoindex_memory_segments_1 (user_id=?)",
            searches.SELECT_CHUNKS: "PRIMARY KEY (user_id=?)",
            searches.SELECT_OF_SEGMENTS: "COVERING INDEX memories_by_place (user_id=? AND place=?)",
            searches.SELECT_OF_CHUNKS: "INDEX memories_by_place (user_id=? AND place=?)",
            searches.SELECT_POSTINGS: "PRIMARY KEY (user_id=? AND chunk=? AND key=?)",
            searches.SELECT_FOUND: "INDEX memories_by_user (user_id=? AND id=? AND rowid=?)",
        }
        for sql, served in served_by.items():
            texts = sql.texts if isinstance(sql, ListStatement) else {sql}
            [statement, *_] = [statement for statement in run if statement.sql in texts]
            steps = await plan(database, statement)
            assert any(step.startswith("SEARCH") and step.endswith(served) for step in steps), steps
            assert not [step for step in steps if "TEMP B-TREE" in step]


async def plan(database: Database, statement: Statement) -> list[str]:
    rows = await database.query(f"EXPLAIN QUERY PLAN {statement.sql}", *statement.params)
    return [str(row[3]) for row in rows]


def used(steps: Sequence[str]) -> set[str]:
    """The indexes that a plan uses."""
    found = (re.search(r"USING (?:COVERING )?INDEX (\w+)", step) for step in steps)
    return {match[1] for match in found if match}
