"""`/memory` in the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from cc_bot.chat.reply import Reply
from cc_bot.domain.text import Count
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.errors import MemoryNotFound
from cc_bot.features.memory.model import Source
from cc_bot.features.memory.service import MemoryService
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.terminal.commands import Chat, Command, InvalidCommand, parse_number
from cc_bot.terminal.view import short_line
from cc_bot.texts.cli import TerminalTexts

PAGE_SIZE: Final = 10  # with title and prompt, a screen of 24 rows


async def list_memories(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    """List a page of the memories, the pinned first. The text is the page's number, or a category."""
    page = int(text[:4]) if text.isdecimal() else 0
    category = options.get("category", "" if page else text) or None
    caller, service = chat.profile.caller, chat.parts[MemoryService]
    reply = await memories.list_memories(
        caller, category=category, order="pinned", page=page, page_size=PAGE_SIZE, service=service
    )
    if reply.page >= reply.pages:
        return reply
    command = f'/memory list --category "{category}"' if category else "/memory list"
    more = chat.texts[TerminalTexts].more_pages
    note = more.format(page=reply.page, pages=reply.pages, command=f"{command} {reply.page + 1}")
    return replace(reply, notes=(*reply.notes, note))


async def search_memories(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    caller, category, service = chat.profile.caller, options.get("category"), chat.parts[MemoryService]
    size = memories.MAX_HITS
    return await memories.search(caller, query=text, category=category, page_size=size, service=service)


async def add_memory(chat: Chat, text: str, options: Mapping[str, str]) -> Reply:
    _, reply = await memories.add(
        replace(chat.profile.caller, memory_paused=chat.settings.memory_paused),
        content=text,
        category=options.get("category"),
        tags=options.get("tags"),
        audience="anywhere",
        source=Source("terminal"),
        service=chat.parts[MemoryService],
    )
    return reply


async def delete_memory(chat: Chat, text: str, _options: Mapping[str, str]) -> Reply:
    number = parse_number(text, chat.texts[MemoryTexts].id_needed)
    reply = await memories.delete(chat.profile.caller, id=number, service=chat.parts[MemoryService])
    return replace(reply, notes=(*reply.notes[:1], chat.texts[TerminalTexts].erase_conversations))


async def undo_memory(chat: Chat, text: str, _options: Mapping[str, str]) -> str:
    """Undo the deletion or, if the memory was not deleted, its last update. Raises MemoryNotFound or
    InvalidCommand."""
    words, user_id, store = chat.texts, chat.user_id, chat.stores.memories
    number = parse_number(text, words[MemoryTexts].id_needed)
    memory_id = await memories.find_id(chat.profile.caller, number, chat.parts[MemoryService])
    restored = await chat.stores.memory_removal.undelete(user_id, memory_id)
    if restored is None and (memory := await store.get(user_id, memory_id)):
        restored = await store.undo_update(user_id, memory.id, memory.supersedes or 0)
        if restored is None:
            raise InvalidCommand(words[TerminalTexts].nothing_to_undo.format(id=number))
    if restored is None:
        raise MemoryNotFound(id=number)
    return words[MemoryTexts].undeleted.format(id=restored.number, content=short_line(restored.content))


async def count_stored(chat: Chat) -> str:
    count = Count(await chat.stores.memories.count(chat.user_id))
    return chat.texts[ErasureTexts].memories.format(count=count) if count else ""


async def suggest_memories(chat: Chat, word: str) -> Sequence[tuple[int, str]]:
    return [(each.number, each.content) for each in await chat.stores.memories.suggest(chat.user_id, word)]


COMMANDS: Final[Mapping[str, Command]] = {
    "memory add": Command(add_memory, ("memory_content",), ("memory_category", "memory_tags")),
    "memory list": Command(list_memories, options=("memory_category",), short="memory"),
    "memory search": Command(search_memories, ("memory_query",), ("memory_category",)),
    "memory delete": Command(delete_memory, ("memory_id",), suggest=suggest_memories),
    "memory undo": Command(undo_memory, ("memory_id",), suggest=suggest_memories),
}
