"""The core: a question goes in, turn events come out, and the turn is in the database when it is done."""

from cc_bot.assistant.assistant import Assistant, TurnOptions
from cc_bot.assistant.stop import Stop

__all__ = ["Assistant", "Stop", "TurnOptions"]
