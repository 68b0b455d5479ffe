"""What is kept: conversations, channels, memories, settings, summaries, token factors.

A store knows no model and no Discord.

async with open_stores("sqlite:///path/to.db") as stores:
    session = await stores.sessions.open(SessionKey(user_id=1, channel_id=2))
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.storage import Synchronous, apply_pending, open_database
from cc_bot.stores.blocks import BlockStore
from cc_bot.stores.channels import ChannelStore, Place
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.mentions import MentionStore
from cc_bot.stores.personal_answers import PersonalAnswer, PersonalAnswerStore
from cc_bot.stores.sessions import SessionStore
from cc_bot.stores.settings import Keep, SettingsStore
from cc_bot.stores.summaries import SummaryStore
from cc_bot.stores.token_factors import TokenFactorStore

__all__ = [
    "BlockStore",
    "ChannelStore",
    "Keep",
    "MemoryStore",
    "MentionStore",
    "PersonalAnswer",
    "PersonalAnswerStore",
    "Place",
    "SessionStore",
    "SettingsStore",
    "Stores",
    "SummaryStore",
    "TokenFactorStore",
    "open_stores",
]


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores over one database."""

    sessions: SessionStore
    memories: MemoryStore
    settings: SettingsStore
    summaries: SummaryStore
    token_factors: TokenFactorStore
    blocks: BlockStore
    channels: ChannelStore
    mentions: MentionStore
    personal_answers: PersonalAnswerStore


@asynccontextmanager
async def open_stores(
    url: str,
    *,
    history_limit: int = 20,
    session_ttl: timedelta = timedelta(days=1),
    clock: Clock = utc_now,
    synchronous: Synchronous = "NORMAL",
) -> AsyncIterator[Stores]:
    """The stores of the database at this URL, which is brought up to date first.

    `history_limit` is in messages, 0 for no bound; `session_ttl` is the time without a turn until a session
    expires. Raises a StartupError: InvalidSetting, DatabaseFolderMissing, DatabaseUnusable, DatabaseNewer,
    SqliteTooOld, or BackupFailed (of the copy that is made before an upgrade).
    """
    async with open_database(url, synchronous=synchronous) as database:
        await apply_pending(database, clock=clock)
        yield Stores(
            sessions=SessionStore(
                database, history_limit=history_limit, session_ttl=session_ttl, clock=clock
            ),
            memories=MemoryStore(database, clock=clock),
            settings=SettingsStore(database, clock=clock),
            summaries=SummaryStore(database, clock=clock),
            token_factors=TokenFactorStore(database, clock=clock),
            blocks=BlockStore(database, clock=clock),
            channels=ChannelStore(database, clock=clock),
            mentions=MentionStore(database),
            personal_answers=PersonalAnswerStore(database, clock=clock),
        )
