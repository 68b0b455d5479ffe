"""Sentences that keep their wording in the other language, as not everyone who reads a report made it."""

from collections.abc import Mapping
from typing import Any, TypeVar

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale
from cc_bot.texts import Texts, texts
from cc_bot.texts.area import Area
from cc_bot.texts.commands import command_namer

A = TypeVar("A", bound=Area)


class Bilingual(str):
    """A text whose `other` says the same in the other language, also after `format` and `partition`."""

    other: str

    def format(self, *args: object, **values: object) -> "Bilingual":
        others = {name: in_other_language(value) for name, value in values.items()}
        return _pair(super().format(*args, **values), self.other.format(*args, **others))

    def partition(self, separator: str, /) -> tuple[str, str, str]:
        before, found, after = super().partition(separator)
        other_before, _, other_after = self.other.partition(separator)
        return _pair(before, other_before), found, _pair(after, other_after)


def in_other_language(value: object) -> object:
    return getattr(value, "other", value)


def _pair(text: str, other: str) -> Bilingual:
    pair = Bilingual(text)
    pair.other = other
    return pair


def _pair_all(wording: Any, other: Any) -> Any:
    if isinstance(wording, Mapping):
        return {key: _pair_all(each, other[key]) for key, each in wording.items()}
    return _pair(wording, other) if isinstance(wording, str) else wording


class BilingualTexts(Texts):
    def __init__(self, locale: Locale) -> None:
        super().__init__(locale, command_namer(locale))
        self._other = texts(Locale.EN if locale is Locale.JA else Locale.JA)

    def __getitem__(self, area: type[A]) -> A:
        known = super().__getitem__(area)
        return known.reword(**_pair_all(known.values(), self._other[area].values()))

    def for_error(self, error: type[CcBotError]) -> str:
        return _pair(super().for_error(error), self._other.for_error(error))
