"""The argument of a feature's `store`: `make_stores(storage)` returns the feature's own stores."""

from dataclasses import dataclass
from datetime import timedelta

from cc_bot.db import Database
from cc_bot.domain.clock import Clock
from cc_bot.features.memory.stores.limits import SecretRules


@dataclass(frozen=True, slots=True)
class Storage:
    database: Database
    clock: Clock
    secret_rules: SecretRules
    session_ttl: timedelta
    process: str
    """Name of the opening process, if it has one."""
