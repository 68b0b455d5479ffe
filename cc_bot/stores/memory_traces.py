"""Where else the text of a memory stands: in stored answers, summaries, on canvases, and in what was said.

The calls of tools are found by an index that holds no other answers, what was said by the user's sessions.
What was said is read newest first and up to MOST_MESSAGES; texts are compared folded, a page at a time, so
that a long archive holds up nobody. Said in a channel, it is found where the bot's answer there kept the
memory or found it.
"""

import json
from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from cc_bot.domain.message import ToolCall
from cc_bot.storage import Database, Row
from cc_bot.stores.canvas import texts_in, without
from cc_bot.stores.memory_calls import kept_ids, redact
from cc_bot.stores.sought import Sought

MOST_MESSAGES: Final = 20_000
_PAGE: Final = 200

# $1 user, $2 the message before the first, $3 limit
_SELECT_CALLS: Final = """
    SELECT m.id, m.tool_calls, m.content, m.visibility, m.discord_id, m.session_id,
        s.channel_id, s.agent, s.summarized_to
    FROM messages AS m
    LEFT JOIN sessions AS s ON s.user_id = $1 AND s.id = m.session_id
    WHERE m.memory_user_id = $1 AND m.id > $2
    ORDER BY m.id
    LIMIT $3
"""

# A session whose messages may go into no summary any more counts as summarized.
_SELECT_SESSIONS: Final = """
    SELECT id, channel_id, agent, CASE summarize WHEN 1 THEN summarized_to END, canvas_state, created_at
    FROM sessions WHERE user_id = $1
"""

_SELECT_SUMMARIES: Final = """
    SELECT id, channel_id, agent, visibility, content, first_message_id, last_message_id
    FROM summaries WHERE user_id = $1
"""

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

Key = tuple[int, str]
"""The channel and the agent of a user's sessions."""


@dataclass(slots=True)
class Traces:
    """What is to be changed so that nothing tells of some memories any more, and where they were told."""

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


@dataclass(frozen=True, slots=True)
class _Answer:
    """A stored answer with calls of memory tools, and the session it is in, if any."""

    id: int
    visibility: str
    discord_id: int | None
    session_id: str | None
    key: Key


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    channel_id: int
    agent: str
    covered: int | None
    """The last message that is in a summary; None where no more of it will be."""
    canvas: str


class TraceFinder:
    """Looks through what is kept of one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self, user_id: int, ids: Collection[int], texts: Iterable[str], *, everywhere: bool
    ) -> Traces:
        """The traces of memories with these ids and texts.

        Without `everywhere`, what was said is looked at only as far as it is in no summary yet, and `told` is
        not complete.
        """
        traces, sought = Traces(), Sought(texts)
        answers = [answer async for answer in self._answers(user_id, ids, sought, traces)]
        sessions = await self._sessions(user_id)
        for session in sessions:
            if (changed := without(session.canvas, sought)) != session.canvas:
                traces.canvases.append((session.id, session.canvas, changed))
        for turn, stored in await self._database.query(_SELECT_TURN_CALLS, user_id):
            changed_calls, telling = redact(stored, ids, sought)
            if telling:
                traces.turn_calls.append((turn, stored, changed_calls))
                traces.redacted += len(telling)
        for id_, memory_id, change in await self._database.query(_SELECT_PROPOSALS, user_id):
            if memory_id in ids or any(sought.within(text) for text in texts_in(json.loads(change))):
                traces.proposals.add(id_)
        async for session, id_, content in self._said(user_id, sessions, everywhere=everywhere):
            if sought.within(content):
                traces.told.add(id_)
                if session.covered is not None and id_ > session.covered:
                    traces.keys.add((session.channel_id, session.agent))
        for id_, channel_id, agent, visibility, content, first, last in await self._database.query(
            _SELECT_SUMMARIES, user_id
        ):
            place = ((channel_id, agent), visibility)
            if sought.within(content) or any(
                (answer.key, answer.visibility) == place and first <= answer.id <= last for answer in answers
            ):
                traces.summaries.add(id_)
                traces.keys.add((channel_id, agent))
        return traces

    async def _answers(
        self, user_id: int, ids: Collection[int], sought: Sought, traces: Traces
    ) -> AsyncIterator[_Answer]:
        """The answers whose calls tell of the memories."""
        after = 0
        while rows := await self._database.query(_SELECT_CALLS, user_id, after, _PAGE):
            for id_, stored, content, visibility, discord_id, session_id, channel_id, agent, covered in rows:
                answer = _Answer(id_, visibility, discord_id, session_id, (channel_id, agent))
                if session_id is None and sought.within(content):
                    traces.told_in_channels.add(id_)
                after = id_
                changed, telling = redact(stored, ids, sought)
                if not telling:
                    continue
                traces.calls.append((id_, stored, changed))
                traces.redacted += len(telling)
                if session_id is not None and id_ > covered:
                    traces.keys.add(answer.key)
                await self._add_turn(user_id, answer, ids, telling, traces)
                yield answer

    async def _add_turn(
        self, user_id: int, answer: _Answer, ids: Collection[int], telling: Iterable[ToolCall], traces: Traces
    ) -> None:
        """The question that a memory was kept from, and the answer that kept or found it."""
        told = traces.told_in_channels if answer.session_id is None else traces.told
        kept = any(not kept_ids(call).isdisjoint(ids) for call in telling)
        if kept or any(call.name == "recall" for call in telling):
            told.add(answer.id)
        if kept:
            told.update(row[0] for row in await self._questions(user_id, answer))

    async def _questions(self, user_id: int, answer: _Answer) -> Iterable[Row]:
        if answer.session_id is None:
            return await self._database.query(SELECT_CHANNEL_QUESTIONS, user_id, answer.discord_id)
        return await self._database.query(_SELECT_QUESTION, user_id, answer.session_id, answer.id)

    async def _sessions(self, user_id: int) -> list[_Session]:
        """Newest first."""
        rows = await self._database.query(_SELECT_SESSIONS, user_id)
        return [_Session(*row[:-1]) for row in sorted(rows, key=lambda row: str(row[-1]), reverse=True)]

    async def _said(
        self, user_id: int, sessions: Iterable[_Session], *, everywhere: bool
    ) -> AsyncIterator[tuple[_Session, int, str]]:
        """What was said in these sessions: each message with its text; not `everywhere`: what is in no
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
