from collections.abc import Mapping
from typing import Final

from cc_bot.domain.chart import Chart
from cc_bot.features.canvas.drawing import get_canvas
from cc_bot.features.canvas.model import Canvas, draw_boxes
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.terminal.commands import Chat, Command
from cc_bot.terminal.view import short_line
from cc_bot.texts import Texts


async def show_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str | None:
    canvas = await get_canvas(chat.stores.canvases, chat.profile.key)
    if canvas.is_empty:
        return chat.texts[CanvasTexts].empty
    chat.view.show_panels(*canvas_panels(canvas, chat.texts))
    return None


def canvas_panels(canvas: Canvas, words: Texts) -> tuple[list[tuple[str, str | Chart]], str]:
    """Return titles and contents of shown elements, and a line that names the others."""
    panels = list[tuple[str, str | Chart]]()
    for each in canvas.shown_elements:
        lock = "🔒 " if each.visibility == "private" else ""
        content = each if isinstance(each, Chart) else draw_boxes(each.content, "☐☑")
        panels.append((f"{lock}{short_line(each.title)}".strip(), content))
    others = (each for each in canvas.elements if each not in canvas.shown_elements)
    titles = ", ".join(short_line(each.title or each.id) for each in others)
    return panels, words[CanvasTexts].other_elements.format(titles=titles) if titles else ""


async def clear_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    words = chat.texts[CanvasTexts]
    return words.cleared if await chat.stores.canvases.clear(chat.profile.key) else words.cleared_already


COMMANDS: Final[Mapping[str, Command]] = {
    "canvas show": Command(show_canvas, short="canvas"),
    "canvas clear": Command(clear_canvas),
}
