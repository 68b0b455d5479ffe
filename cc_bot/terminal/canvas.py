"""The `/canvas` command."""

from cc_bot.stores import CanvasStore
from cc_bot.terminal.commands import ShowCanvas
from cc_bot.terminal.person import Person
from cc_bot.terminal.view import View


async def show_canvas(command: ShowCanvas, person: Person, canvases: CanvasStore, view: View) -> None:
    """Show what is up for the agent that answers, or take it down. Nobody reads along: all of it is shown."""
    words = person.texts.canvas
    if command.clear:
        view.say(words.cleared if await canvases.clear(person.key) else words.cleared_already)
        return
    seen = await canvases.get(person.key)
    if seen is None or seen.canvas.empty:
        view.say(words.empty)
    else:
        view.canvas(seen.canvas, person.texts)
