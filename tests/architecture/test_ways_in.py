"""Every way into the bot passes the gate: nothing listens for what Discord sends without asking it."""

import ast
import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightbulb

import cc_bot.discord
from cc_bot.discord.bot import extension_names
from cc_bot.discord.gateway import gateway_bot
from cc_bot.discord.recipients import command_names

TOKEN = base64.b64encode(b"123456789012345678").decode() + ".x.y"
FOLDER = Path(str(cc_bot.discord.__file__)).parent
GUARDED = {
    "ComponentInteractionCreateEvent": {"handlers.py"},
    "ModalInteractionCreateEvent": {"handlers.py"},
    "InteractionCreateEvent": set[str](),
    "CommandInteractionCreateEvent": set[str](),
    "AutocompleteInteractionCreateEvent": set[str](),
    "MessageCreateEvent": {"listening.py"},
}
"""Hikari's events of what people do, and the one module that may listen for each."""


async def commands() -> Sequence[type[lightbulb.commands.CommandBase]]:
    """Every command that is registered, those of groups too."""
    client = lightbulb.client_from_app(gateway_bot(TOKEN, None, "off"), localization_provider=command_names())
    await client.load_extensions(*extension_names())
    found = list[type[lightbulb.commands.CommandBase]]()
    left: list[Any] = [*client.registered_commands]
    while left:
        each = left.pop()
        if isinstance(each, type):
            found.append(each)
        else:
            left += each.subcommands.values()
    return found


class TestWaysIn:
    def test_are_listened_to_behind_the_gate_alone(self) -> None:
        found: dict[str, set[str]] = {event: set() for event in GUARDED}
        for path in FOLDER.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in GUARDED:
                    found[node.attr].add(path.name)
        assert found == GUARDED

    async def test_lists_of_choices_are_for_those_who_may_use_the_bot(self) -> None:
        lists = [
            option.autocomplete_provider
            for command in await commands()
            for option in command._command_data.options.values()
            if option.autocomplete
        ]
        assert lists
        assert [each for each in lists if "suggest_from" not in getattr(each, "__qualname__", "")] == []
