"""cc-bot: a self-hosted Discord assistant that remembers.

`_API` lists what scripts may import (docs/python.md). Its modules are loaded when first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cc_bot.chat.stores.opening import Stores, open_stores
    from cc_bot.domain.errors import CcBotError, InputError, StorageError
    from cc_bot.domain.message import Message
    from cc_bot.domain.session import Session, SessionKey
    from cc_bot.features.memory.model import Memory

    __version__: str

__all__ = [
    "CcBotError",
    "InputError",
    "Memory",
    "Message",
    "Session",
    "SessionKey",
    "StorageError",
    "Stores",
    "__version__",
    "open_stores",
]

_API: Final = {
    "CcBotError": "domain.errors",
    "InputError": "domain.errors",
    "Memory": "features.memory.model",
    "Message": "domain.message",
    "Session": "domain.session",
    "SessionKey": "domain.session",
    "StorageError": "domain.errors",
    "Stores": "chat.stores.opening",
    "open_stores": "chat.stores.opening",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # costs 6 MB of memory
        return version("cc-bot")
    if module := _API.get(name):
        return getattr(import_module(f"cc_bot.{module}"), name)
    raise AttributeError(name)
