"""Areas: classes whose attributes are sentences in both languages; and commands named in them.

A sentence names a command by a mark, `</memory add>`, which front ends replace by its name. With an id,
`</memory add:123>`, it is a mention: Discord localizes it and opens the command on a click, but only in
contents, text components, and embeds' descriptions and field values. Ids are never stored or logged.
"""

import re
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Never, Self, TypeVar, cast, overload

from cc_bot.domain.text import Locale
from cc_bot.features import IncompleteFeature

Key = TypeVar("Key")
Wording = TypeVar("Wording")
NameCommand = Callable[[str], str]
_MARK: Final = re.compile(r"(`?)</([a-z][a-z -]*)>\1")
_COMMAND_MENTION: Final = re.compile(r"</([^\W\d_][\w -]{0,97}):\d{1,20}>")


class Both(Generic[Wording]):
    """A wording in each language. An instance of the Area has one of them under the same name."""

    __slots__ = ("en", "ja")

    def __init__(self, *, ja: Wording, en: Wording) -> None:
        self.ja = ja
        self.en = en

    def in_locale(self, locale: Locale) -> Wording:
        return self.ja if locale is Locale.JA else self.en

    @overload
    def __get__(self, area: None, owner: type) -> Self: ...
    @overload
    def __get__(self, area: "Area", owner: type) -> Wording: ...
    def __get__(self, area: object, owner: type) -> Any:
        return self  # only for the class: instance attributes take precedence

    if TYPE_CHECKING:  # at run time it would hide instance attributes

        def __set__(self, area: object, value: Never) -> None: ...


class Sentence(Both[str]):
    """A template for `str.format`, with the same parameters in both languages."""

    __slots__ = ()


def by_key(sentences: Mapping[Key, Both[Wording]]) -> Both[Mapping[Key, Wording]]:
    ja = {key: both.ja for key, both in sentences.items()}
    return Both(ja=ja, en={key: both.en for key, both in sentences.items()})


class Area:
    def __init_subclass__(cls, *, is_base: bool = False) -> None:
        if not is_base and not any(isinstance(each, Both) for each in vars(cls).values()):
            raise IncompleteFeature(f"{sys.modules[cls.__module__].__file__}: {cls.__name__} must have a Sentence or another Both")

    def __init__(self, locale: Locale, name_command: NameCommand | None = None) -> None:
        """Without `name_command`, marks of commands are kept."""
        for name, both in vars(type(self)).items():
            if isinstance(both, Both):
                wording = both.in_locale(locale)
                self.__dict__[name] = name_commands(wording, name_command) if name_command else wording

    def values(self) -> Mapping[str, Any]:
        return MappingProxyType(self.__dict__)

    def reword(self, **wordings: object) -> Self:
        """Return a copy. Raises TypeError for an unknown name."""
        if unknown := wordings.keys() - self.__dict__.keys():
            raise TypeError(unknown)
        other = copy(self)
        other.__dict__.update(wordings)
        return other


def name_commands(wording: Wording, name_command: NameCommand) -> Wording:
    """Return a wording, or a tree of wordings, with each mark replaced. A mention gets no backticks: in code
    Discord would show it as plain text."""

    def replace_mark(mark: re.Match[str]) -> str:
        shown = name_command(mark[2])
        return shown if shown.startswith("<") else f"{mark[1]}{shown}{mark[1]}"

    return cast("Wording", _map_texts(wording, lambda text: _MARK.sub(replace_mark, text)))


def plain_commands(text: str) -> str:
    return _COMMAND_MENTION.sub(r"/\1", text)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value) if "</" in value else value
    if isinstance(value, tuple):
        return tuple(_map_texts(each, change) for each in value)
    if isinstance(value, Mapping):
        return {key: _map_texts(each, change) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _map_texts(getattr(value, each.name), change) for each in fields(value)})
    return value
