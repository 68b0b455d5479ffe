"""Limits on memories, bytes and imports, and the refusal of secrets.

`check_limits` counts after a change, in its transaction, which rolls back if a limit is exceeded. Imports are
checked before.
"""

import json
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import regex  # type: ignore[import-untyped]  # types-regex is not a dependency
import structlog

from cc_bot.chat.stores.settings import read_owner_rules
from cc_bot.db import Database, Statement, Transaction, user_lock
from cc_bot.db.columns import from_ms, to_ms, upsert
from cc_bot.domain.clock import MAX_CLOCK_SKEW, Clock, utc_now
from cc_bot.domain.errors import SecretNotStored
from cc_bot.domain.text import format_size
from cc_bot.domain.usage import HOUR, LimitRules, Limits, Payer, limits_of_user
from cc_bot.features.memory.errors import MemoryFull, TooManyImports, TooManyMemories
from cc_bot.features.memory.model import DEFAULT_CATEGORY, MAX_CONTENT_CHARACTERS, MAX_DETAILS_CHARACTERS

_SET_IMPORTS: Final = upsert("memory_imports", "user_id", "moments")

PATTERN_TIMEOUT_S: Final = 0.05  # a pattern usually takes under 1 ms
MAX_CHECKED_CHARACTERS: Final = MAX_CONTENT_CHARACTERS + MAX_DETAILS_CHARACTERS  # longer texts are refused

ReadRules = Callable[[], Awaitable[LimitRules]]  # reads the limits from the operator's file

_log = structlog.get_logger(__name__)


async def no_rules() -> LimitRules:
    return {}


class MemoryQuotas:
    """Enforces the limits that owners set or, where they set none, those in the operator's file."""

    def __init__(self, database: Database, rules: ReadRules = no_rules, *, clock: Clock = utc_now) -> None:
        self.read_rules = rules
        self._database = database
        self._clock = clock

    async def admit_import(self, user_id: int) -> None:
        """Count an import. Raises TooManyImports with the time at which the next import is allowed."""
        file_rules, now = await self.read_rules(), self._clock()

        def steps() -> Transaction[None]:
            limit = (yield from _read_limits(user_id, file_rules)).get("imports_per_hour")
            if limit is None:
                return
            sql = "SELECT moments FROM memory_imports WHERE user_id = $1"
            rows = yield Statement(sql, (user_id,))
            moments = [from_ms(ms) for ms in json.loads(rows[0][0])] if rows else []
            recent = sorted(moment for moment in moments if now - HOUR < moment <= now + MAX_CLOCK_SKEW)
            if len(recent) >= limit:
                raise TooManyImports(resets=recent[-limit] + HOUR)
            yield Statement(_SET_IMPORTS, (user_id, json.dumps([*map(to_ms, recent), to_ms(now)])))

        await self._database.write(steps, [user_lock(user_id)])

    async def check_addition(self, user_id: int, memories: int, size: int) -> None:
        """Raise TooManyMemories or MemoryFull if so many memories of this size would exceed a limit."""
        file_rules = await self.read_rules()
        await self._database.read(lambda: check_limits(user_id, file_rules, memories=memories, size=size))


def check_limits(
    user_id: int, file_rules: LimitRules, *, memories: int = 0, size: int = 0, only_bytes: bool = False
) -> Transaction[None]:
    """Raise TooManyMemories or MemoryFull if stored and new memories exceed the limits."""
    limits = yield from _read_limits(user_id, file_rules)
    max_memories = None if only_bytes else limits.get("memories")
    max_bytes = limits.get("memory_bytes")
    if max_memories is None and max_bytes is None:
        return
    # SQLite reads only the index memories_by_size.
    sql = """
        SELECT count(CASE status WHEN 'active' THEN 1 END), CAST(coalesce(sum(bytes), 0) AS BIGINT)
        FROM memories WHERE user_id = $1
    """
    [(count, used_bytes)] = yield Statement(sql, (user_id,))
    if max_memories is not None and count + memories > max_memories:
        raise TooManyMemories(limit=max_memories)
    if max_bytes is not None and used_bytes + size > max_bytes:
        raise MemoryFull(limit=format_size(max_bytes))


def _read_limits(user_id: int, file_rules: LimitRules) -> Transaction[Limits]:
    """Return the user's limits: those of the most generous role, as the user's roles are unknown here."""
    owner_rules = yield from read_owner_rules()
    rules = {**file_rules, **owner_rules} if owner_rules else file_rules
    return limits_of_user(rules, Payer(user_id, role_ids=None))


class SecretRules:
    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Compile the operator's patterns, ignoring case. Raises ValueError for an invalid pattern."""
        try:
            self._patterns = [regex.compile(pattern, regex.IGNORECASE) for pattern in patterns]
        except regex.error as error:
            raise ValueError(str(error)) from error

    def check(self, *texts: str | None) -> None:
        """Raise SecretNotStored if a text contains a secret."""
        if self.contains_secret(*texts):
            raise SecretNotStored

    def contains_secret(self, *texts: str | None) -> bool:
        checked = [text for text in texts if text]
        return sum(map(len, checked)) > MAX_CHECKED_CHARACTERS or any(map(self._is_secret, checked))

    def _is_secret(self, text: str) -> bool:
        from cc_bot.features.memory.secrets import looks_secret  # noqa: PLC0415 - takes 10 ms

        # The user did not write the default category.
        if text != DEFAULT_CATEGORY and looks_secret(text):
            return True
        # Operators may write a pattern in full or half width.
        return bool(self._patterns) and any(map(self._matches, {text, unicodedata.normalize("NFKC", text)}))

    def _matches(self, text: str) -> bool:
        """Return whether a pattern matches or takes too long."""
        for number, pattern in enumerate(self._patterns, 1):
            try:
                if pattern.search(text, timeout=PATTERN_TIMEOUT_S):
                    return True
            except TimeoutError:
                _log.warning("secret_pattern_too_slow", pattern=number)
                return True
        return False
