"""The parts of the program that front ends share. `app/core.py` builds them; features add their own."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from cc_bot.chat.agents import Agents
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.policy import Policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import ToolRegistry
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import GatewayHealth, Meter
from cc_bot.features import modules
from cc_bot.features.privacy.service import Privacy
from cc_bot.llm.model import Chains
from cc_bot.llm.providers import Models

if TYPE_CHECKING:
    from cc_bot.config import Config

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    clock: Clock
    gateway_health: GatewayHealth
    meter: Meter
    stores: Stores
    assistant: Assistant
    agents: Agents
    policies: Policies
    spending: Spending
    privacy: Privacy
    feature_parts: dict[type[Any], Any] = field(default_factory=dict)  # by class and base classes

    def __getitem__(self, kind: type[P]) -> P:
        """Raises KeyError if the feature was taken out."""
        part: P = self.feature_parts[kind]
        return part

    def get(self, kind: type[P]) -> P | None:
        return self.feature_parts.get(kind)

    def as_arguments(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(Parts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsBuilder(Parts):
    """The argument of each feature's `make_parts`, which returns the feature's parts."""

    config: "Config"
    models: Models
    chains: Chains
    tools: ToolRegistry
    exit_stack: AsyncExitStack  # closes the resources that features opened

    def add_feature_parts(self, file: str) -> None:
        for module in modules(file):
            for part in module.make_parts(self):
                self.feature_parts.update(dict.fromkeys(type(part).__mro__, part))
