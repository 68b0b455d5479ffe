"""What is on a session's canvas, as its column has it: a JSON object with a list of elements."""

import json
from collections.abc import Iterator
from typing import Any

from cc_bot.stores.sought import Sought


def without(canvas: str, sought: Sought) -> str:
    """The canvas without the elements in which one of the texts stands; all of it goes, where the text stands
    anywhere else."""
    try:
        state = json.loads(canvas)
        elements = [each for each in state["elements"] if not _holds(each, sought)]
    except (ValueError, RecursionError, TypeError, KeyError):
        return '{"elements":[]}' if sought.within(canvas) else canvas
    if _holds({**state, "elements": elements}, sought):
        return '{"elements":[]}'
    if len(elements) == len(state["elements"]):
        return canvas
    return json.dumps({**state, "elements": elements}, ensure_ascii=False)


def texts_in(value: Any) -> Iterator[str]:
    """Every string in a JSON value, names of fields included, however deep it is."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as fields:
                left += [*fields, *fields.values()]
            case list() as parts:
                left += parts
            case _:
                pass


def _holds(value: Any, sought: Sought) -> bool:
    return any(sought.within(text) for text in texts_in(value))
