"""Where settings come from: the environment, then `.env`."""

import os
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Final, TypeVar

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from cc_bot.config.values import LOCAL, OFF
from cc_bot.domain.errors import InvalidSetting, SettingsUnreadable
from cc_bot.regular_file import read_regular

Value = TypeVar("Value")


class Reader:
    """Takes values out of the environment; a variable that is set but empty counts as not set."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def optional(self, name: str) -> str | None:
        return self._values.get(name, "").strip() or None

    def text(self, name: str, default: str) -> str:
        return self.optional(name) or default

    def path(self, name: str) -> Path | None:
        given = self.optional(name)
        return None if given is None else Path(given)

    def embedding_model(self, text: str) -> str:
        """A model by name needs a server that has it."""
        if text.lower() in (LOCAL, OFF):
            return text.lower()
        if not (self.optional("OPENAI_API_KEY") or self.optional("OPENAI_BASE_URL")):
            raise ValueError
        return text

    def parsed(self, name: str, default: str, parse: Callable[[str], Value], *, example: str) -> Value:
        try:
            return parse(self.text(name, default))
        except (ValueError, KeyError, OSError, OverflowError) as error:
            raise InvalidSetting(name=name, expected=example) from error


LARGEST_BYTES: Final = 1 << 18
"""Of `.env`: a file of megabytes is another one, and would be read for minutes."""


def read_dotenv(path: Path) -> dict[str, str]:
    """What the file sets. A line that can't be read is refused: its setting would seem to be missing."""
    refused = InvalidSetting(name=".env", expected="CC_BOT_LOCALE=ja")
    try:
        if not os.path.lexists(path):  # nor is it in a folder that may not be looked into
            return {}
        content = read_regular(path)
        text = content.decode("utf-8-sig")
    except PermissionError as error:
        raise SettingsUnreadable(path=str(path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise refused from error
    if len(content) > LARGEST_BYTES:
        raise refused
    lines = [line for line in parse_stream(StringIO(text)) if line.key or line.error]
    if any(line.error for line in lines):
        raise refused
    values = dotenv_values(stream=StringIO(text))
    return {name: value for name, value in values.items() if value is not None}
