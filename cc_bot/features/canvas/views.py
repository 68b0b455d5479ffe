"""Renders a canvas as one card of components version 2: texts, and pictures of charts.

If the texts exceed Discord's limit, the longest are cut first, and a file has the full texts. Lengths are in
UTF-16 code units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

import hikari
from hikari.api import ComponentBuilder
from hikari.impl import (
    ContainerComponentBuilder,
    FileComponentBuilder,
    MediaGalleryComponentBuilder,
    MediaGalleryItemBuilder,
    TextDisplayComponentBuilder,
)

from cc_bot.charts.table import text_table
from cc_bot.discord.pages.markdown import SPOILER, close_spoilers, for_discord
from cc_bot.discord.pages.page import BLURPLE, small_print
from cc_bot.discord.pages.split import split, utf16_length
from cc_bot.domain.chart import Chart
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.canvas.model import Canvas, Element, draw_boxes
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.texts import Texts

MAX_SHOWN: Final = 10  # Discord allows as many files; with separators they take 33 of 40 components
MAX_TOTAL_LENGTH: Final = 3500  # Discord allows 4000; the rest is for notes
MAX_TITLE_CHARACTERS: Final = 100
MAX_FOOTER_LENGTH: Final = 600
MAX_SHORT_TITLE_CHARACTERS: Final = 20
_LOCK: Final = "🔒"
_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class CanvasPage:
    components: list[ComponentBuilder]
    plain: list[ComponentBuilder]  # texts alone, if Discord refuses the card or its files


@dataclass(frozen=True, slots=True)
class _Part:
    title: str
    text: str
    picture: MediaGalleryItemBuilder | None = None

    @property
    def full_text(self) -> str:
        return "\n".join(filter(None, (self.title and f"### {self.title}", self.text)))


def picture_name(chart: Chart) -> str:
    """Return a file name that changes with the content."""
    looks = repr((chart.title, chart.kind, chart.labels, chart.series, chart.x_title, chart.y_title))
    return f"chart-{blake2b(looks.encode(), digest_size=6).hexdigest()}.png"


def canvas_page(
    canvas: Canvas, words: Texts, *, user_id: int | None, pictures: Mapping[str, bytes]
) -> CanvasPage:
    """`user_id`: the owner, if others see the message. `pictures`: rendered charts by name."""
    texts = words[CanvasTexts]
    elements = canvas.shown_elements[:MAX_SHOWN]
    is_mixed = user_id is None and len({element.visibility for element in canvas.elements}) > 1
    # A mention shows the current name. It is sent without a ping.
    notes = [texts.your_canvas if user_id is None else texts.user_canvas.format(user=f"<@{user_id}>")]
    if is_mixed:
        notes.append(texts.lock_meaning)
    others = " ・ ".join(_footer_name(element) for element in canvas.elements if element not in elements)
    footer = _cut(texts.other_elements.format(titles=others), MAX_FOOTER_LENGTH) if others else ""

    def build(pictures: Mapping[str, bytes], *, in_card: bool) -> list[ComponentBuilder]:
        parts = [_render_element(element, pictures, marks_private=is_mixed) for element in elements]
        room = MAX_TOTAL_LENGTH - utf16_length(footer)
        fitting = _shorten_texts(parts, room)
        cut_note = texts.texts_cut_and_attached if in_card else texts.texts_cut
        top = _text("\n".join(small_print(*notes, *([cut_note] if fitting != parts else []))))
        bottom = [_text(line) for line in small_print(footer)]
        if not in_card:
            return [top, *(_text(part.full_text) for part in fitting), *bottom]
        card = ContainerComponentBuilder(accent_color=hikari.Color(BLURPLE), components=[top])
        for part in fitting:
            card.add_separator(spacing=hikari.SpacingType.SMALL, divider=True)
            if part.full_text:
                card.add_component(_text(part.full_text))
            if part.picture:
                card.add_component(MediaGalleryComponentBuilder(items=[part.picture]))
        if fitting != parts:
            whole = "\n\n".join(part.full_text for part in parts if part.full_text)
            card.add_component(FileComponentBuilder(file=hikari.Bytes(whole.encode(), texts.file_name)))
        for text in bottom:
            card.add_component(text)
        return [card]

    return CanvasPage(build(pictures, in_card=True), build({}, in_card=False))


def _text(content: str) -> TextDisplayComponentBuilder:
    return TextDisplayComponentBuilder(content=content)


def _render_element(element: Element, pictures: Mapping[str, bytes], *, marks_private: bool) -> _Part:
    title = shorten(one_line(element.title), MAX_TITLE_CHARACTERS)
    marked = f"{_LOCK} {title}".strip() if marks_private and element.visibility == "private" else title
    if not isinstance(element, Chart):
        text = draw_boxes(for_discord(element.content.strip()), "⬜✅")
        return _Part(marked, _ELLIPSIS if is_blank(text) else text)
    name = picture_name(element)
    if name not in pictures:
        return _Part(marked, f"```\n{text_table(element).replace('`', '´')}\n```")
    picture = MediaGalleryItemBuilder(media=hikari.Bytes(pictures[name], name), description=title or "…")
    # A picture contains its title, but cuts a long one.
    return _Part(marked if marked != title or len(title) > MAX_SHORT_TITLE_CHARACTERS else "", "", picture)


def _footer_name(element: Element) -> str:
    if element.title or isinstance(element, Chart):
        return one_line(element.title)
    return shorten(one_line(element.content), MAX_SHORT_TITLE_CHARACTERS)


def _shorten_texts(parts: Sequence[_Part], room: int) -> list[_Part]:
    lengths = [utf16_length(part.text) for part in parts]
    taken = sum(utf16_length(part.full_text) for part in parts) - sum(lengths)
    limit = longest_fitting_length(lengths, room - taken)
    return [replace(part, text=_cut(part.text, limit)) for part in parts]


def longest_fitting_length(lengths: Sequence[int], room: int) -> int:
    """Return the length to which longer texts must be cut so that together they fit in `room`."""
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
