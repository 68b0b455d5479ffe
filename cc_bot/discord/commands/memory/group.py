"""What all `/memory` commands share: the group, how a reply is shown, and whose button it is."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import hikari
import lightbulb
import structlog

from cc_bot.discord.access import suggesting
from cc_bot.discord.delivery.reply import components
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import MAX_CHOICES, Answerable, own_space
from cc_bot.discord.pages.custom_ids import Control, parse_custom_id
from cc_bot.discord.pages.memory import EphemeralView, choice_name
from cc_bot.discord.recipients import Reader, Readers
from cc_bot.domain.errors import CcBotError, MemoryNotFound
from cc_bot.domain.memory import MAX_CATEGORY_CHARACTERS, Audience
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

Owned = TypeVar("Owned", bound=Control)


async def show(interaction: Answerable, view: EphemeralView) -> None:
    """Put a view in the place of what the acknowledged reply says."""
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons, menu=view.menu),
    )


async def answer_press(
    interaction: hikari.ComponentInteraction | hikari.ModalInteraction,
    kind: type[Owned],
    readers: Readers,
    act: Callable[[Owned, Reader], Awaitable[None]],
    *,
    only: Callable[[Owned], bool] = lambda _: True,
) -> None:
    """Let a button, menu or form of this kind act, for its owner alone; `only` those that are the caller's.

    Never raises: hikari would only log it, and the user would not know.
    """
    pressed = parse_custom_id(interaction.custom_id)
    if not isinstance(pressed, kind) or not only(pressed):
        return
    try:
        reader = await readers.of(interaction)
        if pressed.user_id != reader.user_id:
            await tell(interaction, reader.words.receipt.not_yours)
        else:
            await act(pressed, reader)
    except Exception as error:  # noqa: BLE001 - see above
        await tell_failure(interaction, error, readers)


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
    readers: Readers = lightbulb.di.INJECTED,
) -> None:
    """The user's own categories that contain what was typed, the largest first."""
    typed = str(ctx.focused.value or "")
    try:
        reader = await readers.of(ctx.interaction)
        kept = (await memories.get_statistics(reader.user_id)).categories
        names = matching_categories([name for name, _ in kept], typed, reader.words)
    except CcBotError as error:
        _log.warning("autocomplete_failed", error=type(error).__name__)
        names = []
    with contextlib.suppress(hikari.HikariError):
        await ctx.respond(names)


def matching_categories(stored: list[str], typed: str, words: Texts) -> list[str]:
    """As they are shown; those that begin with what was typed before those that contain it."""
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
    """Where what comes of a command may be used: what the user chose, else by where the command was given."""
    if chosen is None:
        return "private" if own_space(interaction) else "anywhere"
    return "private" if chosen == "private" else "anywhere"
