"""The user's own: who answers them, their language and time zone, what they used, what is stored about them,
and the servers whose tools they let be used."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

from prompt_toolkit.completion import Completion

from cc_bot import preferences
from cc_bot.agents import find_agent
from cc_bot.charts import table
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ErasureUnfinished, UnknownAgent
from cc_bot.domain.locale import Locale
from cc_bot.domain.member import UsageSubject, chart_of
from cc_bot.domain.message import DEFAULT_AGENT
from cc_bot.domain.timezones import suggest_zones
from cc_bot.stores import Keep
from cc_bot.terminal.commands import (
    Argument,
    Chat,
    OptionalFile,
    Person,
    Switch,
    Unreadable,
    command,
    fold,
    japanese_name,
    person_of,
    split,
    write_new,
    write_or_complain,
)
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.view import strip_marks
from cc_bot.texts.tool_servers import details_file, say_accepted, say_servers

# ---- agents ----------------------------------------------------------------------------------------------
# Whoever sits at the terminal may use all of them.


async def _agents_like(chat: Chat, typed: str) -> Iterable[Completion]:
    return _completions(await chat.agents.all(), typed)


def _completions(known: Iterable[str], typed: str) -> list[Completion]:
    begun = typed.casefold()
    return [Completion(word, start_position=-len(typed)) for word in known if begun in word.casefold()]


@command("agent list")
async def list_agents(chat: Chat) -> None:
    """Show all, and who answers now."""
    words, locale, agents = chat.texts.agents, chat.person.locale, await chat.agents.all()
    if len(agents) == 1:
        chat.say(words.only_one.format(display=one_line(chat.person.agent.display_name(locale))))
        return
    lines = [words.title]
    for agent in agents.values():
        mark = words.in_use if agent.name == chat.person.agent.name else ""
        about = f": {agent.description(locale)}" if agent.description(locale) else ""
        lines.append(f"  {agent.name}  {one_line(agent.display_name(locale))}{mark}{one_line(about)}")
    chat.say("\n".join(lines))


AgentName = Annotated[
    str, Argument("name", needed=lambda words: words.terminal.agent_needed, completions=_agents_like)
]


@command("agent use")
async def use_agent(chat: Chat, name: AgentName) -> None:
    """Have another one answer, also in later chats. Raise UnknownAgent."""
    agent = find_agent([*(await chat.agents.all()).values()], name)
    if agent is None:
        raise UnknownAgent
    chosen = None if agent.name == DEFAULT_AGENT else agent.name
    await chat.stores.agents.choose(chat.user_id, chat.profile.key.channel_id, chosen)
    chat.agent = agent.name
    words = chat.texts.agents
    sentence = words.using_already if agent.name == chat.person.agent.name else words.using
    chat.say(sentence.format(display=one_line(agent.display_name(chat.person.locale))))


# ---- settings --------------------------------------------------------------------------------------------

_LANGUAGES: Final[Mapping[str, Locale | None]] = {
    "ja": Locale.JA,
    "japanese": Locale.JA,
    "日本語": Locale.JA,
    "en": Locale.EN,
    "english": Locale.EN,
    "英語": Locale.EN,
    "default": None,
}
_NAMED: Final = ("language", "timezone")
_NAMES: Final = {
    name: english
    for english in _NAMED
    for name in (english, fold(japanese_name(f"settings {english}").split()[1]))
}


def _choices(text: str) -> Mapping[str, str]:
    """Return values by `language` and `timezone`. Raises Unreadable."""
    words, chosen = text.split(), dict[str, str]()
    while words:
        given, *words = words
        value = words.pop(0) if words else ""
        name = _NAMES.get(fold(given.lstrip("-")))
        if name is None or not value or (name == "language" and value.casefold() not in _LANGUAGES):
            raise Unreadable(f"{given} {value}".strip())
        chosen[name] = value
    return chosen


async def _settings_like(_chat: Chat, typed: str) -> Iterable[Completion]:
    name, blank, word = typed.partition(" ")
    match name if blank else "":
        case "language":
            return _completions(("ja", "en", "default"), word)
        case "timezone":
            default = ["default"] if "default".startswith(word) else []
            zones = (*default, *suggest_zones(word))
            return [Completion(zone, start_position=-len(word)) for zone in zones]
        case _:
            return ()


Choices = Annotated[
    Mapping[str, str], Argument("settings", _choices, words=_NAMED, completions=_settings_like)
]


@command("settings")
async def choose(chat: Chat, choices: Choices) -> None:
    """Change what is given and say so, in the language that holds from now on; with nothing given, show all.

    Raise UnknownTimezone."""
    if not choices:
        chat.say(_settings_text(chat.person))
        return
    language, zone = choices.get("language"), choices.get("timezone")
    settings = await preferences.choose(
        chat.stores,
        chat.user_id,
        locale=_LANGUAGES[language.casefold()] if language else Keep.AS_IS,
        zone=(None if zone == "default" else zone) if zone else Keep.AS_IS,
        default_zone=chat.profile.timezone.key,
    )
    now = person_of(settings, chat.profile)
    saved = now.texts.session.settings_saved
    chat.say(saved.format(language=_language(now), timezone=now.timezone.key))


def _settings_text(person: Person) -> str:
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


# ---- usage -----------------------------------------------------------------------------------------------


@command("usage")
async def show_usage(chat: Chat) -> None:
    """Show what was used, of which models, and what is left."""
    words = chat.texts.usage
    report = await chat.assistant.spending.report_of(UsageSubject(chat.user_id, front_end="terminal"))
    if report.empty and not report.left:
        chat.say(words.nothing)
        return
    lines = [words.title, *words.lines(report, moments_for(chat.person, chat.stores.usage.now()))]
    if report.models:
        lines += ["", words.models, *words.model_lines(report)]
    if report.days:
        lines += ["", words.chart, table(chart_of(report, words.chart))]
    chat.say("\n".join(lines))


def moments_for(person: Person, now: datetime) -> Callable[[datetime], str]:
    """Return what writes moments where the user is: `at 18:30`, or `at 2026-12-01 00:00` on another day."""

    def shown(moment: datetime) -> str:
        local, day = moment.astimezone(person.timezone), person.day(moment)
        time = f"{local:%H:%M}" if day == person.day(now) else f"{day} {local:%H:%M}"
        return person.texts.usage.at.format(time=time)

    return shown


# ---- privacy ---------------------------------------------------------------------------------------------


@command("privacy show")
async def show_holdings(chat: Chat) -> None:
    held = await chat.privacy.overview(chat.user_id)
    told = chat.texts.privacy.overview(held, chat.privacy.retention, chat.person.timezone)
    chat.say(strip_marks(told))


@command("privacy export")
async def export_holdings(chat: Chat, path: OptionalFile) -> None:
    """Write all of it into one file, or several that are numbered from the second on."""
    name, words = path or f"cc-bot-{chat.person.day(utc_now())}.json", chat.texts.privacy

    async def write() -> list[Path]:
        made = list[Path]()
        async for part in chat.privacy.export(chat.user_id):
            made.append(await asyncio.to_thread(write_new, name, part, len(made) + 1 if made else None))
        return made

    made = await write_or_complain(chat, name, write())
    if made is not None:
        told = words.written.format(path=one_line(", ".join(map(str, made))))
        chat.say(strip_marks(told if made else words.nothing))


@command("privacy erase")
async def erase_holdings(chat: Chat, now: Switch) -> None:
    """Tell what erasing all of it would take; with `now`, do it."""
    words = chat.texts.privacy
    if now:
        try:
            told = words.told(await chat.privacy.erase(chat.user_id))
        except ErasureUnfinished:
            chat.forget_typed()
            raise
        chat.forget_typed()
    else:
        held = await chat.privacy.overview(chat.user_id)
        how = words.erase_now.format(command="/privacy erase --now")
        told = words.nothing_to_erase(held) if held.nothing_to_erase else f"{words.asked(held)}\n{how}"
    chat.say(strip_marks(told))


# ---- servers with tools ----------------------------------------------------------------------------------
# Whoever sits at the terminal is the owner: the bot is theirs.

SHOW: Final = "show"
ACCEPT: Final = "accept"


def _wish(text: str) -> Sequence[str]:
    """Return what is to be done, the server, and the code: `accept time 0123abcd`. Raises Unreadable."""
    verb, rest = split(text)
    if verb not in (SHOW, ACCEPT):
        verb, rest = SHOW, text
    names = rest.split()
    if len(names) > (2 if verb == ACCEPT else 1) or (verb == ACCEPT and len(names) < 2):
        raise Unreadable(text)
    return (verb, *names)


Wish = Annotated[Sequence[str] | None, Argument("tools", _wish, optional=True)]


@command("admin tools")
async def tools(chat: Chat, wish: Wish) -> None:
    """Show the servers, or every word of one; or let the tools be used that were read."""
    words = chat.texts.tool_servers
    match tuple(wish or (SHOW,)):
        case (_, server, code):
            accepted = await chat.servers.accept(server, fold(code).strip("`"))
            chat.say(strip_marks(say_accepted(server, accepted, words)))
        case (_, server):
            _show_details(chat, server)
        case _:
            chat.say(strip_marks(say_servers(chat.servers.reports(), words)))


def _show_details(chat: Chat, server: str) -> None:
    words, found = chat.texts.tool_servers, chat.servers.details(server)
    reports = [each for each in chat.servers.reports() if each.server == server]
    lines = [strip_marks(say_servers(reports, words))]
    if not found:
        lines.append(words.details_none)
    else:
        lines.append(details_file(server, found, words).text)
        lines += [words.code.format(code=each.code) for each in reports if each.code]
    chat.say("\n".join(lines))
