"""Runs a line: a question, or a command named as on Discord (texts/commands.py)."""

import re
import secrets
import unicodedata
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import structlog
from prompt_toolkit.completion import Completion

from cc_bot.charts.table import text_table
from cc_bot.chat.active import Stop, until_stopped
from cc_bot.chat.approvals import ApprovedResult
from cc_bot.chat.parts import Parts
from cc_bot.chat.reply import Caller, Reply
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain import errors
from cc_bot.domain.access import Visitor
from cc_bot.domain.chart import Chart
from cc_bot.domain.clock import zone_named
from cc_bot.domain.message import Agent, Attachment, Message, UserSettings
from cc_bot.domain.proposal import CallMessage, Moment, Proposal, Value
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import CanvasChanged, Done
from cc_bot.domain.usage import Payer
from cc_bot.features import modules
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.terminal.view import (
    MARGIN,
    MAX_RECEIPT_CHARACTERS,
    Notice,
    Quoted,
    View,
    canvas_line,
    change_line,
    short_line,
)
from cc_bot.texts import ErrorTexts, Texts, explain, texts
from cc_bot.texts.cli import TerminalTexts
from cc_bot.texts.commands import command_namer, command_names
from cc_bot.texts.proposal import ProposalTexts

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ChatProfile:
    key: SessionKey
    locale: Locale
    timezone: ZoneInfo
    model_label: str
    agent: Agent
    history_file: Path | None = None  # None to keep none
    offline: bool = False
    dotenv: Path = Path(".env")

    @property
    def texts(self) -> Texts:
        return texts(self.locale, names=Locale.EN)

    @property
    def caller(self) -> Caller:
        payer = Payer(self.user_id, front_end="terminal")
        return Caller(self.user_id, self.locale, self.timezone, self.texts, payer=payer)

    @property
    def user_id(self) -> int:
        return self.key.user_id


async def _decline(_question: str) -> bool:
    return False


@dataclass(slots=True, eq=False, repr=False)
class Chat:
    parts: Parts
    profile: ChatProfile  # at first with the defaults
    view: View
    confirm: Callable[[str], Awaitable[bool]] = _decline  # a pipe does not confirm
    answer_stop: Stop | None = field(default=None, init=False)
    defaults: ChatProfile = field(init=False)
    settings: UserSettings = field(default=UserSettings(), init=False)

    def __post_init__(self) -> None:
        self.defaults = self.profile

    async def load_settings(self) -> None:
        """Load the user's language and time zone, which the pages can change too. Raises StorageError."""
        self.settings, defaults = await self.stores.settings.get(self.user_id), self.defaults
        zone = zone_named(self.settings.timezone, defaults.timezone)
        self.profile = replace(self.profile, locale=self.settings.locale or defaults.locale, timezone=zone)

    @property
    def texts(self) -> Texts:
        return self.profile.texts

    @property
    def user_id(self) -> int:
        return self.profile.user_id

    @property
    def stores(self) -> Stores:
        return self.parts.stores

    def stop(self) -> None:
        if self.answer_stop is not None:
            self.answer_stop.request()


# Takes the text and the options; returns the reply, unless the command showed it.
Run = Callable[[Chat, str, Mapping[str, str]], Awaitable[Reply | str | None]]
# Returns the numbers that complete a typed word, with the texts to show beside them.
Suggest = Callable[[Chat, str], Awaitable[Sequence[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Command:
    run: Run
    arguments: tuple[str, ...] = ()  # keys in texts/commands.py
    options: tuple[str, ...] = ()  # also keys: `memory_category` is typed as `--category work`
    short: str = ""  # another name of the command, if no text follows
    suggest: Suggest | None = None

    def usage(self, name: str, locale: Locale) -> str:
        names, wordings = command_names(Locale.EN), command_names(locale)
        options = (f"[--{names[option]} {wordings[option]}]" for option in self.options)
        return " ".join((f"/{name}", *options, *(wordings[argument] for argument in self.arguments)))


def describe_command(name: str, words: Texts) -> str:
    in_terminal = words[TerminalTexts].commands.get(name)
    return in_terminal or command_names(words.locale)[f"{name.replace(' ', '_')}_description"]


class InvalidCommand(Exception):
    pass


_OPTION: Final = re.compile(r"""--([a-z]+)[=\s]\s*("[^"]*"|(?!--)\S+)\s*""")
_OPTION_TO_END: Final = re.compile(
    r"""--([a-z]+)[=\s]\s*("[^"]*"|(?!--)\S+(?:\s(?!--)\S+)*)\s*"""
)  # no text follows
_OPTION_NAME: Final = re.compile(r"--[a-z][\w-]*")


def _normalize(typed: str) -> str:
    return unicodedata.normalize("NFKC", typed).casefold()


def parse_line(line: str, words: Texts) -> tuple[str, str, Mapping[str, str]]:
    """Return command, text and options; for a line without a slash, `ask`. Raises InvalidCommand."""
    typed = line.strip()
    if _normalize(typed) in ("help", "exit", "quit"):
        typed = f"/{typed}"
    if not typed.startswith(("/", "／")):
        return "ask", typed, {}
    attempts = dict[str, str]()  # the first two words, and the first one, with how they are shown
    for count in (2, 1):
        parts = typed[1:].split(maxsplit=count)
        name = _normalize(" ".join(parts[:count]))
        attempts[name] = short_line(f"/{name}", 40)
        text = parts[count] if len(parts) > count else ""
        name = _known_names().get(name, name)
        if not text:
            name = _short_names().get(name, name)
        if name in commands() and typed[1:2].strip():
            text, options = _split_options(name, text, words)
            return name, text if name == "ask" else _unquote(text), options
    discord_names = command_names(Locale.EN)
    for attempt, shown in attempts.items():
        if f"{attempt.replace(' ', '_')}_description" in discord_names and attempt not in _short_names():
            raise InvalidCommand(words[TerminalTexts].not_here.format(given=shown))
    for attempt, shown in attempts.items():
        if near := get_close_matches(attempt, _known_names(), n=1):
            nearest = f"/{_known_names()[near[0]]}"
            raise InvalidCommand(words[TerminalTexts].unknown_near.format(given=shown, nearest=nearest))
    raise InvalidCommand(words[TerminalTexts].unknown.format(given=shown))


def _split_options(name: str, text: str, words: Texts) -> tuple[str, Mapping[str, str]]:
    """Raises InvalidCommand if an option is unknown or lacks its value, or the command takes no text."""
    command = commands()[name]
    pattern = _OPTION if command.arguments else _OPTION_TO_END
    known = {command_names(Locale.EN)[key] for key in command.options}
    options: dict[str, str] = {}
    while (found := pattern.match(text)) and found[1] in known:
        options[found[1]] = _unquote(found[2])
        text = text[found.end() :]
    found, usage = _OPTION_NAME.match(text) if known else None, command.usage(name, words.locale)
    if found and found[0][2:] not in known:
        raise InvalidCommand(words[TerminalTexts].unknown_option.format(given=found[0], usage=usage))
    if found or (text and not command.arguments and not command.options):
        raise InvalidCommand(words[TerminalTexts].usage.format(usage=usage))
    return re.sub(r"\A--(?:\s|\Z)", "", text).strip(), options  # what follows `--` is no option


def _unquote(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return text[1:-1] if quoted else text


def parse_number(text: str, needed: str) -> int:
    digits = text.lstrip("#＃")
    if not digits.isdecimal() or not 0 < int(digits[:20]) < 2**63:
        raise InvalidCommand(needed)
    return int(digits)


async def run_line(chat: Chat, line: str) -> bool:
    """Run a line. Returns False if it ends the chat."""
    name = ""
    try:
        if line.strip():
            name, text, options = parse_line(line, chat.texts)
            await chat.load_settings()
            outcome = await commands()[name].run(chat, text, options)
            if isinstance(outcome, str):
                outcome = Reply(tuple(outcome.split("\n")))
            if outcome is not None:
                chat.view.show_reply(outcome)
    except InvalidCommand as mistake:
        chat.view.show_error(str(mistake))
    except errors.CcBotError as error:
        chat.view.show_error(explain_to_operator(error, chat.profile))
    except OSError:
        raise  # the terminal or pipe is closed
    except Exception as error:  # noqa: BLE001 - one broken command must not end the chat
        _log.error("command_failed", command=name, error=type(error).__name__)
        chat.view.show_error(explain(errors.CcBotError(), chat.texts))
    return name != "exit"


async def run_question(chat: Chat, text: str, _options: Mapping[str, str]) -> None:
    if chat.profile.offline and await chat.stores.memories.contains_secret(text):
        raise InvalidCommand(chat.texts[TerminalTexts].secret)
    await show_answer(chat, Message("user", text, author_id=chat.user_id))


async def clear_session(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    await chat.stores.sessions.clear(chat.profile.key)
    return chat.texts[SessionTexts].cleared


async def show_help(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply | None:
    """Show all commands, or how to write those of a group."""
    words, texts, groups = chat.texts, chat.texts[TerminalTexts], dict[str, list[str]]()
    for name in commands():
        groups.setdefault(name.split()[0], []).extend(name.split()[1:])
    if not text:
        rows = [(f"/{name}", describe_command(name, words), ", ".join(each)) for name, each in groups.items()]
        chat.view.show_reply(Reply(title=texts.help_title), rows)
        chat.view.show_reply(Reply(notes=(texts.help_more,)), texts.help_keys)
        return None
    topic = _normalize(text).lstrip("/")
    group = _known_names().get(topic, topic).partition(" ")[0]
    lines = list[str]()
    for name, command in commands().items():
        if name.split()[0] == group:
            lines += [f"  {command.usage(name, words.locale)}", f"      {describe_command(name, words)}"]
    return Reply(tuple(lines) or (texts.unknown.format(given=short_line(f"/{topic}", 40)),))


async def exit_chat(_chat: Chat, _text: str, _options: Mapping[str, str]) -> None:
    pass


@cache
def commands() -> Mapping[str, Command]:
    """Return the commands by name. Features list theirs in COMMANDS of `terminal`."""
    return {
        "ask": Command(run_question, ("ask_question",)),
        **{name: each for module in modules("terminal") for name, each in module.COMMANDS.items()},
        "clear": Command(clear_session),
        "help": Command(show_help, ("help_command",)),
        "exit": Command(exit_chat, short="quit"),
    }


@cache
def _short_names() -> Mapping[str, str]:
    return {each.short: name for name, each in commands().items() if each.short}


@cache
def _known_names() -> Mapping[str, str]:
    """Return the English names, by names in all languages."""
    names = (*commands(), *_short_names())
    return {command_namer(locale)(name)[1:]: name for locale in Locale for name in names}


async def list_completions(chat: Chat, typed: str) -> Sequence[Completion]:
    """List commands, or numbers for a command."""
    if not typed.startswith(("/", "／")):
        return ()
    name, _, word = _normalize(typed)[1:].rpartition(" ")
    command = commands().get(name)
    if command and command.suggest:
        return [
            Completion(str(number), -len(word), display=f"#{number}", display_meta=short_line(content, 60))
            for number, content in await command.suggest(chat, word)
        ]
    return [
        Completion(
            f"/{name} " if each.arguments else f"/{name}",
            start_position=-len(typed),
            display=f"/{name}",
            display_meta=describe_command(name, chat.texts),
        )
        for name, each in commands().items()
        if f"/{name}".startswith(_normalize(typed))
    ]


def explain_to_operator(error: errors.CcBotError, profile: ChatProfile) -> str:
    words = profile.texts
    if sentence := words[TerminalTexts].errors.get(type(error)):
        return sentence.format(**error.params)
    explained = explain(error, words, profile.caller.format_time)
    return explained.replace(words[ErrorTexts].tell_operator, words[TerminalTexts].ask_doctor)


async def show_answer(chat: Chat, question: Message, images: tuple[Attachment, ...] = ()) -> None:
    """Raises the errors of `Assistant.ask`."""
    profile, stop = chat.profile, Stop()
    options = TurnOptions(
        profile.locale,
        profile.timezone,
        images=images,
        welcomed=chat.settings.welcomed,
        memory_paused=chat.settings.memory_paused,
        agent=profile.agent,
        front_end="terminal",
        by_owner=True,
    )
    proposals, canvas, chat.answer_stop = tuple[Proposal, ...](), None, stop
    try:
        with chat.view.open_answer(chat.texts) as view:
            async with aclosing(chat.parts.assistant.ask(profile.key, question, options, stop)) as events:
                async for event in events:
                    view.show(event)
                    if isinstance(event, Done):
                        proposals = event.proposals
                    elif isinstance(event, CanvasChanged):
                        canvas = event
    finally:
        chat.answer_stop = None
    await _show_canvas(chat, canvas)
    for proposal in proposals:
        try:
            await _offer_proposal(chat, proposal)
        except errors.CcBotError as error:
            chat.view.show_error(explain_to_operator(error, profile))


async def _show_canvas(chat: Chat, changed: CanvasChanged | None) -> None:
    if changed and not changed.empty:
        await commands()["canvas show"].run(chat, "", {})


async def _offer_proposal(chat: Chat, proposal: Proposal) -> None:
    words, approvals = chat.texts, chat.parts.assistant.approvals
    chat.view.show_notices([*proposal_notices(proposal, chat.profile)])
    if not await chat.confirm(words[TerminalTexts].confirm):
        await approvals.decline(proposal)
        title = short_line(proposal.title, MAX_RECEIPT_CHARACTERS)
        chat.view.show_notices([words[ProposalTexts].declined.format(what=title)])
        return
    try:
        result = await _approve(chat, proposal)
    except errors.CallPostponed as error:
        chat.view.show_error(explain_to_operator(error, chat.profile))
        await _offer_proposal(chat, proposal)
        return
    if result is None:
        return
    chat.view.show_notices([*_outcome_notices(result, words)])
    await _show_canvas(chat, result.canvas)
    await chat.stores.proposals.delete(result.proposal)
    if result.continues:
        after_call = words[ProposalTexts].after_call.format(what=result.proposal.content.calls[0].name)
        question = Message("user", after_call, author_id=chat.user_id, tainted=True)
        await show_answer(chat, question, result.images)


async def _approve(chat: Chat, proposal: Proposal) -> ApprovedResult | None:
    """Run the proposed calls. Returns None if the user stopped them before they began."""
    approvals, words, profile, stop = chat.parts.assistant.approvals, chat.texts, chat.profile, Stop()
    visitor = Visitor(chat.user_id, (profile.key.channel_id,))
    chat.answer_stop = stop
    try:
        await until_stopped(approvals.wait_for_server(proposal), stop)
        if stop.requested:
            return None
        with chat.parts.assistant.track_approved_call(chat.user_id, stop):
            claimed = await approvals.claim(proposal, secrets.token_hex(4), CallMessage())
            if claimed.content.goes_on:
                chat.view.say(words[ProposalTexts].outcome("claimed", short_line(claimed.title)))
            try:
                return await approvals.run(claimed, profile.agent, visitor, stop)
            except errors.CcBotError:
                await chat.stores.proposals.reopen(claimed)
                raise
    finally:
        chat.answer_stop = None


async def report_unfinished_calls(chat: Chat) -> None:
    """Report calls that an interrupted chat may have made."""
    for call in await chat.stores.proposals.list_approved(chat.user_id):
        if call.message.location_id is None:
            state = await chat.parts.assistant.approvals.mark_outcome_unknown(call)
            chat.view.show_notices([chat.texts[ProposalTexts].outcome(state, short_line(call.title))])
            await chat.stores.proposals.delete(call)


def _outcome_notices(result: ApprovedResult, words: Texts) -> Iterator[Notice]:
    yield from (change_line(change, words) for change in result.changes)
    if result.canvas is not None:
        yield canvas_line(result.canvas, words)
    if result.proposal.content.goes_on or result.state != "done":
        title = short_line(result.proposal.title)
        yield words[ProposalTexts].outcome(result.state, title, stopped=result.stopped)
    if result.images:
        yield words[TerminalTexts].images_given.format(count=len(result.images))
    if result.problem:
        yield MARGIN + result.problem


def proposal_notices(proposal: Proposal, profile: ChatProfile) -> Iterator[Notice]:
    words = profile.texts
    for number, part in enumerate(proposal.content.shown.parts):
        line = part.format(lambda value: _format_value(value, profile))
        yield MARGIN + line if number else words[TerminalTexts].proposal.format(what=line)
        if part.below is not None:
            yield Quoted(text_table(part.below) if isinstance(part.below, Chart) else part.below)


def _format_value(value: Value, profile: ChatProfile) -> str:
    words = profile.texts
    match value:
        case None:
            return words[MemoryCardTexts].nothing
        case str():
            return value
        case Moment(at, ends_day=True):
            last_day = (at - timedelta(seconds=1)).astimezone(profile.timezone).date()
            return words[MemoryTexts].until.format(date=last_day.isoformat())
        case Moment(at, repeat=""):
            return profile.caller.format_time(at)
        case Moment(at, repeat=repeat):
            time = profile.caller.format_time(at)
            return words[ProposalTexts].repeat_with_next_time.format(repeat=repeat, time=time)
