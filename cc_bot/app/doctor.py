"""`cc-bot doctor`: what is to be looked at, from the settings.

aiohttp, hikari and openai are imported when they are used: not with --offline.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import cc_bot.tools
from cc_bot import __version__
from cc_bot.app.clocks import clock_of
from cc_bot.app.models import build_embedder, is_offline
from cc_bot.app.operator_files import agents_of, agents_path, policies_of, policy_path
from cc_bot.config import LOCAL, OFF, Config
from cc_bot.doctor import Check, Checkup, Finding, Notes, Report, examined
from cc_bot.doctor.database import FilesSide, examine_database
from cc_bot.doctor.models import examine_embedder, examine_model
from cc_bot.doctor.surroundings import (
    examine_backups,
    examine_erasures,
    examine_font,
    examine_operator_file,
    of_clock_set_ahead,
    of_program,
    of_timezone,
)
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import StartupError
from cc_bot.search.embedder import Embedder
from cc_bot.storage.copies import copies_of
from cc_bot.storage.erasure_copies import unusable_logs
from cc_bot.storage.erasures import ErasureLog
from cc_bot.storage.examination import SQLITE
from cc_bot.storage.location import database_file, sqlite_path
from cc_bot.storage.rotation import backups_in
from cc_bot.texts import Texts, texts
from cc_bot.tools.registry import discover

DATABASE_LIMIT_S = 600.0
"""A file of many gigabytes is read from its beginning to its end."""
LOADING_LIMIT_S = 30.0
"""What encodes and what draws are loaded first."""
SLACK_S = 2.0
"""Beyond a check's own time-outs, so that these are told first."""


async def run_doctor(config: Config, *, offline: bool) -> Report:
    """Look at everything; with `offline` at what needs no network. Raises InvalidSetting where the settings
    name no database."""
    words = texts(config.operator_locale)
    if not offline:
        _load(config)
    return await examined(Checkup(tuple(_checks(config, words, offline=offline)), words))


def _load(config: Config) -> None:
    """Have what asks the network, before the time of any check begins: loading it stops all else for seconds
    on a slow machine, and a server that had answered long since would be called silent."""
    import cc_bot.doctor.discord

    if config.discord_token:
        from cc_bot.discord.offered import extension_names

        for name in extension_names():
            import_module(name)
    if not is_offline(config):
        import cc_bot.llm.openai  # noqa: F401


def _checks(config: Config, words: Texts, *, offline: bool) -> Iterator[Check]:
    said = words.doctor
    yield Check("program", said.label_program, partial(_at_hand, config, words))
    if not offline:
        yield Check("token", said.label_token, partial(_discord, config, words))
    files = FilesSide(sqlite_path(config.database_url), _private(config))
    look = partial(examine_database, files, words)
    yield Check("database", said.label_database, look, DATABASE_LIMIT_S)
    yield Check("backups", said.label_backups, partial(_backups, config, words))
    yield Check("erasures", said.label_erasures, partial(_erasures, config, words))
    yield Check("agents", said.label_agents, partial(_agents, config, words))
    yield Check("policy", said.label_policy, partial(_policy, config, words))
    yield from _models(config, words, offline=offline)
    drawing = partial(examine_font, config.operator_locale, words)
    yield Check("font", said.label_font, drawing, LOADING_LIMIT_S)


async def _at_hand(config: Config, words: Texts) -> Sequence[Finding]:
    """What needs no looking for."""
    found = [
        of_program(__version__, SQLITE, words),
        of_timezone(config.timezone, clock_of(config)(), words),
    ]
    offset = config.test_clock_offset
    return [*found, of_clock_set_ahead(offset, words)] if offset else found


async def _discord(config: Config, words: Texts) -> Sequence[Finding]:
    from cc_bot.doctor.discord import DiscordSide, examine_discord

    async def offered() -> frozenset[str]:
        from cc_bot.discord.offered import offered_commands

        return await offered_commands(config.discord_token or "")

    side = DiscordSide(
        config.discord_token, config.discord_api_url, config.channels, offered, __version__, utc_now
    )
    return await examine_discord(side, words)


def _private(config: Config) -> Sequence[Path]:
    """What else must be nobody's but the operator's."""
    database = database_file(config.database_url)
    history = sqlite_path(config.database_url).with_name("chat_history")
    return [Path(".env"), ErasureLog.beside(database).path, history, *copies_of(database)]


async def _backups(config: Config, words: Texts) -> Sequence[Finding]:
    def newest(folder: Path) -> Path | None:
        return next((backup.path for backup in backups_in(folder)), None)

    return await examine_backups(config.backup_folder, newest, utc_now(), words)


async def _erasures(config: Config, words: Texts) -> Sequence[Finding]:
    log = ErasureLog.beside(database_file(config.database_url)).path
    look = partial(unusable_logs, log, config.backup_folder)
    return await examine_erasures(log, look, words)


async def _agents(config: Config, words: Texts) -> Sequence[Finding]:
    async def load() -> str:
        agents = await agents_of(config, discover(cc_bot.tools).names).load()
        there = agents_path(config).exists()
        said = words.doctor_files
        return said.agents_ok.format(count=len(agents)) if there else said.agents_none

    notes = Notes("agents", words.doctor.label_agents)
    return await examine_operator_file(notes, load, words, config.operator_locale)


async def _policy(config: Config, words: Texts) -> Sequence[Finding]:
    async def load() -> str:
        await policies_of(config).load()
        said = words.doctor_files
        return said.policy_ok if policy_path(config).exists() else said.policy_none

    notes = Notes("policy", words.doctor.label_policy)
    return await examine_operator_file(notes, load, words, config.operator_locale)


def _models(config: Config, words: Texts, *, offline: bool) -> Iterator[Check]:
    said = words.doctor
    if is_offline(config):
        finding = Notes("model", said.label_model).ok(said.model_offline)
        yield Check("model", said.label_model, partial(_known, finding))
    elif not offline:
        look = partial(_all_models, config, words)
        yield Check("model", said.label_model, look, config.model_timeout_s + SLACK_S)
    if config.embedding_model in (LOCAL, OFF) or not offline:
        yield Check("embedder", said.label_embedder, partial(_embedder, config, words), LOADING_LIMIT_S)


async def _all_models(config: Config, words: Texts) -> Sequence[Finding]:
    """Those that answer, that write summaries, and that agents have of their own; each once."""
    try:
        agents = await agents_of(config, discover(cc_bot.tools).names).load()
    except StartupError:  # told by the check of that file
        agents = {}
    own = [name for agent in agents.values() for name in agent.models]
    names = dict.fromkeys((*config.models, *config.summary_models, *own))
    found = await asyncio.gather(
        *(examine_model(name, partial(_reach, config, name), words) for name in names)
    )
    return [finding for findings in found for finding in findings]


async def _known(finding: Finding) -> Sequence[Finding]:
    return [finding]


async def _reach(config: Config, model: str) -> None:
    from cc_bot.llm.openai import reach

    await reach(
        model,
        api_key=config.openai_api_key,
        base_url=config.openai_base_url,
        timeout_s=config.model_timeout_s,
    )


async def _embedder(config: Config, words: Texts) -> Sequence[Finding]:
    said = words.doctor
    notes = Notes("embedder", said.label_embedder)
    embedder = build_embedder(config)
    if embedder is None:
        return [notes.ok(said.embedder_off if config.embedding_model == OFF else said.embedder_none)]
    try:
        return await examine_embedder(embedder.name, _encoding(embedder), words)
    finally:
        await embedder.close()


def _encoding(embedder: Embedder) -> Callable[[], Awaitable[None]]:
    async def encode() -> None:
        await embedder.embed(["猫 cat"])

    return encode
