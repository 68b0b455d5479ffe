"""The terminal front end, the only part of cc_bot that imports prompt_toolkit and rich."""

from cc_bot.terminal.chat import run_chat
from cc_bot.terminal.questions import ChatProfile

__all__ = ["ChatProfile", "run_chat"]
