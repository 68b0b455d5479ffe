"""Hides, restores and erases memories, on request also in stored conversations.

Erasures go to the erasure log first, so that restoring a backup repeats them; if that fails, nothing is
erased. SQLite keeps old data in the WAL until a checkpoint, and in unused pages until VACUUM: see `scrub`.
"""

import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.chat.stores.blocks import IS_IN_CHANNEL, thaw_sql
from cc_bot.chat.stores.canvases import SET_CANVAS_CHANGE, TICK_CANVAS_CLOCK
from cc_bot.chat.stores.receipts import mark_receipts_stale
from cc_bot.chat.stores.summaries import MARK_SUMMARIZED_WHERE
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
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import MemoryKnown
from cc_bot.domain.message import ToolCall
from cc_bot.domain.session import EMPTY_CANVAS
from cc_bot.domain.tool_calls import CANVAS_TOOLS, shown_memory_ids, stored_memory_ids
from cc_bot.features.memory.model import UNDO_TIME, ErasureCounts, Memory, is_same_text
from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.stores.limits import MemoryQuotas, ensure_room_left
from cc_bot.features.memory.stores.rows import (
    COUNT_ERASURE,
    MEMORY,
    ROOM_FOR_PIN,
    chain_cte,
    delete_terms,
    hide,
    id_or_zero,
    reindex,
)

# ruff: noqa: S608 - built only from constants
# A test requires a filter by user_id in every statement not marked as /* channel */ or /* all users */.

MAX_MESSAGES: Final = 20_000
_PAGE: Final = 200

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
    """Messages that contain or used a memory, and their calls that drew on a canvas."""

    message_ids: set[int] = field(default_factory=set)
    canvas_calls: list[ToolCall] = field(default_factory=list)


async def _find_traces(
    database: Database, user_id: int, memory_ids: Collection[int], texts: Collection[str]
) -> _Traces:
    """Reads at most MAX_MESSAGES of sessions, newest sessions first, in pages, to not delay other users."""
    found, matcher, question_id = _Traces(), TextMatcher(texts), 0
    async for id_, role, content, stored in _read_sessions(database, user_id):
        calls = tool_calls_from_json(stored)
        if role == "user":
            question_id = id_
        if _stores_memory(calls, memory_ids):
            found.message_ids.add(question_id)
        _add_trace(found, id_, calls, memory_ids, contains_text=matcher.matches(content))
    after = 0
    # Answers in channels, and messages that the bot sent unasked.
    sql = """
        SELECT id, content, tool_calls, discord_id FROM messages
        WHERE memory_user_id = $1 AND id > $2
        ORDER BY id
        LIMIT $3
    """
    select_channel_questions = """
        SELECT q.id
        FROM turns AS w
        JOIN messages AS q ON q.discord_id = w.question_id AND q.user_id IS NULL AND q.author_id = $1
        WHERE w.shown_in = $2 AND w.kind = 'mention' /* channel */
    """
    while rows := await database.query(sql, user_id, after, _PAGE):
        for id_, content, stored, discord_id in rows:
            calls = tool_calls_from_json(stored)
            if _stores_memory(calls, memory_ids):
                questions = await database.query(select_channel_questions, user_id, discord_id)
                found.message_ids.update(question for (question,) in questions)
            _add_trace(found, id_, calls, memory_ids, contains_text=matcher.matches(content))
        after = rows[-1][0]
    return found


async def _read_sessions(database: Database, user_id: int) -> AsyncIterator[Row]:
    remaining = MAX_MESSAGES
    for (session_id,) in await database.query(_SELECT_SESSIONS, user_id):
        after = 0
        while remaining > 0 and (
            rows := await database.query(_SELECT_MESSAGES, user_id, session_id, after, min(remaining, _PAGE))
        ):
            remaining -= len(rows)
            for row in rows:
                yield row
            after = rows[-1][0]


def _stores_memory(calls: Iterable[ToolCall], memory_ids: Collection[int]) -> bool:
    return any(not stored_memory_ids(call).isdisjoint(memory_ids) for call in calls)


def _add_trace(
    found: _Traces, id_: int, calls: Sequence[ToolCall], memory_ids: Collection[int], *, contains_text: bool
) -> None:
    if contains_text or not shown_memory_ids(calls).isdisjoint(memory_ids):
        found.message_ids.add(id_)
        found.canvas_calls.extend(call for call in calls if call.name in CANVAS_TOOLS)


MIN_LENGTH: Final = 12  # characters; shorter texts also occur in unrelated messages
_START: Final = 4  # texts are indexed by this many characters
_LETTER: Final = "[0-9a-z\u00c0-\u052f]"
"""Folded letters of scripts that separate words by spaces; Japanese does not."""
_WORD_START: Final = f"(?:(?<!{_LETTER})|(?!{_LETTER}))"
_WORD_END: Final = f"(?:(?!{_LETTER})|(?<!{_LETTER}))"


class TextMatcher:
    """Finds a set of texts in others, except texts shorter than MIN_LENGTH."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start = defaultdict[str, set[str]](set)
        for text in texts:
            if len(folded := fold(text).strip()) >= MIN_LENGTH:
                self._by_start[folded[:_START]].add(folded)

    def matches(self, text: str) -> bool:
        """Return whether a text contains one of the texts as whole words, in any width and case."""
        folded = fold(text) if self._by_start else ""
        return any(
            folded.startswith(words, at) and re.search(f"{_WORD_START}{re.escape(words)}{_WORD_END}", folded)
            for at in range(len(folded) - MIN_LENGTH + 1)
            for words in self._by_start.get(folded[at : at + _START], ())
        )


# Deletes the cached context blocks that contain messages in array $1, and all later blocks.
_DROP_BLOCKS: Final = thaw_sql(f"{IS_IN_CHANNEL} AND m.id IN @ids($1) /* channel */")

_SELECT_EMPTIED: Final = """
    SELECT m.id, s.channel_id, s.agent, m.visibility
    FROM messages AS m JOIN sessions AS s ON s.id = m.session_id AND s.user_id = $1
    WHERE m.user_id = $1 AND m.id IN @ids($2)
"""

_DELETE_SUMMARIES: Final = f"""
    DELETE FROM summaries
    WHERE user_id = $1 AND EXISTS (
        SELECT 1 FROM ({_SELECT_EMPTIED}) AS emptied
        WHERE emptied.channel_id = summaries.channel_id AND emptied.agent = summaries.agent
            AND emptied.visibility = summaries.visibility
            AND emptied.id BETWEEN summaries.first_message_id AND summaries.last_message_id
    )
    RETURNING id
"""


def _empty_messages(user_id: int, traces: _Traces, stub: str) -> Transaction[tuple[int, int]]:
    """Returns the numbers of messages emptied and summaries deleted."""
    ids = json.dumps(sorted(traces.message_ids))
    summaries = yield Statement(_DELETE_SUMMARIES, (user_id, ids))
    skip_messages = f"""
        {MARK_SUMMARIZED_WHERE}
            AND (channel_id, agent) IN (SELECT channel_id, agent FROM ({_SELECT_EMPTIED}) AS emptied)
    """
    yield Statement(skip_messages, (user_id, ids))
    yield Statement("DELETE FROM proposals WHERE user_id = $1 AND message_id IN @ids($2)", (user_id, ids))
    yield Statement("DELETE FROM attachments WHERE user_id = $1 AND message_id IN @ids($2)", (user_id, ids))
    yield Statement(_DROP_BLOCKS, (ids,))
    # In channels, too: messages of the user, and answers to them.
    empty_messages = """
        UPDATE messages SET content = $3, heard = '', tool_calls = '[]', erased = 1
        WHERE id IN @ids($2) AND (user_id = $1 OR user_id IS NULL AND $1 IN (author_id, memory_user_id))
        RETURNING id /* channel */
    """
    emptied = yield Statement(empty_messages, (user_id, ids, stub))
    select_canvases = "SELECT id, canvas_state FROM sessions WHERE user_id = $1 AND canvas_revision > 0"
    change_canvas = (
        f"UPDATE sessions SET canvas_state = $3, {SET_CANVAS_CHANGE} WHERE user_id = $1 AND id = $2"
    )
    if traces.canvas_calls:
        yield Statement(TICK_CANVAS_CLOCK)
        for session_id, canvas in (yield Statement(select_canvases, (user_id,))):
            if (changed := _remove_drawn(canvas, traces.canvas_calls)) != canvas:
                yield Statement(change_canvas, (user_id, session_id, changed))
    return len(emptied), len(summaries)


def _remove_drawn(canvas: str, calls: Iterable[ToolCall]) -> str:
    """Remove what the calls drew from a canvas, unless it was changed since."""
    drawn = set[tuple[str, str]]()
    for call in calls:
        try:
            arguments, result = json.loads(call.arguments), json.loads(call.result)
            id_ = str(result.get("id", arguments.get("id")))
            drawn.update((id_, str(arguments[name])) for name in ("title", "content") if arguments.get(name))
        except (ValueError, RecursionError, AttributeError):
            continue  # the call failed
    state = json.loads(canvas) if canvas != EMPTY_CANVAS else {"elements": []}
    elements = [
        each
        for each in state["elements"]
        if drawn.isdisjoint((each.get("id"), each.get(name)) for name in ("title", "content"))
    ]
    if len(elements) == len(state["elements"]):
        return canvas
    return json.dumps({**state, "elements": elements}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class HiddenMemory:
    memory: Memory
    hidden_at: datetime


class _Version(NamedTuple):
    id: int
    supersedes: int | None
    content: str
    created_at: str


_HIDDEN: Final = Columns(HiddenMemory, memory=MEMORY, hidden_at=replace(ISO, column="deleted_at"))
_VERSION: Final = Columns(_Version)

# $2 memory, $3 latest time of deletion that can't be undone
_UNDELETE: Final = f"""
    UPDATE memories SET
        status = 'active', deleted_at = NULL, pinned = CASE WHEN {ROOM_FOR_PIN} THEN pinned ELSE 0 END
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
    RETURNING {MEMORY.select}
"""

_SELECT_HIDDEN: Final = f"""
    SELECT {_HIDDEN.select} FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
"""

_CHAIN_VERSIONS: Final = (
    f"SELECT {_VERSION.select} FROM memories WHERE user_id = $1 AND id IN (SELECT id FROM chain)"
)

_SELECT_CHAIN: Final = chain_cte("id IN @ids($2) AND status IN ('active', 'deleted')") + _CHAIN_VERSIONS

# Without memories restored since. $2 an array of memories, $3 latest deletion time
_SELECT_DUE_CHAIN: Final = (
    chain_cte("id IN @ids($2) AND status = 'deleted' AND deleted_at <= $3") + _CHAIN_VERSIONS
)

_DELETE_MEMORIES: Final = (
    "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM proposals WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM memories WHERE user_id = $1 AND id IN @ids($2)",
)

_BATCH: Final = 500
SMALL_BYTES: Final = 2**24  # files up to this size are vacuumed at once, in 0.1 s


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
        """Restore a hidden memory with its history; return None if it is too late. Raises MemoryKnown,
        TooManyMemories or MemoryFull."""
        now = self._clock()
        params = (user_id, id_or_zero(memory_id), to_text(now - UNDO_TIME))
        rules = await self._quotas.rules()

        def steps() -> Transaction[Memory | None]:
            rows = yield Statement(_UNDELETE, params)
            if not rows:
                return None
            memory = MEMORY.read(rows[0])
            sql = f"""
                SELECT {MEMORY.select} FROM memories
                WHERE user_id = $1 AND id <> $2 AND status = 'active' AND audience IN ('anywhere', $3)
                    AND likeness = (SELECT likeness FROM memories WHERE user_id = $1 AND id = $2)
            """
            duplicates = yield Statement(sql, (user_id, memory.id, memory.audience))
            for known in map(MEMORY.read, duplicates):
                if is_same_text(known.content, memory.content) and not known.is_expired(now):
                    raise MemoryKnown(id=known.number)
            yield from reindex(user_id, memory.id, memory.content, memory.tags)
            yield mark_receipts_stale(user_id, "memory", [memory.id])
            yield from ensure_room_left(user_id, rules)
            return memory

        return await self._database.write(steps, [user_lock(user_id)])

    async def hide(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        """Hide a memory and return it, also if it is hidden already; None if there is none."""
        now, key = self._clock(), (user_id, id_or_zero(memory_id))

        def steps() -> Transaction[Sequence[Row]]:
            yield from hide(*key, to_text(now))
            return (yield Statement(_SELECT_HIDDEN, (*key, to_text(now - UNDO_TIME))))

        return _HIDDEN.read_first(await self._database.write(steps, [user_lock(user_id)]))

    async def get_hidden(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        params = (user_id, id_or_zero(memory_id), to_text(self._clock() - UNDO_TIME))
        return _HIDDEN.read_first(await self._database.query(_SELECT_HIDDEN, *params))

    async def erase(self, user_id: int, *memory_ids: int, stub: str | None = None) -> ErasureCounts | None:
        """Erase memories, even hidden, at once; return None if the user has none of them.

        A `stub` replaces the text of messages that contain a memory, answers that looked it up, and answers
        that stored it, with their questions. Attachments, summaries and canvas elements made from these
        messages are deleted.
        """
        select = Statement(_SELECT_CHAIN, (user_id, _array({*map(id_or_zero, memory_ids)})))
        return await self._erase(user_id, select, stub=stub)

    async def erase_all(self, user_id: int, *, stub: str | None = None) -> ErasureCounts:
        """Erase all memories of a user, as `erase` does."""
        sql = f"SELECT {_VERSION.select} FROM memories WHERE user_id = $1"
        return await self._erase(user_id, Statement(sql, (user_id,)), stub=stub) or ErasureCounts()

    async def purge(self, hidden_until: datetime) -> int:
        """Erase all users' memories deleted up to this time. Returns their number."""
        until, count = to_text(hidden_until), 0
        sql = """
            SELECT user_id, id FROM memories
            WHERE status = 'deleted' AND deleted_at <= $1
            ORDER BY deleted_at
            LIMIT $2 /* all users */
        """
        while due := await self._database.query(sql, until, _BATCH):
            of_user = defaultdict[int, list[int]](list)
            for user_id, memory_id in due:
                of_user[user_id].append(memory_id)
            for user_id, ids in of_user.items():
                select = Statement(_SELECT_DUE_CHAIN, (user_id, _array(ids), until))
                erased = await self._erase(user_id, select)
                count += erased.memories if erased else 0
        return count

    async def get_next_purge(self) -> datetime | None:
        sql = "SELECT min(deleted_at) FROM memories WHERE status = 'deleted' /* all users */"
        [(deleted_at,)] = await self._database.query(sql)
        return datetime.fromisoformat(deleted_at) + UNDO_TIME if deleted_at else None

    async def scrub(self, *, vacuum: bool = False) -> ScrubOutcome:
        """Remove erased data from the WAL and, with `vacuum` or in a small file, from unused pages. Database
        servers do so themselves."""
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
        """Raises StorageError; then nothing is erased."""
        rows = await self._database.query(select.sql, *select.params)
        if not rows:
            return None
        chosen, traces = [*map(_VERSION.read, rows)], _Traces()
        if self._log:
            names = (memory_log_id(user_id, each.id, each.created_at) for each in chosen)
            await self._log.note("memory" if stub is None else "memory_and_messages", *names)
        if stub is not None:
            texts = {each.content for each in chosen}
            traces = await _find_traces(self._database, user_id, {each.id for each in chosen}, texts)

        def steps() -> Transaction[ErasureCounts]:
            chosen = [*map(_VERSION.read, (yield select))]
            ids = {each.id for each in chosen}
            yield delete_terms(user_id, ids)
            for statement in _DELETE_MEMORIES:
                yield Statement(statement, (user_id, _array(ids)))
            yield mark_receipts_stale(user_id, "memory", ids)
            yield Statement(COUNT_ERASURE)
            messages = summaries = 0
            if stub is not None:
                messages, summaries = yield from _empty_messages(user_id, traces, stub)
            versions = len(ids & {each.supersedes for each in chosen})
            return ErasureCounts(len(ids) - versions, versions, summaries, messages)

        counts = await self._database.write(steps, [user_lock(user_id)])
        await self.scrub()
        return counts


def _array(ids: Collection[int]) -> str:
    return json.dumps(sorted(ids))
