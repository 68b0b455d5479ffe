"""What a view is: the same things happen before a person and in a pipe, and each shows them its own way."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

from cc_bot.domain.events import Done, Notice, TurnEvent
from cc_bot.domain.memory import DEFAULT_CATEGORY, Memory
from cc_bot.domain.message import Message
from cc_bot.terminal.printable import one_line
from cc_bot.texts import Texts


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories under a title."""

    title: str
    memories: Sequence[Memory]
    timezone: ZoneInfo
    more: str | None = None
    """How to see what comes after them."""

    def date(self, memory: Memory) -> str:
        """The day on which it was written, where the user is."""
        return memory.updated_at.astimezone(self.timezone).date().isoformat()


class AnswerView(Protocol):
    """One answer on its way."""

    def show(self, event: TurnEvent) -> None: ...


class View(Protocol):
    def say(self, text: str) -> None:
        """A sentence about what was done."""

    def complain(self, text: str) -> None:
        """A sentence about what went wrong."""

    def memories(self, page: MemoryPage, texts: Texts) -> None: ...

    def help(self, texts: Texts) -> None: ...

    def answer(self, texts: Texts) -> AbstractContextManager[AnswerView]:
        """Show an answer's events until the end of the block; leaving it early leaves what was shown."""


def category_name(memory: Memory, texts: Texts) -> str:
    return texts.memory.general if memory.category == DEFAULT_CATEGORY else one_line(memory.category)


def tag_words(memory: Memory) -> str:
    return " ".join(f"#{one_line(tag)}" for tag in memory.tags)


def tool_line(name: str, ok: bool, texts: Texts) -> str:
    """What a tool call came to, once it is over."""
    words = texts.terminal
    if not ok:
        return words.tool_failed.format(name=one_line(name))
    known = {"remember": words.tool_remember, "recall": words.tool_recall}
    return known.get(name, words.tool_other).format(name=one_line(name))


def notes(done: Done, texts: Texts) -> list[str]:
    """The lines under an answer: how it ended, unless as meant, and the hint for a newcomer."""
    ending = _ending(done.answer, texts)
    return [*([ending] if ending else []), *([texts.answer.help_hint] if done.first else [])]


def _ending(answer: Message, texts: Texts) -> str | None:
    match answer.status:
        case "stopped" if not answer.content and not answer.tool_calls:
            return texts.answer.stopped_empty
        case "stopped":
            return texts.answer.stopped
        case "cut":
            return texts.terminal.cut
        case "complete" | "replaced":
            return None if answer.content else texts.answer.no_words


def waiting_line(notice: Notice, texts: Texts) -> str | None:
    """Why it takes longer; None when it no longer does."""
    match notice.kind:
        case "queued":
            return texts.answer.queued
        case "fallback":
            return texts.answer.fallback
        case "started":
            return None
