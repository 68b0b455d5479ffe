"""Buttons, menus and their rows: what Discord accepts, and the numbers that it gives to each.

Source: "Component Reference" of the documentation. "Components V2", which replace content and embeds, are
refused: the bot has no use for them.
"""

from collections.abc import Iterator
from typing import Any

from tests.loopback.discord.refusals import require, require_length

ROW, BUTTON, TEXT_SELECT, TEXT_INPUT = 1, 2, 3, 4
SELECTS = frozenset({3, 5, 6, 7, 8})
LINK, PREMIUM = 5, 6

Component = dict[str, Any]
Path = list[str | int]


def walk(components: list[Component]) -> Iterator[Component]:
    """Every component, outer ones first."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        if isinstance(inner := component.get("component"), dict):
            yield inner


def with_ids(components: list[Component]) -> list[Component]:
    """Discord numbers the components of a message from 1, in reading order, where the bot did not."""
    taken = {component["id"] for component in walk(components) if component.get("id")}
    fresh = (number for number in range(1, 10_000) if number not in taken)

    def numbered(component: Component) -> Component:
        copy = dict(component) if component.get("id") else {**component, "id": next(fresh)}
        if "components" in copy:
            copy["components"] = [numbered(inner) for inner in copy["components"]]
        return copy

    return [numbered(component) for component in components]


def check_components(components: list[Component]) -> None:
    """Raises Refusal (50035) for what a message must not hold."""
    require_length(components, ["components"], 5)
    _check_custom_ids(components)
    for place, row in enumerate(components):
        path: Path = ["components", place, "components"]
        require(row.get("type") == ROW, path[:2], f'Value of field "type" must be one of ({ROW},).')
        inner: list[Component] = row.get("components") or []
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
    require_length(button.get("label"), [*path, "label"], 80)
    require(style in range(1, 7), [*path, "style"], "This field is required")
    named = button.get("label") or button.get("emoji") or style == PREMIUM
    require(named, [*path, "label"], "This field is required")
    require(style != LINK or button.get("url"), [*path, "url"], "This field is required")
    has_id = button.get("custom_id") or style in (LINK, PREMIUM)
    require(has_id, [*path, "custom_id"], "This field is required")


def _check_select(path: Path, select: Component) -> None:
    require_length(select.get("placeholder"), [*path, "placeholder"], 150)
    if select["type"] != TEXT_SELECT:
        return
    options: list[Component] = select.get("options") or []
    require_length(options, [*path, "options"], 25, least=1)
    unique = len({option.get("value") for option in options}) == len(options)
    require(unique, [*path, "options"], "The specified option value is already used")
    for place, option in enumerate(options):
        for key in ("label", "value"):
            require_length(option.get(key), [*path, "options", place, key], 100, least=1)
        require_length(option.get("description"), [*path, "options", place, "description"], 100)


def _check_custom_ids(components: list[Component]) -> None:
    ids = [each["custom_id"] for each in walk(components) if each.get("custom_id") is not None]
    for custom_id in ids:
        require_length(custom_id, ["components", "custom_id"], 100, least=1)
    require(len({*ids}) == len(ids), ["components", "custom_id"], "Component custom id cannot be duplicated")


def check_modal(data: dict[str, Any]) -> None:
    """A form: a title of 1 to 45 characters, a custom id, one to five rows with a labelled input each."""
    require_length(data.get("title"), ["data", "title"], 45, least=1)
    require_length(data.get("custom_id"), ["data", "custom_id"], 100, least=1)
    rows: list[Component] = data.get("components") or []
    require_length(rows, ["data", "components"], 5, least=1)
    _check_custom_ids(rows)
    for component in walk(rows):
        if component.get("type") == TEXT_INPUT:
            require_length(component.get("label"), ["data", "components", "label"], 45)
            require_length(component.get("value"), ["data", "components", "value"], 4000)
