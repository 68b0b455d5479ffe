"""`/memory …`: a user's own long-term notes, in their own hands. Every reply is for that user alone.

One module an idea; each registers its subcommands with the one group, and its buttons with the one loader.
"""

from cc_bot.discord.commands.memory import editing, exporting, listing
from cc_bot.discord.commands.memory.group import loader

__all__ = ["editing", "exporting", "listing", "loader"]
