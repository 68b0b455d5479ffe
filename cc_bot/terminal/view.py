"""What a view is: the same things happen before a person and in a pipe, and each shows them its own way."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from cc_bot.domain.canvas import Canvas, Element
from cc_bot.domain.events import (
    Done,
    MemoriesRecalled,
    MemoryChanged,
    Notice,
    NotRemoved,
    NotSaved,
    TurnEvent,
)
from cc_bot.domain.memory import Memory, Receipt, with_receipt
from cc_bot.domain.message import Message
from cc_bot.domain.schedule import Schedule, ScheduleChange
from cc_bot.terminal.facts import Stated
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.names import JAPANESE
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described

RECEIPT_CHARACTERS = 60
"""Of a memory's text under an answer."""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories under a title."""

    title: str
    memories: Sequence[Memory]
    timezone: ZoneInfo
    more: str | None = None
    """How to see what comes after them."""
    now: datetime | None = None
    """To tell which of them are over."""

    def date(self, memory: Memory) -> str:
        """The day on which it was written, where the user is."""
        return memory.updated_at.astimezone(self.timezone).date().isoformat()

    def marks(self, memory: Memory) -> str:
        """Signs for what is pinned, for what is used in private only, and for what is over."""
        pin = "📌" if memory.pinned else ""
        private = "🔒" if memory.audience == "private" else ""
        return pin + private + ("⌛" if self.now is not None and memory.expired(self.now) else "")


class AnswerView(Protocol):
    """One answer on its way."""

    def show(self, event: TurnEvent) -> None: ...


class View(Protocol):
    def say(self, text: str) -> None:
        """A sentence about what was done."""

    def complain(self, text: str) -> None:
        """A sentence about what went wrong."""

    def state(self, stated: Sequence[Stated]) -> None:
        """Facts, which no model's words pass for, and the texts that they are about."""

    def memories(self, page: MemoryPage, texts: Texts) -> None: ...

    def canvas(self, canvas: Canvas, texts: Texts) -> None:
        """What is up, which is something."""

    def help(self, texts: Texts) -> None: ...

    def answer(self, texts: Texts) -> AbstractContextManager[AnswerView]:
        """Show an answer's events until the end of the block; leaving it early leaves what was shown."""


def names_line(texts: Texts) -> str:
    """That commands have Japanese names as well."""
    return texts.terminal.help_names.format(example=f"/{JAPANESE['memory add']}")


def category_name(memory: Memory, texts: Texts) -> str:
    return one_line(texts.memory.shown_category(memory.category))


def tag_words(memory: Memory) -> str:
    return " ".join(f"#{one_line(tag)}" for tag in memory.tags)


def tool_line(name: str, ok: bool, texts: Texts) -> str:
    """What a tool call was about, once it is over. What it changed is told from the rows, or proposed."""
    words = texts.terminal
    if not ok:
        return words.tool_failed.format(name=one_line(name))
    if name.startswith("canvas_"):
        return words.tool_canvas
    if "schedule" in name:
        return words.tool_reminders
    known = {
        "remember": words.tool_memories,
        "recall": words.tool_recall,
        "update_memory": words.tool_memories,
        "forget": words.tool_memories,
        "list_memories": words.tool_list,
    }
    return known.get(name, words.tool_other).format(name=one_line(name))


def element_title(element: Element) -> str:
    """Of something on the canvas; a lock marks what is shown to its user alone. May be empty."""
    return " ".join(filter(None, ("🔒" if element.visibility == "private" else "", one_line(element.title))))


def beside_focus(canvas: Canvas, texts: Texts) -> str | None:
    """Names what is up and not in sight; None when nothing is."""
    others = [one_line(each.title or each.id) for each in canvas.elements if each not in canvas.in_sight]
    return texts.canvas.others.format(titles=", ".join(others)) if others else None


def canvas_note(canvas: Canvas, texts: Texts) -> str:
    """The line under an answer that changed the canvas."""
    return texts.canvas.emptied if canvas.empty else texts.canvas.changed_here


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


class MemoryNotes:
    """What an answer did to memories, gathered while it comes, and told once it is there."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._receipts: tuple[Receipt, ...] = ()
        self._used: tuple[int, ...] = ()
        self._untrue = frozenset[NotSaved | NotRemoved]()

    def add(self, event: MemoryChanged | MemoriesRecalled | NotSaved | NotRemoved) -> None:
        match event:
            case MemoryChanged(change):
                self._receipts = with_receipt(self._receipts, change)
            case MemoriesRecalled(numbers=numbers):
                self._used = tuple(dict.fromkeys((*self._used, *numbers)))
            case NotSaved() | NotRemoved():
                self._untrue |= {event}

    def take(self) -> list[str]:
        """The lines, which are told once: also when no end comes."""
        words = self._texts.receipt
        lines = [receipt_line(receipt, self._texts) for receipt in self._receipts]
        gone = {each.number for each in self._receipts if each.kind == "deleted"}
        if used := [f"#{number}" for number in self._used if number not in gone]:
            lines.append(words.used_here.format(numbers=", ".join(used)))
        lines.extend(words.owned_up(self._untrue))
        self._receipts, self._used, self._untrue = (), (), frozenset()
        return lines


def receipt_line(receipt: Receipt, texts: Texts) -> str:
    """What was done to a memory, and how to take it back."""
    words = texts.receipt
    told = words.told(receipt, one_line(receipt.text, RECEIPT_CHARACTERS), numbered=True)
    if not receipt.undo:
        return told
    alone = receipt.kind == "added" and not receipt.replaced
    how = words.delete_here if alone else words.undo_here
    return f"{told}  {how.format(id=receipt.number)}"


def waiting_line(notice: Notice, texts: Texts) -> str | None:
    """Why it takes longer; None when it no longer does."""
    match notice.kind:
        case "queued":
            return texts.answer.waiting_line(notice.ahead)
        case "fallback":
            return texts.answer.fallback
        case "thinking":
            return texts.answer.thinking
        case "started":
            return None


# ---- schedule lines --------------------------------------------------------------------------------------
# Reminders as lines of text: in a list, under an answer, and at their time.


def moment_line(moment: datetime, zone: ZoneInfo, now: datetime, words: Texts) -> str:
    """A time where the user is: 11月23日(月) 9:00."""
    told, local = words.remind_here, moment.astimezone(zone)
    template = told.moment if local.year == now.astimezone(zone).year else told.moment_of_year
    return template.format(
        y=local.year,
        m=told.months[local.month - 1],
        d=local.day,
        w=told.weekdays[local.weekday()],
        t=f"{local.hour}:{local.minute:02}",
    )


def change_line(change: ScheduleChange, words: Texts) -> str:
    """What was done to a reminder."""
    told, schedule = words.remind_here, change.schedule
    text = one_line(schedule.text)
    if change.kind == "cancelled":
        return told.cancelled.format(text=text)
    time = moment_line(schedule.due_at, schedule.zone, schedule.created_at, words)
    if schedule.repeat:
        repeat = described(schedule.repeat, words)
        return told.again_and_again.format(repeat=repeat, time=time, text=text, id=schedule.number)
    return told.once.format(time=time, text=text, id=schedule.number)


def listed_line(schedule: Schedule, now: datetime, words: Texts) -> str:
    told = words.remind_here
    time = moment_line(schedule.due_at, schedule.zone, now, words)
    notes = told.paused if schedule.status == "paused" else ""
    notes += "" if schedule.place == "terminal" else told.elsewhere
    text = one_line(schedule.text) + notes
    if schedule.repeat:
        time = told.repeated.format(time=time, repeat=described(schedule.repeat, words))
    return told.line.format(id=schedule.number, time=time, text=text)
