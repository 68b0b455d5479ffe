"""What refers to a memory, and is redacted with it: tool calls, summaries, canvas elements, proposals.

A tool call refers to a memory by the row that its result names (`ref`); a proposal that was accepted later,
by the text in its arguments. The whole call is redacted, arguments and result: it still pairs a call with its
result, so that later requests can carry it. With it go canvas elements and proposals of the same answer, and
summaries that cover that answer. What people said stays, unless their user wants it emptied as well: messages
of the answers that kept or looked up the memory, and messages that contain its text.

A turn that runs while a memory is erased is redacted as it is stored: rows are never given twice, so a `ref`
without a row is one of an erased memory.
"""

import json
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

from cc_bot.domain.message import ToolCall
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.canvas_json import EMPTY_CANVAS
from cc_bot.stores.canvases import CHANGED, TICK
from cc_bot.stores.columns import tool_calls_of, tool_calls_to_json
from cc_bot.stores.memory.texts import TextMatcher

# ---- tool calls ------------------------------------------------------------------------------------------

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
KEEPING_TOOLS: Final = frozenset({"remember", "update_memory"})
FORGOTTEN: Final = '{"forgotten": true}'

_REFERENCES: Final = ("ref", "former_ref")
_KEPT: Final = ("remembered", "updated")

# The calls of an answer; one that refers to an erased memory is redacted.
# $2 user, $3 an array of {kept, forgotten, ids}
_CALLS: Final = """
    WITH stored (calls) AS (
        SELECT @array(CASE
            WHEN EXISTS (
                SELECT 1 FROM @ids(@list_of(each.value, ids)) AS named
                WHERE NOT EXISTS (
                    SELECT 1 FROM memories AS held
                    WHERE held.user_id = $2 AND held.id = named.value
                )
            ) THEN @text_of(each.value, forgotten)
            ELSE @text_of(each.value, kept)
        END)
        FROM @rows($3) AS each
    )
"""

# Run next after its message was inserted, in the same transaction: that is the session's newest. $1 session
NOTE_CALLS: Final = f"""
    {_CALLS}
    UPDATE messages SET memory_user_id = $2, tool_calls = stored.calls
    FROM stored
    WHERE user_id = $2 AND id = (
        SELECT id FROM messages WHERE session_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT 1
    )
"""

# The same of an answer in a channel. $1 its id on Discord
NOTE_CHANNEL_CALLS: Final = f"""
    {_CALLS}
    UPDATE messages SET memory_user_id = $2, tool_calls = stored.calls
    FROM stored
    WHERE discord_id = $1 AND user_id IS NULL AND role = 'assistant' /* channel */
"""

# The same of a turn that is not answered yet. $1 its name
_PUT_TURN_CALLS: Final = f"""
    {_CALLS}
    INSERT INTO turn_calls (turn, user_id, calls) SELECT $1, $2, stored.calls FROM stored WHERE true
    ON CONFLICT (turn) DO UPDATE SET calls = excluded.calls
    WHERE turn_calls.user_id = excluded.user_id
"""

DROP_TURN_CALLS: Final = "DELETE FROM turn_calls WHERE turn = $1 AND user_id = $2"

# After questions in channels were answered, given up or deleted. $1 an array of their ids on Discord
DROP_CALLS_OF_QUESTIONS: Final = """
    DELETE FROM turn_calls WHERE turn IN (SELECT 'q' || each.value FROM @ids($1) AS each)
        AND NOT EXISTS (
            SELECT 1 FROM mentions AS w
            WHERE w.discord_id IN @ids($1) AND w.answered = 0 AND turn_calls.turn = 'q' || w.discord_id
        )
"""


def note_calls(statement: str, key: str | int, user_id: int, calls: Sequence[ToolCall]) -> list[Statement]:
    """Return the statements that note whose memories an answer's calls are about, and redact calls about
    erased ones; none for calls of other tools. `key` is the statement's $1."""
    if not any(call.name in MEMORY_TOOLS | CANVAS_TOOLS for call in calls):
        return []
    return [Statement(statement, (key, user_id, _with_redacted(calls)))]


def put_turn_calls(turn: str, user_id: int, calls: Sequence[ToolCall]) -> Statement:
    """Return the statement that replaces the noted calls of a turn."""
    if not calls:
        return Statement(DROP_TURN_CALLS, (turn, user_id))
    return Statement(_PUT_TURN_CALLS, (turn, user_id, _with_redacted(calls)))


def _with_redacted(calls: Sequence[ToolCall]) -> str:
    each = [
        {"kept": asdict(call), "forgotten": asdict(redact_call(call)), "ids": sorted(named_ids(call))}
        for call in calls
    ]
    return json.dumps(each, ensure_ascii=False)


def named_ids(call: ToolCall) -> frozenset[int]:
    """Return the memories that a call refers to."""
    return frozenset(_references_in(_parse(call.result))) if call.name in MEMORY_TOOLS else frozenset()


def kept_ids(call: ToolCall) -> frozenset[int]:
    """Return the memories that a call kept or changed, without those that its result shows beside them."""
    result = _parse(call.result)
    if call.name not in KEEPING_TOOLS or not isinstance(result, dict):
        return frozenset()
    return frozenset(_references_in([result.get(name) for name in _KEPT]))


def shown_ids(calls: Iterable[ToolCall]) -> frozenset[int]:
    """Return the memories that calls kept, changed or looked up."""
    return frozenset[int]().union(
        *(kept_ids(call) if call.name in KEEPING_TOOLS else named_ids(call) for call in calls)
    )


def redact_call(call: ToolCall) -> ToolCall:
    return _without_native(replace(call, arguments=FORGOTTEN, result=FORGOTTEN))


def _without_native(call: ToolCall) -> ToolCall:
    """Return the call without sealed reasoning, which its model can read. It still begins its step."""
    return replace(call, native="{}") if call.native else call


def _refers(call: ToolCall, ids: Collection[int], texts: Collection[str]) -> bool:
    """Return whether a call refers to one of these memories: by its row, or with its text, as a proposal that
    was accepted later does."""
    if call.name not in MEMORY_TOOLS:
        return False
    if not named_ids(call).isdisjoint(ids):
        return True
    arguments = _parse(call.arguments) if call.name in KEEPING_TOOLS else None
    content = arguments.get("content") if isinstance(arguments, dict) else None
    return isinstance(content, str) and content in texts


def _is_redacted_beside(call: ToolCall) -> bool:
    """Return whether a call goes with another one of its answer: it drew, or it names no memory."""
    return call.name in CANVAS_TOOLS or (call.name in MEMORY_TOOLS and not named_ids(call))


def _redact(
    calls: Sequence[ToolCall], ids: Collection[int], texts: Collection[str]
) -> tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]:
    """Return the calls of an answer, redacted, and those that were; none if none refers to these memories."""
    if not any(_refers(call, ids, texts) for call in calls):
        return tuple(calls), ()
    gone = tuple(call for call in calls if _refers(call, ids, texts) or _is_redacted_beside(call))
    return tuple(redact_call(call) if call in gone else _without_native(call) for call in calls), gone


def _parse(text: str) -> Any:
    """Return a JSON value; None for other texts."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _references_in(value: Any) -> Iterator[int]:
    """Yield the rows that a JSON value names, however deep: nesting must not exhaust the stack."""
    left = [value]
    while left:
        match left.pop():
            case dict() as fields:
                left += fields.values()
                rows = (fields.get(name) for name in _REFERENCES)
                yield from (row for row in rows if isinstance(row, int) and not isinstance(row, bool))
            case list() as parts:
                left += parts
            case _:
                pass


# ---- redaction -------------------------------------------------------------------------------------------
# $1 is the user.

# ruff: noqa: S608 - put together from constants alone

Key = tuple[int, str]
"""The channel and the agent of a user's sessions."""


class _Answer(NamedTuple):
    id: int
    tool_calls: str
    visibility: str
    session_id: str | None
    channel_id: int
    agent: str
    summarized_to: int


# Answers that may refer to memories: a row's number stands in the calls somewhere, and each text in a
# proposal. $2 an array of memories; NULL: any
_SELECT_CALLS: Final = """
    SELECT m.id, m.tool_calls, m.visibility, m.session_id, s.channel_id, s.agent, s.summarized_to
    FROM messages AS m
    LEFT JOIN sessions AS s ON s.user_id = $1 AND s.id = m.session_id
    WHERE m.memory_user_id = $1 AND (
        CAST($2 AS TEXT) IS NULL OR @place_in(m.tool_calls, 'proposed') > 0
        OR EXISTS (SELECT 1 FROM @ids($2) AS one WHERE @place_in(m.tool_calls, CAST(one.value AS TEXT)) > 0)
    )
"""
_MAX_SOUGHT: Final = 100
"""With more memories, all answers are read."""

# $2 message, $3 its tool calls
_REDACT: Final = "UPDATE messages SET tool_calls = $3 WHERE memory_user_id = $1 AND id = $2"

# By turn_calls_by_user.
_SELECT_TURN_CALLS: Final = "SELECT turn, calls FROM turn_calls WHERE user_id = $1"

# $2 turn, $3 its calls
_REDACT_TURN: Final = "UPDATE turn_calls SET calls = $3 WHERE user_id = $1 AND turn = $2"

_SELECT_CANVASES: Final = "SELECT id, canvas_state FROM sessions WHERE user_id = $1 AND canvas_revision > 0"

# $2 session, $3 its canvas
_CHANGE_CANVAS: Final = f"UPDATE sessions SET canvas_state = $3, {CHANGED} WHERE user_id = $1 AND id = $2"

# $2 channel, $3 agent, $4 visibility, $5 an answer
_DELETE_SUMMARY: Final = """
    DELETE FROM summaries
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND visibility = $4
        AND $5 BETWEEN first_message_id AND last_message_id
    RETURNING id
"""

# What was said until now goes into no summary any more, not even into one that is being written. $2 channel,
# $3 agent
_COVER: Final = """
    UPDATE sessions SET summarized_to = coalesce(
        (
            SELECT m.id FROM messages AS m
            WHERE m.user_id = $1 AND m.session_id = sessions.id AND m.id > sessions.summarized_to
            ORDER BY m.id DESC LIMIT 1
        ),
        summarized_to
    )
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1
"""

# Of the memories, and of answers that referred to them. $2 an array of memories, $3 of answers
_DELETE_PROPOSALS: Final = """
    DELETE FROM proposals WHERE user_id = $1 AND (memory_id IN @ids($2) OR message_id IN @ids($3))
"""


def redact(user_id: int, ids: Collection[int], texts: Collection[str]) -> Steps[tuple[int, int]]:
    """Redact what refers to memories with these ids and texts. Returns the number of tool calls and of
    summaries."""
    redacted, answers = list[ToolCall](), list[int]()
    covered = set[Key]()
    summaries = 0
    sought = json.dumps(sorted(ids)) if len(ids) <= _MAX_SOUGHT else None
    for row in (yield Statement(_SELECT_CALLS, (user_id, sought))):
        answer = _Answer(*row)
        calls, gone = _redact(tool_calls_of(answer.tool_calls), ids, texts)
        if not gone:
            continue
        redacted += gone
        answers.append(answer.id)
        yield Statement(_REDACT, (user_id, answer.id, tool_calls_to_json(calls)))
        if answer.session_id is not None:
            key = (answer.channel_id, answer.agent)
            deleted = yield Statement(_DELETE_SUMMARY, (user_id, *key, answer.visibility, answer.id))
            summaries += len(deleted)
            if deleted or answer.id > answer.summarized_to:
                covered.add(key)
    for turn, stored in (yield Statement(_SELECT_TURN_CALLS, (user_id,))):
        calls, gone = _redact(tool_calls_of(stored), ids, texts)
        if gone:
            redacted += gone
            yield Statement(_REDACT_TURN, (user_id, turn, tool_calls_to_json(calls)))
    if drawn := [call for call in redacted if call.name in CANVAS_TOOLS]:
        yield Statement(TICK)
        for session_id, canvas in (yield Statement(_SELECT_CANVASES, (user_id,))):
            if (changed := _without_drawn(canvas, drawn)) != canvas:
                yield Statement(_CHANGE_CANVAS, (user_id, session_id, changed))
    yield Statement(_DELETE_PROPOSALS, (user_id, json.dumps(sorted(ids)), json.dumps(answers)))
    for key in sorted(covered):
        yield Statement(_COVER, (user_id, *key))
    return len(redacted), summaries


def _without_drawn(canvas: str, calls: Iterable[ToolCall]) -> str:
    """Return the canvas without the elements that these calls drew, and that still show the same."""
    drawn = set[tuple[str, str]]()
    for call in calls:
        arguments, result = _parse(call.arguments), _parse(call.result)
        if isinstance(arguments, dict) and isinstance(result, dict):
            id_ = str(result.get("id", arguments.get("id")))
            drawn.update(
                (id_, str(arguments.get(name))) for name in ("title", "content") if arguments.get(name)
            )
    try:
        state = json.loads(canvas)
        elements = [
            each
            for each in state["elements"]
            if drawn.isdisjoint((each.get("id"), each.get(name)) for name in ("title", "content"))
        ]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return EMPTY_CANVAS  # as it is shown
    if len(elements) == len(state["elements"]):
        return canvas
    return json.dumps({**state, "elements": elements}, ensure_ascii=False)


# ---- messages --------------------------------------------------------------------------------------------

MAX_MESSAGES: Final = 20_000
_PAGE: Final = 200

# $2 the message before the first, $3 limit
_SELECT_ANSWERS: Final = """
    SELECT id, tool_calls, content, session_id, discord_id FROM messages
    WHERE memory_user_id = $1 AND id > $2
    ORDER BY id
    LIMIT $3
"""

_SELECT_SESSIONS: Final = "SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC"

# $2 session, $3 the message before the first, $4 limit
_SELECT_SAID: Final = """
    SELECT id, content FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id > $3
    ORDER BY id
    LIMIT $4
"""

# $2 session, $3 the answer
_SELECT_QUESTION: Final = """
    SELECT id FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id < $3 AND role = 'user'
    ORDER BY id DESC
    LIMIT 1
"""

# $2 the answer's id on Discord
SELECT_CHANNEL_QUESTIONS: Final = """
    SELECT q.id
    FROM mentions AS w
    JOIN messages AS q ON q.discord_id = w.discord_id AND q.user_id IS NULL AND q.author_id = $1
    WHERE w.answer_id = $2 /* channel */
"""


class Mentions(NamedTuple):
    """Messages that say what memories say, or are the turn that kept or looked up one."""

    own: set[int]
    """Of the user's sessions."""
    in_channels: set[int]

    def __len__(self) -> int:
        return len(self.own) + len(self.in_channels)


class MentionFinder:
    """A search through what was said to and by one user. It reads in pages, and up to MAX_MESSAGES of the
    newest sessions, so that a long archive holds up nobody."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, user_id: int, ids: Collection[int], texts: Collection[str]) -> Mentions:
        """Find the messages about memories with these ids and texts."""
        found, sought, after = Mentions(set(), set()), TextMatcher(texts), 0
        while rows := await self._database.query(_SELECT_ANSWERS, user_id, after, _PAGE):
            for after, stored, content, session_id, discord_id in rows:
                there = found.in_channels if session_id is None else found.own
                calls = [call for call in tool_calls_of(stored) if _refers(call, ids, texts)]
                kept = any(not kept_ids(call).isdisjoint(ids) for call in calls)
                if kept or any(call.name == "recall" for call in calls) or sought.within(content):
                    there.add(after)
                if kept:
                    there.update(await self._find_questions(user_id, session_id, after, discord_id))
        async for id_, content in self._read_said(user_id):
            if sought.within(content):
                found.own.add(id_)
        return found

    async def _find_questions(
        self, user_id: int, session_id: str | None, answer_id: int, discord_id: int | None
    ) -> Iterable[int]:
        rows: Sequence[Row]
        if session_id is None:
            rows = await self._database.query(SELECT_CHANNEL_QUESTIONS, user_id, discord_id)
        else:
            rows = await self._database.query(_SELECT_QUESTION, user_id, session_id, answer_id)
        return (id_ for (id_,) in rows)

    async def _read_said(self, user_id: int) -> AsyncIterator[tuple[int, str]]:
        room = MAX_MESSAGES
        for (session_id,) in await self._database.query(_SELECT_SESSIONS, user_id):
            after = 0
            while room > 0 and (
                rows := await self._database.query(_SELECT_SAID, user_id, session_id, after, min(room, _PAGE))
            ):
                room -= len(rows)
                for id_, content in rows:
                    yield id_, content
                    after = id_
