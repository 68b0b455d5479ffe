"""The pieces of a typed line: words, options, paths."""

import re
from collections.abc import Callable

from cc_bot.terminal.commands import Command, CommandName, Misused
from cc_bot.terminal.names import folded

# What is in quotes ends somewhere: where it does not, each opening one would look through all that follows.
_VALUE = r"(?:\"[^\"]{0,1000}\"|「[^」]{0,1000}」|[^\s\"「]\S*)"


def split(text: str) -> tuple[str, str]:
    """The first word, as commands are spelled, and what follows it as it is."""
    word, *rest = text.split(maxsplit=1) or [""]
    return folded(word), rest[0] if rest else ""


def take(name: str, text: str, value: str = _VALUE) -> tuple[str | None, str]:
    """The value of `--name value` anywhere in the text, and the text without it."""
    found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|=)(?P<value>{value})(?:\s+|$)", text)
    if found is None:
        return None, text
    return found["value"].strip('"「」'), (text[: found.start()] + text[found.end() :]).strip()


def take_flag(name: str, text: str) -> tuple[bool, str]:
    """Whether `--name` stands anywhere in the text, and the text without it."""
    found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|$)", text)
    if found is None:
        return False, text
    return True, (text[: found.start()] + text[found.end() :]).strip()


def typed_path(text: str) -> str:
    """A path in quotes, or with its blanks escaped, as a file dragged into a terminal arrives."""
    path = text.strip()
    if len(path) > 1 and path[0] == path[-1] and path[0] in "'\"":
        return path[1:-1]
    return path.replace("\\ ", " ")


def alone(command: CommandName, value: Command) -> Callable[[str], Command]:
    """For a command that takes no arguments."""
    return lambda rest: Misused(command, "argument", rest) if rest.strip() else value
