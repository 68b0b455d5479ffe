"""The operator's agents: read from a file, and read again when it changes."""

from cc_bot.agents.agents import Agents

__all__ = ["Agents"]
