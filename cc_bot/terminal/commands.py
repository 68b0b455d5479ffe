"""All commands, each with its Japanese name: those of Discord, and in the same manner what the terminal alone
has. Whoever types Japanese may stay in it; everything after this knows English names alone."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from cc_bot.domain.locale import Locale
from cc_bot.terminal import answering, memory, proposals, reminders, settings
from cc_bot.terminal.context import Chat
from cc_bot.terminal.lexer import Command, command, folded, japanese_name
from cc_bot.terminal.view import Manual
from cc_bot.texts import texts


@command("help")
async def show_help(chat: Chat) -> None:
    words = chat.texts
    manuals = [Manual(each.usage(words), words.terminal.commands[name]) for name, each in COMMANDS.items()]
    names = words.terminal.help_names.format(example=f"/{JAPANESE['memory add']}")
    chat.view.help(manuals, names, words)


@command("exit")
async def leave(_chat: Chat) -> None:
    """The runner ends with it."""


def _declared() -> Iterator[Command]:
    for module in (answering, proposals, memory, reminders, settings):
        yield from (each for each in vars(module).values() if isinstance(each, Command))
    yield from (show_help, leave)


_ORDER: Final = [*texts(Locale.EN).terminal.commands]
COMMANDS: Final[Mapping[str, Command]] = {
    each.name: each for each in sorted(_declared(), key=lambda each: _ORDER.index(each.name))
}
"""By their names, in the order in which their words stand."""

# ---- Japanese names --------------------------------------------------------------------------------------

_WIDE_SPACE: Final = "\u3000"
_NAME: Final = re.compile(r"[/／](?P<root>\S+)(?P<gap>\s*)(?P<word>\S*)(?P<end>\s*)")

JAPANESE: Final[Mapping[str, str]] = {name: japanese_name(name) for name in COMMANDS}
"""Every command's Japanese name, by its English one."""
_WITH_A_WORD: Final = [
    f"{name} {word}"
    for name, each in COMMANDS.items()
    for argument in each.arguments.values()
    for word in argument.words
]
_ROOTS: Final = {japanese.split()[0]: english.split()[0] for english, japanese in JAPANESE.items()}
_WORDS: Final = {
    (english.split()[0], japanese_name(english).partition(" ")[2]): english.partition(" ")[2]
    for english in (*COMMANDS, *_WITH_A_WORD)
}
"""The English for what follows the English root, by the Japanese."""


def in_english(line: str) -> str:
    """Return the line with a command's English name where it begins with the Japanese one, and spaces in half
    width there; else as it is."""
    found = _NAME.match(line)
    if found is None:
        return line
    typed = folded(found["root"])
    root = _ROOTS.get(typed, typed)
    word = _WORDS.get((root, folded(found["word"])), found["word"])
    if (root, word) == (typed, found["word"]):
        return line
    gap, end = (found[each].replace(_WIDE_SPACE, " ") for each in ("gap", "end"))
    return f"/{root}{gap}{word}{end}{line[found.end() :]}"
