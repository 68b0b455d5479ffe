"""A sentence with both its languages, declared once, and the areas that sentences stand in."""

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Never, Self, TypeVar, overload

from cc_bot.domain.locale import Locale
from cc_bot.texts.naming import Show, named

Key = TypeVar("Key")
Wording = TypeVar("Wording")


class Both(Generic[Wording]):
    """A wording in each language: an attribute of an area's class. An area has the one in its own language
    under the same name."""

    __slots__ = ("en", "ja")

    def __init__(self, *, ja: Wording, en: Wording) -> None:
        self.ja = ja
        self.en = en

    def of(self, locale: Locale) -> Wording:
        return self.ja if locale is Locale.JA else self.en

    @overload
    def __get__(self, area: None, owner: type) -> Self: ...
    @overload
    def __get__(self, area: "Area", owner: type) -> Wording: ...
    def __get__(self, area: object, owner: type) -> Any:
        return self  # of the class: an area's own attributes come first, at no cost

    if TYPE_CHECKING:  # at run time areas refuse: with this here their own attributes would not come first

        def __set__(self, area: object, value: Never) -> None: ...


class Sentence(Both[str]):
    """A template for `str.format`, with the same parameters in both languages."""

    __slots__ = ()


def by_key(sentences: Mapping[Key, Both[Wording]]) -> Both[Mapping[Key, Wording]]:
    """Return the wordings of a table, under its keys, in each language."""
    ja = {key: both.ja for key, both in sentences.items()}
    return Both(ja=ja, en={key: both.en for key, both in sentences.items()})


class Area:
    """The sentences that its class declares, in one language; nothing of it can be set."""

    def __init__(self, locale: Locale, show: Show | None = None) -> None:
        """Take the sentences of one language; without `show`, commands stay the marks that they are declared
        as."""
        for name, both in vars(type(self)).items():
            if isinstance(both, Both):
                wording = both.of(locale)
                self.__dict__[name] = named(wording, show) if show else wording

    def values(self) -> Mapping[str, Any]:
        """Return the wordings by their names."""
        return MappingProxyType(self.__dict__)

    def reword(self, **wordings: object) -> Self:
        """Return the same area with other wordings. Raises TypeError for a name that it does not have."""
        if unknown := wordings.keys() - self.__dict__.keys():
            raise TypeError(unknown)
        other = copy(self)
        other.__dict__.update(wordings)
        return other

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__))

    def __setattr__(self, name: str, value: Never) -> None:
        raise AttributeError(name)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(name)
