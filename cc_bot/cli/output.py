"""Output and prompts of the commands."""

import contextlib
import errno
import os
import sys

from cc_bot.domain.errors import OutputLost


def say(sentence: str) -> None:
    """Print and flush a line; a closed pipe is ignored. Raises OutputLost, once."""
    try:
        print(sentence, flush=True)  # noqa: T201 - a command's own words
    except OSError as error:
        # Otherwise Python would flush at exit, and report an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            raise OutputLost(reason=os.strerror(error.errno or 0)) from None


def say_in_passing(sentence: str) -> None:
    with contextlib.suppress(OutputLost):
        say(sentence)


def ask_consent(question: str) -> bool:
    """Without a terminal: no."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(question).strip().lower() in ("y", "yes", "はい")
    except EOFError:
        return False
