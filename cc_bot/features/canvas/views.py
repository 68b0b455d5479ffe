"""Renders a canvas as one message: elements as embeds, charts as pictures in them.

Not as Components V2: only embed fields can be side by side, and unclosed Markdown ends with its embed. Beyond
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
MAX_TOTAL_LENGTH: Final = 6000  # of all embeds
MAX_TITLE_CHARACTERS: Final = 100  # each up to two units, of 256
MAX_DESCRIPTION_LENGTH: Final = 4096
MAX_FIELD_LENGTH: Final = 1024
MAX_FOOTER_LENGTH: Final = 2000
MAX_FILES: Final = 10

MAX_INLINE_LENGTH: Final = 300  # longer is too tall in a third of a row
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
class _RenderedElement:
    element: Element
    title: str
    text: str
    picture: str = ""


def picture_name(chart: Chart) -> str:
    """Return a file name that changes with the content."""
    looks = repr((chart.title, chart.kind, chart.labels, chart.series, chart.x_title, chart.y_title))
    return f"chart-{blake2b(looks.encode(), digest_size=6).hexdigest()}.png"


def canvas_page(
    canvas: Canvas, words: Texts, *, user_id: int | None, pictures: Collection[str] = ()
) -> CanvasPage:
    """`user_id`: the owner, if others see the message. `pictures`: names of rendered charts."""
    elements = canvas.shown_elements[:MAX_EMBEDS]
    is_mixed = user_id is None and len({element.visibility for element in canvas.elements}) > 1
    parts = [_render_element(element, pictures, marks_private=is_mixed) for element in elements]
    footer = _footer(canvas, elements, words)
    shortened = _shorten_texts(parts, footer, board=canvas.mode == "board")
    file = None
    if shortened != parts:
        file = TextFile(words[CanvasTexts].file_name, "\n\n".join(map(_full_text, parts)) + "\n")
    picture_names = frozenset(part.picture for part in parts if part.picture)
    if len(picture_names) == MAX_FILES:
        file = None
    embeds = _board_embeds(shortened) if canvas.mode == "board" else [_embed(part) for part in shortened]
    if footer:
        embeds[-1].set_footer(footer)
    # A mention shows the current name. It is sent without a ping.
    user_canvas = words[CanvasTexts].user_canvas
    notes = [words[CanvasTexts].your_canvas if user_id is None else user_canvas.format(user=f"<@{user_id}>")]
    if is_mixed:
        notes.append(words[CanvasTexts].lock_meaning)
    if shortened != parts:
        notes.append(words[CanvasTexts].texts_cut_and_attached if file else words[CanvasTexts].texts_cut)
    return CanvasPage("\n".join(f"-# {note}" for note in notes), tuple(embeds), picture_names, file)


def _render_element(element: Element, pictures: Collection[str], *, marks_private: bool) -> _RenderedElement:
    title = shorten(one_line(element.title), MAX_TITLE_CHARACTERS)
    if marks_private and element.visibility == "private":
        title = f"{_LOCK} {title}".strip()
    if isinstance(element, Chart):
        name = picture_name(element)
        if name in pictures:
            return _RenderedElement(element, title, "", name)
        return _RenderedElement(element, title, _table(element))
    text = for_discord(element.content.strip())
    return _RenderedElement(element, title, _ELLIPSIS if is_blank(text) else text)


def _full_text(part: _RenderedElement) -> str:
    text = _table(part.element) if isinstance(part.element, Chart) else part.text
    return f"## {part.title}\n\n{text}" if part.title else text


def _table(chart: Chart) -> str:
    return f"```\n{text_table(chart).replace('`', '´')}\n```"


def _footer(canvas: Canvas, elements: Sequence[Element], words: Texts) -> str:
    """Name hidden elements. Footers show no Markdown."""
    others = [_short_name(element) for element in canvas.elements if element not in elements]
    if not others:
        return ""
    return _cut(words[CanvasTexts].other_elements.format(titles=" ・ ".join(others)), MAX_FOOTER_LENGTH)


def _short_name(element: Element) -> str:
    if element.title or isinstance(element, Chart):
        return one_line(element.title)
    return shorten(one_line(element.content), MAX_NAME_CHARACTERS)


def _shorten_texts(parts: Sequence[_RenderedElement], footer: str, *, board: bool) -> list[_RenderedElement]:
    text_limit, table_limit = MAX_FIELD_LENGTH if board else MAX_DESCRIPTION_LENGTH, MAX_DESCRIPTION_LENGTH
    limits = [table_limit if isinstance(part.element, Chart) else text_limit for part in parts]
    title_length = sum(utf16_length(part.title or _NO_NAME) for part in parts)
    room = MAX_TOTAL_LENGTH - title_length - utf16_length(footer)
    lengths = [min(utf16_length(part.text), limit) for part, limit in zip(parts, limits, strict=True)]
    max_length = longest_fitting_length(lengths, room)
    return [
        replace(part, text=_cut(part.text, min(max_length, limit)))
        for part, limit in zip(parts, limits, strict=True)
    ]


def longest_fitting_length(lengths: Sequence[int], room: int) -> int:
    """Return the maximum length at which all fit in `room`."""
    remaining = room
    for count, length in zip(range(len(lengths), 0, -1), sorted(lengths), strict=True):
        if length * count > remaining:
            return remaining // count
        remaining -= length
    return max(lengths, default=0)


def _cut(text: str, limit: int) -> str:
    if utf16_length(text) <= limit:
        return text
    pieces = split(text, limit=limit - 2 - len(_ELLIPSIS) - len(SPOILER), max_count=1)
    [beginning] = close_spoilers(pieces, is_complete=False)
    is_code = beginning.rpartition("\n")[2].lstrip().startswith(("```", "~~~"))
    return f"{beginning}\n{_ELLIPSIS}" if is_code else f"{beginning}{_ELLIPSIS}"


def _embed(part: _RenderedElement) -> hikari.Embed:
    embed = hikari.Embed(title=part.title or None, description=part.text or None, colour=BLURPLE)
    if part.picture:
        embed.set_image(hikari.URL(f"attachment://{part.picture}"))
    return embed


def _board_embeds(parts: Sequence[_RenderedElement]) -> list[hikari.Embed]:
    """Put neighbouring texts into fields that share rows."""
    embeds = list[hikari.Embed]()
    has_fields = False  # of the last embed
    for part in parts:
        if isinstance(part.element, Chart):
            embeds.append(_embed(part))
            has_fields = False
            continue
        if not has_fields:
            embeds.append(hikari.Embed(colour=BLURPLE))
            has_fields = True
        inline = utf16_length(part.text) <= MAX_INLINE_LENGTH
        embeds[-1].add_field(part.title or _NO_NAME, part.text, inline=inline)
    return embeds
