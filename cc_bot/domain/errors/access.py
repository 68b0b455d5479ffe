"""What the operator does not allow."""

from cc_bot.domain.errors.root import CcBotError


class AccessError(CcBotError):
    """The operator does not let this be done here, or by this user, or now."""


class NotAllowed(AccessError):
    """The operator does not let this user, or anybody in this place, use the bot."""


class OwnersOnly(AccessError):
    """Only the bot's owners may do this."""


class UnderMaintenance(AccessError):
    """For now nobody but owners is answered. Parameters: note (the owner's own words, may be empty)."""


class TooManyCommands(AccessError):
    """The user has used as many commands and buttons as they may for now. Parameters: resets (the moment of
    the next one)."""
