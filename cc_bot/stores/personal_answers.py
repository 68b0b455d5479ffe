"""Answers on their way in DMs, and to replies that go on with their author's own session.

Unlike a channel's, these are not written again after a crash. But the message that was to show one must not
say for ever that the bot is thinking.
"""

from dataclasses import dataclass
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import Message
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_ms
from cc_bot.stores.message_columns import read_message

_BEGIN: Final = """
    INSERT INTO personal_answers (answer_id, channel_id, user_id, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (answer_id) DO NOTHING
"""

_END: Final = "DELETE FROM personal_answers WHERE answer_id = $1 AND user_id = $2"

# The table holds only what is on its way.
SELECT_LEFT: Final = "SELECT answer_id, channel_id, user_id FROM personal_answers ORDER BY answer_id"

_STORED: Final = """
    SELECT id, role, content, tool_calls, status, visibility, author_id, author_name, discord_id, created_at
    FROM messages
    WHERE user_id = $1 AND discord_id = $2 AND role = 'assistant'
"""

# A question that catching up has found again is answered by its channel, in the same message.
TAKEN_OVER: Final = "SELECT 1 FROM mentions WHERE answer_id = $1 LIMIT 1"

PERSONAL_STATEMENTS: Final = frozenset({SELECT_LEFT, TAKEN_OVER})


@dataclass(frozen=True, slots=True)
class PersonalAnswer:
    """An answer that was begun. All ids are Discord's."""

    answer_id: int
    """Of the message that shows it, or its beginning."""
    channel_id: int
    user_id: int
    """Who is answered."""


class PersonalAnswerStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def opened(self, answer: PersonalAnswer) -> None:
        """Its message was posted."""
        params = (answer.answer_id, answer.channel_id, answer.user_id, to_ms(self._clock()))
        await self._database.transaction([Statement(_BEGIN, params)])

    async def ended(self, answer: PersonalAnswer) -> None:
        """Its message shows how it ended."""
        await self._database.transaction([Statement(_END, (answer.answer_id, answer.user_id))])

    async def unfinished(self) -> tuple[PersonalAnswer, ...]:
        """Those that were opened and never ended, everybody's, oldest first."""
        return tuple(PersonalAnswer(*row) for row in await self._database.query(SELECT_LEFT))

    async def stored(self, answer: PersonalAnswer) -> Message | None:
        """What it says, if its turn was stored after all."""
        rows = await self._database.query(_STORED, answer.user_id, answer.answer_id)
        return read_message(rows[0]) if rows else None

    async def taken_over(self, answer: PersonalAnswer) -> bool:
        """Whether its message shows the answer to a question of a channel by now."""
        return bool(await self._database.query(TAKEN_OVER, answer.answer_id))
