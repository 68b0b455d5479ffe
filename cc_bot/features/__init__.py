"""The features: each is a folder, and can be taken out with its line in FEATURES. Memory, settings and
privacy stay, as the core needs them; heartbeats need reminders.

A feature has those of FILES that it needs, `schema.sql` (tables) and `templates/` (of its pages).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "texts": (),  # sentences and command names
    "store": ("make_stores", "TABLES"),  # stores, and the tables with personal data
    "tools": (),  # for the model; `open_tools` opens those of servers
    "drawing": ("open_drawing",),  # what a turn draws
    "changes": ("CHANGES",),  # receipts of what tools changed
    "agents": ("make_agents", "choices_in"),  # the agents, and the chosen ones
    "parts": ("make_parts",),  # shared by its front ends
    "discord": ("make_parts",),  # for Discord only
    "jobs": ("make_jobs",),  # background work while Discord is connected
    "commands": ("loader",),  # a lightbulb loader
    "web": ("PAGES",),
    "terminal": ("COMMANDS",),  # and `run_during_chat`, background work
    "cli": ("add_command", "run", "say_error"),  # a command of `cc-bot`
    "doctor": ("list_checks",),
}
"""The modules of a feature, with the names that each must define."""


class IncompleteFeature(SystemExit):
    """A developer's mistake; the message names the file."""


@dataclass(frozen=True, slots=True)
class Feature:
    name: str  # the folder's name

    def module(self, file: str) -> ModuleType | None:
        """Import one of FILES. Returns None if the feature has none. Raises IncompleteFeature."""
        name = f"{__name__}.{self.name}.{file}"
        if not find_spec(name):
            return None
        module = import_module(name)
        for each in FILES[file]:
            if not hasattr(module, each):
                raise IncompleteFeature(f"{module.__file__} must define {each}")
        return module


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


def modules(file: str) -> Iterator[ModuleType]:
    """Import one of FILES of each feature that has it. Raises IncompleteFeature."""
    for feature in FEATURES:
        if module := feature.module(file):
            yield module


@cache
def find_module(file: str) -> ModuleType | None:
    """Return the module of the only feature that has it; None if that feature was taken out."""
    return next(modules(file), None)
