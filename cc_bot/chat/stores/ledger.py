"""Stores the ledger of turns: each question, until its answer was shown.

A session's turn is added before its user sees the acknowledgement, and marked as answered in the transaction
that stores the answer. Its row is deleted once the user has seen the outcome, or remains if the turn was
interrupted. Rows of mentions (questions in a channel) remain.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from cc_bot.chat.stores.blocks import SELECT_RESET_ID, thaw_sql
from cc_bot.chat.stores.settings import UserRecord, read_user_records
from cc_bot.db import MAINTENANCE_LOCK, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    CHANNEL,
    MESSAGE,
    MS,
    Codec,
    Columns,
    Parameters,
    Store,
    channel_locks,
    to_ms,
    tool_calls_from_json,
    tool_calls_to_json,
)
from cc_bot.db.process import left_by_dead_process
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import AskedQuestion, PendingTurn
from cc_bot.features.memory.stores.rows import fill_in_call_texts, fill_in_texts

TURN: Final = Columns(
    PendingTurn,
    datetimes=MS,
    location_id=Codec(column="place_id"),
    locale=Codec(str, lambda stored: Locale(stored) if stored else None),
    question=Codec(
        lambda question: json.dumps(asdict(question), ensure_ascii=False),
        TypeAdapter(AskedQuestion).validate_json,
    ),
    calls=Codec(tool_calls_to_json, tool_calls_from_json),
)
_PARAMETERS: Final = Parameters(TURN.names)

# ruff: noqa: S608 - SQL is built from constants


_INSERT: Final = f"""
    INSERT INTO turns ({_PARAMETERS.names}, process)
    VALUES ({_PARAMETERS.placeholders}, ${_PARAMETERS.count + 1}) ON CONFLICT (id) DO NOTHING
"""

_DELETE: Final = "DELETE FROM turns WHERE id = $1 AND user_id = $2"

_SET: Final = "UPDATE turns SET {} WHERE id = $1 AND user_id = $2{}"

_MOVE: Final = _SET.format("place_id = $3, pages = $4, token = NULL, token_until = NULL", "")

# $3 JSON: the messages that show the failure, if several
_MARK_INTERRUPTED: Final = _SET.format(
    "state = 'interrupted', token = NULL, token_until = NULL, pages = $3", " AND state = 'accepted'"
)

# The newest question (q) before an answer (a, $2) in its session.
FROM_QUESTION: Final = """
    FROM messages AS a
    JOIN messages AS q ON q.session_id = a.session_id AND q.user_id = $1 AND q.role = 'user' AND q.id < a.id
    WHERE a.user_id = $1 AND a.id = $2
    ORDER BY q.id DESC
    LIMIT 1
"""

# An answer that was moved to another channel, and its question.
_MOVED_MESSAGES: Final = f"$2, (SELECT q.id {FROM_QUESTION})"

_THAW_MOVED_MESSAGES: Final = thaw_sql(f"m.user_id = $1 AND m.in_channel = 1 AND m.id IN ({_MOVED_MESSAGES})")

_HIDE_QUESTIONS_IN_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE user_id = $1 AND in_channel = 1 AND id IN ({_MOVED_MESSAGES})
"""

# Run in the transaction that stores the answer, the session's newest message.
MARK_TURN_ANSWERED: Final = """
    UPDATE turns SET state = 'answered', question = NULL, calls = '[]', shown_in = coalesce(shown_in, $4),
        answer_id = (SELECT max(id) FROM messages WHERE session_id = $3 AND user_id = $2)
    WHERE id = $1 AND user_id = $2
        AND EXISTS (SELECT 1 FROM messages WHERE session_id = $3 AND user_id = $2)
"""

_SELECT_OTHER_PROCESS: Final = """
    SELECT 1 FROM turns AS t JOIN processes AS p ON p.name = t.process
    WHERE t.id = $1 AND t.user_id = $2 AND t.state <> 'interrupted' AND t.process <> $3 AND p.until > @now
"""

ADOPT_TURNS: Final = f"""
    UPDATE turns SET process = $1 WHERE kind <> 'mention' AND {left_by_dead_process("turns")}
    /* scope: all users */
"""
SELECT_UNFINISHED: Final = f"""
    SELECT {TURN.select} FROM turns WHERE kind <> 'mention' AND process = $1 ORDER BY accepted_at, id
    /* scope: all users */
"""
FORGET_INTERRUPTED: Final = """
    DELETE FROM turns WHERE kind <> 'mention' AND state = 'interrupted' AND accepted_at < $1
    /* scope: all users */
"""

# Mentions. Statements repeat the condition of the index turns_due, so that the index is used.

_IS_DUE: Final = "kind = 'mention' AND state <> 'shown'"
_IS_DUE_IN_THREAD: Final = f"{_IS_DUE} AND t.channel_id = $1 AND t.thread_id = $2"

_FROM_QUESTIONS: Final = """
    FROM turns AS t
    @cross_join messages AS m
        ON m.discord_id = t.question_id AND m.user_id IS NULL AND m.visibility = 'public'
    /* scope: channel */
"""

_SELECT_CHANNELS: Final = f"""
    SELECT channel_id, thread_id FROM turns
    WHERE {_IS_DUE} AND state <> 'interrupted' GROUP BY channel_id, thread_id /* scope: channel */
"""

_REOPEN: Final = """
    UPDATE turns SET state = 'accepted'
    WHERE user_id = $2 AND shown_in = $1 AND kind = 'mention' AND state IN ('interrupted', 'edited')
        AND NOT EXISTS (SELECT 1 FROM messages AS a WHERE a.discord_id = $1 AND a.user_id IS NULL)
    RETURNING question_id /* scope: channel */
"""


@dataclass(frozen=True, slots=True)
class Mention:
    """A channel question that is due: it awaits an answer ('accepted'), was edited after its answer, or has
    an answer that is not fully shown ('answered')."""

    state: Literal["accepted", "answered", "edited"]
    # The newest question of an answer that was begun. The nonce is made from it, to find the message again.
    nonce_question_id: int | None
    shown_in: int | None  # the message that shows the answer
    calls: tuple[ToolCall, ...]
    is_before_reset: bool  # if so, the question must not be answered
    question: Message


_MENTION: Final = Columns(Mention, question=MESSAGE, calls=Codec(tool_calls_to_json, tool_calls_from_json))


def channel_turn_id(question_id: int) -> str:
    return f"q{question_id}"


def parse_channel_turn_id(turn_id: str) -> int | None:
    """Return the channel question that a turn answers; None for a session turn."""
    return int(turn_id[1:]) if turn_id[:1] == "q" and turn_id[1:].isdecimal() else None


class TurnLedger(Store):
    async def accept(self, turn: PendingTurn) -> None:
        """Add a turn: from then on, its user gets an answer or a failure notice."""
        await self._database.write(lambda: accept_turn(turn, self._process), [user_lock(turn.key.user_id)])

    async def set_answer_message_id(self, turn_id: str, user_id: int, message_id: int) -> None:
        await self._set("shown_in = $3", turn_id, user_id, message_id)

    async def add_page(self, turn_id: str, user_id: int, message_id: int) -> None:
        await self._set("pages = @appended(pages, CAST($3 AS BIGINT))", turn_id, user_id, message_id)

    async def move(self, turn: PendingTurn, location_id: int, pages: tuple[int, ...]) -> None:
        """Record that the bot shows the turn in channel `location_id`, without the token. In another channel,
        the answer and its question leave the original channel's context."""
        columns = (turn.id, turn.key.user_id, location_id, json.dumps(pages))
        batch = [Statement(_MOVE, columns)]
        if location_id != turn.key.channel_id and turn.answer_id is not None:
            answer = (turn.key.user_id, turn.answer_id)
            batch += [Statement(sql, answer) for sql in (_THAW_MOVED_MESSAGES, _HIDE_QUESTIONS_IN_CHANNEL)]
        await self._database.transaction(batch, [user_lock(turn.key.user_id)])

    async def delete(self, turn_id: str, user_id: int) -> None:
        await self._change([user_lock(user_id)], _DELETE, turn_id, user_id)

    async def mark_interrupted(self, turn_id: str, user_id: int, message_ids: Sequence[int] = ()) -> None:
        """Record that the user was informed of the failure, and may ask again. `message_ids`: those to delete
        then."""
        pages = json.dumps([*message_ids])
        await self._change([user_lock(user_id)], _MARK_INTERRUPTED, turn_id, user_id, pages)

    async def record_retryable_failure(self, turn: PendingTurn, message_ids: tuple[int, ...] = ()) -> None:
        """Record a failure after which the user may ask again. Adds a turn that was refused."""
        columns = (turn.id, turn.key.user_id, json.dumps(message_ids))
        batch = [_insert(turn, self._process), Statement(_MARK_INTERRUPTED, columns)]
        await self._database.transaction(batch, [user_lock(turn.key.user_id)])

    async def claim(
        self, turn_id: str, user_id: int, renew: Callable[[PendingTurn], PendingTurn]
    ) -> PendingTurn | None:
        """Replace an interrupted turn by `renew(turn)`, and return that turn; None if claimed or missing."""

        def steps() -> Transaction[PendingTurn | None]:
            sql = f"""
                SELECT {TURN.select} FROM turns WHERE id = $1 AND user_id = $2 AND state = 'interrupted'
            """
            rows = yield Statement(sql, (turn_id, user_id))
            if not rows:
                return None
            interrupted = TURN.read(rows[0])
            turn = replace(renew(interrupted), calls=interrupted.calls)
            yield Statement(_DELETE, (turn_id, user_id))
            yield _insert(turn, self._process)
            return turn

        turn = await self._database.write(steps, [user_lock(user_id)])
        return turn and await self._fill_in_turn(turn)

    async def release_claim(self, turn_id: str, user_id: int) -> None:
        """Restore the interrupted turn that `claim` replaced."""
        changes = "id = former, former = NULL, state = 'interrupted', token = NULL, token_until = NULL"
        await self._set(changes, turn_id, user_id, condition=" AND state = 'accepted' AND former IS NOT NULL")

    async def note_calls(self, turn_id: str, user_id: int, calls: Sequence[ToolCall]) -> None:
        """Record calls that changed something, and calls about to do so, which have no result yet."""
        await self._set("calls = $3", turn_id, user_id, tool_calls_to_json(tuple(calls)))

    async def store_transcript(self, turn_id: str, user_id: int, transcript: str) -> None:
        changes = "question = @with_text(question, heard, $3)"
        await self._set(changes, turn_id, user_id, transcript, condition=" AND question IS NOT NULL")

    async def get_transcript(self, user_id: int, answer_id: int | None) -> str:
        sql = f"SELECT q.heard {FROM_QUESTION}"
        rows = await self._database.query(sql, user_id, answer_id)
        return str(rows[0][0]) if rows else ""

    async def runs_elsewhere(self, turn_id: str, user_id: int) -> bool:
        return bool(await self._database.query(_SELECT_OTHER_PROCESS, turn_id, user_id, self._process))

    async def get_answer(self, user_id: int, row_id: int | None) -> Message | None:
        sql = f"""
            SELECT {MESSAGE.select} FROM messages WHERE user_id = $1 AND id = $2 AND role = 'assistant'
        """
        rows = await self._database.query(sql, user_id, row_id)
        messages = await fill_in_texts(self._database, user_id, [*map(MESSAGE.read, rows)])
        return messages[0] if messages else None

    async def adopt_unfinished(self) -> tuple[PendingTurn, ...]:
        """Take over the turns of dead processes. Returns this process's unfinished turns, oldest first."""
        process = (self._process,)
        batch = [Statement(ADOPT_TURNS, process), Statement(SELECT_UNFINISHED, process)]
        _, rows = await self._database.transaction(batch, [MAINTENANCE_LOCK])
        return tuple([await self._fill_in_turn(turn) for turn in map(TURN.read, rows)])

    async def forget_interrupted(self, before: datetime) -> None:
        await self._change([MAINTENANCE_LOCK], FORGET_INTERRUPTED, to_ms(before))

    async def list_due(self, key: ChannelKey) -> tuple[Mention, ...]:
        return await self._fill_in_mentions(await self._database.read(lambda: _read_due(key)))

    async def list_due_with_authors(
        self, key: ChannelKey
    ) -> tuple[tuple[Mention, ...], dict[int, UserRecord]]:
        """Return the mentions to process, and the state of each author, from one read."""

        def steps() -> Transaction[tuple[list[Mention], dict[int, UserRecord]]]:
            mentions = yield from _read_due(key)
            author_ids = {each.question.author_id for each in mentions}
            return mentions, (yield from read_user_records(author_ids, (key.location_id, key.channel_id)))

        mentions, authors = await self._database.read(steps)
        return await self._fill_in_mentions(mentions), authors

    async def mark_edit_processed(self, key: ChannelKey, question: Message) -> None:
        """Record that the question's edit was processed, unless its text has changed since."""
        sql = """
            UPDATE turns AS t SET state = CASE WHEN EXISTS (
                SELECT 1 FROM messages AS a WHERE a.discord_id = t.shown_in AND a.user_id IS NULL
            ) THEN 'shown' ELSE 'interrupted' END
            WHERE question_id = $1 AND kind = 'mention' AND state = 'edited' AND EXISTS (
                SELECT 1 FROM messages AS m WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.content = $2
            ) /* scope: channel */
        """
        await self._change(channel_locks(key), sql, question.discord_id, question.content)

    async def list_channels(self) -> tuple[ChannelKey, ...]:
        return tuple(dict.fromkeys(map(CHANNEL.read, await self._database.query(_SELECT_CHANNELS))))

    async def get_mention_channel(self, discord_id: int) -> ChannelKey | None:
        sql = """
            SELECT channel_id, thread_id FROM turns WHERE question_id = $1 AND kind = 'mention'
            /* scope: channel */
        """
        return CHANNEL.read_first(await self._database.query(sql, discord_id))

    async def is_question(self, discord_id: int, user_id: int) -> bool:
        sql = """
            SELECT 1 FROM turns WHERE question_id = $1 AND user_id = $2 AND kind = 'mention'
            UNION ALL SELECT 1 FROM messages WHERE discord_id = $1 AND user_id = $2
        """
        return bool(await self._database.query(sql, discord_id, user_id))

    async def begin_answer(self, key: ChannelKey, questions: Sequence[Message], newest_id: int) -> None:
        """Record that an answer is about to be posted, with a nonce made of `newest_id`."""
        sql = """
            UPDATE turns SET begun_as = $1
            WHERE question_id IN @ids($2) AND kind = 'mention' AND state = 'accepted' /* scope: channel */
        """
        await self._change(channel_locks(key), sql, newest_id, _ids(questions))

    async def set_mention_answer(
        self, key: ChannelKey, questions: Sequence[Message], answer_id: int
    ) -> frozenset[int]:
        """Record the message that will show the answer. Returns the questions that still await an answer."""
        sql = f"""
            UPDATE turns AS t SET shown_in = $1
            WHERE question_id IN @ids($2) AND kind = 'mention' AND state = 'accepted'
                AND question_id > ({SELECT_RESET_ID.format("coalesce(nullif(t.thread_id, 0), t.channel_id)")})
            RETURNING question_id /* scope: channel */
        """
        waiting = await self._change(channel_locks(key), sql, answer_id, _ids(questions))
        return frozenset(id_ for (id_,) in waiting)

    async def list_unshown(self, key: ChannelKey) -> tuple[Message, ...]:
        sql = f"""
            SELECT {MESSAGE.with_alias("m")} FROM messages AS m
            WHERE m.user_id IS NULL AND m.visibility = 'public' AND m.discord_id IN (
                SELECT t.shown_in FROM turns AS t WHERE {_IS_DUE_IN_THREAD} AND t.state = 'answered'
            )
            ORDER BY m.discord_id /* scope: channel */
        """
        rows = await self._database.query(sql, key.channel_id, key.thread_id)
        return tuple(map(MESSAGE.read, rows))

    async def mark_shown(self, key: ChannelKey, answer_id: int) -> None:
        # A question that was edited since remains 'edited'.
        sql = """
            UPDATE turns SET state = 'shown' WHERE shown_in = $1 AND kind = 'mention' AND state = 'answered'
            /* scope: channel */
        """
        await self._change(channel_locks(key), sql, answer_id)

    async def mark_failed(
        self, key: ChannelKey, questions: Sequence[Message], failure_id: int | None = None
    ) -> None:
        """Record that the questions failed. `failure_id`: the message that shows it, if they may be
        reopened."""
        # The rows remain, so that a question that Discord delivers again is not answered.
        sql = """
            UPDATE turns SET
                shown_in = $2, calls = CASE WHEN CAST($2 AS BIGINT) IS NULL THEN '[]' ELSE calls END,
                state = CASE WHEN CAST($2 AS BIGINT) IS NULL THEN 'shown' ELSE 'interrupted' END
            WHERE question_id IN @ids($1) AND kind = 'mention' AND state = 'accepted' /* scope: channel */
        """
        await self._change(channel_locks(key), sql, _ids(questions), failure_id)

    async def reopen(self, key: ChannelKey, user_id: int, failure_id: int) -> frozenset[int]:
        """Reopen the user's questions whose failure this message shows. Returns their ids."""
        rows = await self._change(channel_locks(key), _REOPEN, failure_id, user_id)
        return frozenset(id_ for (id_,) in rows)

    async def list_questions(self, answer_id: int) -> tuple[Message, ...]:
        sql = f"""
            SELECT {MESSAGE.with_alias("m")} {_FROM_QUESTIONS} WHERE t.shown_in = $1 AND t.kind = 'mention'
            ORDER BY t.question_id
        """
        return tuple(map(MESSAGE.read, await self._database.query(sql, answer_id)))

    async def get_answer_message_id(self, discord_id: int) -> int | None:
        """Return the message that shows this question's answer or failure; None if there is none."""
        sql = """
            SELECT shown_in FROM turns WHERE question_id = $1 AND kind = 'mention' AND state <> 'accepted'
            /* scope: channel */
        """
        rows = await self._database.query(sql, discord_id)
        return rows[0][0] if rows else None

    async def _set(self, changes: str, turn_id: str, user_id: int, *params: Any, condition: str = "") -> None:
        await self._change([user_lock(user_id)], _SET.format(changes, condition), turn_id, user_id, *params)

    async def _fill_in_mentions(self, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
        async def fill_in(mention: Mention) -> Mention:
            author_id = mention.question.author_id
            calls = await fill_in_call_texts(self._database, author_id, mention.calls, "public")
            return replace(mention, calls=calls)

        return tuple([await fill_in(each) if each.calls else each for each in mentions])

    async def _fill_in_turn(self, turn: PendingTurn) -> PendingTurn:
        calls = await fill_in_call_texts(self._database, turn.key.user_id, turn.calls, turn.visibility)
        return replace(turn, calls=calls)


def _read_due(key: ChannelKey) -> Transaction[list[Mention]]:
    sql = f"""
        SELECT t.state, t.begun_as, t.shown_in, t.calls,
            CASE WHEN t.question_id <= ({SELECT_RESET_ID.format("$3")}) THEN 1 ELSE 0 END,
            {MESSAGE.with_alias("m")}
        {_FROM_QUESTIONS}
        WHERE {_IS_DUE_IN_THREAD} AND t.state <> 'interrupted'
    """
    rows = yield Statement(sql, (key.channel_id, key.thread_id, key.location_id))
    return sorted(map(_MENTION.read, rows), key=lambda mention: mention.question.discord_id or 0)


def accept_turn(turn: PendingTurn, process: str) -> Transaction[None]:
    if turn.kind == "message":
        delete_former = "DELETE FROM turns WHERE user_id = $1 AND question_id = $2 AND kind = 'message'"
        yield Statement(delete_former, (turn.key.user_id, turn.question_id))
    yield _insert(turn, process)


def _insert(turn: PendingTurn, process: str) -> Statement:
    stored = replace(turn, question=None) if turn.temporary else turn
    return Statement(_INSERT, (*_PARAMETERS.pick(TURN.write(stored)), process))


def _ids(questions: Sequence[Message]) -> str:
    return json.dumps([question.discord_id for question in questions])
