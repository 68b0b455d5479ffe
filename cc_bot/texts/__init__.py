"""Every sentence that cc-bot says, in every language, each pair side by side.

One file an area: a frozen dataclass whose fields are templates for `str.format`, and one instance of
it per language. A missing translation is therefore a type error, and tests compare the placeholders.
"""

import re
from dataclasses import dataclass

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.texts import errors


@dataclass(frozen=True, slots=True)
class Texts:
    """All areas in one language."""

    errors: errors.ErrorTexts


_TEXTS = {
    Locale.JA: Texts(errors=errors.JA),
    Locale.EN: Texts(errors=errors.EN),
}


def texts(locale: Locale) -> Texts:
    """Every text in one language."""
    return _TEXTS[locale]


def explain(error: CcBotError, locale: Locale) -> str:
    """One sentence for the person who can do something about the error."""
    field = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    template: str = getattr(texts(locale).errors, field)
    return template.format(**error.params)
