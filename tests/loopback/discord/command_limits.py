"""What PUT of application commands accepts: names, descriptions, options, choices, and localizations."""

import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from tests.loopback.discord.refusals import require, require_length

LOCALES: Final = frozenset(
    (
        *("id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no"),
        *("pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN"),
        *("ja", "zh-TW", "ko"),
    )
)
Path = list[str | int]
_SUB, _GROUP, _STRING = 1, 2, 3


def check_commands(commands: list[dict[str, Any]]) -> None:
    """Raises Refusal (50035) for the first command that Discord would not take."""
    for kind, limit in ((1, 100), (2, 15), (3, 15)):
        count = sum((command.get("type") or 1) == kind for command in commands)
        require(count <= limit, [], f"Maximum number of application commands reached ({limit})")
    for place, command in enumerate(commands):
        _check_command([place], command)
    names = [name for command in commands for name in _names(command)]
    require(len({*names}) == len(names), [], "Application command names must be unique in each language")


def _check_command(path: Path, command: dict[str, Any]) -> None:
    kind = command.get("type") or 1
    _check_name(path, command, strict=kind == 1)
    if kind == 1:
        _check_texts(path, command, "description", 100)
        _check_options([*path, "options"], command.get("options") or [], depth=0)
        require(_characters(command) <= 8000, path, "Command exceeds maximum size (8000)")
    else:
        require(not command.get("description"), path, "Context menu commands cannot have description")
    for key, allowed in (("contexts", {0, 1, 2}), ("integration_types", {0, 1})):
        require({*(command.get(key) or [])} <= allowed, [*path, key], f"Must be of {sorted(allowed)}.")


def _names(command: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    for locale, name in {"": command["name"], **(command.get("name_localizations") or {})}.items():
        yield command.get("type") or 1, locale, name


def _check_texts(path: Path, thing: dict[str, Any], key: str, most: int) -> list[str]:
    """Check a text and its translations. Returns them."""
    translated = thing.get(f"{key}_localizations") or {}
    require({*translated} <= LOCALES, [*path, f"{key}_localizations"], "Unknown locale.")
    found = [str(thing.get(key) or ""), *translated.values()]
    for text in found:
        require_length(text, [*path, key], most, least=1)
    return found


def _check_name(path: Path, thing: dict[str, Any], *, strict: bool) -> None:
    for name in _check_texts(path, thing, "name", 32):
        fine = all(map(_is_name_character, name)) and name == name.lower()
        require(fine or not strict, [*path, "name"], "Command name is invalid")


def _is_name_character(character: str) -> bool:
    """Letters and numbers of any script, the marks of Devanagari and Thai, and three signs."""
    code = ord(character)
    if character in "-_'" or unicodedata.category(character)[0] in "LN":
        return True
    return 0x0900 <= code <= 0x097F or 0x0E00 <= code <= 0x0E7F


def _check_options(path: Path, options: list[dict[str, Any]], *, depth: int) -> None:
    require_length(options, path, 25)
    names = [option.get("name") for option in options]
    require(len({*names}) == len(names), path, "Option names must be unique")
    required = [bool(option.get("required")) for option in options if option.get("type", 0) > _GROUP]
    fine = required == sorted(required, reverse=True)
    require(fine, path, "Required options must be placed before non-required options")
    kinds = {option.get("type") in (_SUB, _GROUP) for option in options}
    require(len(kinds) <= 1, path, "Sub-commands and other options cannot be mixed")
    for place, option in enumerate(options):
        _check_option([*path, place], option, depth=depth)


def _check_option(path: Path, option: dict[str, Any], *, depth: int) -> None:
    _check_name(path, option, strict=True)
    _check_texts(path, option, "description", 100)
    kind = option.get("type")
    require(kind in range(1, 12), [*path, "type"], "This field is required")
    if kind in (_SUB, _GROUP):
        require(depth <= (1 if kind == _SUB else 0), path, "Sub-command option type is invalid here")
        _check_options([*path, "options"], option.get("options") or [], depth=depth + 1)
    if kind == _STRING:
        fine = 0 <= option.get("min_length", 0) <= option.get("max_length", 6000) <= 6000
        require(fine, [*path, "max_length"], "Must be between 1 and 6000, and not below min_length.")
    choices = option.get("choices") or []
    require_length(choices, [*path, "choices"], 25)
    require(not (choices and option.get("autocomplete")), path, "Choices and autocomplete exclude each other")
    for place, choice in enumerate(choices):
        _check_texts([*path, "choices", place], choice, "name", 100)
        if isinstance(choice.get("value"), str):
            require_length(choice["value"], [*path, "choices", place, "value"], 100, least=1)


def _characters(thing: dict[str, Any]) -> int:
    """Names, descriptions and choice values, each with its longest translation (limit 8000 a command)."""
    total = 0
    for key in ("name", "description"):
        translations = (thing.get(f"{key}_localizations") or {}).values()
        total += max(map(len, [thing.get(key) or "", *translations]))
    total += sum(len(f"{each.get('name')}{each.get('value')}") for each in thing.get("choices") or [])
    return total + sum(_characters(option) for option in thing.get("options") or [])
