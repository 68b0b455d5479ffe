"""The database did not do what was asked."""

from cc_bot.domain.errors.root import CcBotError


class StorageError(CcBotError):
    """The database did not do what was asked: locked, full, read-only, damaged."""


class ConversationGone(StorageError):
    """What was to be stored belongs to something that was erased meanwhile, perhaps by another program."""


class ErasureNotNoted(StorageError):
    """What is to be erased can't be noted, so that a restore would bring it back."""


class DatabaseLocked(StorageError):
    """Another program writes to it, and did not end in time."""


class DatabaseFull(StorageError):
    """There is no room left where it stands."""


class DatabaseReadOnly(StorageError):
    """It may be read, and not written to."""


class DatabaseDamaged(StorageError):
    """What the file holds contradicts itself: a copy has to take its place."""
