"""The core: takes a question, yields turn events, and stores the turn."""

from cc_bot.assistant.active import Stop
from cc_bot.assistant.assistant import Assistant, AssistantSettings
from cc_bot.assistant.heartbeats import Heartbeats
from cc_bot.assistant.moments import TimeResolver
from cc_bot.assistant.turn import TurnOptions

__all__ = ["Assistant", "AssistantSettings", "Heartbeats", "Stop", "TimeResolver", "TurnOptions"]
