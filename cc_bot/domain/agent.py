"""Agents: who answers. A persona with a name, its own instructions, model and tools."""

from dataclasses import dataclass, field
from typing import Final

from cc_bot.domain.locale import Locale

DEFAULT_AGENT: Final = "default"
"""The name of the agent that always exists."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where an agent may be used; nothing named means everywhere."""

    guilds: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()
    """A channel stands for its threads as well."""
    dms: bool = True

    def allow(self, *, guild_id: int | None, channel_ids: frozenset[int]) -> bool:
        """`guild_id` is None in a DM; `channel_ids` are the channel, and of a thread also its parent."""
        if guild_id is None:
            return self.dms
        if not self.guilds and not self.channels:
            return True
        return guild_id in self.guilds or not self.channels.isdisjoint(channel_ids)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str = DEFAULT_AGENT
    """What commands and the database know it by: lower-case letters, digits, `-` and `_`, 32 at most."""
    display_names: dict[Locale, str] = field(default_factory=dict, hash=False)
    descriptions: dict[Locale, str] = field(default_factory=dict, hash=False)
    """What it is good for, for those who choose."""
    prompt: str = ""
    """Its persona; empty: cc-bot's own."""
    models: tuple[str, ...] = ()
    """The chain that is asked; empty: the operator's."""
    temperature: float | None = None
    """From 0 to 2; None: the model's own."""
    tools: frozenset[str] | None = None
    """The names of the tools that it may use; None: all."""
    places: Places = Places()

    def display_name(self, locale: Locale) -> str:
        return self.display_names.get(locale) or self.name

    def description(self, locale: Locale) -> str:
        return self.descriptions.get(locale, "")


THE_DEFAULT: Final = Agent()
