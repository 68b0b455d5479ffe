"""Removes reasoning from the text of an answer, for servers that do not send it in a field of its own.

Tags count only at the very start of an answer: later they are what the answer is about.
"""

import re
from typing import Final

_WORDS: Final = "(?:think|thinking|reasoning|thought)"
# DeepSeek, Qwen: <think>; Gemma: <thought>; Mistral: [think]; Kimi: ◁think▷.
_TAG: Final = re.compile(rf"[<\[\u25c1] ?{_WORDS} ?[>\]\u25b7]", re.IGNORECASE)
_END_TAG: Final = re.compile(rf"[<\[\u25c1] ?/ ?{_WORDS} ?[>\]\u25b7]", re.IGNORECASE)
_START_OF_TAG: Final = re.compile(r"(?:[<\[\u25c1] ?[a-z]{0,9} ?)?", re.IGNORECASE)
# gpt-oss writes channels, of which the last is the answer.
_CHANNEL: Final = "<|channel|>"
_FINAL: Final = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_FINALS: Final = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")
# A template that opens the tag itself leaves only its end in the answer, on a line of its own.
_LONE_END: Final = re.compile(rf"(?:\A|\n)[ \t]*[<\[]/{_WORDS}[>\]][ \t]*(?=\n)", re.IGNORECASE)
_QUOTING: Final = re.compile(
    rf"```|[<\[]{_WORDS}[>\]]", re.IGNORECASE
)  # then later tags are the answer's own
_MAX_LONE_END: Final = 16


class ReasoningFilter:
    """Takes an answer in pieces and returns its visible part."""

    def __init__(self) -> None:
        self._held = ""
        self._end: re.Pattern[str] | None = None
        self._started = False
        self._tail = "\n"
        self._may_end = True
        self.restarted = False
        """Whether everything returned before the last piece was reasoning."""

    @property
    def thinking(self) -> bool:
        return self._end is not None

    def add(self, piece: str) -> str:
        self.restarted = False
        text, self._held = self._held + piece, ""
        while not self._started:
            if self._end is not None:
                if not (end := self._end.search(text)):
                    self._held = text[-len(_FINALS[0]) :]
                    return ""
                text, self._end = text[end.end() :], None
                continue
            begun = text.lstrip()
            if final := _FINAL.match(begun):
                text = begun[final.end() :]
            elif _START_OF_TAG.fullmatch(begun) or any(each.startswith(begun) for each in _FINALS):
                self._held = text
                return ""
            elif tag := _TAG.match(begun):
                text, self._end = begun[tag.end() :], _END_TAG
            elif begun.startswith(_CHANNEL):
                text, self._end = begun, _FINAL
            else:
                self._started = True
        return self._answer(text) if self._may_end else text

    def rest(self) -> str:
        """What was held back when the answer ended."""
        return "" if self._end or self._started else self._held

    def _answer(self, piece: str) -> str:
        text = self._tail + piece
        end, quoting = _LONE_END.search(text), _QUOTING.search(text)
        if end and not (quoting and quoting.start() < end.start()):
            self._may_end, self.restarted = False, True
            return text[end.end() :].lstrip("\n")
        self._may_end = quoting is None
        self._tail = text[-_MAX_LONE_END:]
        return piece
