"""Who answers whom: the agent that a user chose for a channel, and the one that a channel has for all others.

Agents are known by name here. Whether there still is one of that name, and whether it may be used there, is
looked at when it is to answer.
"""

from dataclasses import dataclass
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_text

_CHOICE: Final = "SELECT agent FROM agent_choices WHERE user_id = $1 AND channel_id = $2"

_CHOOSE: Final = """
    INSERT INTO agent_choices (user_id, channel_id, agent, chosen_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, channel_id) DO UPDATE SET agent = excluded.agent, chosen_at = excluded.chosen_at
    WHERE agent_choices.user_id = $1
"""

_TAKE_BACK: Final = "DELETE FROM agent_choices WHERE user_id = $1 AND channel_id = $2"

# Of a channel, and of everybody in it: these name no user.
_DEFAULT: Final = "SELECT agent, guild_id FROM channel_agents WHERE channel_id = $1"

_SET_DEFAULT: Final = """
    INSERT INTO channel_agents (channel_id, guild_id, agent, set_by, set_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (channel_id) DO UPDATE SET
        guild_id = excluded.guild_id, agent = excluded.agent,
        set_by = excluded.set_by, set_at = excluded.set_at
"""

_UNSET_DEFAULT: Final = "DELETE FROM channel_agents WHERE channel_id = $1"

_OF_ANSWER: Final = """
    SELECT s.agent
    FROM messages AS m
    JOIN sessions AS s ON s.id = m.session_id AND s.user_id = $1
    WHERE m.user_id = $1 AND m.id = $2
"""


@dataclass(frozen=True, slots=True)
class ChannelAgent:
    """The agent that a channel has for everybody who chose none."""

    agent: str
    guild_id: int


class AgentStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def choose(self, user_id: int, channel_id: int, agent: str | None) -> None:
        """From now on the user is answered by this agent there; None: by whom the channel has."""
        if agent is None:
            statement = Statement(_TAKE_BACK, (user_id, channel_id))
        else:
            statement = Statement(_CHOOSE, (user_id, channel_id, agent, to_text(self._clock())))
        await self._database.transaction([statement])

    async def choice(self, user_id: int, channel_id: int) -> str | None:
        """The name of the agent that the user chose there; None for no choice."""
        rows = await self._database.query(_CHOICE, user_id, channel_id)
        return str(rows[0][0]) if rows else None

    async def set_default(self, channel_id: int, guild_id: int, agent: str, set_by: int) -> None:
        """From now on this agent answers in the channel wherever nobody chose another one."""
        params = (channel_id, guild_id, agent, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(_SET_DEFAULT, params)])

    async def unset_default(self, channel_id: int) -> None:
        """The channel has no agent of its own any more."""
        await self._database.transaction([Statement(_UNSET_DEFAULT, (channel_id,))])

    async def default(self, channel_id: int) -> ChannelAgent | None:
        """None where the channel has none of its own."""
        rows = await self._database.query(_DEFAULT, channel_id)
        return ChannelAgent(*rows[0]) if rows else None

    async def of_answer(self, user_id: int, answer_id: int) -> str | None:
        """The agent that gave the user an answer, by the answer's row; None when there is no such answer."""
        rows = await self._database.query(_OF_ANSWER, user_id, answer_id)
        return str(rows[0][0]) if rows else None
