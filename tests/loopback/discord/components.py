"""Buttons, menus and their rows: what Discord accepts, and the numbers that it gives to each.

Source: "Component Reference" of the documentation. Both generations are known: rows of buttons and menus,
and "Components V2", which replace content and embeds and are switched on by a message flag.
"""

from collections.abc import Iterator
from typing import Any

from tests.loopback.discord.refusals import bad_length, invalid_form, missing, too_long

ROW, BUTTON, TEXT_SELECT, TEXT_INPUT = 1, 2, 3, 4
SELECTS = frozenset({3, 5, 6, 7, 8})
LINK, PREMIUM = 5, 6
V2_FLAG = 1 << 15
V2_KINDS = frozenset({9, 10, 11, 12, 13, 14, 17})
TEXT_DISPLAY = 10

Component = dict[str, Any]


def walk(components: list[Component]) -> Iterator[Component]:
    """Every component, outer ones first."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        if accessory := component.get("accessory"):
            yield accessory
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
        if copy.get("accessory"):
            copy["accessory"] = numbered(copy["accessory"])
        return copy

    return [numbered(component) for component in components]


def check_components(components: list[Component], *, v2: bool) -> None:
    """Raises Refusal (50035) for what a message must not hold."""
    if v2:
        _check_v2(components)
    else:
        _check_rows(components)
    _check_custom_ids(components)
    for place, component in enumerate(components):
        if component.get("type") == ROW:
            _check_row(["components", place], component)


def _check_rows(components: list[Component]) -> None:
    if len(components) > 5:
        raise too_long(["components"], 5)
    for place, component in enumerate(components):
        if component.get("type") != ROW:
            message = f'Value of field "type" must be one of ({ROW},).'
            raise invalid_form(["components", place], "UNION_TYPE_CHOICES", message)


def _check_v2(components: list[Component]) -> None:
    if sum(1 for _ in walk(components)) > 40:
        raise invalid_form(
            ["components"],
            "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
            "The maximum number of components is 40",
        )
    written = sum(len(c.get("content") or "") for c in walk(components) if c.get("type") == TEXT_DISPLAY)
    if written > 4000:
        message = "Total text of the components must be 4000 or fewer in length."
        raise invalid_form(["components"], "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", message)


def _check_row(path: list[str | int], row: Component) -> None:
    inner: list[Component] = row.get("components") or []
    if not 1 <= len(inner) <= 5:
        raise bad_length([*path, "components"], 1, 5)
    kinds = {component.get("type") for component in inner}
    if kinds & SELECTS and len(inner) > 1:
        raise invalid_form(
            [*path, "components"],
            "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
            "The specified component exceeds the maximum width",
        )
    for place, component in enumerate(inner):
        where = [*path, "components", place]
        if component.get("type") == BUTTON:
            _check_button(where, component)
        elif component.get("type") in SELECTS:
            _check_select(where, component)


def _check_button(path: list[str | int], button: Component) -> None:
    if len(button.get("label") or "") > 80:
        raise too_long([*path, "label"], 80)
    if not (button.get("label") or button.get("emoji") or button.get("style") == PREMIUM):
        raise missing([*path, "label"])
    if button.get("style") not in range(1, 7):
        raise missing([*path, "style"])
    if button["style"] == LINK and not button.get("url"):
        raise missing([*path, "url"])
    if button["style"] < LINK and not button.get("custom_id"):
        raise missing([*path, "custom_id"])


def _check_select(path: list[str | int], select: Component) -> None:
    if len(select.get("placeholder") or "") > 150:
        raise too_long([*path, "placeholder"], 150)
    if select["type"] != TEXT_SELECT:
        return
    options: list[Component] = select.get("options") or []
    if not 1 <= len(options) <= 25:
        raise bad_length([*path, "options"], 1, 25)
    if len({option.get("value") for option in options}) < len(options):
        raise invalid_form(
            [*path, "options"],
            "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
            "The specified option value is already used",
        )
    for place, option in enumerate(options):
        for key in ("label", "value"):
            if not 1 <= len(option.get(key) or "") <= 100:
                raise bad_length([*path, "options", place, key], 1, 100)
        if len(option.get("description") or "") > 100:
            raise too_long([*path, "options", place, "description"], 100)


def _check_custom_ids(components: list[Component]) -> None:
    seen: set[str] = set()
    for component in walk(components):
        custom_id = component.get("custom_id")
        if custom_id is None:
            continue
        if not 1 <= len(custom_id) <= 100:
            raise bad_length(["components", "custom_id"], 1, 100)
        if custom_id in seen:
            raise invalid_form(
                ["components", "custom_id"],
                "COMPONENT_CUSTOM_ID_DUPLICATED",
                "Component custom id cannot be duplicated",
            )
        seen.add(custom_id)


def check_modal(data: dict[str, Any]) -> None:
    """A form: a title of 1 to 45 characters, a custom id, one to five rows with a labelled input each."""
    if not 1 <= len(data.get("title") or "") <= 45:
        raise bad_length(["data", "title"], 1, 45)
    if not 1 <= len(data.get("custom_id") or "") <= 100:
        raise bad_length(["data", "custom_id"], 1, 100)
    rows: list[Component] = data.get("components") or []
    if not 1 <= len(rows) <= 5:
        raise bad_length(["data", "components"], 1, 5)
    _check_custom_ids(rows)
    for component in walk(rows):
        if component.get("type") == TEXT_INPUT and len(component.get("label") or "") > 45:
            raise too_long(["data", "components", "label"], 45)
        if component.get("type") == TEXT_INPUT and len(component.get("value") or "") > 4000:
            raise too_long(["data", "components", "value"], 4000)
