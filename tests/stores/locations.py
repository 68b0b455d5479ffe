from collections.abc import Sequence
from typing import Any, Final

from cc_bot.chat.stores.blocks import read_context_page
from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.message import ChannelKey, ContextMessage, Message
from cc_bot.domain.session import SessionKey
from tests.stores.conversation import CAT

CHANNEL: Final = ChannelKey(987654321098765432)
THREAD: Final = ChannelKey(CHANNEL.channel_id, 1_300_000_000_000_000_050)
OTHER_CHANNEL: Final = ChannelKey(987654321098765433)
OTHER_THREAD: Final = ChannelKey(OTHER_CHANNEL.channel_id, 1_300_000_000_000_000_060)
LOCATIONS: Final = (CHANNEL, THREAD, OTHER_CHANNEL, OTHER_THREAD)
BOT: Final = 555
DM: Final = SessionKey(user_id=7, channel_id=4242)


def said(discord_id: int, text: str = "こんにちは", **fields: Any) -> Message:
    return Message("user", text, discord_id=discord_id, **{"author_id": 7, "author_name": "花子", **fields})


def answer(discord_id: int, text: str = "はい、どうぞ。", **fields: Any) -> Message:
    return Message("assistant", text, discord_id=discord_id, author_id=BOT, **fields)


def ids(messages: Sequence[Message]) -> list[int | None]:
    return [message.discord_id for message in messages]


async def archived(database: Database, key: ChannelKey = CHANNEL) -> dict[int, str]:
    rows = await database.query(
        """
        SELECT discord_id, content FROM messages
        WHERE parent_channel_id = $1 AND thread_id = $2 AND channel_id = $3 AND session_id IS NULL
        ORDER BY discord_id
        """,
        *(key.channel_id, key.thread_id, key.location_id),
    )
    return {row[0]: row[1] for row in rows}


async def freeze(database: Database, key: ChannelKey, *spans: tuple[int, int]) -> None:
    """Freeze the messages of each span, from its first id to its last."""
    await database.transaction(
        [
            Statement(
                """
                INSERT INTO block_boundaries (
                    channel_id, thread_id, first_message_id, last_message_id, token_count, created_at
                ) VALUES ($1, $2, $3, $4, 100, 0)
                """,
                (key.channel_id, key.thread_id, *span),
            )
            for span in spans
        ],
        (),
    )


async def frozen(database: Database, key: ChannelKey = CHANNEL) -> list[tuple[int, int]]:
    rows = await database.query(
        """
        SELECT first_message_id, last_message_id FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = $2 ORDER BY last_message_id
        """,
        *(key.channel_id, key.thread_id),
    )
    return [(first, last) for first, last in rows]


async def ask_in_dm(stores: Stores, discord_id: int, text: str = "秘密の質問") -> None:
    question = Message("user", text, visibility="private", discord_id=discord_id, attachments=(CAT,))
    session = await stores.sessions.open(DM, visibility="private")
    await stores.sessions.commit_turn(session, [question, Message("assistant", "はい", visibility="private")])


async def heard_in_dm(stores: Stores) -> list[str]:
    history = (await stores.sessions.open(DM, visibility="private")).history
    return [message.content for message in history]


async def list_waiting(stores: Stores, key: ChannelKey) -> tuple[Message, ...]:
    """The questions that wait for an answer there, and may be read."""
    due = await stores.ledger.list_due(key)
    return tuple(each.question for each in due if each.state == "accepted" and not each.is_before_reset)


async def list_edited(stores: Stores, key: ChannelKey) -> tuple[Message, ...]:
    """The questions there that were edited since they were answered."""
    return tuple(each.question for each in await stores.ledger.list_due(key) if each.state == "edited")


async def read_page(
    stores: Stores, key: ChannelKey, *, first: int, before: int, asked: int = 2**62, **others: int
) -> list[ContextMessage]:
    bounds = {"first_id": first, "end_id": before, "newest_question_id": asked, **others}
    return await stores.blocks.run_read(lambda: read_context_page(key, **bounds))
