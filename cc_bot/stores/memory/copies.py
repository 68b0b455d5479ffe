"""The other places where the text of a memory stands: stored answers, summaries, canvases, and what was said.

The calls of tools are found by an index that holds no other answers, what was said by the user's sessions.
What was said is read newest first and up to MOST_MESSAGES; texts are compared folded, a page at a time, so
that a long archive holds up nobody. Said in a channel, it is found where the bot's answer there kept the
memory or found it.

Notes that a prompt tells from the start (CC_BOT_PROFILE_NOTES) stand in no call of a tool. An answer that
repeats one is found by the note's text alone.
"""

import json
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple

from cc_bot.domain.message import ToolCall
from cc_bot.storage import Database, Row, Statement
from cc_bot.stores.canvases import texts_in, without_texts
from cc_bot.stores.columns import Columns, tool_calls_of, tool_calls_to_json
from cc_bot.stores.memory.texts import TextMatcher

# ---- memory calls ----------------------------------------------------------------------------------------
# The copies of memories in stored answers: the calls of tools that kept them, found them or changed them.
#
# A call is redacted as a whole, its arguments and its result: what is left still pairs a call with its
# result, so that later requests to a model can carry it. Which memories a call is about is read from the rows
# that its result names (`ref`); in calls from before users had numbers of their own, from the ids in the
# result, and in the arguments of a call that worked. Rows are never given twice, so one that is not there any
# more tells for good that its memory was erased: a turn that was running meanwhile is redacted by that as it
# is stored.

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
"""What a memory says may be drawn: such calls name no memory, and are known by the texts in them."""
KEEPING_TOOLS: Final = frozenset({"remember", "update_memory"})
_TELLING_TOOLS: Final = MEMORY_TOOLS | CANVAS_TOOLS
FORGOTTEN: Final = '{"forgotten": true}'

_ROW_NAMES: Final = frozenset({"ref", "former_ref"})
_ID_NAMES: Final = frozenset({"id", "ids", "memory_id", "memory_ids", "supersedes", "superseded"})
"""Of calls from before users had numbers of their own: their results have no `ref`."""
_ID: Final = re.compile(r"\A[#＃]*+\d{1,19}")
_KEPT: Final = ("remembered", "updated")

# The calls of an answer, as they are or redacted: one that names a memory which is erased, or about to be.
# $2 user, $3 an array of {kept, forgotten, ids}
_CALLS: Final = """
    WITH stored (calls) AS (
        SELECT @array(CASE
            WHEN EXISTS (
                SELECT 1 FROM @ids(@list_of(each.value, ids)) AS named
                WHERE NOT EXISTS (
                    SELECT 1 FROM memories AS held
                    WHERE held.user_id = $2 AND held.id = named.value
                        AND (held.deleted_at IS NULL OR held.deleted_at > '')
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
"""  # noqa: S608 - put together from constants alone

# The same of an answer in a channel. $1 its id on Discord
NOTE_CHANNEL_CALLS: Final = f"""
    {_CALLS}
    UPDATE messages SET memory_user_id = $2, tool_calls = stored.calls
    FROM stored
    WHERE discord_id = $1 AND user_id IS NULL AND role = 'assistant'
"""  # noqa: S608 - put together from constants alone

# The same of a turn that is not answered yet. $1 its name
_PUT_TURN_CALLS: Final = f"""
    {_CALLS}
    INSERT INTO turn_calls (turn, user_id, calls) SELECT $1, $2, stored.calls FROM stored WHERE true
    ON CONFLICT (turn) DO UPDATE SET calls = excluded.calls
    WHERE turn_calls.user_id = excluded.user_id
"""  # noqa: S608 - put together from constants alone

DROP_TURN_CALLS: Final = "DELETE FROM turn_calls WHERE turn = $1 AND user_id = $2"

# After questions in channels were answered, given up or deleted. $1 an array of their ids on Discord
DROP_CALLS_OF_QUESTIONS: Final = """
    DELETE FROM turn_calls WHERE turn IN (SELECT 'q' || each.value FROM @ids($1) AS each)
        AND NOT EXISTS (
            SELECT 1 FROM mentions AS w
            WHERE w.discord_id IN @ids($1) AND w.answered = 0 AND turn_calls.turn = 'q' || w.discord_id
        )
"""


def note_calls(statement: str, place: str | int, user_id: int, calls: Sequence[ToolCall]) -> list[Statement]:
    """The statements that remember whose memories an answer's calls are about, and redact those that are
    erased; none for calls that are about no memory. `place` is the statement's $1."""
    if not any(call.name in _TELLING_TOOLS for call in calls):
        return []
    return [Statement(statement, (place, user_id, _with_redacted(calls)))]


def put_turn_calls(turn: str, user_id: int, calls: Sequence[ToolCall]) -> Statement:
    """The statement that notes what a turn's tools have done so far, in place of what was known of it
    before."""
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
    """The memories that a call is about."""
    if call.name not in MEMORY_TOOLS:
        return frozenset()
    told = _parse(call.result)
    if rows := frozenset(_numbers_in(told, _ROW_NAMES)):
        return rows
    said = (told, _parse(call.arguments)) if call.ok else (told,)
    return frozenset(number for part in said for number in _numbers_in(part, _ID_NAMES))


def kept_ids(call: ToolCall) -> frozenset[int]:
    """The memories that a call kept or changed; other ones that its result shows beside them are not."""
    told = _parse(call.result)
    if call.name not in KEEPING_TOOLS or not isinstance(told, dict):
        return frozenset()
    kept = [told.get(name) for name in _KEPT]
    return frozenset(_numbers_in(kept, _ROW_NAMES)) or frozenset(_numbers_in(kept, _ID_NAMES))


def shown_ids(calls: Iterable[ToolCall]) -> frozenset[int]:
    """The memories that calls kept, changed or looked up."""
    return frozenset[int]().union(
        *(kept_ids(call) if call.name in KEEPING_TOOLS else named_ids(call) for call in calls)
    )


def redact_call(call: ToolCall) -> ToolCall:
    return _without_native(replace(call, arguments=FORGOTTEN, result=FORGOTTEN))


def _without_native(call: ToolCall) -> ToolCall:
    """The call without sealed reasoning, which its model can read. It still begins its step."""
    return replace(call, native="{}") if call.native else call


def redact(stored: str, ids: Collection[int], sought: TextMatcher) -> tuple[str, tuple[ToolCall, ...]]:
    """The column of tool calls without what tells of these memories, and the calls that did."""
    calls = tool_calls_of(stored)
    telling = tuple(call for call in calls if _tells(call, ids, sought))
    kept = tuple(redact_call(call) if call in telling else call for call in calls)
    kept = tuple(map(_without_native, kept)) if telling else kept
    return tool_calls_to_json(kept), telling


def _tells(call: ToolCall, ids: Collection[int], sought: TextMatcher) -> bool:
    if call.name not in _TELLING_TOOLS:
        return False
    if not named_ids(call).isdisjoint(ids):
        return True
    said = (_parse(call.arguments), _parse(call.result))
    return any(sought.within(text) for part in said for text in texts_in(part))


def _parse(text: str) -> Any:
    """A JSON value; what is none is taken as a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _numbers_in(value: Any, names: frozenset[str]) -> Iterator[int]:
    """Yield the numbers that a JSON value has under these names, however deep: nesting must not exhaust the
    stack."""
    left = [value]
    while left:
        match left.pop():
            case dict() as fields:
                left += fields.values()
                for name in names.intersection(fields):
                    yield from _numbers(fields[name])
            case list() as parts:
                left += parts
            case _:
                pass


def _numbers(value: Any) -> Iterator[int]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, int) and not isinstance(part, bool):
            yield part
        elif isinstance(part, str) and _ID.fullmatch(part):
            yield int(part.lstrip("#＃"))


# ---- memory traces ---------------------------------------------------------------------------------------

MOST_MESSAGES: Final = 20_000
_PAGE: Final = 200

Key = tuple[int, str]
"""The channel and the agent of a user's sessions."""


class _Answer(NamedTuple):
    """A stored answer with calls of memory tools, and the session it is in, if any."""

    id: int
    tool_calls: str
    content: str
    visibility: str
    discord_id: int | None
    session_id: str | None
    channel_id: int
    agent: str
    summarized_to: int

    @property
    def key(self) -> Key:
        return self.channel_id, self.agent


class _Session(NamedTuple):
    id: str
    channel_id: int
    agent: str
    covered: int | None
    """The last message that is in a summary; None where no more of it will be."""
    canvas: str
    created_at: str


class _Summary(NamedTuple):
    id: int
    channel_id: int
    agent: str
    visibility: str
    content: str
    first_message_id: int
    last_message_id: int


_SUMMARY: Final = Columns(_Summary)

# As _Answer has them. $1 user, $2 the message before the first, $3 limit
_SELECT_CALLS: Final = """
    SELECT m.id, m.tool_calls, m.content, m.visibility, m.discord_id, m.session_id,
        s.channel_id, s.agent, s.summarized_to
    FROM messages AS m
    LEFT JOIN sessions AS s ON s.user_id = $1 AND s.id = m.session_id
    WHERE m.memory_user_id = $1 AND m.id > $2
    ORDER BY m.id
    LIMIT $3
"""

# As _Session has them. One whose messages may go into no summary any more counts as summarized.
_SELECT_SESSIONS: Final = """
    SELECT id, channel_id, agent, CASE summarize WHEN 1 THEN summarized_to END, canvas_state, created_at
    FROM sessions WHERE user_id = $1
"""

_SELECT_SUMMARIES: Final = f"SELECT {_SUMMARY.select} FROM summaries WHERE user_id = $1"  # noqa: S608 - put together from constants alone

# By turn_calls_by_user.
_SELECT_TURN_CALLS: Final = "SELECT turn, calls FROM turn_calls WHERE user_id = $1"

_SELECT_PROPOSALS: Final = "SELECT id, memory_id, change FROM proposals WHERE user_id = $1"

# $1 user, $2 session, $3 the message before the first, $4 limit
_SELECT_SAID: Final = """
    SELECT id, content FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id > $3
    ORDER BY id
    LIMIT $4
"""

# $1 user, $2 session, $3 the answer
_SELECT_QUESTION: Final = """
    SELECT id FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id < $3 AND role = 'user'
    ORDER BY id DESC
    LIMIT 1
"""

# $1 user, $2 the answer's id on Discord
SELECT_CHANNEL_QUESTIONS: Final = """
    SELECT q.id
    FROM mentions AS w
    JOIN messages AS q ON q.discord_id = w.discord_id AND q.user_id IS NULL AND q.author_id = $1
    WHERE w.answer_id = $2
"""


@dataclass(slots=True)
class Traces:
    """The changes after which nothing tells of some memories any more, and where those were told."""

    calls: list[tuple[int, str, str]] = field(default_factory=list)
    """Messages, their tool calls as they are, and redacted."""
    turn_calls: list[tuple[str, str, str]] = field(default_factory=list)
    """The same of turns that are not answered yet."""
    redacted: int = 0
    """How many calls that are."""
    summaries: set[int] = field(default_factory=set)
    keys: set[Key] = field(default_factory=set)
    """Where a summary of what is not summarized yet would tell of them."""
    canvases: list[tuple[str, str, str]] = field(default_factory=list)
    """Sessions, their canvas as it is, and without what holds one of the texts."""
    proposals: set[int] = field(default_factory=set)
    """Those that would change one of them, or in which one of the texts stands."""
    told: set[int] = field(default_factory=set)
    """Messages of sessions that hold one of the texts, or that belong to the turn that kept or used it."""
    told_in_channels: set[int] = field(default_factory=set)


class TraceFinder:
    """A search through what is kept of one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self, user_id: int, ids: Collection[int], texts: Iterable[str], *, everywhere: bool
    ) -> Traces:
        """Find the traces of memories with these ids and texts.

        Without `everywhere`, what was said is looked at only as far as it is in no summary yet, and `told` is
        not complete.
        """
        traces, sought = Traces(), TextMatcher(texts)
        answers = [answer async for answer in self._read_answers(user_id, ids, sought, traces)]
        sessions = await self._find_sessions(user_id)
        for session in sessions:
            if (changed := without_texts(session.canvas, sought)) != session.canvas:
                traces.canvases.append((session.id, session.canvas, changed))
        for turn, stored in await self._database.query(_SELECT_TURN_CALLS, user_id):
            changed_calls, telling = redact(stored, ids, sought)
            if telling:
                traces.turn_calls.append((turn, stored, changed_calls))
                traces.redacted += len(telling)
        for id_, memory_id, change in await self._database.query(_SELECT_PROPOSALS, user_id):
            if memory_id in ids or any(sought.within(text) for text in texts_in(json.loads(change))):
                traces.proposals.add(id_)
        async for session, id_, content in self._read_said(user_id, sessions, everywhere=everywhere):
            if sought.within(content):
                traces.told.add(id_)
                if session.covered is not None and id_ > session.covered:
                    traces.keys.add((session.channel_id, session.agent))
        for each in map(_SUMMARY.read, await self._database.query(_SELECT_SUMMARIES, user_id)):
            key = each.channel_id, each.agent
            if sought.within(each.content) or any(
                (answer.key, answer.visibility) == (key, each.visibility)
                and each.first_message_id <= answer.id <= each.last_message_id
                for answer in answers
            ):
                traces.summaries.add(each.id)
                traces.keys.add(key)
        return traces

    async def _read_answers(
        self, user_id: int, ids: Collection[int], sought: TextMatcher, traces: Traces
    ) -> AsyncIterator[_Answer]:
        after = 0
        while rows := await self._database.query(_SELECT_CALLS, user_id, after, _PAGE):
            for answer in map(_Answer._make, rows):
                if answer.session_id is None and sought.within(answer.content):
                    traces.told_in_channels.add(answer.id)
                after = answer.id
                changed, telling = redact(answer.tool_calls, ids, sought)
                if not telling:
                    continue
                traces.calls.append((answer.id, answer.tool_calls, changed))
                traces.redacted += len(telling)
                if answer.session_id is not None and answer.id > answer.summarized_to:
                    traces.keys.add(answer.key)
                await self._add_turn(user_id, answer, ids, telling, traces)
                yield answer

    async def _add_turn(
        self, user_id: int, answer: _Answer, ids: Collection[int], telling: Iterable[ToolCall], traces: Traces
    ) -> None:
        """Add the question that a memory was kept from, and the answer that kept or found it."""
        told = traces.told_in_channels if answer.session_id is None else traces.told
        kept = any(not kept_ids(call).isdisjoint(ids) for call in telling)
        if kept or any(call.name == "recall" for call in telling):
            told.add(answer.id)
        if kept:
            told.update(id_ for (id_,) in await self._find_questions(user_id, answer))

    async def _find_questions(self, user_id: int, answer: _Answer) -> Iterable[Row]:
        if answer.session_id is None:
            return await self._database.query(SELECT_CHANNEL_QUESTIONS, user_id, answer.discord_id)
        return await self._database.query(_SELECT_QUESTION, user_id, answer.session_id, answer.id)

    async def _find_sessions(self, user_id: int) -> list[_Session]:
        """Return the user's sessions, newest first."""
        rows = await self._database.query(_SELECT_SESSIONS, user_id)
        return sorted(map(_Session._make, rows), key=lambda session: str(session.created_at), reverse=True)

    async def _read_said(
        self, user_id: int, sessions: Iterable[_Session], *, everywhere: bool
    ) -> AsyncIterator[tuple[_Session, int, str]]:
        """Yield the messages of these sessions, each with its text; not `everywhere`: those that are in no
        summary yet."""
        room = MOST_MESSAGES
        for session in sessions:
            if session.covered is None and not everywhere:
                continue
            after = 0 if everywhere or session.covered is None else session.covered
            while room > 0 and (
                rows := await self._database.query(_SELECT_SAID, user_id, session.id, after, min(room, _PAGE))
            ):
                room -= len(rows)
                for id_, content in rows:
                    yield session, id_, content
                    after = id_
