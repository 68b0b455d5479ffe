"""Proposals: kept with the answer that they stand below, and gone as soon as they are decided.

Whatever carries one out claims it in the transaction that changes something: so it is done once, however
often and wherever its button is pressed, and a kill leaves it either open or done.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field, TypeAdapter

from cc_bot.domain.canvas import AddCard, AddChart, RemoveElement, SetMode, ShowText, UpdateCard
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ProposalGone, ProposalOutdated
from cc_bot.domain.message import Visibility
from cc_bot.domain.proposal import OPEN_FOR, Draw, Proposal, ProposedChange, is_open, memory_of, text_before
from cc_bot.domain.session import SessionKey
from cc_bot.storage import EVERYBODY, Database, Row, Statement, Steps, user
from cc_bot.stores.canvas_json import canvas_from_json, canvas_to_json
from cc_bot.stores.columns import MS, Columns, Kind, Parameters, keep_number, next_number, to_ms

# ruff: noqa: S608 - put together from constants alone

_CHANGE: Final[TypeAdapter[ProposedChange]] = TypeAdapter(
    Annotated[ProposedChange, Field(discriminator="kind")]
)
_COMMANDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    command.__name__: TypeAdapter(command)
    for command in (AddCard, ShowText, AddChart, UpdateCard, RemoveElement, SetMode)
}
"""By name: two of them may have the same fields."""


def _read_change(text: str) -> ProposedChange:
    stored = json.loads(text)
    if stored["kind"] == "draw":
        commands = (_COMMANDS[name].validate_python(fields) for name, fields in stored["commands"])
        return Draw(tuple(commands), canvas_from_json(json.dumps(stored["before"])))
    return _CHANGE.validate_json(json.dumps(stored))  # dates and tuples are read as JSON has them


def _to_json(change: ProposedChange) -> str:
    if isinstance(change, Draw):
        commands = [
            [name := type(command).__name__, _COMMANDS[name].dump_python(command, mode="json")]
            for command in change.commands
        ]
        whole = {
            "kind": change.kind,
            "commands": commands,
            "before": json.loads(canvas_to_json(change.before)),
        }
        return json.dumps(whole, ensure_ascii=False)
    return _CHANGE.dump_json(change).decode()


CHANGE: Final = Kind(_to_json, _read_change)
PROPOSAL: Final = Columns(Proposal, moments=MS, answer_id=Kind(column="message_id"), change=CHANGE)
_WRITTEN: Final = Parameters(PROPOSAL.names)

# $1 user, $2 channel, $3 agent, $4 visibility, $5 which answer, $6 memory, $7 change, $8 now
_INSERT: Final = f"""
    INSERT INTO proposals (
        user_id, channel_id, agent, message_id, visibility, memory_id, change, made_at, number
    )
    SELECT $1, $2, $3, id, $4, $6, $7, $8, {next_number("proposal")} FROM messages
"""

# Run after its answer was inserted, in the same transaction: that is the session's newest. $5 session
INSERT_PROPOSAL: Final = f"""
    {_INSERT}
    WHERE session_id = $5 AND user_id = $1 AND role = 'assistant'
    ORDER BY id DESC LIMIT 1
    RETURNING {PROPOSAL.select}
"""

# The same of an answer in a channel, which is nobody's alone. $5 its id on Discord
INSERT_CHANNEL_PROPOSAL: Final = f"""
    {_INSERT}
    WHERE discord_id = $5 AND user_id IS NULL AND role = 'assistant'
    RETURNING {PROPOSAL.select} /* any row */
"""

KEEP_NUMBER: Final = keep_number("proposal")

# One that was taken away stands there again as it stood, if its answer does.
PUT_BACK: Final = f"""
    INSERT INTO proposals ({_WRITTEN.names})
    SELECT {_WRITTEN.marks} FROM messages
    WHERE id = {_WRITTEN["message_id"]} AND (user_id = {_WRITTEN["user_id"]} OR user_id IS NULL)
    RETURNING id /* any row */
"""

# An answer that is made anew proposes anew. $1 user, $2 the answer's row
DROP_OF_ANSWER: Final = "DELETE FROM proposals WHERE user_id = $1 AND message_id = $2"

# $1 the answer's id on Discord
DROP_OF_CHANNEL_ANSWER: Final = """
    DELETE FROM proposals WHERE message_id = (
        SELECT id FROM messages WHERE discord_id = $1 AND user_id IS NULL AND role = 'assistant'
    ) /* any row */
"""

_SELECT: Final = f"SELECT {PROPOSAL.select} FROM proposals WHERE user_id = $1 AND id = $2 AND made_at >= $3"

# $1 user, $2 number. By proposals_by_user.
_SELECT_ID: Final = "SELECT id FROM proposals WHERE user_id = $1 AND number = $2"

# $1 user, $2 the answer's row, $3 not before when. By proposals_by_message.
_SELECT_OF_ANSWER: Final = f"""
    SELECT {PROPOSAL.select} FROM proposals
    WHERE user_id = $1 AND message_id = $2 AND made_at >= $3
    ORDER BY id
"""

# $1 user, $2 channel, $3 not before when. By proposals_by_user.
_SELECT_OF_PLACE: Final = f"""
    SELECT {PROPOSAL.select} FROM proposals
    WHERE user_id = $1 AND channel_id = $2 AND made_at >= $3
    ORDER BY id
"""

# $3 the text that its memory had; of one that is about none, nothing is asked
_TAKE: Final = """
    DELETE FROM proposals
    WHERE user_id = $1 AND id = $2 AND (
        memory_id IS NULL OR CAST($3 AS TEXT) IS NULL OR EXISTS (
            SELECT 1 FROM memories AS m
            WHERE m.user_id = $1 AND m.id = memory_id AND m.status = 'active' AND m.content = $3
        )
    )
    RETURNING id
"""

# Of all users. $1 before when
PRUNE_PROPOSALS: Final = "DELETE FROM proposals WHERE made_at < $1 /* all users */"

T = TypeVar("T")


class ProposalStore:
    """The open proposals of every user."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def get(self, user_id: int, proposal_id: int) -> Proposal | None:
        """Return the user's proposal of this id; None when it is decided, older than OPEN_FOR, or not
        theirs."""
        rows = await self._database.query(_SELECT, user_id, proposal_id, self._oldest)
        return PROPOSAL.first(rows)

    async def get_id(self, user_id: int, number: int) -> int:
        """Return the id of the user's proposal of this number; 0 for none."""
        rows = await self._database.query(_SELECT_ID, user_id, number)
        return int(rows[0][0]) if rows else 0

    async def list_for_answer(self, user_id: int, answer_id: int) -> tuple[Proposal, ...]:
        """List the user's open ones below an answer, by its row."""
        statement = select_of_answer(user_id, answer_id, self._oldest)
        return self._open(await self._database.query(statement.sql, *statement.params))

    async def list_for_place(self, user_id: int, channel_id: int) -> tuple[Proposal, ...]:
        """List the user's open ones in a channel, the oldest first."""
        return self._open(await self._database.query(_SELECT_OF_PLACE, user_id, channel_id, self._oldest))

    async def drop(self, user_id: int, proposal_id: int) -> bool:
        """Leave undone what it proposes. Whether it was open."""
        [rows] = await self._database.transaction(
            [Statement(_TAKE, (user_id, proposal_id, None))], [user(user_id)]
        )
        return bool(rows)

    async def prune(self) -> None:
        """Delete what nobody decided in OPEN_FOR."""
        await self._database.transaction([Statement(PRUNE_PROPOSALS, (self._oldest,))], [EVERYBODY])

    def _open(self, rows: Sequence[Row]) -> tuple[Proposal, ...]:
        now = self._clock()
        return tuple(proposal for proposal in map(PROPOSAL.read, rows) if is_open(proposal, now))

    @property
    def _oldest(self) -> int:
        return to_ms(self._clock() - OPEN_FOR)


def select_of_answer(user_id: int, answer_id: int, oldest: int = 0) -> Statement:
    """The statement that reads a user's open ones below an answer, by its row. `oldest`: in Unix
    milliseconds."""
    return Statement(_SELECT_OF_ANSWER, (user_id, answer_id, oldest))


def take(proposal: Proposal) -> Statement:
    """The statement that takes an open proposal away, and returns a row if it did: it is decided then."""
    return Statement(_TAKE, (proposal.key.user_id, proposal.id, text_before(proposal.change)))


def put_back(proposal: Proposal) -> Statement:
    """The statement that opens again what `take` took of a call, and returns a row if its answer is there
    still."""
    return Statement(PUT_BACK, _WRITTEN.of(PROPOSAL.write(proposal)))


def carry_out(proposal: Proposal | None, begin: Callable[[], Steps[T]]) -> Steps[T]:
    """The steps that do what a proposal says, and with them that it is no longer open; the steps alone where
    there is none.

    Raises ProposalGone when somebody else was faster or its memory no longer says what it said, and
    ProposalOutdated when the steps found nothing to do: either way nothing is done.
    """
    if proposal is None:
        return (yield from begin())
    taken = yield take(proposal)
    if not taken:
        raise ProposalGone
    done = yield from begin()
    if not done:
        raise ProposalOutdated
    return done


def insert_proposals(
    key: SessionKey,
    answer: str | int,
    changes: Sequence[ProposedChange],
    now: datetime,
    *,
    visibility: Visibility = "public",
) -> list[Statement]:
    """The statements that keep the changes that an answer proposes: the newest of a session (its id, a text),
    or one in a channel (its id on Discord, a number)."""
    statement = INSERT_PROPOSAL if isinstance(answer, str) else INSERT_CHANNEL_PROPOSAL
    place = (key.user_id, key.channel_id, key.agent, visibility, answer)
    rows = ((*place, memory_of(each), _to_json(each), to_ms(now)) for each in changes)
    kept = Statement(KEEP_NUMBER, (key.user_id,))
    return [each for row in rows for each in (Statement(statement, row), kept)]
