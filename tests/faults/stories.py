import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from tests.loopback.model_requests import unfolded
from tests.loopback.model_server import (
    Call,
    End,
    Json,
    Pause,
    Reply,
    Say,
    Step,
    calls,
    message_text,
    new_tool_results,
)

QUESTION = re.compile(r"Q(\d{4})Z")
SENTENCE = re.compile(r"A(\d{4})x(\d+)s(\d+)e")

_SAID = {
    "ja": "きょうの空はとても青くて、遠くの山までよく見えます。",
    "en-US": "The sky is very blue today and one can see as far as the mountains.",
}
SHORT, LONG = 3, 66
"""Sentences of an answer: one message, or three."""
_SENTENCES_A_CHUNK = 6


@dataclass(frozen=True, slots=True, order=True)
class Sentence:
    question: int
    attempt: int
    number: int

    def __str__(self) -> str:
        return f"A{self.question:04}x{self.attempt}s{self.number:02}e"


@lru_cache(maxsize=100_000)
def sentences(text: str) -> list[Sentence]:
    return [Sentence(*map(int, found)) for found in SENTENCE.findall(text)]


def questions(text: str) -> list[int]:
    return [int(number) for number in QUESTION.findall(text)]


def mark(question: int) -> str:
    return f"Q{question:04}Z"


@dataclass(frozen=True, slots=True)
class Tale:
    locale: str
    length: int = SHORT
    pause_s: float = 0.05
    """Between two chunks."""


Trouble = Callable[[Tale, int, int], Reply]
WishEnd = Literal["done", "proposed", "nothing"]
SECRET = re.compile(r"P\d{4}Z")


def newest_questions(body: Json) -> list[int]:
    """The questions that a request is about: those after the last words of the system, else the last one."""
    asked, before = list[int](), list[int]()
    for message in unfolded(body["messages"]):
        if message["role"] == "user":
            asked += questions(message_text(message))
        elif message["role"] == "system":
            asked, before = [], asked or before
    return [*dict.fromkeys(asked or before[-1:])]


@dataclass(slots=True)
class Storyteller:
    """The loopback model's responder."""

    tales: dict[int, Tale] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    trouble: dict[int, Trouble] = field(default_factory=dict)
    """By question: what the first request for it gets."""
    wishes: dict[int, Callable[[], Call]] = field(default_factory=dict)
    """By question: the call that a competent model makes for it."""
    called: set[int] = field(default_factory=set)
    """Questions for which that call was made."""
    ends: dict[int, WishEnd] = field(default_factory=dict)
    secrets: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __call__(self, body: Json) -> Reply | str:
        asked = newest_questions(body)
        if not asked:
            return "はい。"
        secrets, results = {*SECRET.findall(json.dumps(body["messages"]))}, new_tool_results(body)
        for number in asked:
            self.secrets[number] |= secrets
            self.attempts[number] += not results
        wished = [number for number in asked if number in self.wishes]
        if results and self.called.issuperset(wished):
            for number, result in zip(wished, results, strict=False):
                self.ends[number] = _end_of(result)
        elif not results and (trouble := self.trouble.pop(asked[-1], None)):
            self.called.difference_update(wished)
            return trouble(self.tales[asked[-1]], asked[-1], self.attempts[asked[-1]])
        else:
            offered = {tool["function"]["name"] for tool in body.get("tools", ())}
            made = [self.wishes[number]() for number in wished]
            if made and {call.name for call in made} <= offered:
                self.called.update(wished)
                return calls(*made)
            self.ends |= dict.fromkeys(wished, "nothing")
        read = [Say(f"{each}\n") for result in results for each in SECRET.findall(result)]
        told = [step for number in asked for step in tell(self.tales[number], number, self.attempts[number])]
        return Reply(*read, *told, End())

    def whole(self, question: int) -> int:
        return self.tales[question].length


def tell(tale: Tale, question: int, attempt: int) -> list[Step]:
    """An answer to its end."""
    return beginning(tale, question, attempt, chunks=tale.length)


def _end_of(result: str) -> WishEnd:
    if '"proposed"' in result:
        return "proposed"
    return "done" if '"remembered"' in result or '"scheduled"' in result else "nothing"


def beginning(tale: Tale, question: int, attempt: int, *, chunks: int) -> list[Step]:
    """The first chunks of an answer."""
    size = _SENTENCES_A_CHUNK if tale.length > SHORT else 1
    lines = [f"{Sentence(question, attempt, n)} {_SAID[tale.locale]}\n" for n in range(1, tale.length + 1)]
    steps: list[Step] = []
    for start in range(0, len(lines), size)[:chunks]:
        steps += [Pause(tale.pause_s), Say("".join(lines[start : start + size]))]
    return steps
