"""Runs what was typed. Trouble is one sentence, and the chat goes on."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import assert_never

import structlog

from cc_bot.agents import Agents, named_agent
from cc_bot.assistant import Assistant
from cc_bot.charts import table
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, ModelNotFound, StorageError, UnknownAgent
from cc_bot.domain.limits import UsageSubject, chart_of
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import DEFAULT_AGENT, THE_DEFAULT, Agent
from cc_bot.domain.privacy import Retention
from cc_bot.domain.session import SessionKey
from cc_bot.domain.timezones import zone_of
from cc_bot.privacy import Privacy
from cc_bot.spending import Spending
from cc_bot.stores import AgentStore, CanvasStore, Keep, Stores, SummaryStore
from cc_bot.terminal.answering import Answering
from cc_bot.terminal.commands import (
    Accept,
    Ask,
    Attach,
    Clear,
    Command,
    Continue,
    Decline,
    DeleteReminder,
    Detach,
    ErasePrivacy,
    Exit,
    ExportPrivacy,
    Help,
    ListAgents,
    ListReminders,
    MemoryCommand,
    Misused,
    Regenerate,
    SetReminder,
    Settings,
    ShowCanvas,
    ShowPrivacy,
    ShowSummary,
    ShowUsage,
    Unknown,
    UseAgent,
)
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.parsing import explain_misuse, explain_unknown, parse
from cc_bot.terminal.person import ChatProfile, Person, person_of, read_person
from cc_bot.terminal.proposals import Deciding
from cc_bot.terminal.remembering import Remembering
from cc_bot.terminal.reminding import Reminding, Show, moments_for
from cc_bot.terminal.view import View
from cc_bot.texts import Texts, explain

# ---- agents ----------------------------------------------------------------------------------------------
# Who answers in the terminal, and the `/agent` commands. Whoever sits there may use all agents.


class TerminalAgents:
    """`agents` is None where there is none but the default one."""

    def __init__(self, agents: Agents | None, store: AgentStore, profile: ChatProfile) -> None:
        self._agents = agents
        self._store = store
        self._profile = profile
        self._of_this_chat = profile.agent

    async def current(self) -> Agent:
        """Who answers the next question. Never fails: when the database does not answer, something has to
        tell the user about it."""
        known = {agent.name: agent for agent in await self._all()}
        return known.get(self._of_this_chat or await self._chosen() or DEFAULT_AGENT, known[DEFAULT_AGENT])

    async def names(self) -> Iterable[str]:
        return [agent.name for agent in await self._all()]

    async def list(self, person: Person, view: View) -> None:
        """Show all, and who answers now."""
        words, locale = person.texts.agents, person.locale
        agents = await self._all()
        if len(agents) == 1:
            view.say(words.only_one.format(display=one_line(person.agent.display_name(locale))))
            return
        lines = [words.title]
        for agent in agents:
            mark = words.in_use if agent.name == person.agent.name else ""
            about = f": {agent.description(locale)}" if agent.description(locale) else ""
            lines.append(f"  {agent.name}  {one_line(agent.display_name(locale))}{mark}{one_line(about)}")
        view.say("\n".join(lines))

    async def use(self, name: str, person: Person, view: View) -> None:
        """Have another one answer, also in later chats. Raises UnknownAgent."""
        agent = named_agent(await self._all(), name)
        if agent is None:
            raise UnknownAgent
        key = self._profile.key
        await self._store.choose(
            key.user_id, key.channel_id, None if agent.name == DEFAULT_AGENT else agent.name
        )
        self._of_this_chat = agent.name
        words = person.texts.agents
        sentence = words.using_already if agent.name == person.agent.name else words.using
        view.say(sentence.format(display=one_line(agent.display_name(person.locale))))

    async def _all(self) -> tuple[Agent, ...]:
        return tuple((await self._agents.all()).values()) if self._agents else (THE_DEFAULT,)

    async def _chosen(self) -> str | None:
        key = self._profile.key
        try:
            return await self._store.choice(key.user_id, key.channel_id)
        except StorageError:
            return None


# ---- canvas ----------------------------------------------------------------------------------------------
# The `/canvas` command.


async def show_canvas(command: ShowCanvas, person: Person, canvases: CanvasStore, view: View) -> None:
    """Show what is up for the agent that answers, or take it down. Nobody reads along: all of it is shown."""
    words = person.texts.canvas
    if command.clear:
        view.say(words.cleared if await canvases.clear(person.key) else words.cleared_already)
        return
    seen = await canvases.get(person.key)
    if seen is None or seen.canvas.empty:
        view.say(words.empty)
    else:
        view.canvas(seen.canvas, person.texts)


# ---- choosing --------------------------------------------------------------------------------------------
# The `/settings` command.


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


# ---- own data --------------------------------------------------------------------------------------------
# What is stored about whoever sits at the terminal: `/privacy`.


class OwnData:
    def __init__(self, privacy: Privacy, user_id: int, view: View, forget_typed: Callable[[], None]) -> None:
        """`forget_typed` takes back what the input line keeps of what was typed."""
        self._privacy = privacy
        self._user_id = user_id
        self._view = view
        self._forget_typed = forget_typed

    async def run(self, command: ShowPrivacy | ExportPrivacy | ErasePrivacy, person: Person) -> None:
        """Raises StorageError."""
        match command:
            case ShowPrivacy():
                held = await self._privacy.overview(self._user_id)
                words = person.texts.privacy
                self._say(words.overview(held, self._privacy.retention, person.timezone))
            case ExportPrivacy(path):
                await self._export(path, person)
            case ErasePrivacy(now):
                await self._erase(person, now=now)

    async def _erase(self, person: Person, *, now: bool) -> None:
        words = person.texts.privacy
        if now:
            told = words.told(await self._privacy.erase(self._user_id))
            self._forget_typed()
            self._say(told)
            return
        held = await self._privacy.overview(self._user_id)
        if held.nothing_to_erase:
            self._say(words.nothing_to_erase(held))
        else:
            self._say(f"{words.asked(held)}\n{words.erase_now.format(command='/privacy erase --now')}")

    async def _export(self, given: str | None, person: Person) -> None:
        """Into one file, or several that are numbered, for their owner's eyes alone. None is overwritten."""
        words, day = person.texts, utc_now().astimezone(person.timezone).date().isoformat()
        path = given or f"cc-bot-{day}.json"
        try:
            written = await _write_new(path, self._privacy.export(self._user_id))
        except FileExistsError:
            self._view.complain(words.terminal.file_exists.format(path=one_line(path)))
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_written.format(path=one_line(path)))
        else:
            told = words.privacy.written.format(path=one_line(", ".join(map(str, written))))
            self._say(told if written else words.privacy.nothing)

    def _say(self, text: str) -> None:
        """Without the marks of small print and weight that Discord shows them by."""
        self._view.say("\n".join(line.removeprefix("-# ").replace("**", "") for line in text.split("\n")))


async def _write_new(path: str, parts: AsyncIterator[bytes]) -> list[Path]:
    """The files that were written. Raises FileExistsError, other OSErrors, and ValueError for a name that no
    file can have."""
    written = list[Path]()
    async for part in parts:
        written.append(await asyncio.to_thread(_write, path, len(written) + 1, part))
    return written


def _write(path: str, number: int, data: bytes) -> Path:
    file = Path(path).expanduser()
    if number > 1:
        file = file.with_stem(f"{file.stem}-{number}")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
    return file


# ---- summarizing -----------------------------------------------------------------------------------------
# The `/summary` command.


async def show_summary(
    command: ShowSummary, words: Texts, summaries: SummaryStore, key: SessionKey, view: View
) -> None:
    """Show what is kept of the conversation, or delete it; either way say so when there is nothing."""
    kept = await summaries.current(key)
    if command.delete and await summaries.delete(key):
        view.say(words.summary.deleted)
    elif not kept:
        view.say(words.summary.none)
    else:
        texts = (kept_apart(summary.content) for summary in kept)
        view.say("\n".join((words.summary.title, *texts)))


# ---- usage -----------------------------------------------------------------------------------------------
# The `/usage` command.


async def show_usage(person: Person, spending: Spending, stores: Stores, view: View) -> None:
    """Show what was used, of which models, and what is left."""
    words = person.texts.usage
    report = await spending.report_of(UsageSubject(person.key.user_id, front_end="terminal"))
    if report.empty and not report.left:
        view.say(words.nothing)
        return
    lines = [words.title, *words.lines(report, moments_for(person, stores.usage.now()))]
    if report.models:
        lines += ["", words.models, *words.model_lines(report)]
    if report.days:
        lines += ["", words.chart, table(chart_of(report, words.chart))]
    view.say("\n".join(lines))


# ---- runner ----------------------------------------------------------------------------------------------

_log = structlog.get_logger(__name__)


class Runner:
    """One chat's commands, in front of one view."""

    def __init__(
        self,
        assistant: Assistant,
        stores: Stores,
        profile: ChatProfile,
        view: View,
        *,
        agents: Agents | None = None,
        privacy: Privacy | None = None,
        forget_typed: Callable[[], None] = lambda: None,
    ) -> None:
        """`agents`: who can answer; None: the default one alone. `privacy`: None: nothing is deleted for its
        age. `forget_typed` takes back what the input line keeps of what was typed."""
        self._stores = stores
        self._profile = profile
        self._view = view
        self._spending = assistant.spending
        self._deciding = Deciding(stores, profile, view)
        self._answering = Answering(assistant, stores, profile, view, self._deciding)
        self._agents = TerminalAgents(agents, stores.agents, profile)
        self._remembering = Remembering(stores, profile.key.user_id, view)
        self._reminding = Reminding(stores.schedules, profile, view)
        privacy = privacy or Privacy(stores, assistant.without_turns_of, retention=Retention())
        self._own_data = OwnData(privacy, profile.key.user_id, view, forget_typed)
        self._busy = asyncio.Lock()

    @property
    def attached(self) -> tuple[str, ...]:
        """The names of the files that go with the next question."""
        return self._answering.attached

    @property
    def agents(self) -> TerminalAgents:
        return self._agents

    async def proposed(self) -> Sequence[tuple[int, str]]:
        """The numbers of what waits for a decision, and what each would do."""
        return await self._deciding.waiting(await self.person())

    def stop(self) -> None:
        """End the running answer, if there is one; what came of it is kept."""
        self._answering.stop()

    async def person(self) -> Person:
        return await read_person(self._stores, self._profile, await self._agents.current())

    async def run(self, line: str) -> bool:
        """Do what the line asks for. False: it asked to leave."""
        command = parse(line)
        if command is None:
            return True
        async with self._busy:
            await self._run_safely(command)
        return not isinstance(command, Exit)

    async def remind(self, show: Show) -> None:
        """Say what is due, between answers."""
        async with self._busy:
            await self._reminding.say_due(self.person, show)

    async def keep_reminding(self, show: Show) -> None:
        """Say whatever comes due, each in its time, until that is stopped."""
        while await self._reminding.wait():
            await self.remind(show)

    def stop_reminding(self) -> None:
        self._reminding.stop()

    async def _run_safely(self, command: Command) -> None:
        person = await self.person()
        try:
            await self._run(command, person)
        except CcBotError as error:
            moment = moments_for(person, self._stores.usage.now())
            told = person.texts.terminal.model_not_found if isinstance(error, ModelNotFound) else ""
            self._view.complain(told.format(**error.params) or explain(error, person.texts, moment))
        except OSError:
            raise  # the terminal or the pipe is gone: there is nobody to tell
        except Exception as error:  # noqa: BLE001 - one broken command must not end the chat
            _log.error("command_failed", command=type(command).__name__, error=type(error).__name__)
            self._view.complain(explain(CcBotError(), person.texts))

    async def _run(self, command: Command, person: Person) -> None:  # noqa: PLR0912 - one case a command
        words = person.texts
        if isinstance(command, MemoryCommand):
            await self._remembering.run(command, person)
            return
        match command:
            case Ask(question, temporary):
                await self._answering.ask(question, person, temporary=temporary)
            case Regenerate():
                await self._answering.regenerate(person)
            case Continue():
                await self._answering.go_on(person)
            case Attach(path):
                await self._answering.attach(path, words)
            case Detach():
                self._answering.detach(words)
            case Accept() | Decline():
                await self._deciding.run(command, person)
            case Clear():
                await self._answering.clear(person)
            case ShowSummary():
                await show_summary(command, words, self._stores.summaries, person.key, self._view)
            case ShowCanvas():
                await show_canvas(command, person, self._stores.canvases, self._view)
            case ListAgents():
                await self._agents.list(person, self._view)
            case UseAgent(name):
                await self._agents.use(name, person, self._view)
            case ListReminders() | SetReminder() | DeleteReminder():
                await self._reminding.run(command, person)
            case ShowUsage():
                await show_usage(person, self._spending, self._stores, self._view)
            case ShowPrivacy() | ExportPrivacy() | ErasePrivacy():
                await self._own_data.run(command, person)
            case Settings():
                await choose(command, person, self._stores, self._profile, self._view)
            case Help():
                self._view.help(words)
            case Exit():
                pass
            case Unknown():
                self._view.complain(explain_unknown(command, words))
            case Misused():
                self._view.complain(explain_misuse(command, words))
            case _:
                assert_never(command)
