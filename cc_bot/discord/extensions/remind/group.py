"""What all `/remind` commands share: the group, and the option that chooses a reminder."""

import contextlib
from collections.abc import Callable, Iterable
from itertools import islice

import hikari
import lightbulb
import structlog

from cc_bot.discord.access.ways_in import suggesting
from cc_bot.discord.interactions import MAX_CHOICES
from cc_bot.discord.pages.memory_view import one_line
from cc_bot.discord.pages.reminder_view import choice_name
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.schedule import Schedule
from cc_bot.stores import ScheduleStore

_log = structlog.get_logger(__name__)

loader = lightbulb.Loader()
remind = lightbulb.Group("remind", "remind_description", localize=True)
loader.command(remind)


def reminder_id(*, only: Callable[[Schedule], bool] = lambda _: True) -> int:
    """The option that chooses one of the user's reminders; `only` those are offered."""

    async def suggest(
        ctx: lightbulb.AutocompleteContext[int], schedules: ScheduleStore = lightbulb.di.INJECTED
    ) -> None:
        typed = str(ctx.focused.value or "")
        try:
            known = await schedules.list(int(ctx.interaction.user.id))
        except CcBotError as error:  # a list of choices has no place for a sentence
            _log.warning("autocomplete_failed", error=type(error).__name__)
            known = []
        found = matching(filter(only, known), typed)
        with contextlib.suppress(hikari.HikariError):  # too late, or Discord's trouble: nobody to tell
            await ctx.respond([(choice_name(each), each.number) for each in found])

    return lightbulb.integer(
        "remind_id", "remind_id_description", localize=True, autocomplete=suggesting(suggest)
    )


def matching(schedules: Iterable[Schedule], typed: str) -> list[Schedule]:
    """Those whose text or number contains what was typed, as many as can be offered."""
    wanted = typed.strip().removeprefix("#").casefold()
    found = (
        each for each in schedules if wanted in one_line(each.text).casefold() or wanted in str(each.number)
    )
    return list(islice(found, MAX_CHOICES))
