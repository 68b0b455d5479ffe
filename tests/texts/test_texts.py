import dataclasses
import re
import string
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from cc_bot.domain.errors import LimitReached
from cc_bot.domain.text import Locale
from cc_bot.features.memory.errors import MemoryTooLong
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import commands, explain, texts
from cc_bot.texts.area import Area
from cc_bot.texts.replies import MomentTexts, money
from tests.texts.areas import areas_in, every_error

KANA = re.compile(r"[\u3041-\u30ff]")
JAPANESE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
IN_THEIR_OWN_LANGUAGE = {
    "SessionTexts.language_ja",
    "SessionTexts.language_en",
    "SessionTexts.change_language",
}


def sentences(locale: Locale) -> dict[str, str]:
    return dict(walk("", areas_in(texts(locale))))


def walk(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield prefix, value
    elif isinstance(value, Area):
        yield from walk(prefix, value.values())
    elif isinstance(value, Mapping):
        for key, each in value.items():
            name = key.__name__ if isinstance(key, type) else key
            yield from walk(f"{prefix}.{name}".lstrip("."), each)
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from walk(f"{prefix}.{number}", each)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from walk(f"{prefix}.{field.name}".lstrip("."), getattr(value, field.name))


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


class TestSentences:
    def test_have_the_same_parameters_and_name_the_same_commands_in_both_languages(self) -> None:
        ja, en = (
            {
                name: (
                    placeholders(text),
                    name.startswith("TerminalTexts.") and {*re.findall(r"(?<![\w/])/[a-z]+", text)},
                )
                for name, text in sentences(locale).items()
            }
            for locale in (Locale.JA, Locale.EN)
        )
        assert ja == en

    def test_are_english_in_english_and_japanese_in_japanese(self) -> None:
        japanese = {name for name, text in sentences(Locale.EN).items() if JAPANESE.search(text)}
        assert japanese - IN_THEIR_OWN_LANGUAGE == set()
        bare = {
            name for name, text in sentences(Locale.JA).items() if len(text) >= 25 and not KANA.search(text)
        }
        assert {name for name in bare if not name.endswith((".usage", ".arguments.settings"))} == set()


PARAMETERS = (
    *("limit", "length", "name", "expected", "detail", "path", "host", "theirs", "ours", "last"),
    *("found", "status", "nearest", "value", "when"),
    *("known", "needed", "id", "reason", "minutes", "resets", "since", "note", "free", "command", "port"),
    *("setting", "made", "version", "url", "extra", "line", "server", "tool", "seconds", "count"),
)


class TestErrors:
    def test_are_each_explained_with_their_parameters_and_moments_as_each_front_end_shows_them(self) -> None:
        errors = every_error()
        modules = [vars(module) for name, module in sys.modules.items() if name.startswith("cc_bot.")]
        assert [each for each in errors if not any(m.get(each.__name__) is each for m in modules)] == []
        limit = LimitReached(what="tokens_per_day", resets=datetime(2026, 11, 22, 15, 0, tzinfo=UTC))
        for words in map(texts, Locale):
            for error in errors:
                assert explain(error(**dict.fromkeys(PARAMETERS, "7")), words), error
            assert "4000" in explain(MemoryTooLong(limit=4000, length=5000), words)
            assert "<t:1795359600:R>" in explain(limit, words)
            assert "15:00" in explain(limit, words, lambda moment: f"{moment:%H:%M}")


def test_money_has_as_many_decimals_as_say_something() -> None:
    told = {0: "0.00 JPY", 100: "0.0001 JPY", 999_900: "0.9999 JPY", 1_234_500_000: "1,234.50 JPY"}
    assert {micros: money(micros, "JPY") for micros in told} == told


MENU = ("remember_this", "ask_about_this", "translate_this", "summarise_from_here")


class TestCommandNames:
    def test_keep_discords_limits_and_are_told_of_as_they_are(self) -> None:
        for locale in Locale:
            names, spoken = commands.command_names(locale), texts(locale)
            for key, wording in names.items():
                if key.endswith(("_description", "_choice")):
                    assert 1 <= len(wording) <= 100, key
                else:
                    assert 1 <= len(wording) <= 32, key
                    assert key in MENU or (wording == wording.lower() and not re.search(r"\s", wording))
            for key in MENU:
                assert names[key] in spoken[SessionTexts].help


def test_days_are_counted_by_the_calendar() -> None:
    now = datetime(2026, 12, 1, 20, 50, tzinfo=UTC)
    words = texts(Locale.EN)[MomentTexts]
    distances = [
        words.relative(now.replace(day=day, hour=hour), now) for day, hour in ((2, 22), (3, 9), (4, 7))
    ]
    assert distances == [words.tomorrow, "in 2 days", "in 3 days"]
