from cc_bot.terminal.chat import run_chat
from cc_bot.terminal.questions import ChatProfile

__all__ = ["ChatProfile", "run_chat"]
