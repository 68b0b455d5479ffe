"""A user's own choices of language, time zone and voice, and what follows from them."""

from cc_bot.domain.locale import Locale
from cc_bot.domain.message import UserSettings
from cc_bot.domain.timezones import zone_of
from cc_bot.stores import Keep, Stores


async def choose(
    stores: Stores,
    user_id: int,
    *,
    locale: Locale | Keep | None = Keep.AS_IS,
    zone: str | Keep | None = Keep.AS_IS,
    spoken: bool | Keep = Keep.AS_IS,
    default_zone: str,
) -> UserSettings:
    """Change what is given, and return all; None resets to the default. Repeating reminders follow a new time
    zone. `zone` may be written as people do. Raises UnknownTimezone, with nothing changed, and
    StorageError."""
    timezone = zone_of(zone) if isinstance(zone, str) else zone
    chosen = await stores.settings.set(user_id, locale=locale, timezone=timezone, spoken=spoken)
    if timezone is not Keep.AS_IS:
        await stores.schedules.rezone(user_id, chosen.timezone or default_zone)
    return chosen
