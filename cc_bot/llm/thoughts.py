"""What a model thinks aloud, taken out of what it says.

Most mark it like `<think>…</think>`, with other words and brackets from family to family. gpt-oss writes
channels (`<|channel|>analysis<|message|>…<|end|>`), which servers that do not know them pass on as they are.
"""

import re
from typing import Final

_TAGS: Final = (
    "<think>",
    "<thinking>",
    "<reasoning>",
    "<thought>",  # Gemma
    "[think]",  # Mistral
    "\u25c1think\u25b7",  # Kimi
)
_ENDS: Final = frozenset(f"{tag[0]}/{tag[1:]}" for tag in _TAGS)
_HEADER: Final = "<|start|>assistant"
_FINAL: Final = "<|channel|>final"
_BETWEEN: Final = frozenset({"<|message|>", "<|end|>", "<|return|>", "<|call|>"})
"""What stands between the messages of gpt-oss; from other models it may be text."""
_ENDS_CHANNEL: Final = frozenset({"<|end|>", "<|return|>", "<|call|>", _HEADER, _FINAL})
_BEGINNINGS: Final = {
    **{tag: frozenset({f"{tag[0]}/{tag[1:]}"}) for tag in _TAGS},
    "<|channel|>analysis": _ENDS_CHANNEL,
    "<|channel|>commentary": _ENDS_CHANNEL,
    _FINAL: frozenset({"<|message|>"}),
}
"""What begins something that is not said, and the marks that end it."""
_MARKS: Final = frozenset((*_BEGINNINGS, *_ENDS, *_BETWEEN, _HEADER))
_BEGUN: Final = frozenset(mark[:length] for mark in _MARKS for length in range(1, len(mark)))
_MARK: Final = re.compile(
    r"[<\[\u25c1][ \t]{0,2}/?[ \t]{0,2}[a-z]{5,9}[ \t]{0,2}[>\]\u25b7]"
    r"|<\|(?:start\|>assistant|channel\|>(?:analysis|commentary|final)|message\|>|end\|>|return\|>|call\|>)",
    re.IGNORECASE | re.ASCII,
)
_LONGEST: Final = max(map(len, _MARKS)) + 6
_SPECIAL: Final = re.compile(r"[`~<\[\u25c1\n]")
_BRACKETS: Final = "<[\u25c1"
_FENCE: Final = 3
"""So many backticks begin code that goes on over lines; fewer end with theirs. Tildes begin it at the
beginning of a line."""


class Thoughts:
    """Takes out of an answer what the model thinks aloud, in whatever pieces it comes.

    In code the marks are text: between backticks on one line, and within a fence. What is begun and not ended
    is all thought. An end without a beginning means that all before it was thought: some servers' templates
    write the beginning themselves.
    """

    def __init__(self) -> None:
        self._held = ""
        """What may become a mark."""
        self._ends = frozenset[str]()
        """The marks that end the thought; empty outside of one."""
        self._channels = False
        """Whether it has written one of its channels."""
        self._code = ""
        """The backticks or tildes that have begun the code that is being read."""
        self._run = ""
        """Those that have just been read."""
        self._at_line = True
        """Whether the line holds nothing yet but blanks and marks of a quotation."""
        self.begun_before = False
        """Whether all that was said up to the last piece was thought."""

    @property
    def thinking(self) -> bool:
        return bool(self._ends)

    def add(self, piece: str) -> str:
        """What of it is said, as far as that is known by now."""
        text, self._held, self.begun_before = self._held + piece, "", False
        said: list[str] = []
        at = 0
        while at < len(text):
            if self._ends:
                at = self._skip(text, at)
                continue
            found = _SPECIAL.search(text, at)
            stop = found.start() if found else len(text)
            if stop == at:
                stop = at + 1
                if text[at] in _BRACKETS and not self._in_code(text[at]):
                    match = _MARK.match(text, at)
                    mark = _plain(match[0]) if match else ""
                    if match and self._is_mark(mark):
                        at = match.end()
                        self._take(mark, said)
                        continue
                    ahead = text[at : at + _LONGEST]
                    if not match and at + len(ahead) == len(text) and _plain(ahead) in _BEGUN:
                        self._held = ahead
                        break
            self._read(text[at:stop])
            said.append(text[at:stop])
            at = stop
        return "".join(said)

    def rest(self) -> str:
        """What was held back and became no mark."""
        return "" if self._ends else self._held

    def _is_mark(self, mark: str) -> bool:
        return mark in _MARKS and (mark not in _BETWEEN or self._channels)

    def _take(self, mark: str, said: list[str]) -> None:
        """Read on after a mark."""
        channels = "|" in mark
        if mark in _ENDS or (mark in {_HEADER, _FINAL} and not self._channels):
            said.clear()
            self.begun_before = self._at_line = True
        self._channels = self._channels or channels
        self._ends = _BEGINNINGS.get(mark, frozenset())

    def _skip(self, text: str, at: int) -> int:
        """Where to read on after what is thought there."""
        for match in _MARK.finditer(text, at):
            if (mark := _plain(match[0])) in self._ends:
                self._ends = _BEGINNINGS.get(mark, frozenset())
                return match.end()
        for start in range(max(at, len(text) - _LONGEST + 1), len(text)):
            if text[start] in _BRACKETS and _plain(text[start:]) in _BEGUN:
                self._held = text[start:]
                break
        return len(text)

    def _in_code(self, letter: str) -> bool:
        """Whether a letter is code, as it comes after the marks of code that were just read."""
        if self._run and letter != self._run[0]:
            run, self._run = self._run, ""
            if not self._code:
                self._code = "" if run[0] == "~" and len(run) < _FENCE else run
            elif run[0] == self._code[0] and (
                len(run) == len(self._code) or len(run) >= len(self._code) >= _FENCE
            ):
                self._code = ""
        return bool(self._code)

    def _read(self, said: str) -> None:
        """Take note of something that is said: a letter that means something here, or others."""
        letter = said[0]
        self._in_code(letter)
        if letter == "`" or (letter == "~" and (self._at_line or self._run)):
            self._run += letter
        elif letter == "\n" and len(self._code) < _FENCE:
            self._code = ""
        self._at_line = letter == "\n" or (self._at_line and not said.strip(" \t>"))


def _plain(mark: str) -> str:
    """A mark as it is listed here."""
    return mark.replace(" ", "").replace("\t", "").lower()
