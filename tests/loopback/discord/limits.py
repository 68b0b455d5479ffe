import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from tests.loopback.discord.refusals import require, require_length

ROW, BUTTON, TEXT_SELECT, TEXT_INPUT = 1, 2, 3, 4
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR, CONTAINER = 9, 10, 11, 12, 13, 14, 17
SELECTS = frozenset({TEXT_SELECT})
"""Menus of people, roles and channels are not modelled."""
LINK, PREMIUM = 5, 6
CONTENT, EMBED_CHARACTERS, FILES, UPLOAD_BYTES = 2000, 6000, 10, 10 * 1024 * 1024
V2_COMPONENTS, V2_CHARACTERS = 40, 4000
"""In one message with IS_COMPONENTS_V2, nested ones included ("Component Reference")."""
REQUIRED = "This field is required"

Json = dict[str, Any]
Component = Json
Path = list[str | int]


def walk(components: list[Component]) -> Iterator[Component]:
    """Every component, outer ones first."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        for key in ("component", "accessory"):
            if isinstance(inner := component.get(key), dict):
                yield inner


def with_ids(components: list[Component]) -> list[Component]:
    """Discord numbers the components of a message from 1, in reading order, where the bot did not."""
    taken = {component["id"] for component in walk(components) if component.get("id")}
    fresh = (number for number in range(1, 10_000) if number not in taken)

    def numbered(component: Component) -> Component:
        copy = dict(component) if component.get("id") else {**component, "id": next(fresh)}
        if "components" in copy:
            copy["components"] = [numbered(inner) for inner in copy["components"]]
        if "accessory" in copy:
            copy["accessory"] = numbered(copy["accessory"])
        return copy

    return [numbered(component) for component in components]


def _lengths(path: Path, thing: Json, **most: int) -> None:
    """Raise Refusal where a text of these names is longer."""
    for key, limit in most.items():
        require_length(thing.get(key), [*path, key], limit)


def check_components(components: list[Component], *, v2: bool = False) -> None:
    _check_custom_ids(components)
    if not v2:
        require_length(components, ["components"], 5)
        _check_kinds(["components"], components, ROW)
        return
    every = [*walk(components)]
    require_length(every, ["components"], V2_COMPONENTS)
    texts = "".join(component.get("content") or "" for component in every if component.get("type") == TEXT)
    require_length(texts, ["components"], V2_CHARACTERS)
    _check_kinds(["components"], components, ROW, *_IN_CONTAINERS, CONTAINER)


_IN_CONTAINERS: Final = (SECTION, TEXT, GALLERY, FILE, SEPARATOR)


def _check_kinds(path: Path, components: list[Component], *kinds: int) -> None:
    for number, component in enumerate(components):
        at: Path = [*path, number]
        require(component.get("type") in kinds, at, f'Value of field "type" must be one of {kinds}.')
        match component["type"]:
            case kind if kind == ROW:
                _check_row([*at, "components"], component.get("components") or [])
            case kind if kind == SECTION:
                require_length(component.get("components") or [], at, 3, least=1)
                _check_kinds([*at, "components"], component["components"], TEXT)
                _check_kinds([*at, "accessory"], [component.get("accessory") or {}], BUTTON, THUMBNAIL)
            case kind if kind == CONTAINER:
                require_length(component.get("components") or [], at, V2_COMPONENTS, least=1)
                _check_kinds([*at, "components"], component["components"], ROW, *_IN_CONTAINERS)
            case kind if kind == TEXT:
                require_length(component.get("content"), [*at, "content"], V2_CHARACTERS, least=1)
            case kind if kind == GALLERY:
                require_length(component.get("items") or [], [*at, "items"], 10, least=1)
            case kind if kind == BUTTON:
                _check_button(at, component)


def _check_row(path: Path, inner: list[Component]) -> None:
    require_length(inner, path, 5, least=1)
    kinds = {component.get("type") for component in inner}
    require(not kinds & SELECTS or len(inner) == 1, path, "The component exceeds the maximum width")
    for number, component in enumerate(inner):
        if component.get("type") == BUTTON:
            _check_button([*path, number], component)
        elif component.get("type") in SELECTS:
            _check_select([*path, number], component)


def _check_button(path: Path, button: Component) -> None:
    style = button.get("style")
    _lengths(path, button, label=80)
    require(style in range(1, 7), [*path, "style"], REQUIRED)
    require(button.get("label") or button.get("emoji") or style == PREMIUM, [*path, "label"], REQUIRED)
    require(style != LINK or button.get("url"), [*path, "url"], REQUIRED)
    require(button.get("custom_id") or style in (LINK, PREMIUM), [*path, "custom_id"], REQUIRED)


def _check_select(path: Path, select: Component) -> None:
    _lengths(path, select, placeholder=150)
    options: list[Component] = select.get("options") or []
    require_length(options, [*path, "options"], 25, least=1)
    unique = len({option.get("value") for option in options}) == len(options)
    require(unique, [*path, "options"], "The specified option value is already used")
    for location, option in enumerate(options):
        for key, least in (("label", 1), ("value", 1), ("description", 0)):
            require_length(option.get(key), [*path, "options", location, key], 100, least=least)


def _check_custom_ids(components: list[Component]) -> None:
    ids = [each["custom_id"] for each in walk(components) if each.get("custom_id") is not None]
    for custom_id in ids:
        require_length(custom_id, ["components", "custom_id"], 100, least=1)
    require(len({*ids}) == len(ids), ["components", "custom_id"], "Component custom id cannot be duplicated")


def check_modal(data: Json) -> None:
    """A form: a title of 1 to 45 characters, a custom id, one to five rows with a labelled input each."""
    for key, most in (("title", 45), ("custom_id", 100), ("components", 5)):
        require_length(data.get(key), ["data", key], most, least=1)
    _check_custom_ids(data["components"])
    for component in walk(data["components"]):
        if component.get("type") == TEXT_INPUT:
            _lengths(["data", "components"], component, label=45, value=4000)


def check_content(content: object) -> str:
    """Answers with the content as Discord keeps it: without the white space around it."""
    require(content is None or isinstance(content, str), ["content"], "Could not interpret as string.")
    text = str(content or "")
    require_length(text, ["content"], CONTENT)
    return text.strip()


def check_embeds(embeds: list[Json]) -> None:
    require_length(embeds, ["embeds"], 10)
    for index, embed in enumerate(embeds):
        _check_embed(["embeds", index], embed)
    fine = sum(map(_embed_characters, embeds)) <= EMBED_CHARACTERS
    require(fine, ["embeds"], f"Embed size exceeds maximum size of {EMBED_CHARACTERS}")


def _check_embed(path: Path, embed: Json) -> None:
    contents = ("title", "description", "fields", "image", "thumbnail", "footer", "author")
    require(any(embed.get(key) for key in contents), [*path, "description"], REQUIRED)
    require(0 <= (embed.get("color") or 0) <= 0xFFFFFF, [*path, "color"], "Must be at most 16777215.")
    _lengths(path, embed, title=256, description=4096, fields=25)
    _lengths(path, embed.get("footer") or {}, text=2048)
    _lengths(path, embed.get("author") or {}, name=256)
    for key in ("image", "thumbnail"):
        if (url := (embed.get(key) or {}).get("url")) is not None:
            require_length(url, [*path, key, "url"], 2048)
            scheme, _, rest = url.partition("://")
            fine = scheme in {"http", "https", "attachment"} and rest
            require(fine, [*path, key, "url"], f'Scheme "{scheme}" is not supported.')
    for location, entry in enumerate(embed.get("fields") or []):
        _lengths([*path, "fields", location], entry, name=256, value=1024)
        for key in ("name", "value"):
            require((entry.get(key) or "").strip(), [*path, "fields", location, key], REQUIRED)


def _embed_characters(embed: Json) -> int:
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    for entry in embed.get("fields") or []:
        texts += [entry.get("name"), entry.get("value")]
    return sum(len(text) for text in texts if text)


def check_allowed_mentions(allowed: Json | None) -> None:
    parse, path = (allowed or {}).get("parse") or [], Path(["allowed_mentions"])
    require({*parse} <= {"everyone", "users", "roles"}, path, "parse must be of everyone, users and roles.")
    for kind in ("users", "roles"):
        listed = (allowed or {}).get(kind) or []
        both = kind in parse and listed
        require(not both, path, f"parse:[{kind!r}] and {kind}: [ids...] exclude each other")
        require_length(listed, [*path, kind], 100)
        require(len({*listed}) == len(listed), [*path, kind], "The set already contains this value")


def check_choices(choices: object) -> list[Json]:
    """The answer to an autocomplete: at most 25 choices, names and text values of 1 to 100 characters."""
    path: Path = ["data", "choices"]
    listed = choices if isinstance(choices, list) else []
    require(isinstance(choices, list), path, REQUIRED)
    require_length(listed, path, 25)
    for location, choice in enumerate(listed):
        for key in ("name", "value"):
            require(choice.get(key) is not None, [*path, location, key], REQUIRED)
            if isinstance(choice[key], str):
                require_length(choice[key], [*path, location, key], 100, least=1)
    return listed


LOCALES: Final = frozenset(
    (
        *("id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no"),
        *("pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN"),
        *("ja", "zh-TW", "ko"),
    )
)
_SUB, _GROUP, _STRING = 1, 2, 3


def check_commands(commands: list[Json]) -> None:
    for kind, limit in ((1, 100), (2, 15), (3, 15)):
        count = sum((command.get("type") or 1) == kind for command in commands)
        require(count <= limit, [], f"Maximum number of application commands reached ({limit})")
    names = list[tuple[int, str, str]]()
    for location, command in enumerate(commands):
        _check_command([location], command)
        localized = {"": command["name"], **(command.get("name_localizations") or {})}
        names += [(command.get("type") or 1, locale, name) for locale, name in localized.items()]
    require(len({*names}) == len(names), [], "Application command names must be unique in each language")


def _check_command(path: Path, command: Json) -> None:
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


def _check_texts(path: Path, thing: Json, key: str, most: int) -> list[str]:
    """Check a text and its translations. Returns them."""
    translated = thing.get(f"{key}_localizations") or {}
    require({*translated} <= LOCALES, [*path, f"{key}_localizations"], "Unknown locale.")
    found = [str(thing.get(key) or ""), *translated.values()]
    for text in found:
        require_length(text, [*path, key], most, least=1)
    return found


def _check_name(path: Path, thing: Json, *, strict: bool) -> None:
    for name in _check_texts(path, thing, "name", 32):
        fine = all(map(_is_name_character, name)) and name == name.lower()
        require(fine or not strict, [*path, "name"], "Command name is invalid")


def _is_name_character(character: str) -> bool:
    """Letters and numbers of any script, and three signs."""
    return character in "-_'" or unicodedata.category(character)[0] in "LN"


def _check_options(path: Path, options: list[Json], *, depth: int) -> None:
    require_length(options, path, 25)
    names = [option.get("name") for option in options]
    require(len({*names}) == len(names), path, "Option names must be unique")
    required = [bool(option.get("required")) for option in options if option.get("type", 0) > _GROUP]
    fine = required == sorted(required, reverse=True)
    require(fine, path, "Required options must be placed before non-required options")
    kinds = {option.get("type") in (_SUB, _GROUP) for option in options}
    require(len(kinds) <= 1, path, "Sub-commands and other options cannot be mixed")
    for location, option in enumerate(options):
        _check_option([*path, location], option, depth=depth)


def _check_option(path: Path, option: Json, *, depth: int) -> None:
    _check_name(path, option, strict=True)
    _check_texts(path, option, "description", 100)
    kind = option.get("type")
    require(kind in range(1, 12), [*path, "type"], REQUIRED)
    if kind in (_SUB, _GROUP):
        require(depth <= (1 if kind == _SUB else 0), path, "Sub-command option type is invalid here")
        _check_options([*path, "options"], option.get("options") or [], depth=depth + 1)
    if kind == _STRING:
        fine = 0 <= option.get("min_length", 0) <= option.get("max_length", 6000) <= 6000
        require(fine, [*path, "max_length"], "Must be between 1 and 6000, and not below min_length.")
    choices = option.get("choices") or []
    require_length(choices, [*path, "choices"], 25)
    require(not (choices and option.get("autocomplete")), path, "Choices and autocomplete exclude each other")
    for location, choice in enumerate(choices):
        _check_texts([*path, "choices", location], choice, "name", 100)
        if isinstance(choice.get("value"), str):
            require_length(choice["value"], [*path, "choices", location, "value"], 100, least=1)


def _characters(thing: Json) -> int:
    """Names, descriptions and choice values, each with its longest translation (limit 8000 a command)."""
    total = sum(len(f"{each.get('name')}{each.get('value')}") for each in thing.get("choices") or [])
    for key in ("name", "description"):
        translations = (thing.get(f"{key}_localizations") or {}).values()
        total += max(map(len, [thing.get(key) or "", *translations]))
    return total + sum(_characters(option) for option in thing.get("options") or [])
