"""What a proposal would do, part by part: the one description that every front end shows.

A part is a line in the program's words, and below it a text or a chart as it is. What others wrote stands in
that text, or as one value of the line: how it is written there is the front end's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    Chart,
    Element,
    RemoveElement,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.domain.memory import Audience
from cc_bot.domain.message import written_out
from cc_bot.domain.proposal import (
    AS_IT_IS,
    NEVER,
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
    memory_of,
    steps,
)
from cc_bot.domain.schedule import Place, zone_named
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described


@dataclass(frozen=True, slots=True)
class Time:
    """When a reminder is said."""

    due_at: datetime
    """The next time."""
    repeat: str
    """In words; empty for once."""
    zone: ZoneInfo | None = None
    """Where it counts, and below where it is said; None where that is not told."""
    place: Place | None = None


Value = str | datetime | Time | None
"""What stands in a line: a name, when something ends, when something is said, or that there is none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A line, and what stands below it."""

    template: str
    values: Mapping[str, Value] = field(default_factory=dict)
    below: str | Chart | None = None

    def line(self, write: Callable[[Value], str]) -> str:
        """The line, with each value as a front end writes it."""
        return self.template.format(**{name: write(value) for name, value in self.values.items()})


def describe(proposal: Proposal, words: Texts) -> Iterator[Part]:
    """All that it would do, and what is there now; the first part says what kind of change it is."""
    change = proposal.change
    match change:
        case KeepMemory(content, supersedes=None):
            yield _head(change, words, content)
            yield from _filed(change, words)
        case KeepMemory(content, before=before):
            yield _head(change, words)
            yield from _rewritten(before, content, words)
            yield from _filed(change, words)
        case ChangeMemory(_, before, content):
            yield _head(change, words)
            yield from _rewritten(before, content, words)
            yield from _refiled(change, words)
        case ForgetMemory(_, before):
            yield _head(change, words, before)
        case AddReminder(text, due_at, repeat, timezone, place):
            yield _head(change, words, text)
            yield _time(due_at, repeat, words, zone_named(timezone), place)
        case CancelReminder(_, before, due_at, repeat):
            yield _head(change, words, before)
            if due_at is not None:
                yield _time(due_at, repeat, words)
        case Draw():
            yield _head(change, words)
            for command, canvas in steps(change, proposal.visibility):
                yield from _drawn(command, canvas, words)


def headline(change: ProposedChange, words: Texts) -> str:
    """What kind of change it is, without any of its words."""
    row = change.schedule_id if isinstance(change, CancelReminder) else memory_of(change)
    return words.proposal.choice(change).what.format(id=getattr(change, "number", 0) or row)


def gist(proposal: Proposal, words: Texts) -> str:
    """What its user knows it by, on one line: the first of its texts, or what kind of change it is."""
    texts = (part.below for part in describe(proposal, words) if isinstance(part.below, str))
    return next(filter(None, map(_on_one_line, texts)), headline(proposal.change, words))


def _head(change: ProposedChange, words: Texts, text: str | None = None) -> Part:
    return Part(headline(change, words), below=text)


def _rewritten(before: str | Chart | None, after: str | None, words: Texts) -> Iterator[Part]:
    yield Part(words.proposal.now, below=before)
    if after is not None:
        yield Part(words.proposal.then, below=after)


def _field(name: str, value: Value, words: Texts) -> Part:
    return Part(words.proposal.field, {"name": name, "value": value})


def _changed_field(name: str, old: Value, new: Value, words: Texts) -> Iterator[Part]:
    """Nothing of one that stays as it is."""
    if new != old:
        yield Part(words.proposal.changed_field, {"name": name, "old": old, "new": new})


def _on_one_line(text: str) -> str:
    """All of a text as a value of a line, with what no screen shows written as its number."""
    return written_out(" ".join(text.split()))


# ---- memories ---------------------------------------------------------------------------------------------


def _filed(keep: KeepMemory, words: Texts) -> Iterator[Part]:
    card = words.memory_card
    yield _field(card.category, _category(keep.category, words), words)
    if keep.tags:
        yield _field(card.tags, _tags(keep.tags), words)
    if keep.expires_at is not None:
        yield _field(card.end, keep.expires_at, words)
    yield _field(card.audience, _audience(keep.audience, words), words)


def _refiled(edit: ChangeMemory, words: Texts) -> Iterator[Part]:
    card = words.memory_card
    if edit.category is not None:
        old, new = _category(edit.category_before, words), _category(edit.category, words)
        yield from _changed_field(card.category, old, new, words)
    if edit.tags is not None:
        yield from _changed_field(card.tags, _tags(edit.tags_before), _tags(edit.tags), words)
    if edit.expires_at != AS_IT_IS:
        end = None if edit.expires_at == NEVER else edit.expires_at
        yield from _changed_field(card.end, edit.expires_before, end, words)
    if edit.audience is not None:
        yield _field(card.audience, _audience(edit.audience, words), words)


def _category(stored: str, words: Texts) -> str | None:
    return _on_one_line(words.memory.shown_category(stored)) or None


def _tags(tags: Sequence[str]) -> str | None:
    return _on_one_line(" ".join(f"#{tag}" for tag in tags)) or None


def _audience(audience: Audience, words: Texts) -> str:
    return words.memory_card.private if audience == "private" else words.memory_card.anywhere


# ---- reminders --------------------------------------------------------------------------------------------


def _time(
    due_at: datetime, cron: str, words: Texts, zone: ZoneInfo | None = None, place: Place | None = None
) -> Part:
    repeat = _on_one_line(described(cron, words)) if cron else ""
    return _field(words.proposal.time, Time(due_at, repeat, zone, place), words)


# ---- drawings ---------------------------------------------------------------------------------------------


def _drawn(command: CanvasCommand, canvas: Canvas, words: Texts) -> Iterator[Part]:
    """One step, beside what is up before it."""
    told = words.proposal
    match command:
        case AddCard(title, content):
            yield _titled(told.draw_card, title, content)
        case ShowText(content, title):
            yield _titled(told.draw_titled_text if title else told.draw_text, title, content)
        case AddChart(title, kind, labels, series):
            yield _titled(told.draw_chart(kind), title, Chart("chart", title, kind, labels, series))
        case UpdateCard(id_, title, content):
            old = canvas.element(id_)
            yield _titled(told.draw_update, _name(id_, canvas))
            if title is not None:
                before = _on_one_line(old.title if old else "") or None
                yield from _changed_field(told.title_of, before, _on_one_line(title), words)
            if content is not None:
                yield from _rewritten(_content(old), content, words)
        case RemoveElement(id_):
            yield _taken_down(id_, canvas, words)
        case SetMode("clear"):
            yield Part(told.draw_clear)
            yield from (_taken_down(each.id, canvas, words) for each in canvas.elements)
        case SetMode(mode, focus):
            yield _titled(told.layout(mode), _name(focus, canvas))


def _titled(template: str, title: str, below: str | Chart | None = None) -> Part:
    return Part(template, {"title": _on_one_line(title)}, below)


def _taken_down(id_: str, canvas: Canvas, words: Texts) -> Part:
    return _titled(words.proposal.draw_remove, _name(id_, canvas), _content(canvas.element(id_)))


def _name(id_: str, canvas: Canvas) -> str:
    """What its user knows an element by; its id where it has no title, or is not up."""
    element = canvas.element(id_)
    return (element.title if element else "") or id_


def _content(element: Element | None) -> str | Chart | None:
    match element:
        case None | Chart():
            return element
        case _:
            return element.content
