"""The parts of the program that front ends share. `app/core.py` builds them; features add their own."""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from cc_bot.chat.agents import Agents
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.policy import Policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import ToolRegistry
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import GatewayHealth, Meter
from cc_bot.features.privacy.service import Privacy
from cc_bot.llm.configured import Models
from cc_bot.llm.model import Chains

if TYPE_CHECKING:
    from cc_bot.config import Config

P = TypeVar("P")


def by_class(parts: Iterable[object]) -> Mapping[type[Any], Any]:
    """Also by the base classes: those of the core, which knows no others."""
    return {kind: each for each in parts for kind in type(each).__mro__}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreParts:
    """Parts that a feature's `parts` is given: `make_parts(given)` returns the feature's own parts."""

    clock: Clock
    pulse: GatewayHealth
    meter: Meter
    stores: Stores
    assistant: Assistant
    agents: Agents
    policies: Policies
    spending: Spending
    privacy: Privacy


@dataclass(frozen=True, slots=True, kw_only=True)
class Building(CoreParts):
    config: "Config"
    models: Models
    chains: Chains
    tools: ToolRegistry
    opened: AsyncExitStack
    """Closes what features opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(CoreParts):
    own: Mapping[type[Any], Any]
    """Parts of features, as in `by_class`."""

    def __getitem__(self, kind: type[P]) -> P:
        """Return the feature's part of that class. Raises KeyError if the feature was taken out."""
        part: P = self.own[kind]
        return part

    def get(self, kind: type[P]) -> P | None:
        """Return the feature's part of that class; None if the feature was taken out."""
        return self.own.get(kind)

    def parts(self) -> dict[str, Any]:
        """The arguments of a class that adds fields to these."""
        return {each.name: getattr(self, each.name) for each in fields(Parts)}
