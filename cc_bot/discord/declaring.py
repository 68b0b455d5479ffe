"""Declare slash commands and their options, each by its key in texts/commands.py."""

from collections.abc import Callable, Mapping, Sequence
from types import new_class
from typing import Any, Concatenate, ParamSpec, TypeVar

import lightbulb

P = ParamSpec("P")
T = TypeVar("T")
Declared = TypeVar("Declared", bound=type)

_IMPLICIT = frozenset({"__dict__", "__weakref__"})


def command(
    register: Callable[[Any], Any], key: str, *, hooks: Sequence[lightbulb.ExecutionHook] = ()
) -> Callable[[Declared], Declared]:
    """Register a class as the slash command of this key, in a group or with a loader.

    What `text_option` and the like made are its options. `invoke(self, ctx, …)` runs it; what it needs is
    injected by type.
    """

    def declare(declared: Declared) -> Declared:
        own: dict[str, Any] = {name: value for name, value in vars(declared).items() if name not in _IMPLICIT}
        own["invoke"] = lightbulb.invoke(own["invoke"])
        given = {"name": key, "description": f"{key}_description", "localize": True, "hooks": [*hooks]}
        made: Any = new_class(declared.__name__, (lightbulb.SlashCommand,), given, _filled_with(own))
        register(made)
        return made  # type: ignore[no-any-return]

    return declare


def _filled_with(own: Mapping[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda body: body.update(own)


def _localized(option: Callable[Concatenate[str, str, P], T]) -> Callable[Concatenate[str, P], T]:
    def make(key: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        kwargs["localize"] = True
        return option(key, f"{key}_description", *args, **kwargs)

    return make


text_option = _localized(lightbulb.string)
number_option = _localized(lightbulb.integer)
switch_option = _localized(lightbulb.boolean)
file_option = _localized(lightbulb.attachment)


def choices(noun: str, *values: str) -> Sequence[lightbulb.Choice[str]]:
    """Return the choices of a `text_option`. Each has the key `{noun}_{value}_choice`."""
    return [lightbulb.Choice(f"{noun}_{value}_choice", value, localize=True) for value in values]
