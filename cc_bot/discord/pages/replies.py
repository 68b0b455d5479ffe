from collections.abc import Callable
from typing import Final

import hikari

from cc_bot.commands.reply import Action, Item, Reply, ReplyFile
from cc_bot.discord.pages.custom_ids import MemoryButton, UnscheduleButton
from cc_bot.discord.pages.memory import COLOUR, EphemeralView
from cc_bot.discord.pages.page import Button, Menu
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.discord.recipients import Recipient

PAGE_SIZE: Final = 8
MAX_EMBED_CHARACTERS: Final = 4096
"""Discord's limit; a longer text is a file."""
MAX_ITEM_CHARACTERS: Final = 140
"""Eight items fit an embed even if escaped."""


def reply_view(
    reply: Reply,
    reader: Recipient,
    page: int = 1,
    turn: Callable[[int], str] | None = None,
    menu: Menu | None = None,
) -> EphemeralView:
    """Render a reply. `turn` returns the custom id of a page's button. Pages beyond the last show that."""
    buttons = tuple(_button(action, reader) for action in reply.actions)
    pages, number, shown = reply.pages, reply.page, reply.items
    if shown and not pages:
        pages = -(-len(shown) // PAGE_SIZE)
        number = min(max(page, 1), pages)
        shown = shown[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    entries = [f"{_entry(each, reader)}\n" for each in shown]
    table = [f"```\n{reply.table}\n```"] if reply.table else []
    text = "\n".join((*reply.lines, *table, *entries, *(f"-# {note}" for note in reply.notes))).rstrip()
    file = reply.file
    if len(text) > MAX_EMBED_CHARACTERS and file is None:
        file, text = ReplyFile(reader.words.admin.file_name, text.encode()), ""
    attachment = hikari.Bytes(file.content, file.name) if file else None
    if not reply.title and utf16_length(text) <= MESSAGE_LIMIT:
        return EphemeralView(text, buttons=buttons, menu=menu, attachment=attachment)
    embed = hikari.Embed(title=reply.title or None, description=text, colour=COLOUR)
    if pages > 1 and turn:
        texts = reader.words.memory
        embed.set_footer(texts.page.format(page=number, pages=pages))
        turns = ((texts.previous, number - 1), (texts.next, number + 1))
        buttons += tuple(Button(label, turn(to), enabled=1 <= to <= pages) for label, to in turns)
    return EphemeralView(embed=embed, buttons=buttons, menu=menu, attachment=attachment)


def _entry(item: Item, reader: Recipient) -> str:
    details = (*item.details, *([item.trouble] if item.trouble else []))
    text = reader.text(item.text, MAX_ITEM_CHARACTERS)
    return f"**#{item.number}** {text}\n-# {' ・ '.join(details)}"


def _button(action: Action, reader: Recipient) -> Button:
    if action.kind == "cancel":
        return Button(action.label, UnscheduleButton(reader.user_id, action.id).custom_id())
    button = MemoryButton(action.kind, reader.user_id, action.id)
    return Button(action.label, button.custom_id(), danger=action.kind != "undelete")
