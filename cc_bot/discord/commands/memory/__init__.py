"""`/memory …`: a user's own long-term notes. Every reply is for that user alone."""

from cc_bot.discord.commands.memory import card, files, listing
from cc_bot.discord.commands.memory.group import loader

__all__ = ["card", "files", "listing", "loader"]
