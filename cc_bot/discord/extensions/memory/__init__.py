"""`/memory …`: a user's own long-term notes, in their own hands. Every reply is for that user alone.

One module an idea; each registers its subcommands with the one group, and its buttons with the one loader.
"""

from cc_bot.discord.extensions.memory import (
    adding,
    deleting,
    editing,
    exporting,
    importing,
    listing,
    overview,
    pinning,
    showing,
)
from cc_bot.discord.extensions.memory.group import loader

__all__ = [
    "adding",
    "deleting",
    "editing",
    "exporting",
    "importing",
    "listing",
    "loader",
    "overview",
    "pinning",
    "showing",
]
