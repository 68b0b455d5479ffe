"""Every way into the bot passes the gate: nothing listens for what Discord sends without asking it."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import lightbulb

import cc_bot.discord
from cc_bot.discord import commands as package

FOLDER = Path(str(cc_bot.discord.__file__)).parent
GUARDED = {
    "ComponentInteractionCreateEvent": {"presses.py"},
    "ModalInteractionCreateEvent": {"presses.py"},
    "InteractionCreateEvent": set[str](),
    "CommandInteractionCreateEvent": set[str](),
    "AutocompleteInteractionCreateEvent": set[str](),
    "MessageCreateEvent": {"listening.py"},
}
"""Hikari's events of what people do, and the one module that may listen for each."""


def commands() -> Iterator[type[lightbulb.commands.CommandBase]]:
    """Every command that an extension registers, those of groups too."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            own = isinstance(value, type) and value.__module__ == module.name
            if own and issubclass(value, lightbulb.commands.CommandBase):
                yield value


class TestWaysIn:
    def test_are_listened_to_behind_the_gate_alone(self) -> None:
        found: dict[str, set[str]] = {event: set() for event in GUARDED}
        for path in FOLDER.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in GUARDED:
                    found[node.attr].add(path.name)
        assert found == GUARDED

    def test_of_presses_read_a_custom_id_once(self) -> None:
        sources = [path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py")]
        assert sum(source.count("parse_custom_id(interaction.custom_id)") for source in sources) == 1

    def test_lists_of_choices_are_for_those_who_may_use_the_bot(self) -> None:
        lists = [
            option.autocomplete_provider
            for command in commands()
            for option in command._command_data.options.values()
            if option.autocomplete
        ]
        assert lists
        assert [each for each in lists if "suggesting" not in getattr(each, "__qualname__", "")] == []
