from collections.abc import Iterable
from functools import partial

from cc_bot.chat.parts import PartsBuilder
from cc_bot.db.backup import BackupResult, back_up, newest_backup
from cc_bot.db.engines import dialect_of, operator_anchor_path
from cc_bot.db.files import database_file, free_bytes
from cc_bot.features.admin.service import Administration
from cc_bot.features.admin.status import BotStatus, DoctorRunner


def make_parts(given: PartsBuilder) -> Iterable[object]:
    config, stores = given.config, given.stores
    is_file = dialect_of(config.database_url) == "sqlite"

    async def make_backup() -> BackupResult:
        database, now = database_file(config.database_url), given.clock().astimezone(config.timezone)
        return await back_up(database, config.backup_folder, now)

    status = BotStatus(
        given.assistant,
        stores,
        given.policies,
        given.gateway_health,
        partial(newest_backup, config.backup_folder, config.timezone) if is_file else None,
        partial(free_bytes, operator_anchor_path(config.database_url, config.data_folder).absolute().parent),
        given.clock(),
    )
    administration = Administration(
        stores,
        given.policies,
        None if given.models.is_offline else given.models.check_reachable,
        given.chains.default_names,
        make_backup if is_file else None,
    )
    return status, administration, DoctorRunner(config.variables)
