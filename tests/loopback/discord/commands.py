"""Application commands: as the bot registered them, as a client offers them, and as messages name them.

Source: "Application Commands" and "Message Formatting" of the documentation. A client knows the options and
lets nothing else through: what it would not send is the test's mistake, an AssertionError.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.loopback.discord.channels import Snowflakes, User
from tests.loopback.discord.interactions import Interaction
from tests.loopback.discord.limits import Json, check_commands
from tests.loopback.discord.messages import Attachment, File, Shown

SUBCOMMANDS: Final = frozenset({1, 2})
STRING, INTEGER, BOOLEAN, NUMBER, ATTACHMENT = 3, 4, 5, 10, 11
CHAT_INPUT, MESSAGE_MENU = 1, 3
Value = str | int | float | bool | File | User
_PYTHON: dict[int, type] = {STRING: str, INTEGER: int, BOOLEAN: bool, ATTACHMENT: File}


@dataclass(frozen=True, slots=True)
class Command:
    """One registered command. `raw` is the whole JSON object, localizations included."""

    raw: Json

    @property
    def id(self) -> int:
        return int(self.raw["id"])

    @property
    def name(self) -> str:
        return str(self.raw["name"])

    @property
    def kind(self) -> int:
        return int(self.raw["type"])

    @property
    def description(self) -> str:
        return str(self.raw["description"])

    @property
    def options(self) -> list[Json]:
        return list(self.raw.get("options") or [])

    @property
    def names(self) -> dict[str, str]:
        """Localized names by locale."""
        return dict(self.raw.get("name_localizations") or {})

    @property
    def contexts(self) -> set[int]:
        given = self.raw.get("contexts")
        return {0, 1, 2} if given is None else set(given)

    @property
    def integration_types(self) -> set[int]:
        return set(self.raw.get("integration_types") or [0])


@dataclass(slots=True)
class CommandRegistry:
    application_id: int
    ids: Snowflakes
    stored: list[Command] = field(default_factory=list)
    writes: int = 0

    def replace(self, payloads: list[Json]) -> list[Command]:
        check_commands(payloads)
        known = {(command.kind, command.name): command.id for command in self.stored}
        self.writes += 1
        self.stored = [self._made(payload, known) for payload in payloads]
        return self.stored

    def listing(self, *, with_localizations: bool) -> list[Json]:
        """GET: localizations are left out unless they were asked for, at every depth."""
        commands = [command.raw for command in self.stored]
        return commands if with_localizations else [_without_localizations(raw) for raw in commands]

    def find(self, name: str, *, kind: int) -> Command:
        """Raises AssertionError when the bot registered no such command."""
        found = [each for each in self.stored if (each.kind, each.name) == (kind, name)]
        everything = sorted(each.name for each in self.stored)
        assert found, f"the bot registered no command {name!r} of type {kind}; there are {everything}"
        return found[0]

    def slash(self) -> list[Command]:
        return [each for each in self.stored if each.kind == CHAT_INPUT]

    def _made(self, payload: Json, known: dict[tuple[int, str], int]) -> Command:
        kind = int(payload.get("type") or CHAT_INPUT)
        absent = ("default_member_permissions", "name_localizations", "description_localizations", "contexts")
        usual = {**dict.fromkeys(absent), "nsfw": False, "description": "", "integration_types": [0]}
        number = known.get((kind, payload["name"])) or self.ids.next()
        about = {"application_id": str(self.application_id), "version": str(self.ids.next())}
        return Command(usual | payload | about | {"id": str(number), "type": kind})


def _without_localizations(raw: Json) -> Json:
    kept = {key: value for key, value in raw.items() if not key.endswith("_localizations")}
    if "options" in kept:
        kept["options"] = [_without_localizations(option) for option in kept["options"] or []]
    return kept


@dataclass(slots=True)
class Typed:
    """The `data` of a command interaction while it is put together."""

    command: Command
    path: list[str]
    resolved: dict[str, Json] = field(default_factory=dict)

    @property
    def accepted(self) -> list[Json]:
        """The options of the command, or of the subcommand that `path` names."""
        options = self.command.options
        for name in self.path:
            found = [o for o in options if o["name"] == name and o["type"] in SUBCOMMANDS]
            assert found, f"/{self.command.name} has no subcommand {name!r}"
            options = found[0].get("options") or []
        assert not any(option["type"] in SUBCOMMANDS for option in options), "a subcommand must be named"
        return options

    def nest(self, options: list[Json]) -> Json:
        """The options inside their subcommands, as the interaction carries them."""
        kinds, level = [], self.command.options
        for name in self.path:
            option = next(o for o in level if o["name"] == name)
            kinds.append(option["type"])
            level = option.get("options") or []
        for name, kind in zip(reversed(self.path), reversed(kinds), strict=True):
            options = [{"name": name, "type": kind, "options": options}]
        command = self.command
        data = {"id": str(command.id), "name": command.name, "type": command.kind, "options": options}
        return data | ({"resolved": self.resolved} if self.resolved else {})

    def value(self, option: Json, value: Value, attachment: Attachment | None) -> Json:
        kind, name = int(option["type"]), str(option["name"])
        entry: Json = {"name": name, "type": kind, "value": value}
        if isinstance(value, User):
            self.resolved.setdefault("users", {})[str(value.id)] = value.payload()
            return entry | {"value": str(value.id)}
        wanted = _PYTHON.get(kind)
        assert kind != NUMBER or isinstance(value, int | float), f"option {name!r} takes a number"
        assert wanted is None or type(value) is wanted, f"option {name!r} takes {wanted}, not {value!r}"
        if attachment is not None:
            self.resolved.setdefault("attachments", {})[str(attachment.id)] = attachment.payload()
            return entry | {"value": str(attachment.id)}
        _check_range(option, value)
        return entry


def _check_range(option: Json, value: Value) -> None:
    name, choices = option["name"], option.get("choices")
    if isinstance(value, str):
        low, high = option.get("min_length", 0), option.get("max_length", 6000)
        assert low <= len(value) <= high, f"option {name!r} takes {low} to {high} characters"
    if isinstance(value, int | float) and not isinstance(value, bool):
        fits = option.get("min_value", value) <= value <= option.get("max_value", value)
        assert fits, f"option {name!r}: {value}"
    assert not choices or value in [choice["value"] for choice in choices], f"option {name!r} takes {choices}"


def check_required(options: list[Json], given: dict[str, Value]) -> None:
    names = {option["name"] for option in options}
    assert set(given) <= names, f"no option {set(given) - names}; there are {names}"
    needed = {option["name"] for option in options if option.get("required")}
    assert needed <= set(given), f"{needed - set(given)} must be given"


def check_available(command: Command, interaction: Interaction) -> None:
    """A client offers a command only in its contexts, and only where it is installed that way."""
    context = interaction.channel.context
    assert context in command.contexts, f"{command.name!r} is not offered in {context.name}"
    installed = {int(kind) for kind in interaction.owners}
    assert installed & command.integration_types, f"{command.name!r} is not offered to a user's own app here"


_MENTION: Final = re.compile(r"</([^:>\n]{1,100}):(\d+)>")
_CODE: Final = re.compile(r"(`+)[^`](?:.*?[^`])?\1(?!`)", re.DOTALL)


def as_read(shown: Shown, registry: CommandRegistry, locale: str) -> Shown:

    def name(mention: re.Match[str]) -> str:
        found = _name(registry, mention[1], int(mention[2]), locale)
        return mention[0] if found is None else f"/{found}"

    return shown.reworded(lambda text: _MENTION.sub(name, text))


def misnamed(body: Any, registry: CommandRegistry) -> Iterator[str]:
    """Where the body of a request has a command that its reader could not press: a mark without an id, an id
    that is no such command's, and a mention in code or where none is shown."""
    for path, text in _texts(body, ()):
        found = _MENTION.findall(text)
        if any(f"</{each.name}" in _MENTION.sub("", text) for each in registry.slash()):
            yield f"no id: {text}"
        shows = path[-1:] == ("content",) or path[-2:] in (("embeds", "description"), ("fields", "value"))
        if found and not shows:
            yield f"mention in {'.'.join(path)}: {text}"
        if any(_MENTION.search(code[0]) for code in _CODE.finditer(text)):
            yield f"mention in code: {text}"
        if any(_name(registry, name, int(number), "") is None for name, number in found):
            yield f"no such command: {text}"


def _name(registry: CommandRegistry, path: str, number: int, locale: str) -> str | None:
    """The whole name in that language; None when there is no command of that name and id."""
    level, found = [each.raw for each in registry.slash() if each.id == number], list[str]()
    for word in path.split(" "):
        raw = next((each for each in level if each["name"] == word), None)
        if raw is None:
            return None
        found.append((raw.get("name_localizations") or {}).get(locale) or word)
        level = [each for each in raw.get("options") or [] if each["type"] in SUBCOMMANDS]
    return None if level else " ".join(found)


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, (*path, str(key)))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, path)
