"""The ledger of turns: what was asked in sessions and has not been shown to its end.

A turn is entered before anybody is told that it was accepted, and answered in the transaction that stores its
answer (SessionStore.archive_turn). Its row goes when its user has seen the end, with the interaction's token;
the one that stays is a question that may be asked again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Final

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.turn import AskedFile, AskedQuestion, PendingTurn
from cc_bot.storage import EVERYBODY, Database, Statement, Steps, user
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE
from cc_bot.stores.columns import (
    MESSAGE,
    MS,
    Columns,
    Kind,
    Parameters,
    to_ms,
    tool_calls_of,
    tool_calls_to_json,
)
from cc_bot.stores.memory.references import read_call_texts, read_texts
from cc_bot.stores.processes import left_by_the_dead


def _question_to_json(question: AskedQuestion) -> str:
    return json.dumps(asdict(question), ensure_ascii=False)


def _question_of(text: str) -> AskedQuestion:
    told = json.loads(text)
    files = tuple(AskedFile(**file) for file in told["files"])
    return AskedQuestion(
        told["text"],
        told["author_name"],
        files,
        bool(told.get("tainted", True)),
        told.get("reply_to"),
        tuple(told.get("forwards", ())),
        told.get("heard", ""),
        told.get("pointing", "reply"),
        told.get("links_in", ""),
    )


TURN: Final = Columns(
    PendingTurn,
    moments=MS,
    locale=Kind(str, lambda stored: Locale(stored) if stored else None),
    question=Kind(_question_to_json, _question_of),
    calls=Kind(tool_calls_to_json, lambda stored: tool_calls_of(stored) if stored else ()),
)
_WRITTEN: Final = Parameters(name for name in TURN.names if name != "calls")
"""The calls come last, and from a table of their own."""

# By the key of turn_calls.
_WITH_CALLS: Final = f"""
    SELECT {_WRITTEN.names}, (
        SELECT c.calls FROM turn_calls AS c WHERE c.turn = turns.id AND c.user_id = turns.user_id
    )
    FROM turns
"""  # noqa: S608 - put together from constants alone

_INSERT: Final = f"""
    INSERT INTO turns ({_WRITTEN.names}, process) VALUES ({_WRITTEN.marks}, ${_WRITTEN.count + 1})
    ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - put together from constants alone

# A message that Discord delivers once more is one question still.
_TWIN: Final = "user_id = $1 AND question_id = $2 AND kind = 'message'"
_DELETE_TWIN: Final = (
    f"DELETE FROM turn_calls WHERE user_id = $1 AND turn IN (SELECT id FROM turns WHERE {_TWIN})",  # noqa: S608
    f"DELETE FROM turns WHERE {_TWIN}",  # noqa: S608
)

_SELECT_INTERRUPTED: Final = f"{_WITH_CALLS} WHERE id = $1 AND user_id = $2 AND state = 'interrupted'"

# The calls of the turn that it takes the place of. By the key of turn_calls. $1 that, $2 user, $3 the new one
_TAKE_CALLS: Final = "UPDATE turn_calls SET turn = $3 WHERE turn = $1 AND user_id = $2"

_PUT_CALLS: Final = """
    INSERT INTO turn_calls (turn, user_id, calls) VALUES ($1, $2, $3)
    ON CONFLICT (turn) DO UPDATE SET calls = excluded.calls
    WHERE turn_calls.user_id = excluded.user_id
"""

_DROP_CALLS: Final = "DELETE FROM turn_calls WHERE turn = $1 AND user_id = $2"

# After questions in channels were answered, given up or deleted. $1 an array of their ids on Discord
DROP_CALLS_OF_QUESTIONS: Final = """
    DELETE FROM turn_calls WHERE turn IN (SELECT 'q' || each.value FROM @ids($1) AS each)
        AND NOT EXISTS (
            SELECT 1 FROM mentions AS w
            WHERE w.discord_id IN @ids($1) AND w.answered = 0 AND turn_calls.turn = 'q' || w.discord_id
        )
"""

_SELECT_CALLS: Final = "SELECT calls FROM turn_calls WHERE turn = $1 AND user_id = $2"

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

_UNTAKEN: Final = """
    UPDATE turns SET id = former, former = NULL, state = 'interrupted', token = NULL, token_until = NULL
    WHERE id = $1 AND user_id = $2 AND state = 'accepted' AND former IS NOT NULL
    RETURNING id
"""

_SELECT_MESSAGE: Final = f"""
    SELECT {MESSAGE.select} FROM messages WHERE user_id = $1 AND id = $2 AND role = 'assistant'
"""  # noqa: S608 - put together from constants alone

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
"""  # noqa: S608 - put together from constants alone

_LEAVE_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE user_id = $1 AND in_channel = 1 AND id IN ({_UNREAD})
"""  # noqa: S608 - put together from constants alone

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
    UPDATE turns SET state = 'answered', question = NULL, shown_in = coalesce(shown_in, $4), answer_id = (
        SELECT max(id) FROM messages WHERE session_id = $3 AND user_id = $2
    )
    WHERE id = $1 AND user_id = $2
        AND EXISTS (SELECT 1 FROM messages WHERE session_id = $3 AND user_id = $2)
"""
"""To be run in the transaction that stores the answer, after it. Parameters: entry, user, session, and the
message that shows it, where that is known."""

# Its calls are stored with the answer then. To be run next. By the primary keys. $1 entry, $2 user
DROP_CALLS_OF_ANSWERED: Final = """
    DELETE FROM turn_calls WHERE turn = $1 AND user_id = $2 AND EXISTS (
        SELECT 1 FROM turns WHERE id = $1 AND user_id = $2 AND state = 'answered'
    )
"""

# By the primary keys. $1 entry, $2 user, $3 process
_SELECT_ELSEWHERE: Final = """
    SELECT 1 FROM turns AS t JOIN processes AS p ON p.name = t.process
    WHERE t.id = $1 AND t.user_id = $2 AND t.state <> 'interrupted' AND t.process <> $3 AND p.until > @now
"""

# The table holds only what is on its way. $1 process
ADOPT_TURNS: Final = f"UPDATE turns SET process = $1 WHERE {left_by_the_dead('turns')} /* all users */"  # noqa: S608
SELECT_UNFINISHED: Final = f"{_WITH_CALLS} WHERE process = $1 ORDER BY accepted_at, id /* all users */"

_FORGOTTEN: Final = "state = 'interrupted' AND accepted_at < $1 /* all users */"
FORGET_INTERRUPTED: Final = (
    f"DELETE FROM turn_calls WHERE turn IN (SELECT id FROM turns WHERE {_FORGOTTEN})",  # noqa: S608
    f"DELETE FROM turns WHERE {_FORGOTTEN}",  # noqa: S608
)


def channel_turn(question_id: int) -> str:
    """The name of a turn that answers a question in a channel, which has no entry: questions wait there."""
    return f"q{question_id}"


def asked_in(turn: str) -> int | None:
    """Return the question in a channel that a turn of this name answers; None for the turns of a session."""
    return int(turn[1:]) if turn[:1] == "q" and turn[1:].isdecimal() else None


class TurnLedger:
    def __init__(self, database: Database, *, process: str = "") -> None:
        """Make the ledger; `process` is whose turns it enters."""
        self._database = database
        self._process = process

    async def accept(self, turn: PendingTurn) -> None:
        """Enter a turn. From here on its user is answered, or told, whatever happens to the program."""
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
        """Let the bot write the turn by itself in that channel from now on, in these messages and further
        ones. The token is not needed any more. Where that is elsewhere, the channel does not know of it."""
        columns = (turn.id, turn.key.user_id, place_id, json.dumps(pages))
        batch = [Statement(_MOVED, columns)]
        if place_id != turn.key.channel_id and turn.answer_id is not None:
            told = (turn.key.user_id, turn.answer_id)
            batch += [Statement(sql, told) for sql in (_THAW_UNREAD, _LEAVE_CHANNEL)]
        await self._database.transaction(batch, [user(turn.key.user_id)])

    async def mark_settled(self, entry: str, user_id: int) -> None:
        """Drop the entry: its user has seen how the turn ended."""
        settled = (entry, user_id)
        batch = [Statement(_DELETE, settled), Statement(_DROP_CALLS, settled)]
        await self._database.transaction(batch, [user(user_id)])

    async def mark_interrupted(self, entry: str, user_id: int) -> None:
        """Note that its user was told that there is no answer, and may have it asked again."""
        await self._database.transaction([Statement(_INTERRUPTED, (entry, user_id, "[]"))], [user(user_id)])

    async def offer(self, turn: PendingTurn, message_ids: tuple[int, ...] = ()) -> None:
        """Note that the turn failed, and that its user may have it asked again. `message_ids`: the messages
        that show that, where they are several. A turn that was refused was not entered before."""
        offered = (turn.id, turn.key.user_id, json.dumps(message_ids))
        batch = [_insert(turn, self._process), Statement(_INTERRUPTED, offered)]
        await self._database.transaction(batch, [user(turn.key.user_id)])

    async def take(
        self, entry: str, user_id: int, renewed: Callable[[PendingTurn], PendingTurn]
    ) -> PendingTurn | None:
        """Take the interrupted turn, to be asked again: in the same transaction the one that `renewed` makes
        of it takes its place, and is returned. None when there is none, or not any more: one press wins."""

        def steps() -> Steps[PendingTurn | None]:
            rows = yield Statement(_SELECT_INTERRUPTED, (entry, user_id))
            if not rows:
                return None
            former = TURN.read(rows[0])
            turn = replace(renewed(former), calls=former.calls)
            yield Statement(_TAKE_CALLS, (entry, user_id, turn.id))
            yield Statement(_DELETE, (entry, user_id))
            yield _insert(turn, self._process)
            return turn

        turn = await self._database.write(steps, [user(user_id)])
        return turn and await self._with_texts(turn)

    async def untake(self, entry: str, user_id: int) -> None:
        """Make the turn what it was before `take`: nobody heard of the press that took it up."""

        def steps() -> Steps[None]:
            for (former,) in (yield Statement(_UNTAKEN, (entry, user_id))):
                yield Statement(_TAKE_CALLS, (entry, user_id, former))

        await self._database.write(steps, [user(user_id)])

    async def note_calls(self, turn: str, user_id: int, calls: Sequence[ToolCall]) -> None:
        """Note what the tools of a turn have changed so far, and what they are about to, without a result.
        `turn` is its entry, or what `channel_turn` makes of a channel's question; what is noted goes once
        that is answered, or nobody asks any more."""
        put = Statement(_PUT_CALLS, (turn, user_id, tool_calls_to_json(calls)))
        batch = [put if calls else Statement(_DROP_CALLS, (turn, user_id))]
        await self._database.transaction(batch, [user(user_id)])

    async def get_calls(self, turn: str, user_id: int) -> tuple[ToolCall, ...]:
        """Return the calls that `note_calls` was last told of a turn."""
        rows = await self._database.query(_SELECT_CALLS, turn, user_id)
        calls = tool_calls_of(rows[0][0]) if rows else ()
        return await read_call_texts(self._database, user_id, calls, "public")

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
        batch = [Statement(sql, (to_ms(before),)) for sql in FORGET_INTERRUPTED]
        await self._database.transaction(batch, [EVERYBODY])

    async def _get_message(self, user_id: int, row_id: int | None) -> Message | None:
        rows = await self._database.query(_SELECT_MESSAGE, user_id, row_id)
        found = await read_texts(self._database, user_id, [*map(MESSAGE.read, rows)])
        return found[0] if found else None

    async def _with_texts(self, turn: PendingTurn) -> PendingTurn:
        calls = await read_call_texts(self._database, turn.key.user_id, turn.calls, turn.visibility)
        return replace(turn, calls=calls)


def accept_turn(turn: PendingTurn, process: str) -> Steps[None]:
    """See TurnLedger.accept: to be run in the transaction that admits it, or by itself."""
    if turn.kind == "message":
        for sql in _DELETE_TWIN:
            yield Statement(sql, (turn.key.user_id, turn.question_id))
    yield _insert(turn, process)


def _insert(turn: PendingTurn, process: str) -> Statement:
    kept = replace(turn, question=None) if turn.temporary else turn
    return Statement(_INSERT, (*_WRITTEN.of(TURN.write(kept)), process))
