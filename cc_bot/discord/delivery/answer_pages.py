"""Which messages show an answer of a session: whichever of them is deleted, the answer goes."""

from collections.abc import Iterable

from cc_bot.discord.pages.answer import AnswerState
from cc_bot.stores import ChannelStore


async def note_pages(channels: ChannelStore, ended: AnswerState, message_ids: Iterable[int]) -> None:
    """Put on record that these messages show an answer, if it was stored under the id of its first one.

    Raises StorageError.
    """
    answer = ended.done.answer if ended.done else None
    if answer is None or answer.id is None or answer.discord_id is None:
        return
    pages = [message_id for message_id in message_ids if message_id != answer.discord_id]
    if pages:
        await channels.add_pages(answer.discord_id, pages)
