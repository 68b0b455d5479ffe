"""What was typed, for the up arrow of the next chat: in a file that only its user can read."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory

from cc_bot.terminal.commands import Ask
from cc_bot.terminal.parsing import parse


def open_history(file: Path | None) -> "TypedHistory":
    """A history in this file; in memory alone when there is none or it can't be written."""
    if file is None:
        return TypedHistory(os.devnull)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        file.chmod(0o600)
    except OSError:
        return TypedHistory(os.devnull)
    return TypedHistory(str(file))


class TypedHistory(FileHistory):
    def forget(self) -> None:
        """Nothing was ever typed: here, and for the next chat."""
        self._loaded_strings = []
        with contextlib.suppress(OSError):
            os.truncate(self.filename, 0)

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        command = parse(string)
        if isinstance(command, Ask) and command.temporary:
            return  # of a temporary question nothing is kept
        with contextlib.suppress(OSError):  # a full disk is no reason to end the chat
            super().store_string(string)
