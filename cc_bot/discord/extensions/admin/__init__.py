"""`/admin …`: looking after the bot while it runs. For its owners; every reply is for them alone."""

from cc_bot.discord.extensions.admin import access, limits, maintenance, model, status
from cc_bot.discord.extensions.admin.group import loader

__all__ = ["access", "limits", "loader", "maintenance", "model", "status"]
