"""A terminal's screen, as far as this program's output goes: what stands where after the escape sequences."""

import re
from dataclasses import dataclass, field

from rich.cells import cell_len

_TOKEN = re.compile(r"\x1b\[(?P<arguments>[?\d;]*)(?P<command>[A-Za-z])|(?P<character>[\s\S])")


@dataclass
class Screen:
    """`rows` holds everything, also what scrolled out of sight; only the last `height` can be written to."""

    width: int
    height: int
    rows: list[list[str]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0

    def feed(self, output: str) -> "Screen":
        for found in _TOKEN.finditer(output):
            if found["character"]:
                self._put(found["character"])
            else:
                self._obey(found["command"], found["arguments"])
        return self

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def _put(self, character: str) -> None:
        if character == "\n":  # which the terminal's driver turns into \r\n
            self._down()
        elif character == "\r":
            self.column = 0
        elif character >= " ":
            size = cell_len(character)
            if not size:  # it joins the character before it
                self.rows[self.row][self.column - 1] += character
                return
            if self.column + size > self.width:
                self._down()
            row = self.rows[self.row]
            row.extend(" " * (self.column + size - len(row)))
            row[self.column] = character
            if size == 2:
                row[self.column + 1] = ""
            self.column += size

    def _down(self) -> None:
        self.row += 1
        self.column = 0
        if self.row == len(self.rows):
            self.rows.append([])

    def _obey(self, command: str, arguments: str) -> None:
        if command == "A":
            top = max(0, len(self.rows) - self.height)
            self.row = max(top, self.row - int(arguments or 1))
        elif command == "K":
            self.rows[self.row].clear()
        elif command not in "mhl":
            raise AssertionError(f"this screen does not know ESC[{arguments}{command}")
