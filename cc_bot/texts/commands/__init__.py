"""Names and descriptions of the commands, as Discord lists them: one module for each area.

A field's name is the key under which lightbulb looks the wording up. English names are the ones that
DESIGN fixes; Discord's limits are 1-32 characters for names (lower case, no spaces, save those of context
menus) and 1-100 for descriptions.
"""

import dataclasses

from cc_bot.domain.locale import Locale
from cc_bot.texts.commands import admin, agents, canvas, general, heartbeat, privacy, remind, usage
from cc_bot.texts.naming import Show, named

AREAS = (admin, agents, canvas, general, heartbeat, privacy, remind, usage)


def command_names(locale: Locale) -> dict[str, str]:
    """Every wording by its key."""
    return named(_wordings(locale), plainly(locale))


def plainly(locale: Locale) -> Show:
    """The name that a reader of this language types: `/memory add`, `/メモリ 追加`."""
    wordings = _wordings(locale)

    def show(command: str) -> str:
        words = command.split()
        keys = ("_".join(words[: count + 1]).replace("-", "_") for count in range(len(words)))
        return f"/{' '.join(wordings.get(key, word) for key, word in zip(keys, words, strict=True))}"

    return show


def _wordings(locale: Locale) -> dict[str, str]:
    return {
        key: wording
        for area in AREAS
        for key, wording in dataclasses.asdict(area.JA if locale is Locale.JA else area.EN).items()
    }
