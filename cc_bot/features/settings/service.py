"""A user's usage, language, time zone and voice."""

from datetime import datetime
from typing import Final

from cc_bot.charts.table import text_table
from cc_bot.chat.reply import Caller, Reply
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import Keep, ZonedStore
from cc_bot.domain.clock import zone_name_for_word
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts.replies import UsageTexts

MAX_NAME_CHARACTERS: Final = 60


async def show_usage(caller: Caller, server: bool, *, spending: Spending) -> Reply:
    texts = caller.words[UsageTexts]
    if not server:
        report = await spending.report_user(caller.payer)
    elif caller.guild_id is None:
        return Reply((texts.servers_only,))
    elif not caller.manages_guild:
        return Reply((texts.managers_only,))
    else:
        report = await spending.report_guild(caller.guild_id)

    def show_model(name: str) -> str:
        return caller.format_text(name, MAX_NAME_CHARACTERS)

    lines = [texts.nothing]
    if report.left or not report.is_empty:
        lines = texts.lines(report, show_model)
    if server and report.month.models:
        lines += ["", texts.models, *texts.model_lines(report, show_model)]
    recent = report.recent.without_unused_start()
    chart = recent.chart(series=texts.chart)
    rows = zip(chart.labels, text_table(chart).splitlines(), strict=True) if len(chart.labels) > 1 else ()
    table = "\n".join(f"{day:>5} {row.removesuffix(day).rstrip()}" for day, row in rows)  # days are short
    notes = texts.notes(report, caller.format_time)
    if caller.payer.front_end == "terminal" and not report.left:
        notes.append(texts.no_limit)
    title = texts.server_title if server else texts.title
    return Reply(tuple(lines), title=title, table=table, notes=tuple(notes))


def describe_settings(caller: Caller, stored: UserSettings, now: datetime) -> tuple[str, str]:
    """Return the language and the time zone, with the time in it."""
    texts, zone = caller.words[SessionTexts], caller.timezone.key
    language = texts.language_en if caller.locale is Locale.EN else texts.language_ja
    if not stored.locale:
        language = texts.settings_default.format(value=language)
    if not stored.timezone:
        zone = texts.settings_default.format(value=zone)
    return language, texts.settings_now.format(zone=zone, time=f"{now.astimezone(caller.timezone):%H:%M}")


async def change_settings(
    stores: Stores,
    user_id: int,
    *,
    locale: Locale | Keep | None = Keep.AS_IS,
    zone: str | Keep | None = Keep.AS_IS,
    spoken: bool | Keep = Keep.AS_IS,
    default_zone: str,
) -> UserSettings:
    """Change settings, and return all of them. None resets a setting. Repeating reminders are moved to a new
    time zone. Raises StorageError; UnknownTimezone before anything is changed."""
    timezone = zone_name_for_word(zone) if isinstance(zone, str) else zone
    settings = await stores.settings.set(user_id, locale=locale, timezone=timezone, spoken=spoken)
    if timezone is not Keep.AS_IS:
        for store in stores.features.values():
            if isinstance(store, ZonedStore):
                await store.rezone(user_id, settings.timezone or default_zone)
    return settings
