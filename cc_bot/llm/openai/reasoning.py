"""Removes what a model thinks aloud from its answer.

Servers with a parser send reasoning in a field of its own. Others send it in the text, in tags. Tags count
only at the very start of an answer: later they are what the answer is about.
"""

import re
from typing import Final

_TAG: Final = re.compile(r"[<\[\u25c1] ?(think|thinking|reasoning|thought) ?[>\]\u25b7]", re.IGNORECASE)
"""DeepSeek, Qwen: <think>; Gemma: <thought>; Mistral: [think]; Kimi: ◁think▷."""
_BEGUN_TAG: Final = re.compile(r"(?:[<\[\u25c1] ?[a-z]{0,9} ?)?", re.IGNORECASE)
_CHANNEL: Final = re.compile(r"<\|channel\|>")
"""gpt-oss writes channels, of which the last is the answer."""
_FINAL: Final = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_FINALS: Final = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")
_ENDS: Final = {
    word: re.compile(rf"[<\[\u25c1] ?/ ?{word} ?[>\]\u25b7]", re.IGNORECASE)
    for word in ("think", "thinking", "reasoning", "thought")
}
_LONGEST_END: Final = len(_FINALS[0])
_LONE_END: Final = re.compile(
    r"(?:\A|\n)[ \t]*[<\[]/(?:think|thinking|reasoning|thought)[>\]][ \t]*(?=\n)", re.IGNORECASE
)
"""A template that opens the tag itself leaves only its end in the answer, on a line of its own."""
_QUOTING: Final = re.compile(r"```|[<\[](?:think|thinking|reasoning|thought)[>\]]", re.IGNORECASE)
"""Of an answer about tags: later ones are its own."""
_TAIL: Final = 16


class ReasoningFilter:
    """Takes an answer in pieces and returns what of it the user should see."""

    def __init__(self) -> None:
        self._held = ""
        self._end: re.Pattern[str] | None = None
        self._started = False
        self._tail = "\n"
        self._may_end = True
        self.restarted = False
        """Whether everything returned before the last piece was reasoning after all."""

    @property
    def thinking(self) -> bool:
        return self._end is not None

    def add(self, piece: str) -> str:
        """Return the visible part of the next piece, as far as it can be told yet."""
        self.restarted = False
        text, self._held = self._held + piece, ""
        while not self._started:
            if self._end is not None:
                if not (found := self._end.search(text)):
                    self._held = text[-_LONGEST_END:]
                    return ""
                text, self._end = text[found.end() :], None
                continue
            begun = text.lstrip()
            if final := _FINAL.match(begun):
                text = begun[final.end() :]
            elif _BEGUN_TAG.fullmatch(begun) or any(each.startswith(begun) for each in _FINALS):
                self._held = text
                return ""
            elif tag := _TAG.match(begun):
                self._end, text = _ENDS[tag[1].lower()], begun[tag.end() :]
            elif channel := _CHANNEL.match(begun):
                self._end, text = _FINAL, begun[channel.end() :]
            else:
                self._started = True
        return self._answer(text) if self._may_end else text

    def rest(self) -> str:
        """Return what was held back when the answer ended."""
        return "" if self._end or self._started else self._held

    def _answer(self, piece: str) -> str:
        text = self._tail + piece
        found, quoting = _LONE_END.search(text), _QUOTING.search(text)
        if found and not (quoting and quoting.start() < found.start()):
            self._may_end, self.restarted = False, True
            return text[found.end() :].lstrip("\n")
        self._may_end = quoting is None
        self._tail = text[-_TAIL:]
        return piece
