"""A user's memories in numbers, with bars that line up on a phone: they stand first and have the same number
of cells, so nothing depends on how wide a name is drawn."""

import hikari

from cc_bot.discord.pages.memory_view import COLOUR, View, escaped, shortened, timestamp
from cc_bot.domain.memory import MemoryStatistics
from cc_bot.texts import Texts

BARS = 8
CELLS = 8


def statistics_view(kept: MemoryStatistics, words: Texts, *, paused: bool) -> View:
    """How many there are, of what kind, and since when."""
    told = words.memory_box
    if not kept.count:
        return View("\n".join(filter(None, (told.paused if paused else "", words.memory.none))))
    embed = hikari.Embed(
        title=told.statistics_title.format(count=kept.count),
        description="\n".join(_lines(kept, words, paused=paused)),
        colour=COLOUR,
    )
    embed.add_field(told.categories, "\n".join(_bars(kept, words)))
    embed.add_field(told.sources, " ・ ".join(_sources(kept, words)))
    return View(embed=embed)


def bar(count: int, most: int) -> str:
    """A share of the largest count in cells, at least one."""
    filled = max(1, round(CELLS * count / most))
    return "▰" * filled + "▱" * (CELLS - filled)


def _lines(kept: MemoryStatistics, words: Texts, *, paused: bool) -> list[str]:
    told = words.memory_box
    lines = [told.paused] if paused else []
    if kept.private:
        lines.append(told.private.format(count=kept.private))
    if kept.expired:
        lines.append(told.expired.format(count=kept.expired))
    if kept.oldest and kept.newest:
        lines.append(told.span.format(oldest=timestamp(kept.oldest), newest=timestamp(kept.newest)))
    return lines


def _bars(kept: MemoryStatistics, words: Texts) -> list[str]:
    told, most = words.memory_box, kept.categories[0][1]
    lines = [
        told.bar.format(
            bar=bar(count, most), name=escaped(shortened(words.memory.shown_category(name), 30)), count=count
        )
        for name, count in kept.categories[:BARS]
    ]
    rest = kept.categories[BARS:]
    if rest:
        count = sum(number for _, number in rest)
        lines.append(told.other_categories.format(categories=len(rest), count=count))
    return lines


def _sources(kept: MemoryStatistics, words: Texts) -> list[str]:
    told = words.memory_box
    names = {
        "command": told.source_command,
        "message": told.source_message,
        "model": told.source_model,
        "import": told.source_import,
        "terminal": told.source_terminal,
        "": told.source_unknown,
    }
    return [told.source_count.format(name=names[kind], count=count) for kind, count in kept.sources]
