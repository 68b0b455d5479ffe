"""The ledger of turns: what was asked, until its answer was seen.

A turn of a session is entered before its user is told that it was accepted, and answered in the transaction
that stores its answer (SessionStore.archive_turn). Its row goes when its user has seen the end, with the
interaction's token; the one that stays is a question that may be asked again.

A question in a channel, a mention, is entered with its message (ChannelStore.add) and answered with its
answer (ChannelStore.archive_answer). Several questions of one user may get one answer. Their rows stay, so
that an answer is found by its questions.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Final, Literal

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.turn import AskedFile, AskedQuestion, PendingTurn
from cc_bot.storage import EVERYBODY, Database, Statement, Steps, user
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE
from cc_bot.stores.columns import (
    CHANNEL,
    MESSAGE,
    MS,
    Columns,
    Kind,
    Parameters,
    of_place,
    to_ms,
    tool_calls_of,
    tool_calls_to_json,
)
from cc_bot.stores.memory.references import read_call_texts, read_texts
from cc_bot.stores.processes import left_by_the_dead


def _question_to_json(question: AskedQuestion) -> str:
    return json.dumps(asdict(question), ensure_ascii=False)


def _question_of(text: str) -> AskedQuestion:
    stored = json.loads(text)
    files = tuple(AskedFile(**file) for file in stored["files"])
    tainted, forwards = bool(stored["tainted"]), tuple(stored["forwards"])
    return AskedQuestion(**{**stored, "files": files, "tainted": tainted, "forwards": forwards})


TURN: Final = Columns(
    PendingTurn,
    moments=MS,
    locale=Kind(str, lambda stored: Locale(stored) if stored else None),
    question=Kind(_question_to_json, _question_of),
    calls=Kind(tool_calls_to_json, tool_calls_of, empty=("[]", ())),
)
_WRITTEN: Final = Parameters(TURN.names)

# ruff: noqa: S608 - put together from constants alone

# ---- turns of sessions -----------------------------------------------------------------------------------

_INSERT: Final = f"""
    INSERT INTO turns ({_WRITTEN.names}, process) VALUES ({_WRITTEN.marks}, ${_WRITTEN.count + 1})
    ON CONFLICT (id) DO NOTHING
"""

# A message that Discord delivers once more is one question still. $1 user, $2 question
_DELETE_TWIN: Final = "DELETE FROM turns WHERE user_id = $1 AND question_id = $2 AND kind = 'message'"

_SELECT_INTERRUPTED: Final = f"""
    SELECT {TURN.select} FROM turns WHERE id = $1 AND user_id = $2 AND state = 'interrupted'
"""

_KEEP_CALLS: Final = "UPDATE turns SET calls = $3 WHERE id = $1 AND user_id = $2"

_DELETE: Final = "DELETE FROM turns WHERE id = $1 AND user_id = $2"

_SHOWN_IN: Final = "UPDATE turns SET shown_in = $3 WHERE id = $1 AND user_id = $2"

_POSTED: Final = (
    "UPDATE turns SET pages = @appended(pages, CAST($3 AS BIGINT)) WHERE id = $1 AND user_id = $2"
)

_HEARD: Final = """
    UPDATE turns SET question = @with_text(question, heard, $3)
    WHERE id = $1 AND user_id = $2 AND question IS NOT NULL
"""

_MOVED: Final = """
    UPDATE turns SET place_id = $3, pages = $4, token = NULL, token_until = NULL
    WHERE id = $1 AND user_id = $2
"""

# $3 the messages that show it, where that are several
_INTERRUPTED: Final = """
    UPDATE turns SET state = 'interrupted', token = NULL, token_until = NULL, pages = $3
    WHERE id = $1 AND user_id = $2 AND state = 'accepted'
"""

_RELEASE_CLAIM: Final = """
    UPDATE turns SET id = former, former = NULL, state = 'interrupted', token = NULL, token_until = NULL
    WHERE id = $1 AND user_id = $2 AND state = 'accepted' AND former IS NOT NULL
"""

_SELECT_MESSAGE: Final = f"""
    SELECT {MESSAGE.select} FROM messages WHERE user_id = $1 AND id = $2 AND role = 'assistant'
"""

# An answer and its question, which everybody was to read and does not. $1 user, $2 the answer
_UNREAD: Final = """
        $2,
        (
            SELECT q.id FROM messages AS q
            WHERE q.user_id = $1 AND q.role = 'user' AND q.id < $2 AND q.session_id = (
                SELECT a.session_id FROM messages AS a WHERE a.user_id = $1 AND a.id = $2
            )
            ORDER BY q.id DESC LIMIT 1
        )
"""

_THAW_UNREAD: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.user_id = $1 AND m.in_channel = 1 AND m.id IN ({_UNREAD})
    )
"""

_LEAVE_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE user_id = $1 AND in_channel = 1 AND id IN ({_UNREAD})
"""

# The question that an answer answers is the newest before it in its session. By the index of its messages.
_SELECT_HEARD: Final = """
    SELECT q.heard
    FROM messages AS a
    JOIN messages AS q ON q.session_id = a.session_id AND q.user_id = $1 AND q.role = 'user' AND q.id < a.id
    WHERE a.user_id = $1 AND a.id = $2
    ORDER BY q.id DESC
    LIMIT 1
"""

ANSWERED: Final = """
    UPDATE turns SET state = 'answered', question = NULL, calls = '[]', shown_in = coalesce(shown_in, $4),
        answer_id = (SELECT max(id) FROM messages WHERE session_id = $3 AND user_id = $2)
    WHERE id = $1 AND user_id = $2
        AND EXISTS (SELECT 1 FROM messages WHERE session_id = $3 AND user_id = $2)
"""
"""To be run in the transaction that stores the answer, after it. Parameters: entry, user, session, and the
message that shows it, where that is known."""

# By the primary keys. $1 entry, $2 user, $3 process
_SELECT_ELSEWHERE: Final = """
    SELECT 1 FROM turns AS t JOIN processes AS p ON p.name = t.process
    WHERE t.id = $1 AND t.user_id = $2 AND t.state <> 'interrupted' AND t.process <> $3 AND p.until > @now
"""

# By turns_of_sessions. $1 process
ADOPT_TURNS: Final = f"""
    UPDATE turns SET process = $1 WHERE kind <> 'mention' AND {left_by_the_dead("turns")} /* all users */
"""
SELECT_UNFINISHED: Final = f"""
    SELECT {TURN.select} FROM turns WHERE kind <> 'mention' AND process = $1 ORDER BY accepted_at, id
    /* all users */
"""
FORGET_INTERRUPTED: Final = """
    DELETE FROM turns WHERE kind <> 'mention' AND state = 'interrupted' AND accepted_at < $1 /* all users */
"""

# ---- mentions --------------------------------------------------------------------------------------------
# By turns_due, whose condition they repeat. $1 channel, $2 thread

_DUE: Final = "kind = 'mention' AND state <> 'shown'"
_HERE: Final = f"{_DUE} AND w.channel_id = $1 AND w.thread_id = $2"

# Each mention with its message; which ones is up to the statement.
_ASKED: Final = """
    FROM turns AS w
    @look_up messages AS m ON m.discord_id = w.question_id AND m.user_id IS NULL AND m.visibility = 'public'
    /* channel */
"""

# $3 the channel or thread
_SELECT_DUE: Final = f"""
    SELECT w.state, w.begun_as, w.shown_in, w.calls, CASE WHEN w.question_id <= (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
    ) THEN 1 ELSE 0 END, {MESSAGE.of("m")}
    {_ASKED}
    WHERE {_HERE} AND w.state <> 'interrupted'
"""

_PLACES: Final = f"""
    SELECT channel_id, thread_id FROM turns
    WHERE {_DUE} AND state <> 'interrupted' GROUP BY channel_id, thread_id /* channel */
"""

_TO_SHOW: Final = f"""
    SELECT {MESSAGE.of("m")} FROM messages AS m
    WHERE m.user_id IS NULL AND m.visibility = 'public' AND m.discord_id IN (
        SELECT w.shown_in FROM turns AS w WHERE {_HERE} AND w.state = 'answered'
    )
    ORDER BY m.discord_id /* channel */
"""

_UNATTENDED: Final = f"""
    SELECT 1 FROM turns AS w WHERE {_HERE} AND w.state = 'accepted' AND w.shown_in IS NULL
    LIMIT 1 /* channel */
"""

# What the edited question says by now may be something else than what was read, and then asks once more. $1
# id, $2 what was read
_READ: Final = """
    UPDATE turns AS w SET state = CASE WHEN EXISTS (
        SELECT 1 FROM messages AS a WHERE a.discord_id = w.shown_in AND a.user_id IS NULL
    ) THEN 'shown' ELSE 'interrupted' END
    WHERE question_id = $1 AND kind = 'mention' AND state = 'edited' AND EXISTS (
        SELECT 1 FROM messages AS m WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.content = $2
    ) /* channel */
"""

# $1 the newest of them, $2 all
_BEGIN: Final = """
    UPDATE turns SET begun_as = $1
    WHERE question_id IN @ids($2) AND kind = 'mention' AND state = 'accepted' /* channel */
"""

# $1 the message that shows the answer, $2 an array of ids
_ANSWERING: Final = """
    UPDATE turns AS w SET shown_in = $1
    WHERE question_id IN @ids($2) AND kind = 'mention' AND state = 'accepted' AND question_id > (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata AS r
        WHERE r.thread_id = CASE w.thread_id WHEN 0 THEN w.channel_id ELSE w.thread_id END
    )
    RETURNING question_id /* channel */
"""

# An edit since the answer was stored stays on record.
_SHOWN: Final = """
    UPDATE turns SET state = 'shown' WHERE shown_in = $1 AND kind = 'mention' AND state = 'answered'
    /* channel */
"""

# It stays on record: delivered again, the message does not wait again. $1 an array of ids, $2 the message
# that says why, if the questions may be reopened
_GIVE_UP: Final = """
    UPDATE turns SET
        shown_in = $2, calls = CASE WHEN CAST($2 AS BIGINT) IS NULL THEN '[]' ELSE calls END,
        state = CASE WHEN CAST($2 AS BIGINT) IS NULL THEN 'shown' ELSE 'interrupted' END
    WHERE question_id IN @ids($1) AND kind = 'mention' AND state = 'accepted' /* channel */
"""

# $1 the message that says why they failed, $2 their author
_REOPEN: Final = """
    UPDATE turns SET state = 'accepted'
    WHERE user_id = $2 AND shown_in = $1 AND kind = 'mention' AND state IN ('interrupted', 'edited')
        AND NOT EXISTS (SELECT 1 FROM messages AS a WHERE a.discord_id = $1 AND a.user_id IS NULL)
    RETURNING question_id /* channel */
"""

_QUESTIONS: Final = (
    f"SELECT {MESSAGE.of('m')} {_ASKED} WHERE w.shown_in = $1 AND w.kind = 'mention' ORDER BY w.question_id"
)

_PLACE_OF: Final = """
    SELECT channel_id, thread_id FROM turns WHERE question_id = $1 AND kind = 'mention' /* channel */
"""

# A question of a channel, or of its author's session. $1 id, $2 author
_IS_QUESTION: Final = """
    SELECT 1 FROM turns WHERE question_id = $1 AND user_id = $2 AND kind = 'mention'
    UNION ALL
    SELECT 1 FROM messages WHERE discord_id = $1 AND user_id = $2
"""

_ANSWERED_BY: Final = """
    SELECT shown_in FROM turns WHERE question_id = $1 AND kind = 'mention' AND state <> 'accepted'
    /* channel */
"""

# ---- ledger ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mention:
    """A question in a channel that is due: it waits, was edited, or its answer was not shown to its end."""

    state: Literal["accepted", "answered", "edited"]
    begun_as: int | None
    """If its answer was begun: the newest question of that answer, whose nonce its message has."""
    shown_in: int | None
    """The message that shows its answer; None if none is known to be posted."""
    calls: tuple[ToolCall, ...]
    """As `PendingTurn.calls`."""
    left_behind: bool
    """Whether it waited when the channel was reset, and must not be read any more."""
    question: Message


_MENTION: Final = Columns(
    Mention, question=MESSAGE, calls=Kind(tool_calls_to_json, tool_calls_of, empty=("[]", ()))
)


def channel_turn(question_id: int) -> str:
    """Return the id of the turn that answers a question in a channel."""
    return f"q{question_id}"


def asked_in(turn: str) -> int | None:
    """Return the question in a channel that a turn answers; None for the turns of a session."""
    return int(turn[1:]) if turn[:1] == "q" and turn[1:].isdecimal() else None


class TurnLedger:
    def __init__(self, database: Database, *, process: str = "") -> None:
        """Make the ledger; `process` is whose turns it enters."""
        self._database = database
        self._process = process

    async def accept(self, turn: PendingTurn) -> None:
        """Enter a turn. From here on its user is answered or told, even if the process dies."""
        await self._database.write(lambda: accept_turn(turn, self._process), [user(turn.key.user_id)])

    async def note_message(self, entry: str, user_id: int, message_id: int) -> None:
        """Note the message in which the turn is shown, or which waits for it."""
        await self._database.transaction(
            [Statement(_SHOWN_IN, (entry, user_id, message_id))], [user(user_id)]
        )

    async def add_page(self, entry: str, user_id: int, message_id: int) -> None:
        """Add one more message that shows the turn."""
        await self._database.transaction([Statement(_POSTED, (entry, user_id, message_id))], [user(user_id)])

    async def move(self, turn: PendingTurn, place_id: int, pages: tuple[int, ...]) -> None:
        """Record that the bot shows the turn by itself in that channel from now on, in these messages and
        further ones, without the token. In another channel the question's own does not have the answer."""
        columns = (turn.id, turn.key.user_id, place_id, json.dumps(pages))
        batch = [Statement(_MOVED, columns)]
        if place_id != turn.key.channel_id and turn.answer_id is not None:
            told = (turn.key.user_id, turn.answer_id)
            batch += [Statement(sql, told) for sql in (_THAW_UNREAD, _LEAVE_CHANNEL)]
        await self._database.transaction(batch, [user(turn.key.user_id)])

    async def mark_settled(self, entry: str, user_id: int) -> None:
        """Drop the entry: its user has seen how the turn ended."""
        await self._database.transaction([Statement(_DELETE, (entry, user_id))], [user(user_id)])

    async def mark_interrupted(self, entry: str, user_id: int) -> None:
        """Note that its user was told that there is no answer, and may have it asked again."""
        await self._database.transaction([Statement(_INTERRUPTED, (entry, user_id, "[]"))], [user(user_id)])

    async def offer(self, turn: PendingTurn, message_ids: tuple[int, ...] = ()) -> None:
        """Note that the turn failed, and that its user may have it asked again. `message_ids`: the messages
        that show that, where they are several. A turn that was refused was not entered before."""
        offered = (turn.id, turn.key.user_id, json.dumps(message_ids))
        batch = [_insert(turn, self._process), Statement(_INTERRUPTED, offered)]
        await self._database.transaction(batch, [user(turn.key.user_id)])

    async def claim(
        self, entry: str, user_id: int, renewed: Callable[[PendingTurn], PendingTurn]
    ) -> PendingTurn | None:
        """Claim the interrupted turn, to be asked again: it is replaced by the one that `renewed` makes of
        it, which is returned. None if there is none, or not any more: one press wins."""

        def steps() -> Steps[PendingTurn | None]:
            rows = yield Statement(_SELECT_INTERRUPTED, (entry, user_id))
            if not rows:
                return None
            former = TURN.read(rows[0])
            turn = replace(renewed(former), calls=former.calls)
            yield Statement(_DELETE, (entry, user_id))
            yield _insert(turn, self._process)
            return turn

        turn = await self._database.write(steps, [user(user_id)])
        return turn and await self._with_texts(turn)

    async def release_claim(self, entry: str, user_id: int) -> None:
        """Make the turn what it was before `claim`: the press was not acknowledged."""
        await self._database.transaction([Statement(_RELEASE_CLAIM, (entry, user_id))], [user(user_id)])

    async def note_calls(self, turn: str, user_id: int, calls: Sequence[ToolCall]) -> None:
        """Note what the tools of a turn have changed so far, and what they are about to, without a result."""
        kept = Statement(_KEEP_CALLS, (turn, user_id, tool_calls_to_json(tuple(calls))))
        await self._database.transaction([kept], [user(user_id)])

    async def note_heard(self, entry: str, user_id: int, heard: str) -> None:
        """Note what was heard in the recordings of a turn's question, unless nothing of it is kept."""
        await self._database.transaction([Statement(_HEARD, (entry, user_id, heard))], [user(user_id)])

    async def get_heard(self, user_id: int, answer_id: int | None) -> str:
        """Return what was heard in the question of an answer; empty where that was typed."""
        rows = await self._database.query(_SELECT_HEARD, user_id, answer_id)
        return str(rows[0][0]) if rows else ""

    async def runs_elsewhere(self, entry: str, user_id: int) -> bool:
        """Return whether another process that lives makes the turn, or shows its answer."""
        return bool(await self._database.query(_SELECT_ELSEWHERE, entry, user_id, self._process))

    async def get_answer(self, turn: PendingTurn) -> Message | None:
        """Return the turn's answer; None before there is one, or when it was erased since."""
        return await self._get_message(turn.key.user_id, turn.answer_id)

    async def get_replaced(self, turn: PendingTurn) -> Message | None:
        """Return the answer that its own takes the place of, or was to."""
        return await self._get_message(turn.key.user_id, turn.replaces)

    async def list_unfinished(self) -> tuple[PendingTurn, ...]:
        """List all turns that are left, everybody's, the oldest first: those of this process, and of those
        that are dead, whose turns it makes its own. So each is finished by one."""
        me = (self._process,)
        batch = [Statement(ADOPT_TURNS, me), Statement(SELECT_UNFINISHED, me)]
        _, rows = await self._database.transaction(batch, [EVERYBODY])
        return tuple([await self._with_texts(turn) for turn in map(TURN.read, rows)])

    async def forget_interrupted(self, before: datetime) -> None:
        """Drop interrupted turns from before then: they are not asked again."""
        await self._database.transaction([Statement(FORGET_INTERRUPTED, (to_ms(before),))], [EVERYBODY])

    # Mentions

    async def list_due(self, key: ChannelKey) -> tuple[Mention, ...]:
        """List the questions in a channel or thread that wait for an answer or were edited since, or whose
        answer was not shown to its end; oldest first."""
        rows = await self._database.query(_SELECT_DUE, key.channel_id, key.thread_id, key.place_id)
        found = sorted(map(_MENTION.read, rows), key=lambda due: due.question.discord_id or 0)
        return tuple([await self._with_call_texts(due) if due.calls else due for due in found])

    async def mark_read(self, key: ChannelKey, question: Message) -> None:
        """Note that its answer, if it has one, is to this text. What the question says by now may be
        something else."""
        await self._database.transaction(
            [Statement(_READ, (question.discord_id, question.content))], of_place(key)
        )

    async def list_places(self) -> tuple[ChannelKey, ...]:
        """List the channels and threads where something waits, was edited, or has not been shown to its
        end."""
        return tuple(dict.fromkeys(map(CHANNEL.read, await self._database.query(_PLACES))))

    async def get_place(self, discord_id: int) -> ChannelKey | None:
        """Return where this message waits for an answer, or did; None when it is no mention."""
        rows = await self._database.query(_PLACE_OF, discord_id)
        return CHANNEL.first(rows)

    async def is_question(self, discord_id: int, user_id: int) -> bool:
        """Return whether this user's message waits for an answer in a channel, or did, or is in the user's
        session."""
        return bool(await self._database.query(_IS_QUESTION, discord_id, user_id))

    async def has_unattended(self, key: ChannelKey) -> bool:
        """Return whether somebody waits there for whose answer there is not even a message yet."""
        return bool(await self._database.query(_UNATTENDED, key.channel_id, key.thread_id))

    async def begin_answer(self, key: ChannelKey, questions: Sequence[Message], newest_id: int) -> None:
        """Note that one message is about to be posted for all of these, with a nonce that is made of this
        id."""
        await self._database.transaction([Statement(_BEGIN, (newest_id, _ids(questions)))], of_place(key))

    async def note_answer(
        self, key: ChannelKey, questions: Sequence[Message], answer_id: int
    ) -> frozenset[int]:
        """Note the message in which their answer is going to be shown, so that none is posted twice. Returns
        Discord's ids of those that still wait: meanwhile a question may have been deleted, or the place
        reset."""
        [waiting] = await self._database.transaction(
            [Statement(_ANSWERING, (answer_id, _ids(questions)))], of_place(key)
        )
        return frozenset(id_ for (id_,) in waiting)

    async def list_unshown(self, key: ChannelKey) -> tuple[Message, ...]:
        """List answers of this channel or thread that are stored, and may not have been shown to their
        end."""
        return await self._select(_TO_SHOW, key.channel_id, key.thread_id)

    async def mark_shown(self, key: ChannelKey, answer_id: int) -> None:
        """Note that all of an answer can be read on Discord."""
        await self._database.transaction([Statement(_SHOWN, (answer_id,))], of_place(key))

    async def give_up(
        self, key: ChannelKey, questions: Sequence[Message], failed_in: int | None = None
    ) -> None:
        """Let questions wait no longer: it was said that there will be no answer. `failed_in`: the message
        that says so, if they may be reopened."""
        given_up = Statement(_GIVE_UP, (_ids(questions), failed_in))
        await self._database.transaction([given_up], of_place(key))

    async def reopen(self, key: ChannelKey, user_id: int, failed_in: int) -> frozenset[int]:
        """Have a user's questions wait again whose failure this message shows, for an answer in it. Returns
        their ids; none if they wait already, are answered, or are deleted."""
        [rows] = await self._database.transaction([Statement(_REOPEN, (failed_in, user_id))], of_place(key))
        return frozenset(id_ for (id_,) in rows)

    async def list_questions(self, answer_id: int) -> tuple[Message, ...]:
        """List the questions that an answer is to, oldest first; without those that were deleted since."""
        return await self._select(_QUESTIONS, answer_id)

    async def get_answer_message(self, discord_id: int) -> int | None:
        """Return the message that answers this one, or says that its answer failed; None while it waits, or
        when there is none (any more)."""
        rows = await self._database.query(_ANSWERED_BY, discord_id)
        return rows[0][0] if rows else None

    async def _select(self, sql: str, *params: int) -> tuple[Message, ...]:
        return tuple(map(MESSAGE.read, await self._database.query(sql, *params)))

    async def _get_message(self, user_id: int, row_id: int | None) -> Message | None:
        rows = await self._database.query(_SELECT_MESSAGE, user_id, row_id)
        found = await read_texts(self._database, user_id, [*map(MESSAGE.read, rows)])
        return found[0] if found else None

    async def _with_call_texts(self, due: Mention) -> Mention:
        calls = await read_call_texts(self._database, due.question.author_id, due.calls, "public")
        return replace(due, calls=calls)

    async def _with_texts(self, turn: PendingTurn) -> PendingTurn:
        calls = await read_call_texts(self._database, turn.key.user_id, turn.calls, turn.visibility)
        return replace(turn, calls=calls)


def accept_turn(turn: PendingTurn, process: str) -> Steps[None]:
    """See TurnLedger.accept: to be run in the transaction that admits it, or by itself."""
    if turn.kind == "message":
        yield Statement(_DELETE_TWIN, (turn.key.user_id, turn.question_id))
    yield _insert(turn, process)


def _insert(turn: PendingTurn, process: str) -> Statement:
    kept = replace(turn, question=None) if turn.temporary else turn
    return Statement(_INSERT, (*_WRITTEN.of(TURN.write(kept)), process))


def _ids(questions: Sequence[Message]) -> str:
    return json.dumps([question.discord_id for question in questions])
