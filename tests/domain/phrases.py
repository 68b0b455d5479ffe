from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from cc_bot.domain.errors import CcBotError

Error = TypeVar("Error", bound=CcBotError)


def table(name: str) -> str:
    return (Path(__file__).parent / "tables" / f"{name}.txt").read_text("utf-8")


def phrases(table: str) -> list[str]:
    """The cells of a table."""
    return [phrase.strip() for line in table.strip().splitlines() for phrase in line.split(" | ")]


def meanings(table: str) -> dict[str, str]:
    """The cells of a table, each with what it means."""
    pairs = (phrase.split(" → ") for phrase in phrases(table))
    return {phrase.strip(): meaning.strip() for phrase, meaning in pairs}


def this_year(moment: str) -> str:
    """A time with its year: 2026 where none is written."""
    return moment if len(moment) > len("11-22 10:40") else f"2026-{moment}"


def refused_otherwise(
    expected: Mapping[type[Error], str | Sequence[str]], read: Callable[[str], object]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for error, texts in expected.items():
        for text in phrases(texts) if isinstance(texts, str) else texts:
            try:
                found[text] = read(text)
            except error:
                continue
            except CcBotError as other:
                found[text] = other
    return found
