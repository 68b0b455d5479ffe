"""The terminal front end. It knows prompt_toolkit and rich, and nothing else of cc_bot does."""

from cc_bot.terminal.chat import run_chat
from cc_bot.terminal.commands import ChatProfile

__all__ = ["ChatProfile", "run_chat"]
