"""`/admin …`: looking after the bot while it runs. For its owners; every reply is for them alone."""

from cc_bot.discord.extensions.admin import limits
from cc_bot.discord.extensions.admin.group import loader

__all__ = ["limits", "loader"]
