"""The `/settings` command."""

from cc_bot.domain.locale import Locale
from cc_bot.domain.timezones import zone_of
from cc_bot.stores import Keep, Stores
from cc_bot.terminal.commands import Settings
from cc_bot.terminal.person import Person, person_of
from cc_bot.terminal.profile import ChatProfile
from cc_bot.terminal.view import View


async def choose(command: Settings, person: Person, stores: Stores, profile: ChatProfile, view: View) -> None:
    """Change what is given and say so, in the language that holds from now on; with nothing given, show all.

    Raises UnknownTimezone.
    """
    if command == Settings():
        view.say(_shown(person))
        return
    settings = await stores.settings.set(
        profile.key.user_id, locale=_locale(command), timezone=_timezone(command)
    )
    now = person_of(settings, profile)
    await stores.schedules.rezone(profile.key.user_id, now.timezone.key)
    saved = now.texts.session.settings_saved
    view.say(saved.format(language=_language(now), timezone=now.timezone.key))


def _locale(command: Settings) -> Locale | Keep | None:
    match command.locale:
        case None:
            return Keep.AS_IS
        case "default":
            return None
        case Locale() as locale:
            return locale


def _timezone(command: Settings) -> str | Keep | None:
    match command.timezone:
        case None:
            return Keep.AS_IS
        case "default":
            return None
        case name:
            return zone_of(name)


def _shown(person: Person) -> str:
    words, chosen = person.texts.session, person.settings
    rows = (
        (words.settings_language, _language(person), chosen.locale),
        (words.settings_timezone, person.timezone.key, chosen.timezone),
    )
    lines = (
        f"  {name}: {value if choice else words.settings_default.format(value=value)}"
        for name, value, choice in rows
    )
    return "\n".join((words.settings_title, *lines))


def _language(person: Person) -> str:
    words = person.texts.session
    return words.language_ja if person.locale is Locale.JA else words.language_en
