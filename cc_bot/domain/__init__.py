"""Values and errors. No I/O happens here, and nothing else of cc_bot is imported."""

from cc_bot.domain.message import (
    Agent,
    Attachment,
    Block,
    ChannelKey,
    ContextMessage,
    Message,
    ToolCall,
    UserSettings,
)
from cc_bot.domain.session import Session, SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import (
    CanvasChanged,
    Done,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    ToolsUnavailable,
    TurnEvent,
    Usage,
)
from cc_bot.features.memory.model import FoundMemory, Memory, MemoryChange, Source
