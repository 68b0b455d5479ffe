"""Builds the owners' features, for every front end."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from cc_bot.app.core import Core
from cc_bot.commands.admin import Administration, not_asked
from cc_bot.config import Config
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import GatewayHealth
from cc_bot.log import RecentRecords, keep_records
from cc_bot.status import BotStatus
from cc_bot.storage.backup import backups_in
from cc_bot.storage.engines import config_path, dialect_of
from cc_bot.storage.files import free_bytes


@dataclass(frozen=True, slots=True)
class OwnersParts:
    status: BotStatus
    administration: Administration
    records: RecentRecords


def make_owners_parts(
    config: Config, core: Core, pulse: GatewayHealth, clock: Clock, records: RecentRecords
) -> OwnersParts:
    """`pulse` is the health of Discord's gateway."""
    return OwnersParts(_make_status(config, core, pulse, clock), _make_administration(core), records)


@contextmanager
def keep_recent_records(config: Config) -> Iterator[RecentRecords]:
    """Keep the newest log records in memory, if the pages that show them are served."""
    recent = RecentRecords()
    with nullcontext() if config.web_port is None else keep_records(recent):
        yield recent


def _make_administration(core: Core) -> Administration:
    stores, ask = core.stores, not_asked if core.models.offline else core.models.reach
    return Administration(
        stores.limits, stores.access, stores.channel_models, core.policies, core.servers, ask
    )


def _make_status(config: Config, core: Core, pulse: GatewayHealth, clock: Clock) -> BotStatus:
    folder = config_path(config.database_url, config.data_folder).absolute().parent
    return BotStatus(
        core.assistant,
        core.stores,
        core.policies,
        pulse,
        partial(_newest_backup, config) if dialect_of(config.database_url) == "sqlite" else None,
        partial(free_bytes, folder),
        clock(),
    )


async def _newest_backup(config: Config) -> datetime | None:
    try:
        found = await asyncio.to_thread(backups_in, config.backup_folder)
    except OSError:
        return None
    return found[0].moment.replace(tzinfo=config.timezone) if found else None
