"""When something is, as the terminal shows it: the time where its user is, and the day if it is another."""

from collections.abc import Callable
from datetime import datetime

from cc_bot.terminal.person import Person


def moments_for(person: Person, now: datetime) -> Callable[[datetime], str]:
    """Writes moments: `at 18:30`, or `at 2026-12-01 00:00`."""
    words = person.texts.usage

    def shown(moment: datetime) -> str:
        local = moment.astimezone(person.timezone)
        same_day = local.date() == now.astimezone(person.timezone).date()
        return words.at.format(time=f"{local:%H:%M}" if same_day else f"{local:%Y-%m-%d %H:%M}")

    return shown
