"""Channels: what everyone said in them, as Discord has it.

Each message is kept once, however often Discord delivers it, and in the order of Discord's ids. What is
edited or deleted there is edited or deleted here, and the frozen blocks that held it thaw in the same
transaction: privacy beats the cache. Every call is one trip to the database.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest

from cc_bot.domain.channel import ChannelKey, Reading
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ConversationGone
from cc_bot.domain.message import Message, has_quotation, is_blank
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Database, ErasureLog, Statement, place_name
from cc_bot.stores import channel_statements as sql
from cc_bot.stores.channel_removal import ANSWERS_TO, DELETE_MESSAGES, deletion, forgetting
from cc_bot.stores.columns import from_ms, to_ms, to_text
from cc_bot.stores.memory_calls import NOTE_CHANNEL_CALLS, note_calls
from cc_bot.stores.message_columns import read_message, tool_calls_to_json
from cc_bot.stores.proposals import DROP_OF_CHANNEL_ANSWER, insert_proposals, read_proposal
from cc_bot.stores.turn_writing import StoredTurn
from cc_bot.stores.unscoped import SELECT_DIRECT, SELECT_KNOWN


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or thread that has messages, and from where on to catch up with it."""

    key: ChannelKey
    newest_id: int
    """Discord's id of the newest message here that is not the bot's own; 0 when there is none."""
    reset_id: int
    """The newest reset marker of any bot; 0 when there is none."""


class ChannelStore:
    """The archive of every channel and thread."""

    def __init__(self, database: Database, *, clock: Clock = utc_now, log: ErasureLog | None = None) -> None:
        """What is deleted on Discord is noted in the log, where there is one, so that it is deleted again
        from a backup that is restored."""
        self._database = database
        self._clock = clock
        self._log = log

    async def add(self, key: ChannelKey, message: Message, *, waiting: bool = False) -> bool:
        """Keep a message, and with `waiting` that it is to be answered. Whether that is new.

        It is not when the message is known already and, with `waiting`, has waited already; nor is anything
        stored that is blank (what Discord shows of a message without the intent) or not after the reset
        markers of its place. Attachments are not kept. Raises ValueError for a message without Discord's id,
        or a private one.
        """
        batch = self._insertion(key, [message])
        if batch and waiting:
            params = (message.discord_id, key.channel_id, key.thread_id, key.place_id, self._now())
            batch.append(Statement(sql.WAIT, params))
        stored = await self._database.transaction(batch) if batch else []
        return any(stored)

    async def add_all(self, key: ChannelKey, messages: Sequence[Message]) -> int:
        """Keep messages, in any order, and tell how many were new. The same is not stored as by `add`."""
        batch = self._insertion(key, messages)
        return len((await self._database.transaction(batch))[1]) if batch else 0

    async def pass_over(self, key: ChannelKey, discord_id: int) -> None:
        """Nothing up to this id is missed in a place, though nothing of it is kept: the bot may not read
        there. A place of which nothing is kept at all is not caught up with anyway."""
        params = (key.channel_id, key.thread_id, discord_id)
        await self._database.transaction([Statement(sql.SKIP, params)])

    async def edit(self, discord_id: int, content: str, *, tainted: bool = False) -> bool:
        """Change what a user's message says, in a channel or a session. Whether it said another thing before.
        `tainted`: as `Message.tainted`.

        A blank content changes nothing: Discord shows one where the bot may not read it.
        """
        if is_blank(content):
            return False
        params = (discord_id, content)
        *_, changed = await self._database.transaction(
            [
                Statement(sql.THAW_EDITED, params),
                Statement(sql.MARK_EDITED, params),
                Statement(sql.EDIT, (*params, int(tainted or has_quotation(content)))),
            ]
        )
        return bool(changed)

    async def delete(self, discord_ids: Collection[int]) -> int:
        """Remove these messages of channels and sessions with all that hangs on them, and tell how many.

        An answer goes as a whole when any of its pages does. The question of a removed answer stays answered.
        Raises StorageError, also when they are removed and only the log could not be written.
        """
        batch = deletion(discord_ids)
        results = await self._database.transaction(batch)
        done = zip(batch, results, strict=True)
        removed = sum(len(rows) for statement, rows in done if statement.sql is DELETE_MESSAGES)
        if removed and self._log:  # Discord tells of many that were never kept
            await self._log.note("message", *discord_ids)
        return removed

    async def answers_to(self, discord_ids: Collection[int]) -> tuple[int, ...]:
        """The messages that show answers to these questions and to no others, in channels and sessions."""
        rows = await self._database.query(ANSWERS_TO, json.dumps([*discord_ids]))
        return tuple(dict.fromkeys(row[0] for row in rows))

    async def forget_place(self, key: ChannelKey) -> None:
        """Remove all of a thread, or of a channel with its threads. Sessions in it are their users' own."""
        await self._database.transaction(forgetting(key))
        if self._log:
            await self._log.note("place", place_name(key.channel_id, key.thread_id))

    async def commit_answer(self, key: ChannelKey, answer: Message, questions: Sequence[Message]) -> Message:
        """As `archive_answer`, of an answer that proposes nothing: the answer as it was stored."""
        return (await self.archive_answer(key, answer, questions)).messages[0]

    async def archive_answer(
        self,
        key: ChannelKey,
        answer: Message,
        questions: Sequence[Message],
        proposals: Sequence[ProposedChange] = (),
        *,
        agent: str = "default",
    ) -> StoredTurn:
        """Store an answer, what it proposes to who asked last (`agent` does), and that the questions, as they
        were read, have it, all or nothing; return it with its id and time.

        An answer that has this Discord id already is overwritten: it was made anew. It is kept also when its
        place was reset since it was asked for, and read no more. Raises ValueError when it has no Discord id,
        and ConversationGone when none of the questions is left, or the id is that of another place's or a
        session's message.
        """
        now = from_ms(self._now())  # as it is read back
        asked = json.dumps([question.discord_id for question in questions])
        params = (*_answer_params(key, answer, to_ms(now)), asked, int(answer.tainted))
        held = params[:3]
        asker = SessionKey(questions[-1].author_id if questions else 0, key.place_id, agent)
        proposing = insert_proposals(asker, _discord_id(answer), proposals, now)
        results = await self._database.transaction(
            [
                Statement(sql.THAW_ANSWER, held),
                Statement(sql.COMMIT_ANSWER, params),
                *_note_calls(answer, questions),
                Statement(DROP_OF_CHANNEL_ANSWER, (answer.discord_id,)),
                *proposing,
                *(
                    Statement(sql.MARK_ANSWERED, (*held, question.discord_id, question.content))
                    for question in questions
                ),
            ]
        )
        if not results[1]:
            raise ConversationGone
        stored = replace(answer, id=results[1][0][0], created_at=now)
        made = [row for rows in results[-len(questions) - len(proposing) :][: len(proposing)] for row in rows]
        return StoredTurn((stored,), proposals=tuple(map(read_proposal, made)))

    async def newest_answer(self, key: ChannelKey) -> Message | None:
        """The bot's last answer in this channel or thread since it was reset."""
        rows = await self._database.query(sql.NEWEST_ANSWER, key.channel_id, key.thread_id, key.place_id)
        return read_message(rows[0]) if rows else None

    async def session_of(self, discord_id: int) -> SessionKey | None:
        """Whose session the answer belongs to that this message, or the long answer of this page, shows."""
        rows = await self._database.query(sql.SESSION_OF, discord_id)
        return SessionKey(*rows[0]) if rows else None

    async def shows_answer(self, discord_id: int) -> bool:
        """Whether this message, or the long answer of this page, is an answer in a channel's archive."""
        return bool(await self._database.query(sql.SHOWS_ANSWER, discord_id))

    async def pages(self, answer_id: int) -> tuple[int, ...]:
        """The further messages that show a long answer, in order."""
        return tuple(row[0] for row in await self._database.query(sql.PAGES, answer_id))

    async def add_pages(self, answer_id: int, discord_ids: Collection[int]) -> None:
        """Note the further messages that show a long answer, whose own id is that of its first."""
        await self._database.transaction([Statement(sql.ADD_PAGES, (answer_id, json.dumps([*discord_ids])))])

    async def drop_pages(self, discord_ids: Collection[int]) -> None:
        """Forget pages that the bot is about to delete because its answer grew shorter.

        To be called before: deleted as pages they would take the whole answer with them.
        """
        await self._database.transaction([Statement(sql.DROP_PAGES, (json.dumps([*discord_ids]),))])

    async def places(self, *, limit: int) -> tuple[Place, ...]:
        """The channels and threads with the newest messages, the most recent first."""
        rows = await self._database.query(sql.PLACES)
        places = (Place(ChannelKey(channel, thread), *ids) for channel, thread, *ids in rows)
        return tuple(nlargest(limit, places, key=lambda place: place.newest_id))

    async def direct(self, *, since: datetime, limit: int) -> tuple[int, ...]:
        """The channels of DMs that go on and that somebody has written in since, the most recent first."""
        rows = await self._database.query(SELECT_DIRECT, to_text(since), limit)
        return tuple(dict.fromkeys(row[0] for row in rows))

    async def known(self, discord_ids: Collection[int]) -> frozenset[int]:
        """Which of these messages are stored, in whatever conversation."""
        rows = await self._database.query(SELECT_KNOWN, json.dumps([*discord_ids]))
        return frozenset(row[0] for row in rows)

    async def reading(self, mode: Reading, since: int) -> int:
        """Which messages are read from now on. Since when they are: the id of a moment, `since` if the last
        run read others, or there was none."""
        [[(began,)]] = await self._database.transaction([Statement(sql.READING, (mode, since))])
        return int(began)

    async def reset(self, key: ChannelKey, *, bot_id: int, discord_id: int) -> None:
        """Nothing up to this Discord id is read again by this bot, or by any with `bot_id` 0."""
        params = (key.place_id, bot_id, key.channel_id, discord_id, self._now())
        await self._database.transaction([Statement(sql.RESET, params)])

    def _now(self) -> int:
        return to_ms(self._clock())

    def _insertion(self, key: ChannelKey, messages: Sequence[Message]) -> list[Statement]:
        """What thaws, and what stores; nothing when there is nothing to store."""
        rows = [_row(message) for message in messages if not is_blank(message.content)]
        if not rows:
            return []
        ids = [row[0] for row in rows]
        held = (key.channel_id, key.thread_id)
        return [
            Statement(sql.THAW_NEW, (*held, min(ids), key.place_id, json.dumps(ids))),
            Statement(sql.INSERT, (*held, key.place_id, self._now(), json.dumps(rows, ensure_ascii=False))),
        ]


def _row(message: Message) -> tuple[int, int, str, str, str, str, str, int]:
    """The columns of one message. Where JSON has a NUL, SQLite's text ends; Discord sends none."""
    return (
        _discord_id(message),
        message.author_id,
        message.author_name.replace("\0", ""),
        message.role,
        message.content.replace("\0", ""),
        tool_calls_to_json(message.tool_calls),
        message.status,
        int(message.taints or message.role == "assistant"),  # who knows what its model had read
    )


def _answer_params(key: ChannelKey, answer: Message, ms: int) -> tuple[int | str, ...]:
    return (
        key.channel_id,
        key.thread_id,
        _discord_id(answer),
        key.place_id,
        ms,
        answer.author_id,
        answer.author_name,
        answer.content,
        tool_calls_to_json(answer.tool_calls),
        answer.status,
    )


def _note_calls(answer: Message, questions: Sequence[Message]) -> list[Statement]:
    """Tools act on someone's memories only where one question alone is answered: its author's."""
    if len(questions) != 1:
        return []
    return note_calls(NOTE_CHANNEL_CALLS, _discord_id(answer), questions[0].author_id, answer.tool_calls)


def _discord_id(message: Message) -> int:
    if message.discord_id is None or message.visibility == "private":
        raise ValueError("a channel's message has an id of Discord's, and is not private")
    return message.discord_id
