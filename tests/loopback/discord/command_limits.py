"""What PUT of application commands accepts: names, descriptions, options, choices, and localizations."""

import unicodedata
from typing import Any

from tests.loopback.discord.refusals import bad_length, invalid_form, missing, too_long, wrong_value

LOCALES = frozenset(
    {"id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no", "pl"}
    | {"pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN", "ja"}
    | {"zh-TW", "ko"}
)
Path = list[str | int]
_GROUP, _SUB, _STRING = 2, 1, 3


def check_commands(commands: list[dict[str, Any]], *, in_guild: bool) -> None:
    """Raises Refusal (50035) for the first command that Discord would not take."""
    for kind, limit in ((1, 100), (2, 15), (3, 15)):
        if sum((command.get("type") or 1) == kind for command in commands) > limit:
            raise invalid_form(
                [],
                "APPLICATION_COMMANDS_EXCEEDED",
                f"Maximum number of application commands reached ({limit})",
            )
    for place, command in enumerate(commands):
        _check_command([place], command, in_guild=in_guild)
    _check_unique(commands)


def _check_command(path: Path, command: dict[str, Any], *, in_guild: bool) -> None:
    kind = command.get("type") or 1
    _check_name(path, command, strict=kind == 1)
    if kind == 1:
        _check_description(path, command)
        _check_options([*path, "options"], command.get("options") or [], depth=0)
        if _characters(command) > 8000:
            raise invalid_form(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
    elif command.get("description"):
        raise invalid_form(
            [*path, "description"],
            "APPLICATION_COMMANDS_NO_DESCRIPTION",
            "Context menu commands cannot have description",
        )
    for key, allowed in (("contexts", {0, 1, 2}), ("integration_types", {0, 1})):
        if not set(command.get(key) or []) <= allowed:
            raise wrong_value([*path, key], f"Value must be one of {sorted(allowed)}.")
        if in_guild and command.get(key):
            raise invalid_form(
                [*path, key], "APPLICATION_COMMAND_CONTEXTS_GUILD", "Not allowed for guild commands."
            )


def _localized(path: Path, thing: dict[str, Any], key: str) -> list[tuple[Path, str]]:
    """The text and its translations, each with its path."""
    texts = [([*path, key], str(thing.get(key) or ""))]
    for locale, text in (thing.get(f"{key}_localizations") or {}).items():
        where = [*path, f"{key}_localizations", locale]
        if locale not in LOCALES:
            raise wrong_value(where, "Unknown locale.")
        texts.append((where, text))
    return texts


def _check_name(path: Path, thing: dict[str, Any], *, strict: bool) -> None:
    for where, name in _localized(path, thing, "name"):
        if not 1 <= len(name) <= 32:
            raise bad_length(where, 1, 32)
        if strict and (not all(map(_is_name_character, name)) or name != name.lower()):
            raise invalid_form(where, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _is_name_character(character: str) -> bool:
    """Letters and numbers of any script, the marks of Devanagari and Thai, and three signs."""
    code = ord(character)
    if character in "-_'" or unicodedata.category(character)[0] in "LN":
        return True
    return 0x0900 <= code <= 0x097F or 0x0E00 <= code <= 0x0E7F


def _check_description(path: Path, thing: dict[str, Any]) -> None:
    for where, description in _localized(path, thing, "description"):
        if not 1 <= len(description) <= 100:
            raise bad_length(where, 1, 100)


def _check_options(path: Path, options: list[dict[str, Any]], *, depth: int) -> None:
    if len(options) > 25:
        raise too_long(path, 25)
    names = [option.get("name") for option in options]
    if len(set(names)) < len(names):
        raise invalid_form(path, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
    required = [bool(option.get("required")) for option in options if option.get("type", 0) > _GROUP]
    if required != sorted(required, reverse=True):
        raise invalid_form(
            path,
            "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
            "Required options must be placed before non-required options",
        )
    kinds = {option.get("type") in (_SUB, _GROUP) for option in options}
    if len(kinds) > 1:
        raise invalid_form(
            path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-commands and other options cannot be mixed"
        )
    for place, option in enumerate(options):
        _check_option([*path, place], option, depth=depth)


def _check_option(path: Path, option: dict[str, Any], *, depth: int) -> None:
    _check_name(path, option, strict=True)
    _check_description(path, option)
    kind = option.get("type")
    if kind not in range(1, 12):
        raise missing([*path, "type"])
    if kind in (_SUB, _GROUP):
        if (kind == _GROUP and depth > 0) or depth > 1:
            raise invalid_form(
                path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command option type is invalid here"
            )
        _check_options([*path, "options"], option.get("options") or [], depth=depth + 1)
    _check_option_choices([*path, "choices"], option)
    if kind == _STRING and not 0 <= option.get("min_length", 0) <= option.get("max_length", 6000) <= 6000:
        raise wrong_value([*path, "max_length"], "Must be between 1 and 6000, and not below min_length.")


def _check_option_choices(path: Path, option: dict[str, Any]) -> None:
    choices = option.get("choices") or []
    if len(choices) > 25:
        raise too_long(path, 25)
    if choices and option.get("autocomplete"):
        raise invalid_form(
            path,
            "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE",
            "Choices and autocomplete exclude each other",
        )
    for place, choice in enumerate(choices):
        for where, name in _localized([*path, place], choice, "name"):
            if not 1 <= len(name) <= 100:
                raise bad_length(where, 1, 100)
        if isinstance(choice.get("value"), str) and not 1 <= len(choice["value"]) <= 100:
            raise bad_length([*path, place, "value"], 1, 100)


def _check_unique(commands: list[dict[str, Any]]) -> None:
    """No two commands of a type share a name, in any one language."""
    seen: set[tuple[int, str, str]] = set()
    for place, command in enumerate(commands):
        names = {"": command["name"], **(command.get("name_localizations") or {})}
        for locale, name in names.items():
            entry = (command.get("type") or 1, locale, name)
            if entry in seen:
                raise invalid_form(
                    [place], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"
                )
            seen.add(entry)


def _characters(thing: dict[str, Any]) -> int:
    """Names, descriptions and choice values, each with its longest translation (limit 8000 a command)."""
    total = 0
    for key in ("name", "description"):
        translations = (thing.get(f"{key}_localizations") or {}).values()
        total += max(map(len, [thing.get(key) or "", *translations]))
    total += sum(
        len(str(choice.get("name"))) + len(str(choice.get("value"))) for choice in thing.get("choices") or []
    )
    return total + sum(_characters(option) for option in thing.get("options") or [])
