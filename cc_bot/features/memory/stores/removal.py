"""Hides, restores and erases memories, on request also in stored conversations.

A hidden memory can be restored for UNDO_TIME, then `purge` erases it with its former versions. Each erasure
is first recorded in the erasure log, so that it can be repeated after a backup is restored. `scrub` removes
the remains of erased rows from the files of the database.
"""

import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.chat.stores.blocks import IS_IN_CHANNEL, thaw_sql
from cc_bot.chat.stores.canvases import NUMBER_CHANGE, TICK_CANVAS_CLOCK
from cc_bot.chat.stores.receipts import mark_receipts_stale
from cc_bot.chat.stores.summaries import SET_SUMMARIZED_TO_END
from cc_bot.db import (
    MAINTENANCE_LOCK,
    Database,
    ErasureLog,
    Row,
    ScrubOutcome,
    Statement,
    Transaction,
    memory_log_id,
    user_lock,
)
from cc_bot.db.columns import ISO, Columns, to_text, tool_calls_from_json
from cc_bot.domain.clock import UNDO_TIME, Clock, utc_now
from cc_bot.domain.message import ToolCall
from cc_bot.domain.session import EMPTY_CANVAS
from cc_bot.domain.tool_calls import CANVAS_TOOLS, shown_memory_ids, stored_memory_ids
from cc_bot.features.memory.errors import MemoryKnown
from cc_bot.features.memory.model import ErasureCounts, Memory, is_same_text
from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.stores.limits import MemoryQuotas, check_limits
from cc_bot.features.memory.stores.rows import (
    MEMORY,
    RECORD_ERASURE,
    ROOM_FOR_PIN,
    chain_cte,
    delete_terms,
    hide,
    reindex,
    valid_id_or_zero,
)

# ruff: noqa: S608 - built only from constants

MAX_SEARCHED_MESSAGES: Final = 20_000
_PAGE: Final = 200  # messages per query

_SELECT_SESSIONS: Final = "SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC"

# $2 session, $3 previous message, $4 limit
_SELECT_MESSAGES: Final = """
    SELECT id, role, content, tool_calls FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id > $3
    ORDER BY id
    LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class _Traces:
    """Messages that contain, used, stored or asked for a memory, and their calls that changed a canvas."""

    message_ids: set[int] = field(default_factory=set)
    canvas_calls: list[ToolCall] = field(default_factory=list)


async def _find_traces(
    database: Database, user_id: int, memory_ids: Collection[int], texts: Collection[str]
) -> _Traces:
    """Search messages in sessions (at most MAX_SEARCHED_MESSAGES, newest sessions first) and in channels."""
    traces, matcher, question_id = _Traces(), TextMatcher(texts), 0
    async for id_, role, content, stored_calls in _read_session_messages(database, user_id):
        calls = tool_calls_from_json(stored_calls)
        if role == "user":
            question_id = id_
        if _stores_memory(calls, memory_ids):
            traces.message_ids.add(question_id)
        _add_trace(traces, id_, calls, memory_ids, contains_text=matcher.matches(content))
    last_id = 0
    # Answers in channels, reminders and heartbeats.
    select_answers = """
        SELECT id, content, tool_calls, discord_id FROM messages
        WHERE memory_user_id = $1 AND id > $2
        ORDER BY id
        LIMIT $3
    """
    select_questions = """
        SELECT q.id FROM turns
        JOIN messages AS q ON q.discord_id = turns.question_id AND q.user_id IS NULL AND q.author_id = $1
        WHERE turns.shown_in = $2 AND turns.kind = 'mention' /* scope: channel */
    """
    while rows := await database.query(select_answers, user_id, last_id, _PAGE):
        for id_, content, stored_calls, discord_id in rows:
            calls = tool_calls_from_json(stored_calls)
            if _stores_memory(calls, memory_ids):
                questions = await database.query(select_questions, user_id, discord_id)
                traces.message_ids.update(row[0] for row in questions)
            _add_trace(traces, id_, calls, memory_ids, contains_text=matcher.matches(content))
        last_id = rows[-1][0]
    return traces


async def _read_session_messages(database: Database, user_id: int) -> AsyncIterator[Row]:
    remaining = MAX_SEARCHED_MESSAGES
    for (session_id,) in await database.query(_SELECT_SESSIONS, user_id):
        last_id = 0
        while remaining > 0:
            params = (user_id, session_id, last_id, min(remaining, _PAGE))
            if not (rows := await database.query(_SELECT_MESSAGES, *params)):
                break
            remaining -= len(rows)
            for row in rows:
                yield row
            last_id = rows[-1][0]


def _stores_memory(calls: Iterable[ToolCall], memory_ids: Collection[int]) -> bool:
    return any(not stored_memory_ids(call).isdisjoint(memory_ids) for call in calls)


def _add_trace(
    traces: _Traces, id_: int, calls: Sequence[ToolCall], memory_ids: Collection[int], *, contains_text: bool
) -> None:
    if contains_text or not shown_memory_ids(calls).isdisjoint(memory_ids):
        traces.message_ids.add(id_)
        traces.canvas_calls.extend(call for call in calls if call.name in CANVAS_TOOLS)


MIN_TEXT_LENGTH: Final = 12  # characters; shorter texts also occur in unrelated messages
_START_LENGTH: Final = 4
_LETTER: Final = "[0-9a-z\u00c0-\u052f]"
"""A folded letter of a script that puts spaces between words, unlike Japanese."""
_WORD_START: Final = f"(?:(?<!{_LETTER})|(?!{_LETTER}))"
_WORD_END: Final = f"(?:(?!{_LETTER})|(?<!{_LETTER}))"


class TextMatcher:
    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start = defaultdict[str, set[str]](set)
        for text in texts:
            if len(folded := fold(text).strip()) >= MIN_TEXT_LENGTH:
                self._by_start[folded[:_START_LENGTH]].add(folded)

    def matches(self, message: str) -> bool:
        """Return whether a message contains one of the texts as whole words, in whatever width and case."""
        folded = fold(message) if self._by_start else ""
        for at in range(len(folded) - MIN_TEXT_LENGTH + 1):
            for text in self._by_start.get(folded[at : at + _START_LENGTH], ()):
                if folded.startswith(text, at) and re.search(
                    f"{_WORD_START}{re.escape(text)}{_WORD_END}", folded
                ):
                    return True
        return False


# Deletes the cached context blocks that contain messages in array $1, and all later blocks.
_DELETE_BLOCKS: Final = thaw_sql(f"{IS_IN_CHANNEL} AND m.id IN @ids($1) /* scope: channel */")

_SELECT_TO_EMPTY: Final = """
    SELECT m.id, s.channel_id, s.agent, m.visibility
    FROM messages AS m JOIN sessions AS s ON s.id = m.session_id AND s.user_id = $1
    WHERE m.user_id = $1 AND m.id IN @ids($2)
"""

_DELETE_SUMMARIES: Final = f"""
    DELETE FROM summaries
    WHERE user_id = $1 AND EXISTS (
        SELECT 1 FROM ({_SELECT_TO_EMPTY}) AS emptied
        WHERE emptied.channel_id = summaries.channel_id AND emptied.agent = summaries.agent
            AND emptied.visibility = summaries.visibility
            AND emptied.id BETWEEN summaries.first_message_id AND summaries.last_message_id
    )
    RETURNING id
"""


def _empty_messages(user_id: int, traces: _Traces, stub: str) -> Transaction[tuple[int, int]]:
    """Return the number of emptied messages and the number of deleted summaries."""
    ids = json.dumps(sorted(traces.message_ids))
    summaries = yield Statement(_DELETE_SUMMARIES, (user_id, ids))
    mark_summarized = f"""
        {SET_SUMMARIZED_TO_END}
            AND (channel_id, agent) IN (SELECT channel_id, agent FROM ({_SELECT_TO_EMPTY}) AS emptied)
    """
    yield Statement(mark_summarized, (user_id, ids))
    yield Statement("DELETE FROM proposals WHERE user_id = $1 AND message_id IN @ids($2)", (user_id, ids))
    yield Statement("DELETE FROM attachments WHERE user_id = $1 AND message_id IN @ids($2)", (user_id, ids))
    yield Statement(_DELETE_BLOCKS, (ids,))
    # Includes the user's messages in channels, and the answers to them.
    empty_messages = """
        UPDATE messages SET content = $3, heard = '', tool_calls = '[]', erased = 1
        WHERE id IN @ids($2) AND (user_id = $1 OR user_id IS NULL AND $1 IN (author_id, memory_user_id))
        RETURNING id /* scope: channel */
    """
    emptied = yield Statement(empty_messages, (user_id, ids, stub))
    select_canvases = "SELECT id, canvas_state FROM sessions WHERE user_id = $1 AND canvas_revision > 0"
    change_canvas = f"UPDATE sessions SET canvas_state = $3, {NUMBER_CHANGE} WHERE user_id = $1 AND id = $2"
    if traces.canvas_calls:
        yield Statement(TICK_CANVAS_CLOCK)
        for session_id, canvas in (yield Statement(select_canvases, (user_id,))):
            if (changed := _remove_elements(canvas, traces.canvas_calls)) != canvas:
                yield Statement(change_canvas, (user_id, session_id, changed))
    return len(emptied), len(summaries)


def _remove_elements(canvas: str, calls: Iterable[ToolCall]) -> str:
    """Remove the canvas elements whose title or content is still that of one of the calls."""
    texts = set[tuple[str, str]]()  # (element id, title or content)
    for call in calls:
        try:
            arguments, result = json.loads(call.arguments), json.loads(call.result)
            id_ = str(result.get("id", arguments.get("id")))
            texts.update((id_, str(arguments[name])) for name in ("title", "content") if arguments.get(name))
        except (ValueError, RecursionError, AttributeError):
            continue  # a failed call
    state = json.loads(canvas) if canvas != EMPTY_CANVAS else {"elements": []}
    elements = [
        element
        for element in state["elements"]
        if texts.isdisjoint((element.get("id"), element.get(name)) for name in ("title", "content"))
    ]
    if len(elements) == len(state["elements"]):
        return canvas
    return json.dumps({**state, "elements": elements}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class HiddenMemory:
    memory: Memory
    hidden_at: datetime


class _VersionRow(NamedTuple):
    id: int  # of a memory or a former version
    supersedes: int | None
    content: str
    created_at: str


_HIDDEN_MEMORY: Final = Columns(HiddenMemory, memory=MEMORY, hidden_at=replace(ISO, column="deleted_at"))
_VERSION_ROW: Final = Columns(_VersionRow)

# $1 user, $2 memory, $3 latest time of deletion that can no longer be undone
_UNDELETE: Final = f"""
    UPDATE memories SET
        status = 'active', deleted_at = NULL, pinned = CASE WHEN {ROOM_FOR_PIN} THEN pinned ELSE 0 END
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
    RETURNING {MEMORY.select}
"""

_SELECT_HIDDEN: Final = f"""
    SELECT {_HIDDEN_MEMORY.select} FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
"""

_SELECT_FROM_CHAIN: Final = (
    f"SELECT {_VERSION_ROW.select} FROM memories WHERE user_id = $1 AND id IN (SELECT id FROM chain)"
)

_SELECT_VERSIONS: Final = chain_cte("id IN @ids($2) AND status IN ('active', 'deleted')") + _SELECT_FROM_CHAIN

# Leaves out memories that were restored meanwhile. $1 user, $2 an array of ids, $3 latest time of deletion
_SELECT_DUE_VERSIONS: Final = (
    chain_cte("id IN @ids($2) AND status = 'deleted' AND deleted_at <= $3") + _SELECT_FROM_CHAIN
)

_DELETE_MEMORIES: Final = (
    "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM proposals WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM memories WHERE user_id = $1 AND id IN @ids($2)",
)


def _select_versions(user_id: int, memory_ids: Sequence[int] = ()) -> Statement:
    """Select these memories, or without ids all memories, with their former versions."""
    if not memory_ids:
        return Statement(f"SELECT {_VERSION_ROW.select} FROM memories WHERE user_id = $1", (user_id,))
    return Statement(_SELECT_VERSIONS, (user_id, json.dumps([*map(valid_id_or_zero, memory_ids)])))


def _count(versions: Sequence[_VersionRow]) -> ErasureCounts:
    former_count = len({each.id for each in versions} & {each.supersedes for each in versions})
    return ErasureCounts(len(versions) - former_count, former_count)


_BATCH: Final = 500
SMALL_BYTES: Final = 2**24  # a file up to this size is vacuumed after each erasure, which takes 0.1 s


class MemoryRemovalStore:
    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        log: ErasureLog | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Without a `log`, erasures are not recorded."""
        self._database = database
        self._clock = clock
        self._log = log
        self._quotas = quotas or MemoryQuotas(database)

    async def undelete(self, user_id: int, memory_id: int) -> Memory | None:
        """Restore a hidden memory; None if it is not hidden or UNDO_TIME is over. Raises TooManyMemories,
        MemoryFull, or MemoryKnown if another memory has the same text."""
        now = self._clock()
        params = (user_id, valid_id_or_zero(memory_id), to_text(now - UNDO_TIME))
        rules = await self._quotas.read_rules()

        def steps() -> Transaction[Memory | None]:
            memory = MEMORY.read_first((yield Statement(_UNDELETE, params)))
            if memory is None:
                return None
            sql = f"""
                SELECT {MEMORY.select} FROM memories
                WHERE user_id = $1 AND id <> $2 AND status = 'active' AND audience IN ('anywhere', $3)
                    AND likeness = (SELECT likeness FROM memories WHERE user_id = $1 AND id = $2)
            """
            duplicates = yield Statement(sql, (user_id, memory.id, memory.audience))
            for duplicate in map(MEMORY.read, duplicates):
                if is_same_text(duplicate.content, memory.content) and not duplicate.is_expired(now):
                    raise MemoryKnown(id=duplicate.number)
            yield from reindex(user_id, memory.id, memory.content, memory.tags)
            yield mark_receipts_stale(user_id, "memory", [memory.id])
            yield from check_limits(user_id, rules)
            return memory

        return await self._database.write(steps, [user_lock(user_id)])

    async def hide(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        """Hide a memory and return it, even if it is already hidden; None if the user does not have it."""
        now, memory_id = self._clock(), valid_id_or_zero(memory_id)

        def steps() -> Transaction[Sequence[Row]]:
            yield from hide(user_id, memory_id, to_text(now))
            return (yield Statement(_SELECT_HIDDEN, (user_id, memory_id, to_text(now - UNDO_TIME))))

        return _HIDDEN_MEMORY.read_first(await self._database.write(steps, [user_lock(user_id)]))

    async def get_hidden(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        params = (user_id, valid_id_or_zero(memory_id), to_text(self._clock() - UNDO_TIME))
        return _HIDDEN_MEMORY.read_first(await self._database.query(_SELECT_HIDDEN, *params))

    async def preview(self, user_id: int, *memory_ids: int) -> ErasureCounts:
        """Count what `erase`, or `erase_all` if no ids are given, would delete outside of conversations."""
        select = _select_versions(user_id, memory_ids)
        return _count([*map(_VERSION_ROW.read, await self._database.query(select.sql, *select.params))])

    async def erase(self, user_id: int, *memory_ids: int, stub: str | None = None) -> ErasureCounts | None:
        """Erase memories, even hidden ones. Returns None if the user has none of them.

        With a `stub`, also changes conversations: the stub replaces messages that contain a memory, answers
        that used or stored a memory, and the questions to answers that stored one. The attachments, summaries
        and canvas elements of these messages are deleted.
        """
        return await self._erase(user_id, _select_versions(user_id, memory_ids or (0,)), stub=stub)

    async def erase_all(self, user_id: int, *, stub: str | None = None) -> ErasureCounts:
        """Erase all memories of a user, as `erase` does."""
        return await self._erase(user_id, _select_versions(user_id), stub=stub) or ErasureCounts()

    async def purge(self, hidden_before: datetime) -> int:
        """Erase the memories of all users that were hidden by this time. Returns the number erased."""
        until, count = to_text(hidden_before), 0
        sql = """
            SELECT user_id, id FROM memories
            WHERE status = 'deleted' AND deleted_at <= $1
            ORDER BY deleted_at
            LIMIT $2 /* scope: all users */
        """
        while due := await self._database.query(sql, until, _BATCH):
            ids_by_user = defaultdict[int, list[int]](list)
            for user_id, memory_id in due:
                ids_by_user[user_id].append(memory_id)
            for user_id, ids in ids_by_user.items():
                select = Statement(_SELECT_DUE_VERSIONS, (user_id, json.dumps(ids), until))
                erased = await self._erase(user_id, select)
                count += erased.memories if erased else 0
        return count

    async def get_next_purge(self) -> datetime | None:
        sql = "SELECT min(deleted_at) FROM memories WHERE status = 'deleted' /* scope: all users */"
        [(deleted_at,)] = await self._database.query(sql)
        return datetime.fromisoformat(deleted_at) + UNDO_TIME if deleted_at else None

    async def count_emptied_messages(self, user_id: int) -> int:
        is_emptied = "SELECT id FROM messages WHERE user_id = $1 AND erased = 1 AND session_id"
        sql = f"""
            SELECT count(*) FROM (
                {is_emptied} IN (SELECT id FROM sessions WHERE user_id = $1) UNION ALL {is_emptied} IS NULL
            ) AS emptied
        """
        return int((await self._database.read_long(Statement(sql, (user_id,)).as_transaction))[0][0])

    async def scrub(self, *, vacuum: bool = False) -> ScrubOutcome:
        """Remove erased data from SQLite's WAL and, with `vacuum` or if the file is small, from unused pages.
        A database server does this itself."""
        sql = "SELECT erased, vacuumed FROM memory_erasures WHERE id = 1"
        [(erased, vacuumed)] = await self._database.query(sql)
        if erased == vacuumed:
            return "done"
        vacuum = vacuum or self._database.dialect != "sqlite" or await self._database.size() <= SMALL_BYTES
        outcome = await self._database.scrub(vacuum=vacuum)
        if vacuum and outcome == "done":
            mark_vacuumed = "UPDATE memory_erasures SET vacuumed = $1 WHERE id = 1 AND vacuumed < $1"
            await self._database.transaction([Statement(mark_vacuumed, (erased,))], [MAINTENANCE_LOCK])
        return outcome

    async def _erase(
        self, user_id: int, select: Statement, *, stub: str | None = None
    ) -> ErasureCounts | None:
        rows = await self._database.query(select.sql, *select.params)
        if not rows:
            return None
        versions, traces = [*map(_VERSION_ROW.read, rows)], _Traces()
        if self._log:
            names = (memory_log_id(user_id, each.id, each.created_at) for each in versions)
            await self._log.note("memory" if stub is None else "memory_and_messages", *names)
        if stub is not None:
            texts = {each.content for each in versions}
            traces = await _find_traces(self._database, user_id, {each.id for each in versions}, texts)

        def steps() -> Transaction[ErasureCounts]:
            versions = [*map(_VERSION_ROW.read, (yield select))]
            ids = {each.id for each in versions}
            yield delete_terms(user_id, ids)
            for statement in _DELETE_MEMORIES:
                yield Statement(statement, (user_id, json.dumps([*ids])))
            yield mark_receipts_stale(user_id, "memory", ids)
            yield Statement(RECORD_ERASURE)
            messages = summaries = 0
            if stub is not None:
                messages, summaries = yield from _empty_messages(user_id, traces, stub)
            return replace(_count(versions), summaries=summaries, messages=messages)

        counts = await self._database.write(steps, [user_lock(user_id)])
        await self.scrub()
        return counts
