"""Words for the places and agents of conversations, as whoever is signed in knows them."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cc_bot.domain.session import SessionKey
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn


@dataclass(frozen=True, slots=True)
class PlaceNames:
    """The words for channels and agents."""

    channels: Mapping[int, str]
    agents: Mapping[str, str]

    def channel(self, key: SessionKey) -> str:
        return self.channels[key.channel_id]

    def agent(self, key: SessionKey) -> str:
        return self.agents.get(key.agent, key.agent)


async def place_names(services: WebServices, keys: Iterable[SessionKey], visitor: SignedIn) -> PlaceNames:
    """Return the words for the channels and agents of these keys."""
    agents = await services.agents.all()
    return PlaceNames(
        await channel_names(services, (key.channel_id for key in keys), visitor),
        {name: agent.display_name(visitor.locale) for name, agent in agents.items()},
    )


async def channel_names(
    services: WebServices, channel_ids: Iterable[int], visitor: SignedIn
) -> Mapping[int, str]:
    """Return what channels are called, each under its id."""
    ids, said = sorted(set(channel_ids)), visitor.words.web_conversation
    asked = [services.discord.name_of_channel(id_) for id_ in ids if id_]
    found = dict(zip(filter(None, ids), await asyncio.gather(*asked), strict=True))
    return {0: said.terminal} | {
        id_: name or said.unknown_channel.format(id=id_) for id_, name in found.items()
    }
