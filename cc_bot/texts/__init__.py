"""All sentences of cc-bot. A missing translation is a type error; tests compare the placeholders."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeVar

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale
from cc_bot.texts.area import Area, NameCommand, Sentence, name_commands
from cc_bot.texts.commands import command_namer

A = TypeVar("A", bound=Area)


class ErrorTexts(Area):
    tell_operator = Sentence(ja="ボットの管理者にお知らせください", en="tell the bot's operator")  # a phrase in errors' sentences, for readers other than the operator


class Texts:
    """The sentences in one language, by area: `words[ReminderTexts].late`."""

    def __init__(self, locale: Locale, name_command: NameCommand) -> None:
        self.locale: Final = locale
        self._name_command: Final = name_command
        self._areas: Final[dict[type[Area], Any]] = {}

    def __getitem__(self, area: type[A]) -> A:
        made: A | None = self._areas.get(area)
        if made is None:
            made = self._areas[area] = area(self.locale, self._name_command)
        return made

    def for_error(self, error: type[CcBotError]) -> str:
        return name_commands(error.ja if self.locale is Locale.JA else error.en, self._name_command)

    def with_area(self, area: Area) -> "Texts":
        other = Texts(self.locale, self._name_command)
        other._areas.update({**self._areas, type(area): area})
        return other


@cache
def _texts_in(locale: Locale, names: Locale) -> Texts:
    return Texts(locale, command_namer(names))


def texts(locale: Locale, *, names: Locale | None = None) -> Texts:
    """Return all texts in one language, with command names in the language `names`."""
    return _texts_in(locale, names or locale)


def texts_with_mentions(locale: Locale, ids: Mapping[str, int]) -> Texts:
    """Return texts with mentions of registered commands (`ids`), and names of others."""
    by_name = command_namer(locale)

    def name_command(name: str) -> str:
        known = ids.get(name.partition(" ")[0])
        return by_name(name) if known is None else f"</{name}:{known}>"

    return Texts(locale, name_command)


def relative_timestamp(moment: datetime) -> str:
    return f"<t:{int(moment.timestamp())}:R>"


def explain(error: CcBotError, words: Texts, moment: Callable[[datetime], str] = relative_timestamp) -> str:
    params = {name: moment(value) if isinstance(value, datetime) else value for name, value in error.params.items()}
    return words.for_error(type(error)).format(**params)
