"""`/memory edit`: a form with what a memory says now, and what becomes of the filled-in form."""

from datetime import datetime

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.discord.access.ways_in import Entered, Pressed
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.extensions.memory.group import answer_press, loader, memory, show
from cc_bot.discord.extensions.memory.options import memory_id
from cc_bot.discord.extensions.memory.showing import card_of
from cc_bot.discord.failures import tell
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_card import edited, not_kept
from cc_bot.discord.pages.memory_ids import EditForm, MemoryButton
from cc_bot.discord.pages.memory_view import View, one_line, shortened
from cc_bot.domain.ending import parse_end, write_end
from cc_bot.domain.errors import InputError, MemoryNotFound
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    MAX_CATEGORY_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    Memory,
    parse_tags,
)
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.memory_history import MemoryHistoryStore
from cc_bot.stores.settings import Keep
from cc_bot.texts import explain

_OURS = ("edit", "undo-edit")
MAX_TAGS_CHARACTERS = 1100
"""Of all tags together, with what stands between them; what Discord takes of one input is 4000."""


@memory.register
class Edit(lightbulb.SlashCommand, name="memory_edit", description="memory_edit_description", localize=True):
    id = memory_id()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        reader = await readers.of(ctx.interaction)
        kept = await memories.numbered(reader.user_id, self.id)
        if kept is None:
            await tell(ctx.interaction, explain(MemoryNotFound(id=self.id), reader.words))
        else:
            await _open_form(ctx.interaction, kept, reader)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    readers: Readers,
    upkeep: ReceiptUpkeep,
) -> None:
    """Open the form from a card, or take back what an edit did."""
    interaction = event.interaction

    async def act(button: MemoryButton, reader: Reader) -> None:
        if button.action == "edit":
            kept = await memories.get(reader.user_id, button.memory_id)
            if kept is None:
                await tell(interaction, reader.words.receipt.gone)
            else:
                await _open_form(interaction, kept, reader)
            return
        await defer_update(interaction)
        undone = await history.undo_update(reader.user_id, button.memory_id, button.former_id)
        words = reader.words.memory_card
        if undone is None:
            await show(interaction, View(words.edit_not_undone))
        else:
            said = words.edit_undone.format(id=undone.number)
            view = await card_of(undone.id, reader, memories, history, readers.clock, said=said)
            await show(interaction, view)
            upkeep.refresh(reader.user_id, reader.words)

    await answer_press(interaction, MemoryButton, readers, act, only=lambda button: button.action in _OURS)


@loader.listener(Entered)
@lightbulb.di.with_di
async def on_submit(event: Entered, memories: MemoryStore, readers: Readers, upkeep: ReceiptUpkeep) -> None:
    """Change the memory, and tell what changed; what can't be kept is shown back, so that it is not lost."""
    interaction = event.interaction

    async def change(form: EditForm, reader: Reader) -> None:
        await defer(interaction, ephemeral=True)
        entered = _entered(interaction)
        before = await memories.get(reader.user_id, form.memory_id)
        try:
            after = before and await _changed(memories, before, entered, reader, readers.clock())
        except InputError as error:
            view = not_kept(explain(error, reader.words), entered.get("content", ""), reader.words)
        else:
            missing = reader.words.receipt.gone
            view = (
                edited(after, before, reader.words)
                if before and after
                else not_kept(missing, entered.get("content", ""), reader.words)
            )
        await show(interaction, view)
        upkeep.refresh(reader.user_id, reader.words)

    await answer_press(interaction, EditForm, readers, change)


async def _open_form(
    interaction: hikari.CommandInteraction | hikari.ComponentInteraction, kept: Memory, reader: Reader
) -> None:
    """A form must be the first response, so nothing is acknowledged before it."""
    title = reader.words.memory_card.form_title.format(id=kept.number)
    form = EditForm(reader.user_id, kept.id).custom_id()
    await interaction.create_modal_response(shortened(title, 45), form, components=_form(kept, reader))


def _form(kept: Memory, reader: Reader) -> list[ModalActionRowBuilder]:
    words, general, filled = reader.words.memory_card, reader.words.memory.general, _filled(kept, reader)
    content = ModalActionRowBuilder().add_text_input(
        "content",
        words.form_content,
        style=hikari.TextInputStyle.PARAGRAPH,
        value=filled["content"],
        max_length=MAX_CONTENT_CHARACTERS,
    )
    lines = (
        ("category", words.form_category, general, MAX_CATEGORY_CHARACTERS),
        ("tags", words.form_tags, "", MAX_TAGS_CHARACTERS),
        ("end", words.form_end, words.form_end_example, 40),
    )
    return [content] + [
        ModalActionRowBuilder().add_text_input(
            name,
            label,
            value=filled[name] or hikari.UNDEFINED,
            placeholder=placeholder or hikari.UNDEFINED,
            required=False,
            max_length=limit,
        )
        for name, label, placeholder, limit in lines
    ]


def _filled(kept: Memory, reader: Reader) -> dict[str, str]:
    """What the form says before anything is changed. It can't say everything: tags of several words look like
    several tags, and an end at some hour like the end of that day."""
    return {
        "content": kept.content,
        "category": "" if kept.category == DEFAULT_CATEGORY else kept.category,
        "tags": shortened(", ".join(map(one_line, kept.tags)), MAX_TAGS_CHARACTERS),
        "end": write_end(kept.expires_at, reader.timezone),
    }


def _entered(interaction: hikari.ModalInteraction) -> dict[str, str]:
    return {component.custom_id: component.value or "" for row in interaction.components for component in row}


async def _changed(
    memories: MemoryStore, before: Memory, entered: dict[str, str], reader: Reader, now: datetime
) -> Memory | None:
    """Change what was changed in the form. Raises an InputError when it can't be kept."""
    filled = _filled(before, reader)
    tags, end = entered.get("tags", ""), entered.get("end", "")
    category = reader.words.memory.stored_category(entered.get("category"))
    return await memories.update(
        before.user_id,
        before.id,
        content=entered.get("content", ""),
        category=category or DEFAULT_CATEGORY,
        tags=None if tags == filled["tags"] else parse_tags(tags),
        expires_at=Keep.AS_IS if end == filled["end"] else parse_end(end, now, reader.timezone),
    )
