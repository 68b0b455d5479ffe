"""The features. To take one out, delete its folder and its line in FEATURES. The core needs memory, settings
and privacy, and heartbeats need reminders.

A feature has the modules in FILES that it needs, and may have `schema.sql` and `templates/` of web pages.
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
    "tools": (),  # for the model; the optional `open_tools` opens tools of servers
    "drawing": ("open_drawing",),  # what a turn draws
    "changes": ("CHANGES",),  # receipts of what tools changed
    "agents": ("make_agents", "read_choices"),  # the agents, and which one users chose
    "parts": ("make_parts",),  # objects that its front ends share
    "discord": ("make_parts",),  # objects for Discord only
    "jobs": ("make_jobs",),  # background work while Discord is connected
    "commands": ("loader",),  # a lightbulb loader
    "web": ("PAGES",),
    "terminal": ("COMMANDS",),  # the optional `run_during_chat` is background work
    "cli": ("add_command", "run"),  # a command of `cc-bot`
    "doctor": ("list_checks",),
    "setup": ("run_setup",),  # what `cc-bot` without a command asks
}
"""The modules that a feature may have, with the names that each must define."""


class IncompleteFeature(SystemExit):
    """A developer's mistake; the message names the file."""


@dataclass(frozen=True, slots=True)
class Feature:
    name: str  # the folder's name

    def module(self, file: str) -> ModuleType | None:
        """Import one of FILES. Returns None if the feature has none. Raises IncompleteFeature."""
        folder = f"{__name__}.{self.name}"
        try:
            module = import_module(f"{folder}.{file}") if find_spec(f"{folder}.{file}") else None
        except SyntaxError as error:
            raise IncompleteFeature(f"{error.filename}:{error.lineno}: {error.msg}") from None
        except ModuleNotFoundError as error:
            if error.name != folder:
                raise
            raise IncompleteFeature(f"{__file__}: FEATURES has {self.name}, which has no folder") from None
        if module is None:
            return None
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
