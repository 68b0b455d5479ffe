"""Names of channels and agents of conversations."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cc_bot.domain.session import SessionKey
from cc_bot.web.page import moment_in
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn

_EPOCH_MS: Final = 1_420_070_400_000
"""Epoch of Discord's ids, whose time is above 22 bits (its reference, "Snowflakes")."""


@dataclass(frozen=True, slots=True)
class PlaceNames:
    channels: Mapping[int, str]
    agents: Mapping[str, str]

    def channel(self, key: SessionKey) -> str:
        return self.channels[key.channel_id]

    def agent(self, key: SessionKey) -> str:
        return self.agents.get(key.agent, key.agent)


async def place_names(services: WebServices, keys: Iterable[SessionKey], visitor: SignedIn) -> PlaceNames:
    """Return the names of the channels and agents of these keys."""
    agents = await services.agents.all()
    return PlaceNames(
        await channel_names(services, (key.channel_id for key in keys), visitor),
        {name: agent.display_name(visitor.locale) for name, agent in agents.items()},
    )


async def channel_names(
    services: WebServices, channel_ids: Iterable[int], visitor: SignedIn
) -> Mapping[int, str]:
    """Return the names of channels by id."""
    ids = sorted(set(channel_ids) - {0})
    found = await asyncio.gather(*(_name(services, id_, visitor) for id_ in ids))
    return {0: visitor.words.web_conversation.terminal} | dict(zip(ids, found, strict=True))


async def _name(services: WebServices, channel_id: int, visitor: SignedIn) -> str:
    """Return a channel's name; if Discord does not tell, its creation date, which distinguishes several."""
    said = visitor.words.web_conversation
    if name := await services.discord.name_of_channel(channel_id):
        return name
    if await services.discord.is_dm(channel_id):
        return said.dm
    at = moment_in(visitor.timezone)
    return said.unknown_channel.format(made=at(_made_at(channel_id)))


def _made_at(id_: int) -> datetime:
    return datetime.fromtimestamp(((id_ >> 22) + _EPOCH_MS) / 1000, UTC)
