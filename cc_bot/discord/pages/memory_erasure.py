"""Erasing for good: how far it goes, asked where more than the memory tells of it."""

from cc_bot.discord.pages.memory_ids import MemoryButton
from cc_bot.discord.pages.memory_view import View
from cc_bot.discord.pages.page import Button
from cc_bot.texts import Texts


def erase_question(user_id: int, memory_id: int, told_in: int, words: Texts) -> View:
    """Whether to empty the stored messages as well that tell of a memory; so far it can be had back."""
    memory_only, conversations_too = words.erasure.choices()
    alone = MemoryButton("erase-alone", user_id, memory_id)
    everything = MemoryButton("erase-said", user_id, memory_id)
    back = MemoryButton("undelete", user_id, memory_id)
    return View(
        words.erasure.question.format(count=told_in),
        buttons=(
            Button(memory_only, alone.custom_id(), danger=True),
            Button(conversations_too, everything.custom_id(), danger=True),
            Button(words.memory.undo, back.custom_id()),
        ),
    )
