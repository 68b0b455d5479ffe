"""Runs what was typed. Trouble is one sentence, and the chat goes on."""

import asyncio
from collections.abc import Callable, Sequence
from typing import assert_never

import structlog

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant
from cc_bot.domain.errors import CcBotError, ModelNotFound
from cc_bot.domain.privacy import Retention
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores
from cc_bot.terminal.agents import TerminalAgents
from cc_bot.terminal.answering import Answering
from cc_bot.terminal.canvas import show_canvas
from cc_bot.terminal.choosing import choose
from cc_bot.terminal.commands import (
    Accept,
    AddReminder,
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
    Misused,
    Regenerate,
    Settings,
    ShowCanvas,
    ShowPrivacy,
    ShowSummary,
    ShowUsage,
    Unknown,
    UseAgent,
)
from cc_bot.terminal.memory_commands import MemoryCommand
from cc_bot.terminal.mistakes import explain_misuse, explain_unknown
from cc_bot.terminal.moments import moments_for
from cc_bot.terminal.own_data import OwnData
from cc_bot.terminal.parsing import parse
from cc_bot.terminal.person import Person, read_person
from cc_bot.terminal.profile import ChatProfile
from cc_bot.terminal.proposals import Deciding
from cc_bot.terminal.remembering import Remembering
from cc_bot.terminal.reminding import Reminding, Show
from cc_bot.terminal.summarizing import show_summary
from cc_bot.terminal.usage import show_usage
from cc_bot.terminal.view import View
from cc_bot.texts import explain

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
            case ListReminders() | AddReminder() | DeleteReminder():
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
