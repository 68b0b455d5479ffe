"""The commands of the terminal."""

from collections.abc import Mapping
from typing import Final

from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.terminal.commands import Command
from cc_bot.terminal.questions import Chat


async def show_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str | None:
    seen = await chat.stores.canvases.get(chat.profile.key)
    if seen is None or seen.canvas.empty:
        return chat.texts[CanvasTexts].empty
    chat.view.canvas(seen.canvas, chat.texts)
    return None


async def clear_canvas(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    words = chat.texts[CanvasTexts]
    return words.cleared if await chat.stores.canvases.clear(chat.profile.key) else words.cleared_already


COMMANDS: Final[Mapping[str, Command]] = {
    "canvas show": Command(show_canvas, short="canvas"),
    "canvas clear": Command(clear_canvas),
}
