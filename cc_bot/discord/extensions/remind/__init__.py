"""`/remind …`: what a user wants to be told, and when. Every reply is for that user alone."""

from cc_bot.discord.extensions.remind import adding, buttons, changing, listing
from cc_bot.discord.extensions.remind.group import loader

__all__ = ["adding", "buttons", "changing", "listing", "loader"]
