"""The group of all `/memory` commands, and the options that several of them take."""

import contextlib
from functools import partial

import hikari
import lightbulb
import structlog

from cc_bot.discord.access import suggesting
from cc_bot.discord.interactions import MAX_CHOICES
from cc_bot.discord.pages.memory import choice_name
from cc_bot.discord.presses import on_press
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.errors import CcBotError, MemoryNotFound
from cc_bot.domain.memory import MAX_CATEGORY_CHARACTERS, Audience
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

on_memory_press = partial(on_press, loader, not_yours=lambda words: words.receipt.not_yours)


# ---- options ---------------------------------------------------------------------------------------------
# Options that several `/memory` commands take, and what is offered while they are typed.

_log = structlog.get_logger(__name__)


async def suggest_memories(
    ctx: lightbulb.AutocompleteContext[int], memories: MemoryStore = lightbulb.di.INJECTED
) -> None:
    """Memories whose text or number matches what was typed, which arrives as a string."""
    typed = str(ctx.focused.value or "")
    try:
        found = await memories.suggest(int(ctx.interaction.user.id), typed, limit=MAX_CHOICES)
    except CcBotError as error:  # a list of choices has no place for a sentence
        _log.warning("autocomplete_failed", error=type(error).__name__)
        found = []
    with contextlib.suppress(hikari.HikariError):  # too late, or Discord's trouble: there is nobody to tell
        await ctx.respond([(choice_name(each), each.number) for each in found])


async def suggest_categories(
    ctx: lightbulb.AutocompleteContext[str],
    memories: MemoryStore = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> None:
    """The user's own categories that contain what was typed, the largest first."""
    typed = str(ctx.focused.value or "")
    try:
        recipient = await recipients.of(ctx.interaction)
        kept = (await memories.get_statistics(recipient.user_id)).categories
        names = matching_categories([name for name, _ in kept], typed, recipient.words)
    except CcBotError as error:
        _log.warning("autocomplete_failed", error=type(error).__name__)
        names = []
    with contextlib.suppress(hikari.HikariError):
        await ctx.respond(names)


def matching_categories(stored: list[str], typed: str, words: Texts) -> list[str]:
    """Return them as they are shown; those that begin with what was typed before those that contain it."""
    wanted = typed.strip().casefold()
    shown = (words.memory.shown_category(name) for name in stored)
    found = [name for name in shown if wanted in name.casefold()]
    found.sort(key=lambda name: not name.casefold().startswith(wanted))
    return found[:MAX_CHOICES]


def memory_id() -> int:
    """The option that chooses a memory, by its number."""
    return lightbulb.integer(
        "memory_id",
        "memory_id_description",
        localize=True,
        autocomplete=suggesting(suggest_memories),
    )


async def row_of(number: int, user_id: int, memories: MemoryStore) -> int:
    """The id of the memory that was chosen, hidden ones included. Raises MemoryNotFound."""
    found = await memories.get_id(user_id, number)
    if found is None:
        raise MemoryNotFound(id=number)
    return found


def category_filter() -> str | None:
    """The option that narrows to a category of the user's."""
    return lightbulb.string(
        "memory_category",
        "memory_category_description",
        localize=True,
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
        autocomplete=suggesting(suggest_categories),
    )


def where() -> str | None:
    """The option that says where a memory may be used."""
    return lightbulb.string(
        "memory_audience",
        "memory_audience_description",
        localize=True,
        default=None,
        choices=[
            lightbulb.Choice("memory_anywhere_choice", "anywhere", localize=True),
            lightbulb.Choice("memory_private_choice", "private", localize=True),
        ],
    )


def audience_of(chosen: str | None, interaction: hikari.CommandInteraction) -> Audience:
    """Return where what comes of a command may be used: what the user chose, else by where the command was
    given."""
    if chosen is None:
        return "private" if interaction.guild_id is None else "anywhere"
    return "private" if chosen == "private" else "anywhere"
