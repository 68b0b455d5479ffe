"""All areas of sentences, by the name of their class."""

import importlib
import pkgutil
from collections.abc import Mapping

import cc_bot
from cc_bot.texts import Texts
from cc_bot.texts.area import Area


def areas_in(words: Texts) -> Mapping[str, Area]:
    for found in pkgutil.walk_packages(cc_bot.__path__, "cc_bot."):
        if ".texts" in found.name:
            importlib.import_module(found.name)
    own = [each for each in Area.__subclasses__() if each.__module__.startswith("cc_bot.")]
    assert len(own) > 30
    return {area.__name__: words[area] for area in own}
