"""What a command says to whoever called it, and asks."""

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable

from cc_bot.domain.errors import (
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    StorageError,
)
from cc_bot.texts.storage import StorageTexts


def say(sentence: str) -> None:
    """One line, at once."""
    print(sentence, flush=True)  # noqa: T201 - a command's own words


def why_it_ended(error: StorageError, path: object, words: StorageTexts) -> str:
    """What is wrong with the database, for whoever can mend it; a user is told less."""
    match error:
        case DatabaseLocked():
            sentence = words.locked
        case DatabaseFull():
            sentence = words.full
        case DatabaseReadOnly():
            sentence = words.read_only
        case DatabaseDamaged():
            sentence = words.damaged
        case _:
            sentence = words.unreadable
    return sentence.format(path=path)


def whole_number(least: int, end: int, otherwise: str) -> Callable[[str], int]:
    """How argparse reads a number from `least` to before `end`; `otherwise` is said of all else."""

    def read(text: str) -> int:
        number = int(text) if text.isdecimal() and text.isascii() else -1
        if not least <= number < end:
            raise ArgumentTypeError(otherwise)
        return number

    return read


def agreed(question: str) -> bool:
    """Whether a person at a terminal says yes; no without one, since nobody was asked."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(question).strip().lower() in ("y", "yes", "はい")
    except EOFError:
        return False
