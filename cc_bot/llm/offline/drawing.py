"""`Put … on the canvas`: what is to be put up, read from plain words.

Enough for trying the canvas without a key: a text, a list under its title, a chart of numbers that stand in
the request (`りんご 120、みかん 80 を棒グラフで`), and taking everything down.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.conversation import Conversation
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.questions import is_question
from cc_bot.llm.offline.recollection import newest_statement
from cc_bot.llm.offline.texts import OfflineTexts

_PLEASE_JA: Final = (
    r"(?:おいて|みて)?(?:ください|下さい|くれ(?:る|ますか|ませんか)?|ほしい(?:です)?|もらえ(?:る|ますか|ませんか)"
    r"|お願い(?:します)?)?(?:ね|よ)?[。！!?？\s]*"
)
_SHOW_JA: Final = (
    r"(?:(?:表示|追加|掲示)(?:して|を?お願い)|(?:出|映|残)して|見せて"
    r"|(?:置|描|書)いて|貼って|[載の]せて|まとめて|作って)"
)
_PUT_JA: Final = (
    Phrase(
        rf"(?P<what>.*?)(?:を|も|と)?\s*キャンバスに\s*{_SHOW_JA}{_PLEASE_JA}(?P<more>[:：\n].*)?", re.DOTALL
    ),
    Phrase(
        rf"キャンバスに[、\s]*(?P<what>.+?)(?:を|と|も)?\s*{_SHOW_JA}{_PLEASE_JA}(?P<more>[:：\n].*)?",
        re.DOTALL,
    ),
)
_PUT_EN: Final = Phrase(
    r"(?:(?:please|can you|could you|would you|now|ok|okay|hey|hi|so)[, ]+)*"
    r"(?:put|show|add|write|draw|place|display|post|pin|make|plot)(?: up| me)?\b\s*(?P<what>.*?)\s*(?:up )?"
    r"(?:on|to|onto|in) (?:the|my|your|our) canvas\b(?:,? please)?[.!?]*\s*(?P<more>[:\n].*)?",
    re.DOTALL | re.IGNORECASE,
)
_CLEAR: Final = Phrase(
    r"キャンバスを?(?:空に|クリア|リセット|きれいに|片付け|かたづけ|全部消|消)(?:して|し|て)?.{0,8}"
    r"|(?:please |can you |could you )*(?:clear|empty|wipe|clean|reset)(?: off| up)? (?:the|my|your) canvas"
    r".{0,10}"
    r"|(?:please )?take everything (?:off|down from) (?:the|my|your) canvas.{0,10}"
)
_CHART_JA: Final = Phrase(
    r"[をのはで、\s]*(?P<kind>棒|円|折れ線|折線|線)?グラフ(?:[にでとを]|として)?(?:し(?:て)?|描いて|作って)?[、\s]*$"
)
_CHART_JA_ALONE: Final = Phrase(
    rf"(?P<what>.+グラフ(?:[にでを]|として))\s*(?:して|描いて|{_SHOW_JA}){_PLEASE_JA}", re.DOTALL
)
_CHART_EN: Final = Phrase(
    r"^(?:an? |the )?(?:(?P<kind>bar|pie|line) )?(?:chart|graph)(?: (?:of|with|for|showing))?:?\s*",
    re.IGNORECASE,
)
_CHART_EN_AFTER: Final = Phrase(
    r"\s+(?:as|in) an? (?:(?P<kind>bar|pie|line) )?(?:chart|graph)\s*$", re.IGNORECASE
)
_CHART_EN_ALONE: Final = Phrase(
    r"(?:(?:please|can you|could you|would you)[, ]+)*(?:draw|make|plot|show)(?: me)? "
    r"(?P<what>an? (?:(?:bar|pie|line) )?(?:chart|graph)\b.+?)[.!?]*",
    re.DOTALL | re.IGNORECASE,
)
_KINDS: Final = {"円": "pie", "pie": "pie", "折れ線": "line", "折線": "line", "線": "line", "line": "line"}

_HEADING: Final = Phrase(r"(?P<title>[^:：\n]{1,40}?)\s*[:：\n]\s*(?P<rest>.+)", re.DOTALL)
_BETWEEN: Final = Phrase(r"[、;；\n。]|(?<!\d),|,(?!\d{3}(?!\d))|\s+and\s+|(?<=[\d円個人度%])と")
_NUMBER: Final = r"(?P<number>-?\d[\d,]*(?:\.\d+)?)"
_ITEMS: Final = (
    Phrase(rf"(?P<label>.*?[^\d\s:=,.+はが-])[\s:=はが]*{_NUMBER}\s*(?P<times>[千万億])?[^\d\s]{{0,4}}"),
    Phrase(rf"{_NUMBER}\s*(?P<times>[千万億])?\s*(?P<label>[a-z].*)", re.IGNORECASE),
)
"""A name and its number; in English the number may come first."""
_TIMES: Final = {"千": 1e3, "万": 1e4, "億": 1e8}
_BULLET: Final = Phrase(r"^[\s・*•-]+(?=\D)")
_POINTS_BACK: Final = Phrase(
    r"(?:それ|これ|あれ|今の|いまの|さっきの|上の|前の)(?:話|こと|内容|やつ|もの)?|(?:it|this|that|these|those|them)"
)
_ABOUT: Final = Phrase(r"キャンバス|\bcanvas\b")


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """The tool to call, and with what."""

    tool: str
    arguments: dict[str, object]


def drawing(talk: Conversation, words: OfflineTexts) -> DrawRequest | str | None:
    """What to draw, or to say about it; None when the message is not about the canvas."""
    wished = _wish(talk, words)
    if not isinstance(wished, DrawRequest):
        return wished
    if wished.tool not in talk.tools:
        return words.cannot_draw
    if not talk.rounds:
        return wished
    if (error := talk.rounds[-1].error) is not None:
        return words.not_drawn.format(error=error)
    if talk.rounds[-1].proposed:
        return words.proposed
    return words.canvas_cleared if wished.tool == "canvas_set_mode" else words.drawn


def _wish(talk: Conversation, words: OfflineTexts) -> DrawRequest | str | None:
    message = talk.message.strip()
    if _CLEAR.fullmatch(fold(message)):
        return DrawRequest("canvas_set_mode", {"mode": "clear"})
    for pattern in (*_PUT_JA, _PUT_EN):
        if found := pattern.fullmatch(message):
            return _element(
                found["what"].strip(" 　、,\n"), (found["more"] or "").strip(" :：\n"), talk, words
            )
    for pattern in (_CHART_JA_ALONE, _CHART_EN_ALONE):
        if found := pattern.fullmatch(message):
            named, kind = _without_chart(found["what"])
            if chart := _chart(named, kind, words):
                return chart
    if _ABOUT.search(fold(message)) and is_question(message):
        return words.canvas_is_where
    return None


def _element(what: str, more: str, talk: Conversation, words: OfflineTexts) -> DrawRequest | str:
    """A chart where one is spoken of, else a card with a title, or a text."""
    named, kind = _without_chart(what)
    if kind:
        return _chart(f"{named}\n{more}" if more else named, kind, words) or words.chart_how
    if _POINTS_BACK.fullmatch(fold(what)) and not more:
        what = newest_statement(talk) or ""
    if not more and "//" not in what and (found := _HEADING.fullmatch(what)):
        what, more = found["title"].strip(), found["rest"].strip()
    if what and more:
        return DrawRequest("canvas_add_card", {"title": _unquoted(what), "content": more})
    content = _unquoted(what or more)
    return DrawRequest("canvas_show_text", {"content": content}) if content else words.what_to_draw


def _unquoted(text: str) -> str:
    pairs = ("「」", "『』", '""', "“”", "''")
    return text[1:-1].strip() if len(text) > 2 and text[0] + text[-1] in pairs else text


def _without_chart(what: str) -> tuple[str, str]:
    """What a chart is asked of, and which kind; no kind where no chart is spoken of."""
    for pattern in (_CHART_JA, _CHART_EN, _CHART_EN_AFTER):
        if found := pattern.search(what):
            named = what[: found.start()] + what[found.end() :]
            return named.strip(), _KINDS.get((found["kind"] or "").casefold(), "bar")
    return what, ""


def _chart(text: str, kind: str, words: OfflineTexts) -> DrawRequest | None:
    """The chart of a text with two numbers or more, each after its name."""
    title, items = "", _items(text)
    if found := _HEADING.fullmatch(text):
        below = _items(found["rest"])
        if below and len(below) >= len(items or ()):
            title, items = found["title"].strip(), below
    if not items or len(items) < 2:
        return None
    values = [value for _, value in items]
    return DrawRequest(
        "canvas_add_chart",
        {
            "title": title or words.chart_title,
            "kind": kind,
            "labels": [label for label, _ in items],
            "series": [{"name": title or words.chart_title, "values": values}],
        },
    )


def _items(text: str) -> list[tuple[str, float]] | None:
    """Names and their numbers; None where anything else stands between them."""
    parts = [_BULLET.sub("", part).strip() for part in _BETWEEN.split(unicodedata.normalize("NFKC", text))]
    items = [_item(part) for part in parts if part]
    return [item for item in items if item] if items and all(items) else None


def _item(part: str) -> tuple[str, float] | None:
    found = next(filter(None, (pattern.fullmatch(part) for pattern in _ITEMS)), None)
    if found is None:
        return None
    number = float(found["number"].replace(",", "")) * _TIMES.get(found["times"], 1)
    return found["label"].strip(), int(number) if number.is_integer() else number
