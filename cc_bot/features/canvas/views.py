"""Renders a canvas as one message: elements as embeds, charts as pictures in them.

Only embed fields can be side by side, unlike Components V2, and open Markdown ends with its embed. Beyond
Discord's limits the longest texts are cut first, and attached in full. Lengths are in UTF-16 code units.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

import hikari

from cc_bot.charts.table import text_table
from cc_bot.discord.pages.markdown import SPOILER, close_spoilers, for_discord
from cc_bot.discord.pages.page import BLURPLE, TextFile
from cc_bot.discord.pages.split import split, utf16_length
from cc_bot.domain.chart import Chart
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.canvas.model import Canvas, Element
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.texts import Texts

# "Embed Limits" in Discord's message documentation.
MAX_EMBEDS: Final = 10
MAX_CHARACTERS: Final = 6000
TITLE_CHARACTERS: Final = 200  # of 256; a title has at most 100 characters of two units each
DESCRIPTION_CHARACTERS: Final = 4096
VALUE_CHARACTERS: Final = 1024
FOOTER_CHARACTERS: Final = 2000
MAX_FILES: Final = 10

MAX_INLINE_CHARACTERS: Final = 300  # longer is too tall in a third of a row
MAX_NAME_CHARACTERS: Final = 30
_LOCK: Final = "🔒"
_NO_NAME: Final = "\u200b"  # a zero-width space: field names may not be empty
_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class CanvasPage:
    content: str
    embeds: tuple[hikari.Embed, ...]
    pictures: frozenset[str]
    file: TextFile | None = None  # the full texts, if some were cut


@dataclass(frozen=True, slots=True)
class _Part:
    element: Element
    title: str
    text: str
    picture: str = ""


def picture_name(chart: Chart) -> str:
    """Return a file name that changes with the content."""
    looks = repr((chart.title, chart.kind, chart.labels, chart.series))
    return f"chart-{blake2b(looks.encode(), digest_size=6).hexdigest()}.png"


def canvas_page(
    canvas: Canvas, words: Texts, *, user_id: int | None, pictures: Collection[str] = ()
) -> CanvasPage:
    """Render visible elements. `user_id`: the owner, if others see it. `pictures`: rendered charts' names."""
    elements = canvas.shown_elements[:MAX_EMBEDS]
    is_mixed = user_id is None and len({element.visibility for element in canvas.elements}) > 1
    parts = [
        _part(element, pictures, locked=is_mixed and element.visibility == "private") for element in elements
    ]
    footer = _footer(canvas, elements, words)
    fitting = _fit(parts, footer, board=canvas.mode == "board")
    file = None
    if fitting != parts:
        full_texts = [
            (part.title, _table(e) if isinstance(e := part.element, Chart) else part.text) for part in parts
        ]
        texts = (f"## {title}\n\n{text}" if title else text for title, text in full_texts)
        file = TextFile(words[CanvasTexts].file_name, "\n\n".join(texts) + "\n")
    picture_names = frozenset(part.picture for part in parts if part.picture)
    if len(picture_names) == MAX_FILES:
        file = None
    embeds = _board(fitting) if canvas.mode == "board" else [_embed(part) for part in fitting]
    if footer:
        embeds[-1].set_footer(footer)
    # A mention shows the current name, and is sent without a ping.
    of_user = words[CanvasTexts].of_user
    notes = [words[CanvasTexts].own if user_id is None else of_user.format(user=f"<@{user_id}>")]
    if is_mixed:
        notes.append(words[CanvasTexts].private_marked)
    if fitting != parts:
        notes.append(words[CanvasTexts].cut if file else words[CanvasTexts].cut_for_good)
    return CanvasPage("\n".join(f"-# {note}" for note in notes), tuple(embeds), picture_names, file)


def _part(element: Element, pictures: Collection[str], *, locked: bool) -> _Part:
    title = shorten(one_line(element.title), TITLE_CHARACTERS // 2)
    if locked:
        title = f"{_LOCK} {title}".strip()
    if isinstance(element, Chart):
        name = picture_name(element)
        return _Part(element, title, "", name) if name in pictures else _Part(element, title, _table(element))
    text = for_discord(element.content.strip())
    return _Part(element, title, _ELLIPSIS if is_blank(text) else text)


def _table(chart: Chart) -> str:
    return f"```\n{text_table(chart).replace('`', '´')}\n```"


def _footer(canvas: Canvas, elements: Sequence[Element], words: Texts) -> str:
    """Name the hidden elements; footers show no Markdown."""
    others = [_name(element) for element in canvas.elements if element not in elements]
    if not others:
        return ""
    return _cut(words[CanvasTexts].others.format(titles=" ・ ".join(others)), FOOTER_CHARACTERS)


def _name(element: Element) -> str:
    if element.title or isinstance(element, Chart):
        return one_line(element.title)
    return shorten(one_line(element.content), MAX_NAME_CHARACTERS)


def _fit(parts: Sequence[_Part], footer: str, *, board: bool) -> list[_Part]:
    limits = [
        VALUE_CHARACTERS if board and not isinstance(part.element, Chart) else DESCRIPTION_CHARACTERS
        for part in parts
    ]
    names = sum(utf16_length(part.title or _NO_NAME) for part in parts)
    room = MAX_CHARACTERS - names - utf16_length(footer)
    lengths = [min(utf16_length(part.text), limit) for part, limit in zip(parts, limits, strict=True)]
    max_length = fair_level(lengths, room)
    return [
        replace(part, text=_cut(part.text, min(max_length, limit)))
        for part, limit in zip(parts, limits, strict=True)
    ]


def fair_level(lengths: Sequence[int], room: int) -> int:
    """Return the maximum length at which all fit together."""
    left = room
    for count, length in zip(range(len(lengths), 0, -1), sorted(lengths), strict=True):
        if length * count > left:
            return left // count
        left -= length
    return max(lengths, default=0)


def _cut(text: str, limit: int) -> str:
    if utf16_length(text) <= limit:
        return text
    pieces = split(text, limit=limit - 2 - len(_ELLIPSIS) - len(SPOILER), max_count=1)
    [begun] = close_spoilers(pieces, is_complete=False)
    is_code = begun.rpartition("\n")[2].lstrip().startswith(("```", "~~~"))
    return f"{begun}\n{_ELLIPSIS}" if is_code else f"{begun}{_ELLIPSIS}"


def _embed(part: _Part) -> hikari.Embed:
    embed = hikari.Embed(title=part.title or None, description=part.text or None, colour=BLURPLE)
    if part.picture:
        embed.set_image(hikari.URL(f"attachment://{part.picture}"))
    return embed


def _board(parts: Sequence[_Part]) -> list[hikari.Embed]:
    """Put neighbouring texts into fields that share rows."""
    embeds = list[hikari.Embed]()
    joined = False
    for part in parts:
        if isinstance(part.element, Chart):
            embeds.append(_embed(part))
            joined = False
            continue
        if not joined:
            embeds.append(hikari.Embed(colour=BLURPLE))
            joined = True
        inline = utf16_length(part.text) <= MAX_INLINE_CHARACTERS
        embeds[-1].add_field(part.title or _NO_NAME, part.text, inline=inline)
    return embeds
