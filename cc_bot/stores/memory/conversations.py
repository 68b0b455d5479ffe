"""Empties the parts of stored conversations that concern memories, on request of their user: answers that
stored or looked up a memory, questions of those that stored one, and messages that contain its text.
Summaries that cover them are deleted, as are canvas elements that those answers drew."""

import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cc_bot.domain.message import ToolCall
from cc_bot.domain.tool_calls import CANVAS_TOOLS, kept_ids, shown_ids
from cc_bot.search.folding import fold
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.blocks import SHOWN_IN_CHANNEL, thaw
from cc_bot.stores.canvases import CHANGED, EMPTY_CANVAS, TICK
from cc_bot.stores.columns import tool_calls_of

# ruff: noqa: S608 - put together from constants alone

MAX_MESSAGES: Final = 20_000
_PAGE: Final = 200

# $1 is the user.

_SELECT_SESSIONS: Final = "SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC"

# $2 session, $3 previous message, $4 limit
_SELECT_SAID: Final = """
    SELECT id, role, content, tool_calls FROM messages
    WHERE user_id = $1 AND session_id = $2 AND id > $3
    ORDER BY id
    LIMIT $4
"""

# Answers in channels, and messages without a question. $2 previous message, $3 limit
_SELECT_OTHERS: Final = """
    SELECT id, content, tool_calls, discord_id FROM messages
    WHERE memory_user_id = $1 AND id > $2
    ORDER BY id
    LIMIT $3
"""

# $2 the answer's Discord id
SELECT_CHANNEL_QUESTIONS: Final = """
    SELECT q.id
    FROM turns AS w
    JOIN messages AS q ON q.discord_id = w.question_id AND q.user_id IS NULL AND q.author_id = $1
    WHERE w.shown_in = $2 AND w.kind = 'mention' /* channel */
"""


@dataclass(frozen=True, slots=True)
class Mentions:
    ids: set[int] = field(default_factory=set)
    drawn: list[ToolCall] = field(default_factory=list)


async def find_mentions(
    database: Database, user_id: int, memory_ids: Collection[int], texts: Collection[str]
) -> Mentions:
    """Search in pages and at most MAX_MESSAGES from the newest sessions, so that a long archive does not
    block other users."""
    found, sought, question = Mentions(), TextMatcher(texts), 0
    async for id_, role, content, stored in _read_sessions(database, user_id):
        calls = tool_calls_of(stored)
        if role == "user":
            question = id_
        if _keeps(calls, memory_ids):
            found.ids.add(question)
        _add(found, id_, calls, memory_ids, says_it=sought.within(content))
    after = 0
    while rows := await database.query(_SELECT_OTHERS, user_id, after, _PAGE):
        for id_, content, stored, discord_id in rows:
            calls = tool_calls_of(stored)
            if _keeps(calls, memory_ids):
                questions = await database.query(SELECT_CHANNEL_QUESTIONS, user_id, discord_id)
                found.ids.update(question for (question,) in questions)
            _add(found, id_, calls, memory_ids, says_it=sought.within(content))
        after = rows[-1][0]
    return found


async def _read_sessions(database: Database, user_id: int) -> AsyncIterator[Row]:
    room = MAX_MESSAGES
    for (session_id,) in await database.query(_SELECT_SESSIONS, user_id):
        after = 0
        while room > 0 and (
            rows := await database.query(_SELECT_SAID, user_id, session_id, after, min(room, _PAGE))
        ):
            room -= len(rows)
            for row in rows:
                yield row
            after = rows[-1][0]


def _keeps(calls: Iterable[ToolCall], memory_ids: Collection[int]) -> bool:
    return any(not kept_ids(call).isdisjoint(memory_ids) for call in calls)


def _add(
    found: Mentions, id_: int, calls: Sequence[ToolCall], memory_ids: Collection[int], *, says_it: bool
) -> None:
    if says_it or not shown_ids(calls).isdisjoint(memory_ids):
        found.ids.add(id_)
        found.drawn.extend(call for call in calls if call.name in CANVAS_TOOLS)


MIN_LENGTH: Final = 12
"""Characters. A shorter text, such as a number or name, also occurs in unrelated messages."""
_START: Final = 4
"""Characters by which candidates are looked up."""
_LETTER: Final = "[0-9a-z\u00c0-\u052f]"
"""Folded letters of scripts that separate words by spaces. Japanese has no visible word boundary."""
_EDGE: Final = f"(?:(?<!{_LETTER})|(?!{_LETTER}))"
_END: Final = f"(?:(?!{_LETTER})|(?<!{_LETTER}))"


class TextMatcher:
    """A set of texts to find in others. Those shorter than MIN_LENGTH never match."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start = defaultdict[str, set[str]](set)
        for text in texts:
            if len(folded := fold(text).strip()) >= MIN_LENGTH:
                self._by_start[folded[:_START]].add(folded)

    def within(self, text: str) -> bool:
        """Return whether this text contains one of the texts as whole words, ignoring width and case."""
        folded = fold(text) if self._by_start else ""
        return any(
            folded.startswith(sought, at) and re.search(f"{_EDGE}{re.escape(sought)}{_END}", folded)
            for at in range(len(folded) - MIN_LENGTH + 1)
            for sought in self._by_start.get(folded[at : at + _START], ())
        )


# $1 is the user, $2 an array of messages, unless stated otherwise.

_DELETE_FILES: Final = "DELETE FROM attachments WHERE user_id = $1 AND message_id IN @ids($2)"

# $3 the replacement text
_EMPTY: Final = """
    UPDATE messages SET content = $3, heard = '', tool_calls = '[]', erased = 1
    WHERE user_id = $1 AND id IN @ids($2)
    RETURNING id
"""

# Messages by the user, and answers to them. $3 the replacement text
EMPTY_IN_CHANNELS: Final = """
    UPDATE messages SET content = $3, heard = '', tool_calls = '[]', erased = 1
    WHERE user_id IS NULL AND id IN @ids($2) AND $1 IN (author_id, memory_user_id)
    RETURNING id /* channel */
"""

# The frozen blocks with these messages. $1 an array of messages
THAW: Final = thaw(f"{SHOWN_IN_CHANNEL} AND m.id IN @ids($1) /* channel */")

_DELETE_PROPOSALS: Final = "DELETE FROM proposals WHERE user_id = $1 AND message_id IN @ids($2)"

_EMPTIED_IN: Final = """
    SELECT m.id, s.channel_id, s.agent, m.visibility
    FROM messages AS m JOIN sessions AS s ON s.id = m.session_id AND s.user_id = $1
    WHERE m.user_id = $1 AND m.id IN @ids($2)
"""

_DELETE_SUMMARIES: Final = f"""
    DELETE FROM summaries
    WHERE user_id = $1 AND EXISTS (
        SELECT 1 FROM ({_EMPTIED_IN}) AS said
        WHERE said.channel_id = summaries.channel_id AND said.agent = summaries.agent
            AND said.visibility = summaries.visibility
            AND said.id BETWEEN summaries.first_message_id AND summaries.last_message_id
    )
    RETURNING id
"""

# Excludes all messages so far from summaries, including one being written.
_COVER: Final = f"""
    UPDATE sessions SET summarized_to = coalesce(
        (
            SELECT m.id FROM messages AS m
            WHERE m.user_id = $1 AND m.session_id = sessions.id AND m.id > sessions.summarized_to
            ORDER BY m.id DESC LIMIT 1
        ),
        summarized_to
    )
    WHERE user_id = $1 AND summarize = 1
        AND (channel_id, agent) IN (SELECT channel_id, agent FROM ({_EMPTIED_IN}) AS said)
"""

_SELECT_CANVASES: Final = "SELECT id, canvas_state FROM sessions WHERE user_id = $1 AND canvas_revision > 0"

# $2 session, $3 its canvas
_CHANGE_CANVAS: Final = f"UPDATE sessions SET canvas_state = $3, {CHANGED} WHERE user_id = $1 AND id = $2"


def empty(user_id: int, mentions: Mentions, mark: str) -> Steps[tuple[int, int]]:
    """Returns the numbers of messages, and of summaries deleted."""
    said = json.dumps(sorted(mentions.ids))
    summaries = yield Statement(_DELETE_SUMMARIES, (user_id, said))
    yield Statement(_COVER, (user_id, said))
    yield Statement(_DELETE_PROPOSALS, (user_id, said))
    yield Statement(_DELETE_FILES, (user_id, said))
    yield Statement(THAW, (said,))
    own = yield Statement(_EMPTY, (user_id, said, mark))
    in_channels = yield Statement(EMPTY_IN_CHANNELS, (user_id, said, mark))
    if mentions.drawn:
        yield Statement(TICK)
        for session_id, canvas in (yield Statement(_SELECT_CANVASES, (user_id,))):
            if (changed := _without_drawn(canvas, mentions.drawn)) != canvas:
                yield Statement(_CHANGE_CANVAS, (user_id, session_id, changed))
    return len(own) + len(in_channels), len(summaries)


def _without_drawn(canvas: str, calls: Iterable[ToolCall]) -> str:
    """Elements changed since they were drawn stay."""
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
