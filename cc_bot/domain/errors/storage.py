"""The database did not do what was asked."""

from cc_bot.domain.errors.root import CcBotError


class StorageError(CcBotError):
    """The database did not do what was asked: locked, full, read-only, damaged."""


class DatabaseDamaged(StorageError):
    """What the file holds contradicts itself: a copy has to take its place."""
