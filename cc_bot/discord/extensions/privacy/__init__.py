"""`/privacy …`: what is stored about a user, in that user's own hands. Every reply is for that user alone."""

from cc_bot.discord.extensions.privacy import erasing, exporting, showing
from cc_bot.discord.extensions.privacy.group import loader

__all__ = ["erasing", "exporting", "loader", "showing"]
