"""The `/memory` command group and shared options."""

from collections.abc import Sequence
from functools import partial

import lightbulb

from cc_bot.commands.reply import Caller, Item
from cc_bot.discord.declaring import Choice, choices, number_option, suggesting, text_option
from cc_bot.discord.interactions import MAX_CHOICES
from cc_bot.discord.pages.memory import choice_name
from cc_bot.discord.presses import on_press
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.memory import MAX_CATEGORY_CHARACTERS, Audience
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

on_memory_press = partial(on_press, not_yours=lambda words: words.receipt.not_yours)


async def suggest_memories(
    ctx: lightbulb.AutocompleteContext[int], memories: MemoryStore = lightbulb.di.INJECTED
) -> list[Choice]:
    """Suggest memories whose text or number contains the input, which arrives as a string."""
    typed = str(ctx.focused.value or "")
    found = await memories.suggest(int(ctx.interaction.user.id), typed, limit=MAX_CHOICES)
    return [(choice_name(Item(each.number, each.content)), each.number) for each in found]


async def suggest_categories(
    ctx: lightbulb.AutocompleteContext[str],
    memories: MemoryStore = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> Sequence[Choice]:
    """Suggest the user's categories that contain the input, the largest first."""
    recipient = await recipients.of(ctx.interaction)
    kept = (await memories.get_statistics(recipient.user_id)).categories
    return matching_categories([name for name, _ in kept], str(ctx.focused.value or ""), recipient.words)


def matching_categories(stored: list[str], typed: str, words: Texts) -> list[str]:
    """Return the matching categories as shown, prefix matches first."""
    wanted = typed.strip().casefold()
    shown = (words.memory.shown_category(name) for name in stored)
    found = [name for name in shown if wanted in name.casefold()]
    return sorted(found, key=lambda name: not name.casefold().startswith(wanted))


def memory_id() -> int:
    """The option for a memory's number."""
    return number_option("memory_id", autocomplete=suggesting(suggest_memories))


def category_filter() -> str | None:
    """The option to filter by one of the user's categories."""
    return text_option(
        "memory_category",
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
        autocomplete=suggesting(suggest_categories),
    )


def where() -> str | None:
    """The option for a memory's audience."""
    return text_option("memory_audience", default=None, choices=choices("memory", "anywhere", "private"))


def audience_of(chosen: str | None, caller: Caller) -> Audience:
    """Return the chosen audience; by default that of the channel."""
    if chosen is None:
        return "private" if caller.guild_id is None else "anywhere"
    return "private" if chosen == "private" else "anywhere"
