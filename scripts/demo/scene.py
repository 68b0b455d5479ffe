"""What people and the model say, and what is on the pages: one file of each language."""

import tomllib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from scripts.demo.drawing import ZONE

TODAY: Final = datetime.now(ZONE).date()
FRIDAY: Final = TODAY + timedelta(days=11 - TODAY.weekday())
"""Of next week."""
_DAYS: Final = {"today": TODAY, "tomorrow": TODAY + timedelta(days=1), "friday": FRIDAY}


@dataclass(frozen=True, slots=True)
class Scene:
    locale: str
    server: str
    channels: list[str]
    empty_input: str
    users: list[str]
    days: list[str]
    times: list[str]
    talk: list[list[tuple[int, str, str]]]
    questions: list[str]
    memory: str
    reminder: str
    answers: list[list[str]]
    reader: str
    fact: str
    fact_told: tuple[str, str]
    fact_used: tuple[str, str]
    later: str
    letter_name: str
    letter: str
    order: str
    summarised: tuple[str, str]
    drawn_in: str
    drawn: tuple[str, str]
    memories: list[tuple[int, str, str, str]]
    cards: list[tuple[str, str]]
    captions: list[tuple[str, str]]
    chart: dict[str, Any]


def read_scene(language: str) -> Scene:
    text = Path(__file__).with_name(f"{language}.toml").read_text("utf-8")
    for name, day in _DAYS.items():
        written = f"{day.month}月{day.day}日" if language == "ja" else f"{day:%B} {day.day}"
        text = text.replace(f"{{{name}}}", written)
    return Scene(**tomllib.loads(text.replace("{fri}", f"{FRIDAY:%b} {FRIDAY.day}")))
