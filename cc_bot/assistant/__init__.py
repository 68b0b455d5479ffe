"""The core: a question goes in, turn events come out, and the turn is in the database when it is done."""

from cc_bot.assistant.assistant import Assistant, AssistantSettings
from cc_bot.assistant.heartbeats import Heartbeats
from cc_bot.assistant.moments import TimeResolver
from cc_bot.assistant.turn import Stop, TurnOptions

__all__ = [
    "Assistant",
    "AssistantSettings",
    "Heartbeats",
    "Stop",
    "TimeResolver",
    "TurnOptions",
]
