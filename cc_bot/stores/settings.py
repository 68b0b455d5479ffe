"""Settings of users, agents and models of channels, token factors of models, tool lists of MCP servers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Any, Final
from zoneinfo import available_timezones

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale
from cc_bot.domain.tool_server import StoredToolList
from cc_bot.storage import Database, Statement, Steps, channel, user
from cc_bot.stores.canvases import MOVE
from cc_bot.stores.columns import Columns, Kind, Store, to_text


class Keep(Enum):
    """The default of an argument: unchanged. None resets."""

    AS_IS = "as it is"


# ruff: noqa: S608 - put together from constants alone

_SETTINGS: Final = Columns(UserSettings, locale=Kind(str, lambda stored: Locale(stored) if stored else None))

_SELECT: Final = f"SELECT {_SETTINGS.select} FROM user_settings WHERE user_id = $1"

# $2 locale, $3 time zone, $4 memory paused, $5 read aloud, $6 now
_PUT: Final = """
    INSERT INTO user_settings (user_id, locale, timezone, memory_paused, spoken, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (user_id) DO UPDATE SET
        locale = excluded.locale, timezone = excluded.timezone, memory_paused = excluded.memory_paused,
        spoken = excluded.spoken, updated_at = excluded.updated_at
    WHERE user_settings.user_id = $1
"""

# Returns a row only if `welcomed` changed: for one of several at once.
_CLAIM_WELCOME: Final = """
    INSERT INTO user_settings (user_id, welcomed, updated_at)
    VALUES ($1, 1, $2)
    ON CONFLICT (user_id) DO UPDATE SET welcomed = 1, updated_at = excluded.updated_at
    WHERE user_settings.user_id = $1 AND user_settings.welcomed = 0
    RETURNING user_id
"""

# $1 user, $2 now, $3 a day ago
_CLAIM_MENU: Final = """
    INSERT INTO user_settings (user_id, told_of_menu_at, updated_at)
    VALUES ($1, $2, $2)
    ON CONFLICT (user_id) DO UPDATE SET told_of_menu_at = excluded.told_of_menu_at
    WHERE user_settings.user_id = $1 AND coalesce(user_settings.told_of_menu_at, '') <= $3
    RETURNING user_id
"""


class SettingsStore(Store):
    async def get(self, user_id: int) -> UserSettings:
        return await self._database.read(lambda: settings_of(user_id))

    async def set(
        self,
        user_id: int,
        *,
        locale: Locale | Keep | None = Keep.AS_IS,
        timezone: str | Keep | None = Keep.AS_IS,
        memory_paused: bool | Keep = Keep.AS_IS,
        spoken: bool | Keep = Keep.AS_IS,
    ) -> UserSettings:
        """Change what is given and return all; None resets. Raises UnknownTimezone for a name outside the
        IANA database."""
        # `localtime`, `posixrules` and folders could be read as well.
        if isinstance(timezone, str) and (timezone not in available_timezones() or timezone == "localtime"):
            raise UnknownTimezone
        given = {"locale": locale, "timezone": timezone, "memory_paused": memory_paused, "spoken": spoken}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not Keep.AS_IS}

        def steps() -> Steps[UserSettings]:
            chosen = replace((yield from settings_of(user_id)), **changes)
            switches = (int(chosen.memory_paused), int(chosen.spoken))
            now = to_text(self._clock())
            yield Statement(_PUT, (user_id, chosen.locale, chosen.timezone, *switches, now))
            return chosen

        return await self._database.write(steps, [user(user_id)])

    async def claim_welcome(self, user_id: int) -> bool:
        """Return True once per user, also for concurrent calls."""
        [rows] = await self._database.transaction(
            [Statement(_CLAIM_WELCOME, (user_id, to_text(self._clock())))], [user(user_id)]
        )
        return bool(rows)

    async def claim_word_on_menu(self, user_id: int) -> bool:
        now = self._clock()
        params = (user_id, to_text(now), to_text(now - timedelta(days=1)))
        [rows] = await self._database.transaction([Statement(_CLAIM_MENU, params)], [user(user_id)])
        return bool(rows)


def settings_of(user_id: int) -> Steps[UserSettings]:
    rows = yield Statement(_SELECT, (user_id,))
    return _SETTINGS.first(rows) or UserSettings()


# An agent is checked when it answers: it may be gone, or not allowed in the channel.


@dataclass(frozen=True, slots=True)
class ChannelAgent:
    """A channel's default."""

    agent: str
    guild_id: int


_AGENT: Final = Columns(ChannelAgent)

# $1 user, $2 and $3 a channel, or a thread and its channel
_CHOICES: Final = "SELECT channel_id, agent FROM agent_choices WHERE user_id = $1 AND channel_id IN ($2, $3)"

_CHOOSE: Final = """
    INSERT INTO agent_choices (user_id, channel_id, agent, chosen_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, channel_id) DO UPDATE SET agent = excluded.agent, chosen_at = excluded.chosen_at
    WHERE agent_choices.user_id = $1
"""

_TAKE_BACK: Final = "DELETE FROM agent_choices WHERE user_id = $1 AND channel_id = $2"

# $1 and $2 a channel, or a thread and its channel
_DEFAULTS: Final = f"SELECT channel_id, {_AGENT.select} FROM channel_agents WHERE channel_id IN ($1, $2)"
_MODELS_OF: Final = "SELECT channel_id, models FROM channel_models WHERE channel_id IN ($1, $2)"

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
class PlaceAgents:
    """The choices that decide which agent answers a user, by channel or thread."""

    choices: Mapping[int, str]
    defaults: Mapping[int, ChannelAgent]
    models: Mapping[int, tuple[str, ...]]
    """Set by an owner, the preferred one first."""


def agents_in(user_id: int, place_ids: Sequence[int]) -> Steps[PlaceAgents]:
    """`place_ids`: a channel, or a thread and its channel; none in the terminal."""
    both = (place_ids[0], place_ids[-1]) if place_ids else (0, 0)
    choices = yield Statement(_CHOICES, (user_id, *both))
    defaults = yield Statement(_DEFAULTS, both)
    models = yield Statement(_MODELS_OF, both)
    return PlaceAgents(
        {place_id: agent for place_id, agent in choices},  # noqa: C416 - rows are of any type
        {place_id: _AGENT.read(agent) for place_id, *agent in defaults},
        {place_id: tuple(json.loads(chain)) for place_id, chain in models},
    )


class AgentStore(Store):
    async def choose(self, user_id: int, channel_id: int, agent: str | None) -> None:
        """None: the channel's default."""
        if agent is None:
            statement = Statement(_TAKE_BACK, (user_id, channel_id))
        else:
            statement = Statement(_CHOOSE, (user_id, channel_id, agent, to_text(self._clock())))
        await self._database.transaction([statement, Statement(MOVE)], [user(user_id)])

    async def get_for_places(self, user_id: int, place_ids: Sequence[int]) -> PlaceAgents:
        """`place_ids` as for `agents_in`."""
        return await self._database.read(lambda: agents_in(user_id, place_ids))

    async def set_default(self, channel_id: int, guild_id: int, agent: str, set_by: int) -> None:
        params = (channel_id, guild_id, agent, set_by, to_text(self._clock()))
        await self._database.transaction(
            [Statement(_SET_DEFAULT, params), Statement(MOVE)], [channel(channel_id)]
        )

    async def unset_default(self, channel_id: int) -> None:
        await self._database.transaction(
            [Statement(_UNSET_DEFAULT, (channel_id,)), Statement(MOVE)], [channel(channel_id)]
        )

    async def get_for_answer(self, user_id: int, answer_id: int) -> str | None:
        """Return the agent of an answer's row; None if there is no such answer."""
        rows = await self._database.query(_OF_ANSWER, user_id, answer_id)
        return str(rows[0][0]) if rows else None


SELECT_ALL_MODELS: Final = "SELECT channel_id, models FROM channel_models ORDER BY channel_id"
SET_MODELS: Final = """
    INSERT INTO channel_models (channel_id, models, set_by, set_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (channel_id) DO UPDATE SET
        models = excluded.models, set_by = excluded.set_by, set_at = excluded.set_at
"""
UNSET_MODELS: Final = "DELETE FROM channel_models WHERE channel_id = $1 RETURNING 1"


class ChannelModelStore(Store):
    async def list_chains(self) -> dict[int, tuple[str, ...]]:
        """Return the models of all channels that have some."""
        rows = await self._database.query(SELECT_ALL_MODELS)
        return {channel_id: tuple(json.loads(models)) for channel_id, models in rows}

    async def set(self, channel_id: int, chain: tuple[str, ...], *, set_by: int) -> None:
        params = (channel_id, json.dumps(chain, ensure_ascii=False), set_by, to_text(self._clock()))
        await self._database.transaction([Statement(SET_MODELS, params)], [channel(channel_id)])

    async def unset(self, channel_id: int) -> bool:
        """Returns whether the channel had some."""
        [rows] = await self._database.transaction(
            [Statement(UNSET_MODELS, (channel_id,))], [channel(channel_id)]
        )
        return bool(rows)


# How a model counts tokens, relative to the estimate: a mean over the first answers, then a slow moving
# average, in one statement so that concurrent processes lose nothing. Impossible counts are ignored.

UNKNOWN: Final = 1.0
LOWEST: Final = 0.4
HIGHEST: Final = 4.0
"""Tokenizers with small vocabularies need up to three times as many for Japanese."""

_SELECT_FACTOR: Final = "SELECT factor FROM token_factors WHERE model = $1"

_LEARN: Final = """
    INSERT INTO token_factors AS known (model, factor, responses, updated_at)
    VALUES ($1, $2, 1, $3)
    ON CONFLICT (model) DO UPDATE SET
        factor = known.factor + (
            CASE
                WHEN known.responses < 5 THEN excluded.factor
                WHEN excluded.factor > known.factor * 1.25 THEN known.factor * 1.25
                WHEN excluded.factor < known.factor * 0.8 THEN known.factor * 0.8
                ELSE excluded.factor
            END - known.factor
        ) * CASE WHEN known.responses < 20 THEN 1.0 / (known.responses + 1) ELSE 0.05 END,
        responses = known.responses + 1,
        updated_at = excluded.updated_at
    RETURNING factor
"""


class TokenFactorStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, float] = {}
        """As last stored by this process: each turn needs one."""

    async def get(self, model: str) -> float:
        """Return the tokens counted per estimated token."""
        if model not in self._known:
            rows = await self._database.query(_SELECT_FACTOR, model)
            self._known[model] = float(rows[0][0]) if rows else UNKNOWN
        return self._known[model]

    async def learn(self, model: str, *, estimated: int, counted: int) -> None:
        """Learn from one request."""
        if estimated <= 0 or not LOWEST <= counted / estimated <= HIGHEST:
            return
        # Without a lock: one statement, in each turn.
        params = (model, counted / estimated, to_text(self._clock()))
        [[(factor,)]] = await self._database.transaction([Statement(_LEARN, params)], ())
        self._known[model] = float(factor)


SELECT_LISTS: Final = "SELECT server, seen, accepted FROM tool_lists ORDER BY server"

_PUT_TOOLS: Final = """
    INSERT INTO tool_lists (server, seen, accepted) VALUES ($1, $2, $3)
    ON CONFLICT (server) DO UPDATE SET seen = excluded.seen, accepted = excluded.accepted
"""


class ToolListStore:
    """No user data."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_all(self) -> Mapping[str, StoredToolList]:
        """Return the lists by server. Raises StorageError."""
        rows = await self._database.query(SELECT_LISTS)
        return {server: StoredToolList(*tools) for server, *tools in rows}

    async def put(self, server: str, tools: StoredToolList) -> None:
        """Store a server's tools. Raises StorageError."""
        params = (server, tools.seen, tools.accepted)
        await self._database.transaction([Statement(_PUT_TOOLS, params)], ())
