"""What a model wrote into a call, to be looked through for what must not be stored."""

import json
from collections.abc import Sequence


def texts_in(arguments: str) -> Sequence[str]:
    """The texts that a model put into a call; all of it where that is no JSON."""
    try:
        left = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return [arguments]
    found = list[str]()
    while left:
        match left.pop():
            case str(text):
                found.append(text)
            case list(parts):
                left += parts
            case dict(parts):
                left += parts.values()
            case _:
                pass
    return found
