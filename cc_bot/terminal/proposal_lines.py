"""Proposals as lines: what would be done, in the program's words, and its texts whole, as quotations."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    Chart,
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
    steps,
)
from cc_bot.domain.schedule import zone_named
from cc_bot.terminal.facts import Quoted, Stated
from cc_bot.terminal.memory_text import end_day
from cc_bot.terminal.person import Person
from cc_bot.terminal.schedule_lines import moment_line
from cc_bot.texts.repeats import described
from cc_bot.texts.terminal_proposals import TerminalProposalTexts


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a proposal is shown to, and when."""

    person: Person
    now: datetime

    @property
    def words(self) -> TerminalProposalTexts:
        return self.person.texts.terminal.proposals


def proposal_lines(proposal: Proposal, reader: Reader) -> Iterator[Stated]:
    """All of what it would do, and how its user decides."""
    yield headline(proposal, reader.words)
    match proposal.change:
        case KeepMemory() as keep:
            yield from _kept(keep, reader)
        case ChangeMemory() as edit:
            yield from _changed(edit, reader)
        case ForgetMemory(_, before) | CancelReminder(_, before):
            yield from (reader.words.before, Quoted(before))
        case AddReminder() as reminder:
            yield from _reminded(reminder, reader)
        case Draw() as draw:
            yield from _drawn(draw, proposal, reader.words)
    yield reader.words.how.format(id=proposal.id)


def headline(proposal: Proposal, words: TerminalProposalTexts) -> str:
    """What it would do, without any of its words."""
    match proposal.change:
        case KeepMemory(supersedes=memory):
            template = words.keep if memory is None else words.replace
            return template.format(id=proposal.id, memory=memory)
        case ChangeMemory(memory):
            return words.change.format(id=proposal.id, memory=memory)
        case ForgetMemory(memory):
            return words.forget.format(id=proposal.id, memory=memory)
        case AddReminder():
            return words.remind.format(id=proposal.id)
        case CancelReminder(reminder):
            return words.cancel.format(id=proposal.id, reminder=reminder)
        case Draw():
            return words.draw.format(id=proposal.id)


# ---- memories ---------------------------------------------------------------------------------------------


def _kept(keep: KeepMemory, reader: Reader) -> Iterator[Stated]:
    words, told = reader.words, reader.person.texts.memory_card
    if keep.supersedes is not None:
        yield from (words.before, Quoted(keep.before))
    yield from (words.text if keep.supersedes is None else words.after, Quoted(keep.content))
    yield words.field.format(name=told.category, value=_category(keep.category, reader))
    if keep.tags:
        yield words.field.format(name=told.tags, value=_tags(keep.tags, reader))
    yield words.field.format(name=told.audience, value=_audience(keep.audience, reader))
    if keep.expires_at is not None:
        yield words.field.format(name=told.end, value=_end(keep.expires_at, reader))


def _changed(edit: ChangeMemory, reader: Reader) -> Iterator[Stated]:
    """What stays as it is is not told, but for the text, by which its user knows the memory."""
    words, told = reader.words, reader.person.texts.memory_card
    yield from (words.before, Quoted(edit.before))
    if edit.content is not None:
        yield from (words.after, Quoted(edit.content))
    if edit.category is not None:
        old, new = _category(edit.category_before, reader), _category(edit.category, reader)
        yield words.field_changed.format(name=told.category, old=old, new=new)
    if edit.tags is not None:
        old, new = _tags(edit.tags_before, reader), _tags(edit.tags, reader)
        yield words.field_changed.format(name=told.tags, old=old, new=new)
    if edit.audience is not None:
        yield words.field.format(name=told.audience, value=_audience(edit.audience, reader))
    if edit.expires_at != AS_IT_IS:
        ends = None if edit.expires_at == NEVER else edit.expires_at
        old, new = _end(edit.expires_before, reader), _end(ends, reader)
        yield words.field_changed.format(name=told.end, old=old, new=new)


def _category(name: str, reader: Reader) -> str:
    return _in_line(reader.person.texts.memory.shown_category(name))


def _tags(tags: tuple[str, ...], reader: Reader) -> str:
    return " ".join(f"#{_in_line(tag)}" for tag in tags) or reader.words.none


def _audience(audience: Audience, reader: Reader) -> str:
    told = reader.person.texts.memory_card
    return told.private if audience == "private" else told.anywhere


def _end(moment: datetime | None, reader: Reader) -> str:
    return reader.words.none if moment is None else end_day(moment, reader.person)


# ---- reminders --------------------------------------------------------------------------------------------


def _reminded(reminder: AddReminder, reader: Reader) -> Iterator[Stated]:
    """Its time where it counts: that is where its user was when it was proposed."""
    words, texts = reader.words, reader.person.texts
    zone = zone_named(reminder.timezone)
    time = moment_line(reminder.due_at, zone, reader.now, texts)
    if zone.key != reader.person.timezone.key:
        time += words.in_zone.format(zone=zone.key)
    if reminder.repeat:
        repeat = described(reminder.repeat, texts)
        line = words.when_repeated.format(repeat=_in_line(repeat), time=time)
    else:
        line = words.when.format(time=time)
    yield line if reminder.place == "terminal" else line + texts.remind_here.elsewhere
    yield from (words.text, Quoted(reminder.text))


# ---- drawings ---------------------------------------------------------------------------------------------


def _drawn(draw: Draw, proposal: Proposal, words: TerminalProposalTexts) -> Iterator[Stated]:
    """Each step, beside what is up before it."""
    for command, canvas in steps(draw, proposal.visibility):
        yield from _step(command, canvas, words)


def _step(command: CanvasCommand, canvas: Canvas, words: TerminalProposalTexts) -> Iterator[Stated]:
    match command:
        case AddCard(title, content):
            yield from (words.card.format(title=_in_line(title)), Quoted(content))
        case ShowText(content, title):
            yield from (words.shown_text.format(title=_in_line(title) or words.none), Quoted(content))
        case AddChart():
            yield words.chart.format(kind=words.kinds[command.kind], title=_in_line(command.title))
            yield Quoted(_numbers(command))
        case UpdateCard(id_, title, content):
            yield words.updated.format(title=_name(id_, canvas))
            if title is not None:
                old = _in_line(_title(id_, canvas)) or words.none
                yield words.field_changed.format(name=words.title, old=old, new=_in_line(title))
            if content is not None:
                yield from (words.before, Quoted(_content(id_, canvas)), words.after, Quoted(content))
        case RemoveElement(id_):
            yield from (words.removed.format(title=_name(id_, canvas)), Quoted(_content(id_, canvas)))
        case SetMode(mode, focus):
            yield from _laid_out(mode, focus, canvas, words)


def _laid_out(mode: str, focus: str, canvas: Canvas, words: TerminalProposalTexts) -> Iterator[Stated]:
    match mode:
        case "clear":
            yield words.cleared
            yield Quoted("\n".join(_name(each.id, canvas) for each in canvas.elements))
        case "focus":
            yield words.focused.format(title=_name(focus, canvas))
        case _:
            yield words.on_board if mode == "board" else words.listed


def _name(id_: str, canvas: Canvas) -> str:
    """What its user knows an element by; its id where it has no title, or is not up."""
    return _in_line(_title(id_, canvas) or id_)


def _title(id_: str, canvas: Canvas) -> str:
    element = canvas.element(id_)
    return element.title if element else ""


def _content(id_: str, canvas: Canvas) -> str:
    """A text's, or a chart's numbers; nothing of what is not up."""
    match canvas.element(id_):
        case None:
            return ""
        case Chart() as chart:
            return _numbers(chart)
        case element:
            return element.content


def _numbers(chart: AddChart | Chart) -> str:
    """Every number of a chart, as it was given: a line for each label."""
    lines = []
    for index, label in enumerate(chart.labels):
        values = (f"{each.name} {each.values[index]:.15g}".strip() for each in chart.series)
        lines.append(f"{label}: {' / '.join(values)}")
    return "\n".join(lines)


def _in_line(text: str) -> str:
    """The whole text on one line."""
    return written_out(" ".join(text.split()))
