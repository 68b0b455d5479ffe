"""The canvas as one turn draws on it, before anything is stored."""

from dataclasses import replace

from cc_bot.domain.canvas import AddCard, AddChart, Canvas, CanvasCommand, Drawn, ShowText, reduce
from cc_bot.domain.message import Visibility
from cc_bot.domain.proposal import Draw


class CanvasDraft:
    def __init__(self, canvas: Canvas, visibility: Visibility) -> None:
        """`canvas` is all that is up, private elements too; `visibility` is that of the turn."""
        self._canvas = canvas
        self._visibility = visibility
        self._drawn: list[Drawn] = []
        self._proposed: list[CanvasCommand] = []
        self._before = Canvas()

    @property
    def canvas(self) -> Canvas:
        """As much of it as the turn may see."""
        return self._canvas.seen(self._visibility)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """What was done, in order; with the ids that elements got, which later commands name."""
        return tuple(self._drawn)

    @property
    def proposed(self) -> Draw | None:
        """What is left to the user; None for nothing."""
        return Draw(tuple(self._proposed), self._before) if self._proposed else None

    def apply(self, command: CanvasCommand, *, propose: bool = False) -> Canvas:
        """Draw, and return what the turn sees then; what was added is its last element. What it is to
        `propose` is drawn for the turn's own eyes alone: what it says next may build on it. Raises
        CanvasRefused with a message for the model; nothing is drawn then. It awaits nothing, so that calls
        which a model makes at once are done in their order."""
        before = self.canvas
        self._canvas = reduce(self._canvas, Drawn(command, self._visibility))
        if isinstance(command, AddCard | ShowText | AddChart):
            command = replace(command, id=self._canvas.elements[-1].id)
        if propose:
            self._before = self._before if self._proposed else before
            self._proposed.append(command)
        else:
            self._drawn.append(Drawn(command, self._visibility))
        return self.canvas
