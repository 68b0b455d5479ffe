"""All areas of sentences, by the name of their class; and all errors."""

import importlib
import pkgutil
from collections.abc import Mapping

import cc_bot
from cc_bot.domain.errors import CcBotError
from cc_bot.texts import Texts
from cc_bot.texts.area import Area


def areas_in(words: Texts) -> Mapping[str, Area]:
    _import_modules(".texts")
    own = [each for each in Area.__subclasses__() if each.__module__.startswith("cc_bot.")]
    assert len(own) > 30
    return {area.__name__: words[area] for area in own}


def every_error() -> list[type[CcBotError]]:
    _import_modules(".errors", ".file", ".model", ".service")
    found = [CcBotError]
    for error in found:
        found += error.__subclasses__()
    return found


def _import_modules(*parts: str) -> None:
    for found in pkgutil.walk_packages(cc_bot.__path__, "cc_bot."):
        if any(part in found.name for part in parts):
            importlib.import_module(found.name)
