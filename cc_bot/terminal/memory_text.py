"""One memory with all that is known of it, and all memories in numbers, as plain text."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cc_bot.domain.memory import Memory, MemoryStatistics, Source
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line, printable
from cc_bot.terminal.view import tag_words
from cc_bot.texts import Texts

BARS = 12
CELLS = 10
_BEFORE_MIDNIGHT = timedelta(seconds=1)
"""What holds until midnight is told as holding until that day."""


def card_text(memory: Memory, former: Sequence[Memory], person: Person, now: datetime) -> str:
    """A memory, its text whole, and its former versions with the numbers that restore them."""
    words, told = person.texts, person.texts.memory_card
    end = _end(memory, person, now)
    facts = (
        (told.category, one_line(words.memory.shown_category(memory.category))),
        (told.tags, tag_words(memory)),
        (told.audience, told.private if memory.audience == "private" else told.anywhere),
        (told.end, end),
        (told.why, f"{why(memory.source, words)} {_day(memory.created_at, person)}"),
        ("", memory.source.link),
    )
    title = told.title.format(id=memory.number)
    lines = [f"📌 {title}" if memory.pinned else title, kept_apart(printable(memory.content))]
    lines += [f"  {name}: {value}" if name else f"    {value}" for name, value in facts if value]
    if former:
        lines.append(f"  {told.history}")
        lines += [
            f"    {at}. {_day(each.updated_at, person)}  {one_line(each.content, 70)}"
            for at, each in enumerate(former, 1)
        ]
        lines.append(f"  {words.terminal.how_to_restore.format(id=memory.number)}")
    return "\n".join(lines)


def statistics_text(kept: MemoryStatistics, person: Person) -> str:
    """How many there are, of what kind, and since when. Bars stand first: names may be of any width."""
    words, told = person.texts, person.texts.memory_box
    paused = [told.paused] if person.settings.memory_paused else []
    if not kept.count:
        return "\n".join((*paused, words.memory.none))
    lines = [told.statistics_title.format(count=kept.count), *paused]
    if kept.private:
        lines.append(told.private.format(count=kept.private))
    if kept.expired:
        lines.append(told.expired.format(count=kept.expired))
    if kept.oldest and kept.newest:
        span = told.span.format(oldest=_day(kept.oldest, person), newest=_day(kept.newest, person))
        lines.append(span)
    most = kept.categories[0][1]
    for name, count in kept.categories[:BARS]:
        filled = max(1, round(CELLS * count / most))
        bar = "▰" * filled + "▱" * (CELLS - filled)
        shown = one_line(words.memory.shown_category(name), 40)
        lines.append(told.bar.format(bar=bar, name=shown, count=count))
    return "\n".join(lines)


def why(source: Source, words: Texts) -> str:
    """How a memory came about, in a sentence."""
    return words.memory_card.because(
        source.kind, author=one_line(source.author, 100), model=one_line(source.model, 100)
    )


def _end(memory: Memory, person: Person, now: datetime) -> str:
    if memory.expires_at is None:
        return ""
    return person.texts.memory.expired if memory.expired(now) else end_day(memory.expires_at, person)


def end_day(expires_at: datetime, person: Person) -> str:
    """The last day on which something holds."""
    return person.texts.memory.until.format(date=_day(expires_at - _BEFORE_MIDNIGHT, person))


def _day(moment: datetime, person: Person) -> str:
    return moment.astimezone(person.timezone).date().isoformat()
