"""Texts of the kinds that requests are made of, written for these tests."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.context.prompt import build_prompt
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.llm.model import SystemPart, ToolSchema

_WRITTEN: Final[dict[str, list[str]]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
TOOLS: Final = discover_tools().schemas()


def _as_sent(tool: ToolSchema) -> str:
    """The tool as a request has it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))


def _instructions() -> tuple[str, ...]:
    """System messages that the program writes."""
    now, question = datetime(2026, 3, 14, 23, 30, tzinfo=UTC), Message("user", "?")
    return tuple(
        part.text
        for locale, zone in ((Locale.JA, "Asia/Tokyo"), (Locale.EN, "America/New_York"))
        for part in build_prompt((), question, tools=TOOLS, locale=locale, now=now, timezone=ZoneInfo(zone))
        if isinstance(part, SystemPart)
    )


TEXTS: Final = {
    **{kind: tuple(texts) for kind, texts in _WRITTEN.items()},
    "tools": tuple(map(_as_sent, TOOLS)),
    "system": (*_instructions(), *_WRITTEN["system"]),
}
