"""Memories and commands in columns, or one under the other where there is no room (a phone over ssh)."""

from dataclasses import fields

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cc_bot.terminal.line_breaks import WrappedText
from cc_bot.terminal.printable import one_line, printable
from cc_bot.terminal.view import MemoryPage, category_name, tag_words
from cc_bot.texts import Texts
from cc_bot.texts.terminal_manuals import Manual, Manuals

NARROW = 72
"""Cells; below that columns would be too narrow to read."""


def memory_table(page: MemoryPage, texts: Texts, width: int) -> RenderableType:
    return _memories_stacked(page, texts) if width < NARROW else _memories_in_columns(page, texts)


def _memories_in_columns(page: MemoryPage, texts: Texts) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=True)
    table.add_column(texts.terminal.memory_number, justify="right", no_wrap=True)
    table.add_column(texts.terminal.memory_text, ratio=1)
    table.add_column(texts.memory.category, max_width=16)
    table.add_column(texts.memory.tags, max_width=20)
    table.add_column(texts.terminal.memory_date, no_wrap=True)
    for memory in page.memories:
        table.add_row(
            Text(str(memory.number), style="cyan"),
            WrappedText(f"{page.marks(memory)} {printable(memory.content)}".strip()),
            WrappedText(category_name(memory, texts)),
            WrappedText(tag_words(memory)),
            Text(page.date(memory), style="dim"),
        )
    return table


def _memories_stacked(page: MemoryPage, texts: Texts) -> Group:
    parts: list[RenderableType] = []
    for memory in page.memories:
        about = filter(
            None,
            (page.marks(memory), page.date(memory), category_name(memory, texts), tag_words(memory)),
        )
        head = WrappedText(f"#{memory.number}", style="cyan")
        head.append(f"  {'  '.join(map(one_line, about))}", style="dim")
        parts += [head, Padding(WrappedText(printable(memory.content)), (0, 0, 0, 2), expand=False)]
    return Group(*parts)


def manual_table(commands: Manuals, width: int) -> RenderableType:
    manuals: list[Manual] = [getattr(commands, field.name) for field in fields(commands)]
    if width < 100:
        return Group(
            *(
                Group(
                    WrappedText(manual.usage, style="cyan"),
                    Padding(WrappedText(manual.summary), (0, 0, 0, 2), expand=False),
                )
                for manual in manuals
            )
        )
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column()
    for manual in manuals:
        table.add_row(WrappedText(manual.usage), WrappedText(manual.summary))
    return table
