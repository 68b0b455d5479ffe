"""The view, as far as both have it: the same happens before a person and in a pipe, and each shows it its own
way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cc_bot.domain import turn
from cc_bot.domain.canvas import Canvas, Element
from cc_bot.domain.memory import Memory, Receipt, with_receipt
from cc_bot.domain.message import Message
from cc_bot.domain.page import LINKS_SHOWN, pages_behind
from cc_bot.domain.schedule import Schedule, ScheduleChange
from cc_bot.terminal.markdown import one_line
from cc_bot.texts import Texts
from cc_bot.texts.reminder import described

RECEIPT_CHARACTERS = 60
"""Of a memory's text under an answer."""
TITLE_CHARACTERS = 60
"""Of a page's."""


class Manual(NamedTuple):
    """The usage of a command, and what it does."""

    usage: str
    summary: str


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories under a title."""

    title: str
    memories: Sequence[Memory]
    timezone: ZoneInfo
    now: datetime
    """To tell which of them are over."""
    more: str | None = None
    """How to see what comes after them."""

    def date(self, memory: Memory) -> str:
        """Return the day on which it was written, where the user is."""
        return memory.updated_at.astimezone(self.timezone).date().isoformat()

    def marks(self, memory: Memory) -> str:
        """Return signs for what is pinned, for what is used in private only, and for what is over."""
        pin = "📌" if memory.pinned else ""
        private = "🔒" if memory.audience == "private" else ""
        return pin + private + ("⌛" if memory.is_expired(self.now) else "")

    def about(self, memory: Memory, texts: Texts) -> list[str]:
        """Return all that is shown beside its number and its text."""
        category = category_name(memory, texts)
        return [*filter(None, (self.marks(memory), self.date(memory), category, tag_words(memory)))]


def strip_marks(text: str) -> str:
    """Return a text of Discord's without the marks of small print and weight."""
    return "\n".join(line.removeprefix("-# ").replace("**", "") for line in text.split("\n"))


def category_name(memory: Memory, texts: Texts) -> str:
    return one_line(texts.memory.shown_category(memory.category))


def tag_words(memory: Memory) -> str:
    return " ".join(f"#{one_line(tag)}" for tag in memory.tags)


def tool_line(name: str, ok: bool, texts: Texts) -> str:
    """Return what a tool call was about, once it is over. What it changed is told from the rows, or
    proposed."""
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
        "read_page": words.tool_page,
        "web_search": words.tool_search,
    }
    return known.get(name, words.tool_other).format(name=one_line(name))


def element_title(element: Element) -> str:
    """Return the title of something on the canvas; a lock marks what is shown to its user alone. May be
    empty."""
    return " ".join(filter(None, ("🔒" if element.visibility == "private" else "", one_line(element.title))))


def others_line(canvas: Canvas, texts: Texts) -> str | None:
    """Return a line that names what is up and not in sight; None when nothing is."""
    others = [one_line(each.title or each.id) for each in canvas.elements if each not in canvas.in_sight]
    return texts.canvas.others.format(titles=", ".join(others)) if others else None


def canvas_note(canvas: Canvas, texts: Texts) -> str:
    """Return the line under an answer that changed the canvas."""
    return texts.canvas.emptied if canvas.empty else texts.canvas.changed_here


def notes(done: turn.Done, texts: Texts) -> list[str]:
    """Return the lines under an answer: how it ended, unless as meant, and the hint for a newcomer."""
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


def receipt_line(receipt: Receipt, texts: Texts) -> str:
    """Return what was done to a memory, and how to take it back."""
    words = texts.receipt
    told = words.told(receipt, one_line(receipt.text, RECEIPT_CHARACTERS), numbered=True)
    if not receipt.undo:
        return told
    alone = receipt.kind == "added" and not receipt.replaced
    how = words.delete_here if alone else words.undo_here
    return f"{told}  {how.format(id=receipt.number)}"


def page_lines(answer: Message, texts: Texts) -> list[str]:
    """Return the numbered addresses of the pages that an answer rests on."""
    pages = pages_behind(answer.tool_calls)
    lines = [
        f"{number}. {'  '.join(filter(None, (one_line(page.title, TITLE_CHARACTERS), page.url)))}"
        for number, page in enumerate(pages[:LINKS_SHOWN], 1)
    ]
    if beyond := len(pages) - len(lines):
        lines[-1] += texts.answer.more_pages.format(count=beyond)
    return lines


def waiting_line(notice: turn.Notice, texts: Texts) -> str | None:
    """Return why it takes longer; None when it no longer does."""
    match notice.kind:
        case "queued":
            return texts.answer.waiting_line(notice.ahead)
        case "hearing":
            return texts.answer.hearing
        case "fallback":
            return texts.answer.fallback
        case "thinking":
            return texts.answer.thinking
        case "started":
            return None


# ---- an answer -------------------------------------------------------------------------------------------


class AnswerView:
    """An answer on its way: what each event comes to. How that looks is a matter of the view."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._receipts: tuple[Receipt, ...] = ()
        self._used: tuple[int, ...] = ()
        self._told: str | None = None
        """The last tool line, while no word has followed: several calls of one tool are told once."""

    def show(self, event: turn.TurnEvent) -> None:  # noqa: PLR0912 - a case an event
        match event:
            case turn.TextDelta(text):
                self._told = None
                self._write(text)
            case turn.ToolStarted(_, name):
                self._do(self._texts.answer.tool_line(one_line(name)))
            case turn.ToolFinished(waits=True):  # below the answer it stands in full
                self._do(None)
            case turn.ToolFinished(_, name, ok):
                self._do(None)
                line = tool_line(name, ok, self._texts)
                if line != self._told:
                    self._state(line, failed=not ok)
                self._told = line
            case turn.MemoryChanged(memory_change):
                self._receipts = with_receipt(self._receipts, memory_change)
            case turn.MemoriesRecalled(numbers=numbers):
                self._used = tuple(dict.fromkeys((*self._used, *numbers)))
            case turn.ToolsUnavailable():
                self._state(self._texts.receipt.no_tools)
            case turn.CallInDoubt() | turn.CallsResumed(in_doubt_outside=True):
                self._state(self._texts.unfinished.in_doubt_outside, failed=True)
            case turn.FilesLeftOut(names):  # here files are read when they are attached: it was not heard
                self._state(self._texts.terminal.not_heard.format(names=", ".join(map(one_line, names))))
            case turn.FilesDeleted(count):
                self._state(self._texts.answer.files_deleted.format(count=count))
            case (
                turn.ScansShown()
                | turn.ReplyWithheld()
                | turn.AskedAbout()
                | turn.MessagesRead()
                | turn.CallsResumed()
            ):
                pass  # nobody replies here, scans are told of when attached, and a killed turn is over
            case turn.Heard(text):
                self._wait(None)
                self._state(f"🎤 {one_line(text)}")
            case turn.ImagesGiven(images):
                self._state(self._texts.terminal.images_given.format(count=len(images)))
            case turn.CanvasChanged(canvas):
                self._state(canvas_note(canvas, self._texts))
            case turn.ScheduleChanged(change):
                self._state(change_line(change, self._texts))
            case turn.Notice():
                self._wait(waiting_line(event, self._texts))
            case turn.Done(answer):
                self._state_memories()
                for line in page_lines(answer, self._texts):
                    self._state(line)
                for note in notes(event, self._texts):
                    self._state(note)

    def _state_memories(self) -> None:
        """Show what was done to memories, once: when the answer is there, and also when no end comes."""
        words = self._texts.receipt
        for receipt in self._receipts:
            self._state(receipt_line(receipt, self._texts))
        gone = {each.number for each in self._receipts if each.kind == "deleted"}
        if used := [f"#{number}" for number in self._used if number not in gone]:
            self._state(words.used_here.format(numbers=", ".join(used)))
        self._receipts, self._used = (), ()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Draw nothing within: something else is shown."""
        yield

    def _write(self, text: str) -> None:
        """Show the next piece of the model's words."""
        raise NotImplementedError

    def _state(self, fact: str, *, failed: bool = False) -> None:
        """Show a fact on a line of its own."""
        raise NotImplementedError

    def _wait(self, why: str | None) -> None:
        """Show why it takes longer; None: it no longer does."""
        raise NotImplementedError

    def _do(self, why: str | None) -> None:
        """Show what is done meanwhile, where that can be taken back."""


# ---- schedule lines --------------------------------------------------------------------------------------


def moment_line(moment: datetime, zone: ZoneInfo, now: datetime, words: Texts) -> str:
    """Return a time where the user is: 11月23日(月) 9:00."""
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
    """Return what was done to a reminder."""
    told, schedule = words.remind_here, change.schedule
    text = one_line(schedule.text)
    if change.kind == "cancelled":
        return told.cancelled.format(text=text)
    time = moment_line(schedule.due_at, schedule.zone, schedule.created_at, words)
    if schedule.repeat:
        repeat = described(schedule.repeat, words.repeat)
        return told.again_and_again.format(repeat=repeat, time=time, text=text, id=schedule.number)
    return told.once.format(time=time, text=text, id=schedule.number)


def reminder_line(schedule: Schedule, now: datetime, words: Texts) -> str:
    told = words.remind_here
    time = moment_line(schedule.due_at, schedule.zone, now, words)
    notes = told.paused if schedule.status == "paused" else ""
    notes += "" if schedule.place == "terminal" else told.elsewhere
    text = one_line(schedule.text) + notes
    if schedule.repeat:
        time = told.repeated.format(time=time, repeat=described(schedule.repeat, words.repeat))
    return told.line.format(id=schedule.number, time=time, text=text)
