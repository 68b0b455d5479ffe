"""Which simpler form of a message to try after Discord refuses it: without its reference, files, embeds or
buttons. The codes are from Discord's documentation ("Opcodes and Status Codes")."""

from collections.abc import Collection, Mapping
from typing import Final

import hikari

from cc_bot.discord.pages.page import Part

REFUSALS: Final = (hikari.BadRequestError, hikari.ForbiddenError, hikari.NotFoundError)
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_WEBHOOK: Final = 10015
"""The token's interaction was never acknowledged."""
INVALID_WEBHOOK_TOKEN: Final = 50027
ARCHIVED_THREAD: Final = 50083

_MISSING_PERMISSIONS: Final = 50013
_INVALID_FORM: Final = 50035
_ALL: Final[tuple[Part, ...]] = ("reference", "files", "embeds", "components")
_BY_CODE: Final[Mapping[int, tuple[Part, ...]]] = {
    UNKNOWN_MESSAGE: ("reference",),
    40005: ("files",),  # request entity too large
    _MISSING_PERMISSIONS: ("files", "embeds", "reference"),  # Discord does not say which
    50045: ("files",),  # file uploaded exceeds the maximum size
    50046: ("files",),  # invalid file uploaded
    160002: ("reference",),  # cannot reply without permission to read message history
    160009: ("reference",),
    160010: ("reference",),
}
_NOWHERE_HERE: Final = frozenset(
    {
        *(
            40094,
            50001,
            50007,
            ARCHIVED_THREAD,
            50278,
            160005,
        ),  # follow-ups used up, no access, closed DM, locked
        *(200000, 240000),  # blocked by AutoMod, or as harmful links
    }
)
_LIMITS: Final = range(30000, 31000)
_BY_FIELD: Final[Mapping[str, Part]] = {
    "message_reference": "reference",
    "attachments": "files",
    "files": "files",
    "embeds": "embeds",
    "components": "components",
}


def next_form(
    parts: Collection[Part], without: frozenset[Part], error: hikari.ClientHTTPResponseError
) -> frozenset[Part] | None:
    """Return the parts to leave out next, after a message `without` these was refused; None if none is
    left."""
    part = next((part for part in _suspects(error) if part in parts and part not in without), None)
    if part is None:
        return None
    if part == "embeds" and error.code == _MISSING_PERMISSIONS and "files" in parts:
        without -= {"files"}  # perhaps only the permission for embeds is missing
    return without | {part}


def is_gone(error: hikari.HTTPError) -> bool:
    """True if the message to change was deleted."""
    return isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_MESSAGE


def _suspects(error: hikari.ClientHTTPResponseError) -> tuple[Part, ...]:
    code = int(error.code)
    if code in _BY_CODE:
        return _BY_CODE[code]
    if isinstance(error, hikari.UnauthorizedError | hikari.NotFoundError):
        return ()
    if code in _NOWHERE_HERE or code in _LIMITS:
        return ()
    fields = (error.errors or {}) if isinstance(error, hikari.BadRequestError) else {}
    if code == _INVALID_FORM and fields:
        return tuple(part for field, part in _BY_FIELD.items() if field in fields)
    return _ALL
