# ruff: noqa: S608 - put together from constants alone
from collections.abc import Iterable, Mapping
from typing import Final

from cc_bot.chat.stores.canvases import COUNT_SWITCH
from cc_bot.chat.stores.opening import StoreContext
from cc_bot.chat.stores.settings import ChannelAgent
from cc_bot.db import Statement, Transaction, channel_lock, user_lock
from cc_bot.db.columns import Columns, Store, to_text, upsert
from cc_bot.db.personal import PersonalTable

_AGENT: Final = Columns(ChannelAgent)

# $1 user, $2 and $3 a channel, or a thread and its channel
_CHOICES: Final = "SELECT channel_id, agent FROM agent_choices WHERE user_id = $1 AND channel_id IN ($2, $3)"

_CHOOSE: Final = upsert("agent_choices", "user_id channel_id", "agent chosen_at")

_DELETE_CHOICE: Final = "DELETE FROM agent_choices WHERE user_id = $1 AND channel_id = $2"

# $1 and $2 a channel, or a thread and its channel
_DEFAULTS: Final = f"SELECT channel_id, {_AGENT.select} FROM channel_agents WHERE channel_id IN ($1, $2)"

_SET_DEFAULT: Final = upsert("channel_agents", "channel_id", "guild_id agent set_by set_at")

_UNSET_DEFAULT: Final = "DELETE FROM channel_agents WHERE channel_id = $1"


def read_choices(
    user_id: int, both: tuple[int, int]
) -> Transaction[tuple[Mapping[int, str], Mapping[int, ChannelAgent]]]:
    """`both`: a channel, or a thread and its channel."""
    choices = yield Statement(_CHOICES, (user_id, *both))
    defaults = yield Statement(_DEFAULTS, both)
    chosen: dict[int, str] = dict(map(tuple, choices))
    return chosen, {location_id: _AGENT.read(agent) for location_id, *agent in defaults}


class ChoiceStore(Store):
    async def choose(self, user_id: int, channel_id: int, agent: str | None) -> None:
        """`agent` None: use the channel's default again."""
        if agent is None:
            statement = Statement(_DELETE_CHOICE, (user_id, channel_id))
        else:
            statement = Statement(_CHOOSE, (user_id, channel_id, agent, to_text(self._clock())))
        await self._database.transaction([statement, Statement(COUNT_SWITCH)], [user_lock(user_id)])

    async def set_default(self, channel_id: int, guild_id: int, agent: str, set_by: int) -> None:
        params = (channel_id, guild_id, agent, set_by, to_text(self._clock()))
        await self._database.transaction(
            [Statement(_SET_DEFAULT, params), Statement(COUNT_SWITCH)], [channel_lock(channel_id)]
        )

    async def unset_default(self, channel_id: int) -> None:
        await self._database.transaction(
            [Statement(_UNSET_DEFAULT, (channel_id,)), Statement(COUNT_SWITCH)], [channel_lock(channel_id)]
        )


TABLES: Final = (
    PersonalTable("agent_choices", "choices", "chosen_at"),
    PersonalTable(*("channel_agents", "decisions", "set_at", "decided_agents", "set_by"), erasure="unsign"),
)


def make_stores(storage: StoreContext) -> Iterable[object]:
    return (ChoiceStore(storage.database, clock=storage.clock),)
