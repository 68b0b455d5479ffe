"""The parts of the program that its front ends share; `app/core.py` builds them."""

from dataclasses import dataclass, fields
from typing import Any

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.policy import Policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import GatewayHealth, Meter
from cc_bot.features.admin.service import Administration
from cc_bot.features.admin.status import BotStatus
from cc_bot.features.agents.service import Agents
from cc_bot.features.heartbeat.service import Heartbeats
from cc_bot.features.mcp.servers import Servers
from cc_bot.features.memory.service import Memories
from cc_bot.features.privacy.service import Privacy
from cc_bot.features.reminders.resolver import TimeResolver


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
