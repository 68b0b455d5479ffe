from collections.abc import Iterable
from functools import partial

from cc_bot.chat.parts import PartsBuilder
from cc_bot.db.backup import newest_backup
from cc_bot.db.engines import dialect_of, operator_anchor_path
from cc_bot.db.files import free_bytes
from cc_bot.features.admin.service import Administration
from cc_bot.features.admin.status import BotStatus, DoctorRunner


def make_parts(given: PartsBuilder) -> Iterable[object]:
    config, stores = given.config, given.stores
    status = BotStatus(
        given.assistant,
        stores,
        given.policies,
        given.gateway_health,
        partial(newest_backup, config.backup_folder, config.timezone)
        if dialect_of(config.database_url) == "sqlite"
        else None,
        partial(free_bytes, operator_anchor_path(config.database_url, config.data_folder).absolute().parent),
        given.clock(),
    )
    administration = Administration(
        stores, given.policies, None if given.models.is_offline else given.models.check_reachable
    )
    return status, administration, DoctorRunner(config.variables)
