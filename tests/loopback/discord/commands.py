"""Application commands as the bot registered them: checked like Discord checks them, kept under stable ids.

Source: "Application Commands" of the documentation.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.loopback.discord import command_limits
from tests.loopback.discord.snowflakes import Snowflakes

SUB_COMMAND, SUB_COMMAND_GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL = 1, 2, 3, 4, 5, 6, 7
NUMBER, ATTACHMENT = 10, 11
CHAT_INPUT, USER_MENU, MESSAGE_MENU = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Command:
    """One registered command. `raw` is the whole JSON object, localizations included."""

    raw: dict[str, Any]

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
    def options(self) -> list[dict[str, Any]]:
        return list(self.raw.get("options") or [])

    @property
    def names(self) -> dict[str, str]:
        """Localized names by locale."""
        return dict(self.raw.get("name_localizations") or {})

    @property
    def descriptions(self) -> dict[str, str]:
        return dict(self.raw.get("description_localizations") or {})

    @property
    def contexts(self) -> set[int]:
        given = self.raw.get("contexts")
        return {0, 1, 2} if given is None else set(given)

    @property
    def integration_types(self) -> set[int]:
        return set(self.raw.get("integration_types") or [0])


@dataclass(slots=True)
class CommandRegistry:
    """What PUT stored, for everywhere: the bot has no commands of a server's own."""

    application_id: int
    ids: Snowflakes
    stored: list[Command] = field(default_factory=list)
    writes: int = 0

    def replace(self, payloads: list[dict[str, Any]]) -> list[Command]:
        """PUT: the new list takes the place of the old; a command that keeps name and type keeps its id."""
        command_limits.check_commands(payloads)
        known = {(command.kind, command.name): command.id for command in self.stored}
        self.writes += 1
        self.stored = [self._made(payload, known) for payload in payloads]
        return self.stored

    def listing(self, *, with_localizations: bool) -> list[dict[str, Any]]:
        """GET: localizations are left out unless they were asked for, at every depth."""
        commands = [command.raw for command in self.stored]
        return commands if with_localizations else [_without_localizations(raw) for raw in commands]

    def find(self, name: str, *, kind: int) -> Command:
        """Raises AssertionError when the bot registered no such command."""
        found = [each for each in self.stored if (each.kind, each.name) == (kind, name)]
        everything = sorted(each.name for each in self.stored)
        assert found, f"the bot registered no command {name!r} of type {kind}; there are {everything}"
        return found[0]

    def _made(self, payload: dict[str, Any], known: dict[tuple[int, str], int]) -> Command:
        kind = int(payload.get("type") or CHAT_INPUT)
        absent = ("default_member_permissions", "name_localizations", "description_localizations", "contexts")
        raw: dict[str, Any] = {
            **dict.fromkeys(absent),
            "nsfw": False,
            "description": "",
            "integration_types": [0],
            **payload,
            "id": str(known.get((kind, payload["name"])) or self.ids.next()),
            "type": kind,
            "application_id": str(self.application_id),
            "version": str(self.ids.next()),
        }
        return Command(raw)


def _without_localizations(raw: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in raw.items() if not key.endswith("_localizations")}
    if "options" in kept:
        kept["options"] = [_without_localizations(option) for option in kept["options"] or []]
    return kept
