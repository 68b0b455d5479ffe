"""What each user chose for themselves: Discord tells no time zone, and some prefer another language."""

from enum import Enum
from typing import Final
from zoneinfo import available_timezones

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.locale import Locale
from cc_bot.domain.settings import UserSettings
from cc_bot.storage import Database, Row, Statement
from cc_bot.stores.columns import to_text


class Keep(Enum):
    """The choice that an argument left out stands for: as it was. None is a choice too: the default."""

    AS_IS = "as it is"


_SELECT: Final = "SELECT locale, timezone, welcomed, memory_paused FROM user_settings WHERE user_id = $1"

# $1 user, $2 whether the locale is set, $3 locale, $4 whether the time zone is set, $5 time zone, $6 now
_UPSERT: Final = """
    INSERT INTO user_settings (user_id, locale, timezone, updated_at)
    VALUES ($1, $3, $5, $6)
    ON CONFLICT (user_id) DO UPDATE SET
        locale = CASE WHEN $2 THEN excluded.locale ELSE user_settings.locale END,
        timezone = CASE WHEN $4 THEN excluded.timezone ELSE user_settings.timezone END,
        updated_at = excluded.updated_at
    WHERE user_settings.user_id = $1
    RETURNING locale, timezone, welcomed, memory_paused
"""

# $1 user, $2 whether it is paused, $3 now
_PAUSE_MEMORY: Final = """
    INSERT INTO user_settings (user_id, memory_paused, updated_at)
    VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET
        memory_paused = excluded.memory_paused, updated_at = excluded.updated_at
    WHERE user_settings.user_id = $1
    RETURNING locale, timezone, welcomed, memory_paused
"""

# A row comes back only where `welcomed` changed, so one of many at once gets it.
_CLAIM_WELCOME: Final = """
    INSERT INTO user_settings (user_id, welcomed, updated_at)
    VALUES ($1, 1, $2)
    ON CONFLICT (user_id) DO UPDATE SET welcomed = 1, updated_at = excluded.updated_at
    WHERE user_settings.user_id = $1 AND user_settings.welcomed = 0
    RETURNING user_id
"""


class SettingsStore:
    """The settings of every user."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def get(self, user_id: int) -> UserSettings:
        """The user's choices; the defaults when there are none."""
        rows = await self._database.query(_SELECT, user_id)
        return _settings(rows[0]) if rows else UserSettings()

    async def set(
        self,
        user_id: int,
        *,
        locale: Locale | Keep | None = Keep.AS_IS,
        timezone: str | Keep | None = Keep.AS_IS,
    ) -> UserSettings:
        """Change what is given and return all.

        An argument left out stays as it is; None goes back to the default.
        Raises UnknownTimezone for a name that is not in the IANA database.
        """
        if isinstance(timezone, str):
            _check(timezone)
        params = (user_id, *_choice(locale), *_choice(timezone), to_text(self._clock()))
        [rows] = await self._database.transaction([Statement(_UPSERT, params)])
        return _settings(rows[0])

    async def pause_memory(self, user_id: int, paused: bool) -> UserSettings:
        """Have nothing stored in or recalled from the user's memories from now on, or go back to it."""
        params = (user_id, int(paused), to_text(self._clock()))
        [rows] = await self._database.transaction([Statement(_PAUSE_MEMORY, params)])
        return _settings(rows[0])

    async def claim_welcome(self, user_id: int) -> bool:
        """True exactly once per user, also when several ask at the same time."""
        [rows] = await self._database.transaction(
            [Statement(_CLAIM_WELCOME, (user_id, to_text(self._clock())))]
        )
        return bool(rows)


def _choice(value: str | Keep | None) -> tuple[bool, str | None]:
    """Whether it is to be set, and to what."""
    return (False, None) if isinstance(value, Keep) else (True, value)


def _settings(row: Row) -> UserSettings:
    locale, timezone, welcomed, memory_paused = row
    return UserSettings(
        locale=Locale(locale) if locale else None,
        timezone=timezone,
        welcomed=bool(welcomed),
        memory_paused=bool(memory_paused),
    )


def _check(timezone: str) -> None:
    # The names that people know: `localtime`, `posixrules` and folders such as `Asia` can be read, too.
    if timezone not in available_timezones() or timezone == "localtime":
        raise UnknownTimezone
