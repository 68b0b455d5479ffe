"""What the model says in these tests: answers made of numbered sentences, so that nothing goes missing
unseen.

Each question carries a mark of its own (`Q0017Z`) and each sentence of each answer to it another one
(`A0017x2s03e`: question 17, asked of the model for the second time, third sentence). Where such a mark is
read again, in a message of Discord or in a row of the archive, it tells what it belongs to without anybody's
help.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.loopback.model_server import End, Json, Pause, Reply, Say, Step, message_text

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


def sentences(text: str) -> list[Sentence]:
    """All that stand in a text, in its order, as often as they do."""
    return [Sentence(*map(int, found)) for found in SENTENCE.findall(text)]


def questions(text: str) -> list[int]:
    """The numbers of the questions that stand in a text."""
    return [int(number) for number in QUESTION.findall(text)]


def mark(question: int) -> str:
    return f"Q{question:04}Z"


@dataclass(frozen=True, slots=True)
class Tale:
    """How a question is to be answered."""

    locale: str
    length: int = SHORT
    pause_s: float = 0.05
    """Between two chunks."""


Trouble = Callable[[Tale, int, int], Reply]
"""What comes instead of an answer: to be told in this way, to this question, asked so many times."""


@dataclass(slots=True)
class Storyteller:
    """The loopback model's responder."""

    tales: dict[int, Tale] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """How often the model was asked each question."""
    trouble: dict[int, Trouble] = field(default_factory=dict)
    """By question: what the first request for it gets."""

    def __call__(self, body: Json) -> Reply | str:
        texts = [message_text(m) for m in body["messages"] if m["role"] == "user"]
        asked = [number for text in texts for number in questions(text)]
        if not asked:
            return "はい。"
        number = asked[-1]
        self.attempts[number] += 1
        if trouble := self.trouble.pop(number, None):
            return trouble(self.tales[number], number, self.attempts[number])
        return tell(self.tales[number], number, self.attempts[number])

    def whole(self, question: int) -> int:
        """Of how many sentences the answer to a question is made."""
        return self.tales[question].length


def tell(tale: Tale, question: int, attempt: int) -> Reply:
    """An answer to its end."""
    return Reply(*beginning(tale, question, attempt, chunks=tale.length), End())


def beginning(tale: Tale, question: int, attempt: int, *, chunks: int) -> list[Step]:
    """The first chunks of an answer."""
    size = _SENTENCES_A_CHUNK if tale.length > SHORT else 1
    lines = [f"{Sentence(question, attempt, n)} {_SAID[tale.locale]}\n" for n in range(1, tale.length + 1)]
    steps: list[Step] = []
    for start in range(0, len(lines), size)[:chunks]:
        steps += [Pause(tale.pause_s), Say("".join(lines[start : start + size]))]
    return steps
