from collections.abc import Iterable

from cc_bot.discord.services import BotDependencies, BotServices, Job
from cc_bot.features.reminders.delivery import ReminderDelivery, ReminderPoster
from cc_bot.features.reminders.service import Composer
from cc_bot.features.reminders.store import ScheduleStore


def make_jobs(given: BotDependencies, services: BotServices) -> Iterable[Job]:
    answers, gate = services.answers, services.gate
    yield ReminderDelivery(
        given.feature_parts.get(Composer),
        given.stores[ScheduleStore],
        ReminderPoster(gate.rest, pace=services.pace),
        agent_selector=answers.agent_selector,
        gate=gate,
        side_messages=answers.side_messages,
        recipients=answers.recipients,
        leases=given.membership,
    )
