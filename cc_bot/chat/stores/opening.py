"""Opens all stores. They do not depend on models or Discord.

async with open_stores("sqlite:///path/to.db") as stores:
    session = await stores.sessions.open(SessionKey(user_id=1, channel_id=2))
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar
from zoneinfo import ZoneInfo

from cc_bot.chat.stores.archive import ArchiveStore
from cc_bot.chat.stores.blocks import BlockStore
from cc_bot.chat.stores.canvases import CanvasStore
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.chat.stores.receipts import ReceiptStore
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.settings import (
    AccessStore,
    AgentStore,
    ChannelModelStore,
    LimitStore,
    SettingsStore,
    TokenFactorStore,
    WebSessionStore,
)
from cc_bot.chat.stores.summaries import SummaryStore
from cc_bot.chat.stores.usage import UTC_ZONE, UsageStore
from cc_bot.concurrency import run_in_background
from cc_bot.db import TIMEOUT_S, Database, ErasureLog, Synchronous, apply_pending, open_database
from cc_bot.db.engines import DATA_FOLDER, folder_setting, state_path
from cc_bot.db.files import ensure_folder
from cc_bot.db.process import ProcessStore
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.features import modules
from cc_bot.features.memory.search.vectors import Embedder
from cc_bot.features.memory.stores.limits import MemoryQuotas, ReadRules, SecretRules, no_rules
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.memory.stores.rows import refresh_search_data
from cc_bot.features.memory.stores.search import EmbeddingJob
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.privacy.personal_data import PersonalDataStore
from cc_bot.features.privacy.retention import RetentionStore, VitalsStore
from cc_bot.llm.embeddings import LocalEmbedder

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Stores:
    sessions: SessionStore
    archive: ArchiveStore
    canvases: CanvasStore
    memories: MemoryStore
    memory_removal: MemoryRemovalStore
    receipts: ReceiptStore
    settings: SettingsStore
    summaries: SummaryStore
    token_factors: TokenFactorStore
    blocks: BlockStore
    channels: ChannelStore
    ledger: TurnLedger
    agents: AgentStore
    proposals: ProposalStore
    access: AccessStore
    channel_models: ChannelModelStore
    personal_data: PersonalDataStore
    retention: RetentionStore
    vitals: VitalsStore
    limits: LimitStore
    usage: UsageStore
    web_sessions: WebSessionStore
    processes: ProcessStore
    erasures: ErasureLog
    features: Mapping[type[Any], Any]  # by class
    embedding: EmbeddingJob | None = None  # None if only keywords are used
    begin_shutdown: Callable[[], None] = lambda: None  # see Database.begin_shutdown

    def __getitem__(self, kind: type[S]) -> S:
        """Return the feature's store of that class. Raises KeyError if the feature was taken out."""
        store: S = self.features[kind]
        return store


@dataclass(frozen=True, slots=True)
class StoreContext:
    """The argument of a feature's `make_stores`."""

    database: Database
    clock: Clock
    secret_rules: SecretRules
    session_ttl: timedelta
    process: str  # the name of this process; empty if it has none


def make_feature_stores(context: StoreContext) -> Mapping[type[Any], Any]:
    return {type(each): each for module in modules("store") for each in module.make_stores(context)}


@asynccontextmanager
async def open_stores(
    url: str,
    *,
    history_limit: int = 20,
    session_ttl: timedelta = timedelta(days=1),
    clock: Clock = utc_now,
    synchronous: Synchronous = "NORMAL",
    secret_patterns: Sequence[str] = (),
    embedder: Embedder | Literal["local"] | None = "local",
    timezone: ZoneInfo = UTC_ZONE,
    timeout_s: float = TIMEOUT_S,
    limits: ReadRules = no_rules,
    max_prompt_memories: int = 0,
    data_folder: Path = DATA_FOLDER,
    process: str = "",
) -> AsyncIterator[Stores]:
    """Open the stores of the database at this URL, after migrating it.

    `embedder`: "local" is that of the extra `semantic`, if it is installed. `timezone`: of the days of usage.
    `timeout_s`: how long a write waits for other programs. `limits`: the operator's storage limits.
    `data_folder`: for the files of a database on a server. `process`: this process's name, if it has one.

    Raises ValueError for an invalid pattern, a StorageError, or a StartupError: InvalidSetting,
    DatabaseFolderMissing, DatabaseUnusable, DatabaseNewer, SchemaChanged, SqliteTooOld, or BackupFailed.
    """
    async with open_database(url, synchronous=synchronous, timeout_s=timeout_s) as database:
        applied = await apply_pending(database, clock=clock)
        state_folder = state_path(url, data_folder)
        ensure_folder(state_folder, folder_setting(url))
        erasures = ErasureLog.beside(state_folder, clock=clock)
        if applied and applied[0].version == 1:  # a log that is missing later is lost
            with suppress(OSError):  # which `cc-bot doctor` reports
                erasures.create()
        async with (
            _embedding(database, embedder) as embedding,
            run_in_background(refresh_search_data(database)),
        ):
            rules = SecretRules(secret_patterns)
            quotas = MemoryQuotas(database, limits, clock=clock)
            context = StoreContext(database, clock, rules, session_ttl, process)
            memories = MemoryStore(
                database,
                clock=clock,
                embedding=embedding,
                secret_rules=rules,
                quotas=quotas,
                max_prompt_memories=max_prompt_memories,
            )
            yield Stores(
                sessions=SessionStore(
                    database, history_limit=history_limit, session_ttl=session_ttl, clock=clock
                ),
                archive=ArchiveStore(database, clock=clock, log=erasures),
                canvases=CanvasStore(database, session_ttl=session_ttl, clock=clock),
                memories=memories,
                memory_removal=MemoryRemovalStore(database, clock=clock, log=erasures, quotas=quotas),
                receipts=ReceiptStore(database),
                settings=SettingsStore(database, clock=clock),
                summaries=SummaryStore(database, clock=clock),
                token_factors=TokenFactorStore(database, clock=clock),
                blocks=BlockStore(database, clock=clock),
                channels=ChannelStore(database, clock=clock, log=erasures),
                ledger=TurnLedger(database, process=process),
                agents=AgentStore(database, clock=clock),
                proposals=ProposalStore(database, clock=clock, process=process),
                access=AccessStore(database, clock=clock),
                channel_models=ChannelModelStore(database, clock=clock),
                personal_data=PersonalDataStore(database, clock=clock, log=erasures, process=process),
                retention=RetentionStore(database, history_limit=history_limit),
                vitals=VitalsStore(database),
                limits=LimitStore(database, clock=clock),
                usage=UsageStore(database, clock=clock, zone=timezone, process=process),
                web_sessions=WebSessionStore(database, clock=clock),
                processes=ProcessStore(database),
                erasures=erasures,
                features=make_feature_stores(context),
                embedding=embedding,
                begin_shutdown=database.begin_shutdown,
            )


@asynccontextmanager
async def _embedding(
    database: Database, embedder: Embedder | Literal["local"] | None
) -> AsyncIterator[EmbeddingJob | None]:
    local = LocalEmbedder.create_if_installed() if embedder == "local" else None
    chosen = local if embedder == "local" else embedder
    if chosen is None:
        yield None
        return
    embedding = EmbeddingJob(database, chosen)
    try:
        async with run_in_background(embedding.run()):
            yield embedding
    finally:
        if local:
            await local.close()
