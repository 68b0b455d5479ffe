"""Runs a line: a question, or a command named and described as on Discord (texts/commands.py)."""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

import structlog
from prompt_toolkit.completion import Completion

from cc_bot.chat.reply import Reply
from cc_bot.domain import errors
from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.model import Source
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.features.reminders import service as reminders
from cc_bot.features.reminders.texts import RemindHereTexts
from cc_bot.features.reminders.when.resolve import split_when
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.questions import Chat, answer, explain_to_operator
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import TerminalTexts
from cc_bot.texts.commands import command_names

_log = structlog.get_logger(__name__)

Outcome = Reply | str | None
Run = Callable[[Chat, str, Mapping[str, str]], Awaitable[Outcome]]
"""Takes the text and the options; returns what is said, unless the command showed it."""
MAX_LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class Command:
    run: Run
    takes: tuple[str, ...] = ()
    """Keys in texts/commands.py."""
    options: tuple[str, ...] = ()
    """`memory_category`: `--category work`."""

    def usage(self, name: str, locale: Locale) -> str:
        wordings = command_names(locale)
        options = (f"[--{_option_name(option)} {wordings[option]}]" for option in self.options)
        return " ".join((f"/{name}", *options, *(wordings[argument] for argument in self.takes)))


def describe_command(name: str, words: Texts) -> str:
    own = words[TerminalTexts].commands.get(name)
    return own or command_names(words.locale)[f"{name.replace(' ', '_')}_description"]


def _option_name(key: str) -> str:
    return command_names(Locale.EN)[key]


class InvalidCommand(Exception):
    pass


_SHORTCUTS: Final = {
    "memory": "memory list",
    "remind": "remind list",
    "canvas": "canvas show",
    "quit": "exit",
}
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
            name = _SHORTCUTS.get(name, name)
        if name in COMMANDS and typed[1:2].strip():
            text, options = _take_options(COMMANDS[name], text)
            return name, text if name == "ask" else _unquoted(text), options
    on_discord = command_names(Locale.EN)
    for attempt in attempts:
        given = one_line(f"/{attempt}", 40)
        if f"{attempt.replace(' ', '_')}_description" in on_discord and attempt not in _SHORTCUTS:
            raise InvalidCommand(words[TerminalTexts].not_here.format(given=given))
    for attempt in attempts:
        given = one_line(f"/{attempt}", 40)
        if near := get_close_matches(attempt, [*COMMANDS, *_SHORTCUTS], n=1):
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


def _number(text: str, needed: str) -> int:
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
            outcome = await COMMANDS[name].run(chat, text, options)
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
    for name, command in COMMANDS.items():
        lines += [f"  {command.usage(name, locale)}", f"      {describe_command(name, words)}"]
    return "\n".join((*lines, "", words[TerminalTexts].help_keys, words[TerminalTexts].help_stored))


async def leave(_chat: Chat, _text: str, _options: Mapping[str, str]) -> None:
    pass


async def list_memories(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    category = options.get("category", text) or None
    caller, service = chat.profile.caller, chat.memories
    return await memories.list_memories(caller, category=category, page_size=MAX_LISTED, service=service)


async def search_memories(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    category = options.get("category")
    return await memories.search(chat.profile.caller, query=text, category=category, service=chat.memories)


async def add_memory(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    paused = (await chat.stores.settings.get(chat.user_id)).memory_paused
    _, reply = await memories.add(
        replace(chat.profile.caller, memory_paused=paused),
        content=text,
        category=options.get("category"),
        tags=options.get("tags"),
        audience="anywhere",
        source=Source("terminal"),
        service=chat.memories,
    )
    return reply


async def delete_memory(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = _number(text, chat.texts[MemoryTexts].id_needed)
    return await memories.delete(chat.profile.caller, id=number, service=chat.memories)


async def undo_memory(chat: Chat, text: str, _options: Mapping[str, str]) -> str:
    """Undo the deletion, else the newest change. Raises MemoryNotFound."""
    words, user_id, stored = chat.texts, chat.user_id, chat.stores.memories
    number = _number(text, words[MemoryTexts].id_needed)
    memory_id = await memories.row_of(chat.profile.caller, number, chat.memories)
    back = await chat.stores.memory_removal.undelete(user_id, memory_id)
    if back is None and (memory := await stored.get(user_id, memory_id)):
        back = await stored.undo_update(user_id, memory.id, memory.supersedes or 0)
        if back is None:
            raise InvalidCommand(words[TerminalTexts].nothing_to_undo.format(id=number))
    if back is None:
        raise errors.MemoryNotFound(id=number)
    return words[MemoryTexts].undeleted.format(id=back.number, content=one_line(back.content))


async def list_reminders(chat: Chat, _text: str, _options: Mapping[str, str]) -> Reply:
    return await reminders.list_reminders(chat.profile.caller, schedules=chat.stores.schedules)


async def add_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    """Take `明日9時と18時 薬`. Raises InputError."""
    if not text:
        raise errors.EmptyReminder
    when, what = split_when(text)
    if not what:
        raise InvalidCommand(chat.texts[RemindHereTexts].what)
    profile, schedules = chat.profile, chat.stores.schedules
    return await reminders.add(
        profile.caller,
        reminders.Destination(profile.key, "terminal"),
        text=what,
        when=when,
        schedules=schedules,
        moments=chat.moments,
    )


async def delete_reminder(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = _number(text, chat.texts[RemindHereTexts].id_needed)
    return await reminders.delete(chat.profile.caller, number, schedules=chat.stores.schedules)


async def show_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str | None:
    seen = await chat.stores.canvases.get(chat.profile.key)
    if seen is None or seen.canvas.empty:
        return chat.texts[CanvasTexts].empty
    chat.view.canvas(seen.canvas, chat.texts)
    return None


async def clear_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    words = chat.texts[CanvasTexts]
    return words.cleared if await chat.stores.canvases.clear(chat.profile.key) else words.cleared_already


COMMANDS: Final[Mapping[str, Command]] = {
    "ask": Command(ask, ("ask_question",)),
    "memory add": Command(add_memory, ("memory_content",), ("memory_category", "memory_tags")),
    "memory list": Command(list_memories, options=("memory_category",)),
    "memory search": Command(search_memories, ("memory_query",), ("memory_category",)),
    "memory delete": Command(delete_memory, ("memory_id",)),
    "memory undo": Command(undo_memory, ("memory_id",)),
    "remind add": Command(add_reminder, ("remind_when", "remind_text")),
    "remind list": Command(list_reminders),
    "remind delete": Command(delete_reminder, ("remind_id",)),
    "canvas show": Command(show_canvas),
    "canvas clear": Command(clear_canvas),
    "clear": Command(clear),
    "help": Command(show_help),
    "exit": Command(leave),
}


async def complete(chat: Chat, typed: str) -> Sequence[Completion]:
    """Complete a command, or a number."""
    if not typed.startswith(("/", "／")):
        return ()
    command, _, word = _fold(typed)[1:].rpartition(" ")
    known: Sequence[tuple[int, str]] = ()
    if command in ("memory delete", "memory undo"):
        memories = await chat.stores.memories.suggest(chat.user_id, word)
        known = [(each.number, each.content) for each in memories]
    elif command == "remind delete":
        schedules = await chat.stores.schedules.list(chat.user_id)
        known = [(each.number, each.text) for each in schedules if str(each.number).startswith(word)]
    else:
        return [
            Completion(
                f"/{name} " if each.takes else f"/{name}",
                start_position=-len(typed),
                display=f"/{name}",
                display_meta=describe_command(name, chat.texts),
            )
            for name, each in COMMANDS.items()
            if f"/{name}".startswith(_fold(typed))
        ]
    return [
        Completion(str(number), -len(word), display=f"#{number}", display_meta=one_line(content, 60))
        for number, content in known
    ]
