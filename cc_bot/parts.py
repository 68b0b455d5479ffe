"""The parts of the program that its front ends share; `app/core.py` builds them."""

from dataclasses import dataclass, fields
from typing import Any

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant, Heartbeats, TimeResolver
from cc_bot.commands.admin import Administration
from cc_bot.commands.memories import Memories
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import GatewayHealth, Meter
from cc_bot.mcp.servers import Servers
from cc_bot.policy import Policies
from cc_bot.privacy import Privacy
from cc_bot.spending import Spending
from cc_bot.status import BotStatus
from cc_bot.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    clock: Clock
    pulse: GatewayHealth
    meter: Meter
    stores: Stores
    assistant: Assistant
    agents: Agents
    policies: Policies
    spending: Spending
    moments: TimeResolver
    heartbeats: Heartbeats
    privacy: Privacy
    servers: Servers
    status: BotStatus
    administration: Administration
    memories: Memories

    def parts(self) -> dict[str, Any]:
        """The arguments of a class that adds fields to these."""
        return {each.name: getattr(self, each.name) for each in fields(Parts)}
