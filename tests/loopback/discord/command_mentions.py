"""Commands in what the bot writes: as a reader sees them, and where they are not what Discord would show.

Source: "Message Formatting" of the documentation, "Slash Command": `</NAME:ID>`, `</NAME SUBCOMMAND:ID>` and
`</NAME GROUP SUBCOMMAND:ID>`, each with the command's id. They are shown in a message's content and in
embeds' descriptions and field values, but not in code.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from tests.loopback.discord.commands import CHAT_INPUT, Command, CommandRegistry
from tests.loopback.discord.messages import Shown

_MENTION: Final = re.compile(r"</([^:>\n]{1,100}):(\d+)>")
_CODE: Final = re.compile(r"(`+)[^`](?:.*?[^`])?\1(?!`)", re.DOTALL)
_SUBCOMMANDS: Final = frozenset({1, 2})


def as_read(shown: Shown, registry: CommandRegistry, locale: str) -> Shown:
    """A message with the names in it that its reader's client shows in place of mentions."""
    return shown.reworded(lambda text: _read(text, registry, locale))


def misnamed(body: Any, registry: CommandRegistry) -> Iterator[str]:
    """Where the body of a request has a command that its reader could not press: a mark without an id, an id
    that is no such command's, a mention where none is shown, and a plain name where a mention would be."""
    for path, text in _texts(body, ()):
        found = _MENTION.findall(text)
        if any(f"</{name}" in _MENTION.sub("", text) for name in _roots(registry)):
            yield f"no id: {text}"
        if found and not _shows_mentions(path):
            yield f"mention in {'.'.join(path)}: {text}"
        if any(_MENTION.search(code[0]) for code in _CODE.finditer(text)):
            yield f"mention in code: {text}"
        if any(_name(registry, name, int(number), "") is None for name, number in found):
            yield f"no such command: {text}"


def _read(text: str, registry: CommandRegistry, locale: str) -> str:
    def shown(mention: re.Match[str]) -> str:
        name = _name(registry, mention[1], int(mention[2]), locale)
        return mention[0] if name is None else f"/{name}"

    return _MENTION.sub(shown, text)


def _name(registry: CommandRegistry, path: str, number: int, locale: str) -> str | None:
    """The whole name in that language; None when there is no command of that name and id."""
    words = path.split(" ")
    root = next((each for each in _slash(registry) if each.id == number and each.name == words[0]), None)
    if root is None:
        return None
    found, raw = [], root.raw
    for count, word in enumerate(words):
        if count:
            raw = next((each for each in _parts(raw) if each["name"] == word), {})
        if not raw:
            return None
        found.append((raw.get("name_localizations") or {}).get(locale) or str(raw["name"]))
    return None if _parts(raw) else " ".join(found)


def _parts(raw: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in raw.get("options") or [] if each["type"] in _SUBCOMMANDS]


def _slash(registry: CommandRegistry) -> list[Command]:
    return [each for each in registry.stored if each.kind == CHAT_INPUT]


def _roots(registry: CommandRegistry) -> list[str]:
    return [each.name for each in _slash(registry)]


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, (*path, str(key)))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, path)


def _shows_mentions(path: tuple[str, ...]) -> bool:
    return path[-1:] == ("content",) or path[-2:] in (("embeds", "description"), ("fields", "value"))
