"""What a Discord client does before it sends a command: it knows the options and lets nothing else through.

A mistake here is a mistake of the test, so it raises AssertionError and never reaches the bot.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.loopback.discord.commands import (
    ATTACHMENT,
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    SUB_COMMAND,
    SUB_COMMAND_GROUP,
    Command,
)
from tests.loopback.discord.interactions import Interaction
from tests.loopback.discord.messages import Attachment, File
from tests.loopback.discord.users import User

Value = str | int | float | bool | File | User
_PYTHON: dict[int, type] = {STRING: str, INTEGER: int, BOOLEAN: bool, ATTACHMENT: File}


@dataclass(slots=True)
class Typed:
    """The `data` of a command interaction while it is put together; `keep` uploads a file."""

    command: Command
    path: list[str]
    resolved: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The options of the command, or of the subcommand that `path` names."""
        options = self.command.options
        for name in self.path:
            found = [
                o for o in options if o["name"] == name and o["type"] in (SUB_COMMAND, SUB_COMMAND_GROUP)
            ]
            assert found, f"/{self.command.name} has no subcommand {name!r}"
            options = found[0].get("options") or []
        assert not any(o["type"] in (SUB_COMMAND, SUB_COMMAND_GROUP) for o in options), (
            "a subcommand must be named"
        )
        return options

    def nest(self, options: list[dict[str, Any]]) -> dict[str, Any]:
        """The options inside their subcommands, as the interaction carries them."""
        kinds, level = [], self.command.options
        for name in self.path:
            option = next(o for o in level if o["name"] == name)
            kinds.append(option["type"])
            level = option.get("options") or []
        for name, kind in zip(reversed(self.path), reversed(kinds), strict=True):
            options = [{"name": name, "type": kind, "options": options}]
        command = self.command
        data: dict[str, Any] = {"id": str(command.id), "name": command.name, "type": command.kind}
        return data | {"options": options} | ({"resolved": self.resolved} if self.resolved else {})

    def value(self, option: dict[str, Any], value: Value, attachment: Attachment | None) -> dict[str, Any]:
        kind, name = int(option["type"]), str(option["name"])
        entry: dict[str, Any] = {"name": name, "type": kind, "value": value}
        if isinstance(value, User):
            self.resolved.setdefault("users", {})[str(value.id)] = value.payload()
            return entry | {"value": str(value.id)}
        wanted = _PYTHON.get(kind)
        if kind == NUMBER:
            assert isinstance(value, int | float), f"option {name!r} takes a number"
        elif wanted is not None:
            assert type(value) is wanted, f"option {name!r} takes {wanted.__name__}, not {value!r}"
        if attachment is not None:
            self.resolved.setdefault("attachments", {})[str(attachment.id)] = attachment.payload()
            return entry | {"value": str(attachment.id)}
        _check_range(option, value)
        return entry


def _check_range(option: dict[str, Any], value: Value) -> None:
    name = option["name"]
    if isinstance(value, str):
        low, high = option.get("min_length", 0), option.get("max_length", 6000)
        assert low <= len(value) <= high, f"option {name!r} takes {low} to {high} characters"
    if isinstance(value, int | float) and not isinstance(value, bool):
        assert option.get("min_value", value) <= value <= option.get("max_value", value), (
            f"option {name!r}: {value}"
        )
    if choices := option.get("choices"):
        values = [choice["value"] for choice in choices]
        assert value in values, f"option {name!r} takes one of {values}"


def check_required(options: list[dict[str, Any]], given: dict[str, Value]) -> None:
    names = {option["name"] for option in options}
    assert set(given) <= names, f"no option {set(given) - names}; there are {names}"
    needed = {option["name"] for option in options if option.get("required")}
    assert needed <= set(given), f"{needed - set(given)} must be given"


def check_available(command: Command, interaction: Interaction) -> None:
    """A client offers a command only in its contexts, and only where it is installed that way."""
    context = interaction.channel.context
    assert context in command.contexts, (
        f"{command.name!r} is not offered in {context.name} (contexts {command.contexts})"
    )
    installed = {int(kind) for kind in interaction.owners}
    assert installed & command.integration_types, f"{command.name!r} is not offered to a user's own app here"
