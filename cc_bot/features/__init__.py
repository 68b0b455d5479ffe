"""The features: each is a folder here, and can be taken out with its line in FEATURES. Memory, settings and
privacy stay, as the core needs them; heartbeats need reminders.

A feature has files of fixed names, those it needs:

texts: areas of sentences, and the names of commands
schema.sql, tables: its tables, and TABLES, the rows in them about a user
store: `make_stores`, if it adds stores
tools: what the model calls, and `open_tools`, those of servers
drawing: `open_drawing`, what a turn draws
changes: CHANGES, receipts of what tools changed
agents: `make_agents`, who may answer, and `choices_in`, who was chosen
parts: `make_parts`, what its front ends share
discord: the same for Discord only
jobs: `make_jobs`, work of its own while Discord is connected
commands: a lightbulb loader
web, templates/: PAGES, and what they are rendered with
terminal: COMMANDS, and `beside_chat`, work of its own while the chat is open
cli: `add_command`, a command of `cc-bot`, with `run` and `say_error`
doctor: `list_checks`
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final, Literal

Part = Literal[
    "texts",
    "tables",
    "store",
    "tools",
    "drawing",
    "changes",
    "agents",
    "parts",
    "discord",
    "jobs",
    "commands",
    "web",
    "terminal",
    "cli",
    "doctor",
]


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    """The folder's name."""

    def module(self, part: Part) -> ModuleType | None:
        """Import one of its modules. Returns None if it has none of that name."""
        name = f"{__name__}.{self.name}.{part}"
        return import_module(name) if find_spec(name) else None


FEATURES: Final = (
    Feature("memory"),
    Feature("reminders"),
    Feature("heartbeat"),
    Feature("canvas"),
    Feature("agents"),
    Feature("settings"),
    Feature("privacy"),
    Feature("documents"),
    Feature("voice"),
    Feature("web_pages"),
    Feature("mcp"),
    Feature("admin"),
    Feature("doctor"),
)


def has(name: str) -> bool:
    return any(each.name == name for each in FEATURES)


def modules(part: Part) -> Iterator[ModuleType]:
    """Import that module of each feature that has one."""
    for feature in FEATURES:
        if module := feature.module(part):
            yield module
