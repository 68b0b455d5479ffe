"""Commands in sentences: a sentence has a mark, `</memory add>`, with the command's English name. Before anybody
reads it, a front end puts the name in its place under which its reader finds the command.

A mark with an id, `</memory add:123>`, is a mention: Discord shows it in its reader's language and opens the
command for whoever presses it. It does so in a message's content and in embeds' descriptions and field values,
and nowhere else.

Ids of commands stand in no database and no log: a text that is read back from Discord has names in their
place first (`without_mentions`).
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

Show = Callable[[str], str]
"""What stands for a command, given its English name: `memory add`."""
Wording = TypeVar("Wording")

_MARK: Final = re.compile(r"(`?)</([a-z][a-z -]*)>\1")
_MENTION: Final = re.compile(r"</([^\W\d_][\w -]{0,97}):\d{1,20}>")


def named(wording: Wording, show: Show) -> Wording:
    """The same texts, a whole tree of them too, with every mark replaced. What stands in backticks stays in
    them, but for mentions: in code Discord shows their letters."""

    def put(mark: re.Match[str]) -> str:
        shown = show(mark[2])
        return shown if shown.startswith("<") else f"{mark[1]}{shown}{mark[1]}"

    return cast("Wording", _mapped(wording, lambda text: _MARK.sub(put, text)))


def command_mention(command: str, command_id: int) -> str:
    """A command as Discord shows it. The id is that of the whole command, whatever part of it is meant."""
    return f"</{command}:{command_id}>"


def without_mentions(text: str, show: Show = "/{}".format) -> str:
    """A text that was read on Discord, with names in place of mentions: an id means nothing elsewhere."""
    return _MENTION.sub(lambda found: show(found[1]), text)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value) if "</" in value else value
    if isinstance(value, tuple):
        return tuple(_mapped(each, change) for each in value)
    if isinstance(value, Mapping):
        return {key: _mapped(each, change) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: _mapped(getattr(value, each.name), change) for each in dataclasses.fields(value)}
        return dataclasses.replace(value, **parts)
    return value
