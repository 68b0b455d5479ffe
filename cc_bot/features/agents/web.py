"""The choice of an agent on the page of a canvas."""

from collections.abc import Sequence
from typing import Final

from aiohttp import web

from cc_bot.domain.errors import NothingHere
from cc_bot.features.agents.service import AgentChoices, UnknownAgent, find_agent
from cc_bot.web.form import form_text, path_id
from cc_bot.web.page import Pages, redirect
from cc_bot.web.visitor import visitor_of


class AgentPages(Pages):
    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.post("/canvas/{channel}/agent", self.use),)

    async def use(self, request: web.Request) -> web.Response:
        """Raises UnknownAgent, and NothingHere if the user has no canvas in the channel."""
        session, channel_id = visitor_of(request).session, path_id(request, "channel")
        discord, choices, user_id = self._services.discord, self._services[AgentChoices], session.user_id
        drawn = await self._services.stores.canvases.list_keys(user_id)
        if channel_id not in (session.origin.channel_id, *(each.channel_id for each in drawn)):
            raise NothingHere
        location, before = (
            await discord.location_of(channel_id),
            await discord.current_key(user_id, channel_id),
        )
        wanted = find_agent(await choices.agents.list_available(location), form_text(request, "agent"))
        if wanted is None:
            raise UnknownAgent
        await choices.choose(user_id, location, wanted)
        after = await discord.current_key(user_id, channel_id)
        if before != after:
            await discord.refresh_canvas(before)
            await discord.refresh_canvas(after)
        return redirect(request, f"/canvas/{channel_id}", "agent_used")


PAGES: Final = (AgentPages,)
