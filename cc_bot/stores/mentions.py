"""Mentions: the messages that are to be answered, from when they are stored until their answer is.

A mention is written with its message (ChannelStore.add) and answered with its answer
(ChannelStore.commit_answer), each in one transaction, so a crash loses none: what waits at the next start is
what nobody has answered. What is stored of answers and was not yet shown to its end is known as well.
"""

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

from cc_bot.domain.message import ChannelKey, Message
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import CHANNEL, MESSAGE
from cc_bot.stores.ledger import DROP_CALLS_OF_QUESTIONS
from cc_bot.stores.subjects import of_place

# Each mention with its message; which ones is up to the statement.
_ASKED: Final = f"""
    SELECT {MESSAGE.of("m")}
    FROM mentions AS w
    @look_up messages AS m ON m.discord_id = w.discord_id AND m.user_id IS NULL AND m.visibility = 'public'
    /* channel */
"""  # noqa: S608 - put together from constants alone

_WAITING: Final = f"""
    {_ASKED}
    WHERE w.channel_id = $1 AND w.thread_id = $2 AND w.answered = 0 AND w.discord_id > (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
    )
    ORDER BY w.discord_id
"""  # noqa: S608 - put together from constants alone

_LEFT_BEHIND: Final = _WAITING.replace("w.discord_id > (", "w.discord_id <= (")

_EDITED: Final = f"""
    {_ASKED}
    WHERE w.channel_id = $1 AND w.thread_id = $2 AND w.answered = 1 AND w.edited = 1
        AND w.answer_id IS NOT NULL
    ORDER BY w.discord_id
"""

# $1 id, $2 what was read. An edit since then stays on record.
_READ: Final = """
    UPDATE mentions SET edited = 0
    WHERE discord_id = $1 AND EXISTS (
        SELECT 1 FROM messages AS m WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.content = $2
    ) /* channel */
"""

_PLACES: Final = """
    SELECT channel_id, thread_id FROM mentions WHERE answered = 0 GROUP BY channel_id, thread_id
    UNION ALL
    SELECT channel_id, thread_id FROM mentions
    WHERE answered = 1 AND shown = 0 AND answer_id IS NOT NULL
    GROUP BY channel_id, thread_id
    UNION ALL
    SELECT channel_id, thread_id FROM mentions
    WHERE answered = 1 AND edited = 1 AND answer_id IS NOT NULL
    GROUP BY channel_id, thread_id
"""

# $1 the message that shows the answer, $2 an array of ids
_ANSWERING: Final = """
    UPDATE mentions AS w SET answer_id = $1
    WHERE discord_id IN @ids($2) AND answered = 0 AND discord_id > (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata AS r
        WHERE r.thread_id = CASE w.thread_id WHEN 0 THEN w.channel_id ELSE w.thread_id END
    )
    RETURNING discord_id
"""

# $1 the newest of them, $2 all
_BEGIN: Final = """
    UPDATE mentions SET begun_as = $1
    WHERE discord_id IN @ids($2) AND answered = 0
"""

# $1 an array of ids
_BEGUN: Final = """
    SELECT begun_as, answer_id, discord_id FROM mentions
    WHERE discord_id IN @ids($1) AND answered = 0 AND begun_as IS NOT NULL
"""

# Each author of what one of the lists below has.
_AUTHORS_OF: Final = """
    SELECT m.discord_id, m.author_id
    FROM mentions AS w
    @look_up messages AS m ON m.discord_id = w.discord_id AND m.user_id IS NULL AND m.visibility = 'public'
    WHERE w.channel_id = $1 AND w.thread_id = $2 AND {due} /* channel */
"""

_AUTHORS: Final = " UNION ALL ".join(
    _AUTHORS_OF.format(due=due)
    for due in (
        "w.answered = 0",
        """w.answered = 1 AND w.shown = 0 AND w.answer_id IS NOT NULL AND EXISTS (
            SELECT 1 FROM messages AS a
            WHERE a.discord_id = w.answer_id AND a.user_id IS NULL AND a.visibility = 'public'
        )""",
        "w.answered = 1 AND w.edited = 1 AND w.answer_id IS NOT NULL",
    )
)

_TO_SHOW: Final = f"""
    SELECT {MESSAGE.of("m")} FROM messages AS m
    WHERE m.user_id IS NULL AND m.visibility = 'public' AND m.discord_id IN (
        SELECT answer_id FROM mentions
        WHERE channel_id = $1 AND thread_id = $2 AND answered = 1 AND shown = 0 AND answer_id IS NOT NULL
    )
    ORDER BY m.discord_id /* channel */
"""  # noqa: S608 - put together from constants alone

_SHOWN: Final = "UPDATE mentions SET shown = $2 WHERE answer_id = $1 AND answered = 1"

# It stays on record: delivered again, the message does not wait again. $1 an array of ids, $2 the message
# that says why, if the questions may be reopened
_GIVE_UP: Final = """
    UPDATE mentions SET answered = 1, answer_id = $2, shown = 1
    WHERE discord_id IN @ids($1) AND answered = 0
"""

# Of a message that shows a stored answer nothing is reopened. $1 the message, $2 their author
_REOPEN: Final = """
    UPDATE mentions AS w SET answered = 0, shown = 0
    WHERE answer_id = $1 AND answered = 1
        AND NOT EXISTS (SELECT 1 FROM messages AS a WHERE a.discord_id = $1 AND a.user_id IS NULL)
        AND EXISTS (
            SELECT 1 FROM messages AS m
            WHERE m.discord_id = w.discord_id AND m.user_id IS NULL AND m.visibility = 'public'
                AND m.author_id = $2
        )
    RETURNING discord_id /* channel */
"""

_QUESTIONS: Final = f"""
    {_ASKED}
    WHERE w.answer_id = $1
    ORDER BY w.discord_id
"""

_PLACE_OF: Final = "SELECT channel_id, thread_id FROM mentions WHERE discord_id = $1"

# A question of a channel, or of its author's session. $1 id, $2 author
_IS_QUESTION: Final = """
    SELECT 1 FROM mentions WHERE discord_id = $1
    UNION ALL
    SELECT 1 FROM messages WHERE discord_id = $1 AND user_id = $2
"""

# Served by mentions_waiting.
_UNATTENDED: Final = """
    SELECT 1 FROM mentions
    WHERE channel_id = $1 AND thread_id = $2 AND answered = 0 AND answer_id IS NULL
    LIMIT 1
"""

_ANSWERED_BY: Final = "SELECT answer_id FROM mentions WHERE discord_id = $1 AND answered = 1"


class BegunAnswer(NamedTuple):
    """An answer that was begun, and neither stored nor given up."""

    newest_id: int
    """Of its questions when it was begun: its message replies to that, and has a nonce made of it."""
    answer_id: int | None
    """The message that shows it; None where none is known to be posted."""
    question_ids: frozenset[int]
    """Those that still wait for it."""


class MentionStore:
    """The questions that wait for an answer, and which answer is whose. The messages are those of
    ChannelStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_waiting(self, key: ChannelKey) -> tuple[Message, ...]:
        """List what is to be answered in this channel or thread, oldest first."""
        return await self._select(_WAITING, key.channel_id, key.thread_id, key.place_id)

    async def list_left_behind(self, key: ChannelKey) -> tuple[Message, ...]:
        """List what waited there when the place was reset, and must not be read any more."""
        return await self._select(_LEFT_BEHIND, key.channel_id, key.thread_id, key.place_id)

    async def list_edited(self, key: ChannelKey) -> tuple[Message, ...]:
        """List questions that were answered, or failed and may be reopened, and may have been edited since
        they were read, as they are now."""
        return await self._select(_EDITED, key.channel_id, key.thread_id)

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

    async def list_authors(self, key: ChannelKey) -> tuple[int, ...]:
        """List the users of whose questions in this channel or thread one waits, was edited, or has an answer
        that was not shown to its end; the oldest question first."""
        rows = await self._database.query(_AUTHORS, key.channel_id, key.thread_id)
        return tuple(dict.fromkeys(author_id for _, author_id in sorted(map(tuple, rows))))

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

    async def begin(self, key: ChannelKey, questions: Sequence[Message], newest_id: int) -> None:
        """Note that one message is about to be posted for all of these, with a nonce that is made of this
        id."""
        await self._database.transaction([Statement(_BEGIN, (newest_id, _ids(questions)))], of_place(key))

    async def get_begun(self, questions: Sequence[Message]) -> BegunAnswer | None:
        """Return the newest answer that was begun to some of these questions, and not ended."""
        rows = await self._database.query(_BEGUN, _ids(questions))
        if not rows:
            return None
        newest_id = max(begun for begun, _, _ in rows)
        served = {id_: answer_id for begun, answer_id, id_ in rows if begun == newest_id}
        return BegunAnswer(newest_id, next(filter(None, served.values()), None), frozenset(served))

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
        await self._database.transaction([Statement(_SHOWN, (answer_id, 1))], of_place(key))

    async def mark_unshown(self, key: ChannelKey, answer_id: int) -> None:
        """Note that an answer's messages are about to change, so that what can be read there may not be what
        is stored."""
        await self._database.transaction([Statement(_SHOWN, (answer_id, 0))], of_place(key))

    async def give_up(
        self, key: ChannelKey, questions: Sequence[Message], failed_in: int | None = None
    ) -> None:
        """Let questions wait no longer: it was said that there will be no answer. `failed_in`: the message
        that says so, if they may be reopened."""
        ids = _ids(questions)
        batch = [Statement(_GIVE_UP, (ids, failed_in)), Statement(DROP_CALLS_OF_QUESTIONS, (ids,))]
        await self._database.transaction(batch, of_place(key))

    async def reopen(self, key: ChannelKey, user_id: int, failed_in: int) -> frozenset[int]:
        """Have a user's questions wait again whose failure this message shows, for an answer in it. Returns
        their ids; none if they wait already, are answered, or are deleted."""
        [rows] = await self._database.transaction([Statement(_REOPEN, (failed_in, user_id))], of_place(key))
        return frozenset(id_ for (id_,) in rows)

    async def list_questions(self, answer_id: int) -> tuple[Message, ...]:
        """List the questions that an answer is to, oldest first; without those that were deleted since."""
        return await self._select(_QUESTIONS, answer_id)

    async def get_answer(self, discord_id: int) -> int | None:
        """Return the message that answers this one, or says that its answer failed; None while it waits, or
        when there is none (any more)."""
        rows = await self._database.query(_ANSWERED_BY, discord_id)
        return rows[0][0] if rows else None

    async def _select(self, sql: str, *params: int) -> tuple[Message, ...]:
        return tuple(map(MESSAGE.read, await self._database.query(sql, *params)))


def _ids(questions: Sequence[Message]) -> str:
    return json.dumps([question.discord_id for question in questions])
