"""Runs a line: a question, or a command named and described as on Discord (texts/commands.py)."""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Final

import structlog
from prompt_toolkit.completion import Completion

from cc_bot.chat.reply import Reply
from cc_bot.domain import errors
from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.features import modules
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.terminal.questions import Chat, answer, explain_to_operator
from cc_bot.terminal.view import one_line
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import TerminalTexts
from cc_bot.texts.commands import command_names

_log = structlog.get_logger(__name__)

# Takes the text and the options; returns the reply, unless the command showed it.
Run = Callable[[Chat, str, Mapping[str, str]], Awaitable[Reply | str | None]]
# Returns the numbers that may complete a word, with their texts.
Suggest = Callable[[Chat, str], Awaitable[Sequence[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Command:
    run: Run
    arguments: tuple[str, ...] = ()  # keys in texts/commands.py
    options: tuple[str, ...] = ()  # likewise: `memory_category` is typed as `--category work`
    short: str = ""  # without a text, this runs it too
    suggest: Suggest | None = None

    def usage(self, name: str, locale: Locale) -> str:
        wordings = command_names(locale)
        options = (f"[--{_option_name(option)} {wordings[option]}]" for option in self.options)
        return " ".join((f"/{name}", *options, *(wordings[argument] for argument in self.arguments)))


def describe_command(name: str, words: Texts) -> str:
    own = words[TerminalTexts].commands.get(name)
    return own or command_names(words.locale)[f"{name.replace(' ', '_')}_description"]


def _option_name(key: str) -> str:
    return command_names(Locale.EN)[key]


class InvalidCommand(Exception):
    pass


_OPTION: Final = re.compile(r"""--([a-z]+)[=\s]\s*("[^"]*"|\S+)\s*""")


def _fold(typed: str) -> str:
    return unicodedata.normalize("NFKC", typed).casefold()


def parse(line: str, words: Texts) -> tuple[str, str, Mapping[str, str]]:
    """Return command, text and options; without a slash it is a question. Raises InvalidCommand."""
    typed = line.strip()
    if not typed.startswith(("/", "／")):
        return "ask", typed, {}
    attempts = []
    for count in (2, 1):
        parts = typed[1:].split(maxsplit=count)
        attempts.append(name := _fold(" ".join(parts[:count])))
        text = parts[count] if len(parts) > count else ""
        if not text:
            name = _short_names().get(name, name)
        if name in commands() and typed[1:2].strip():
            text, options = _take_options(commands()[name], text)
            return name, text if name == "ask" else _unquoted(text), options
    on_discord = command_names(Locale.EN)
    for attempt in attempts:
        given = one_line(f"/{attempt}", 40)
        if f"{attempt.replace(' ', '_')}_description" in on_discord and attempt not in _short_names():
            raise InvalidCommand(words[TerminalTexts].not_here.format(given=given))
    for attempt in attempts:
        given = one_line(f"/{attempt}", 40)
        if near := get_close_matches(attempt, [*commands(), *_short_names()], n=1):
            raise InvalidCommand(words[TerminalTexts].unknown_near.format(given=given, nearest=f"/{near[0]}"))
    raise InvalidCommand(words[TerminalTexts].unknown.format(given=given))


def _take_options(command: Command, text: str) -> tuple[str, Mapping[str, str]]:
    known = {_option_name(key) for key in command.options}
    options: dict[str, str] = {}
    while (found := _OPTION.match(text)) and found[1] in known:
        options[found[1]] = _unquoted(found[2])
        text = text[found.end() :]
    return text.strip(), options


def _unquoted(text: str) -> str:
    quoted = len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return text[1:-1] if quoted else text


def number_in(text: str, needed: str) -> int:
    digits = text.lstrip("#＃")
    if not digits.isdecimal() or not 0 < int(digits[:20]) < 2**63:
        raise InvalidCommand(needed)
    return int(digits)


async def run_line(chat: Chat, line: str) -> bool:
    """Run a line. Returns False if it ends the chat."""
    name = ""
    try:
        if line.strip():
            name, text, options = parse(line, chat.texts)
            outcome = await commands()[name].run(chat, text, options)
            if outcome is not None:
                chat.view.say(outcome if isinstance(outcome, str) else _written(outcome))
    except InvalidCommand as mistake:
        chat.view.fail(str(mistake))
    except errors.CcBotError as error:
        chat.view.fail(explain_to_operator(error, chat.profile))
    except OSError:
        raise  # the terminal or pipe is closed
    except Exception as error:  # noqa: BLE001 - one broken command must not end the chat
        _log.error("command_failed", command=name, error=type(error).__name__)
        chat.view.fail(explain(errors.CcBotError(), chat.texts))
    return name != "exit"


def _written(reply: Reply) -> str:
    items = (
        f"  #{each.number}  {one_line(each.text)}  ({', '.join(filter(None, (*each.details, each.trouble)))})"
        for each in reply.items
    )
    hints = (f"  {action.label}: {action.typed}" for action in reply.actions if action.typed)
    return "\n".join((*filter(None, (reply.title,)), *reply.lines, *items, *reply.notes, *hints))


async def ask(chat: Chat, text: str, _options: Mapping[str, str]) -> None:
    profile = chat.profile
    question = Message("user", text, visibility=profile.visibility, author_id=chat.user_id)
    done = await answer(chat, question)
    if done.first and profile.offline and "OPENAI_API_KEY" not in done.answer.content:
        chat.view.notices([chat.texts[TerminalTexts].no_key])


async def clear(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    await chat.stores.sessions.clear(chat.profile.key)
    return chat.texts[SessionTexts].cleared


async def show_help(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    words, locale = chat.texts, chat.profile.locale
    lines = [words[TerminalTexts].help_title]
    for name, command in commands().items():
        lines += [f"  {command.usage(name, locale)}", f"      {describe_command(name, words)}"]
    return "\n".join((*lines, "", words[TerminalTexts].help_keys, words[TerminalTexts].help_stored))


async def leave(_chat: Chat, _text: str, _options: Mapping[str, str]) -> None:
    pass


@cache
def commands() -> Mapping[str, Command]:
    """Return the commands by name; those of a feature are in COMMANDS of its `terminal`."""
    return {
        "ask": Command(ask, ("ask_question",)),
        **{name: each for module in modules("terminal") for name, each in module.COMMANDS.items()},
        "clear": Command(clear),
        "help": Command(show_help),
        "exit": Command(leave, short="quit"),
    }


@cache
def _short_names() -> Mapping[str, str]:
    return {each.short: name for name, each in commands().items() if each.short}


async def complete(chat: Chat, typed: str) -> Sequence[Completion]:
    """Complete a command, or a number."""
    if not typed.startswith(("/", "／")):
        return ()
    name, _, word = _fold(typed)[1:].rpartition(" ")
    command = commands().get(name)
    if command and command.suggest:
        return [
            Completion(str(number), -len(word), display=f"#{number}", display_meta=one_line(content, 60))
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
        if f"/{name}".startswith(_fold(typed))
    ]
