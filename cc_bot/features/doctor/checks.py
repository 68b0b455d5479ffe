"""`cc-bot doctor`: finds problems in the setup, and says how to fix them.

Read-only, so the bot may be running. A check that crashes or times out becomes a finding.
"""

import asyncio
import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Final

from cc_bot import __version__
from cc_bot.chat.agents import make_agents
from cc_bot.chat.checks import SLACK_S, Check, CheckContext, Finding, Verdict, failed, ok, warning
from cc_bot.chat.policy import make_policies
from cc_bot.chat.tools import discover_tools
from cc_bot.config import Config
from cc_bot.db.engines import dialect_of
from cc_bot.db.sqlite import SQLITE_VERSION
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, InvalidSetting, StartupError
from cc_bot.features import modules
from cc_bot.features.doctor import database, services
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.operator_file import operator_path
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.replies import MomentTexts

DATABASE_LIMIT_S: Final = 600.0  # it reads the whole file, which may have many gigabytes


@dataclass(frozen=True, slots=True)
class Report:
    findings: Sequence[Finding]

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        return "failed" if self.count("failed") else "warning" if self.count("warning") else "ok"

    @property
    def exit_code(self) -> int:
        """1 for failures; warnings must not alarm a monitor."""
        return 1 if self.verdict == "failed" else 0


SIGNS: Final[dict[Verdict, str]] = {"ok": "✓", "off": "–", "warning": "!", "failed": "✗"}


def as_lines(report: Report, words: Texts, *, offline: bool) -> list[str]:
    texts, lines = words[DoctorTexts], list[str]()
    for each in report.findings:
        title = f"{SIGNS[each.verdict]} {texts.verdicts[each.verdict]}  {each.label}"
        lines.append(f"{title}: {each.detail}")
        if each.fix:
            lines.append(f"  → {each.fix}")
    if offline:
        lines.append(texts.offline)
    counts = {"failed": report.count("failed"), "warnings": report.count("warning")}
    return [*lines, texts.summary.format(**counts) if any(counts.values()) else texts.all_well]


def as_json(report: Report, *, version: str, offline: bool) -> str:
    """Names and verdicts are stable, texts are not."""
    checks = [{**asdict(each), "fix": each.fix or None} for each in report.findings]
    document = {"version": version, "verdict": report.verdict, "offline": offline, "checks": checks}
    return json.dumps(document, ensure_ascii=False, indent=2)


async def run_doctor(config: Config, *, offline: bool) -> Report:
    """`offline`: only checks without network. Raises InvalidSetting if no database is named."""
    words = texts(config.operator_locale)
    if config.discord_token and not offline:  # takes seconds, so before the checks and their time limits
        for name in import_module("cc_bot.discord.bot").extension_names():
            import_module(name)
    agents = make_agents(config, discover_tools().names)
    context = CheckContext(config=config, words=words, online=not offline, agents=agents)
    feature_checks = chain.from_iterable(module.list_checks(context) for module in modules("doctor"))
    return await run_checks([*list_checks(context), *feature_checks], words)


def list_checks(context: CheckContext) -> Iterator[Check]:
    config, words = context.config, context.words
    is_file = dialect_of(config.database_url) == "sqlite"
    yield Check("program", _check_program(config, words))
    if context.online:
        yield Check("token", _check_discord(config, words))
    check_database = database.check_database_file if is_file else database.check_database_server
    yield Check("database", check_database(config, words), DATABASE_LIMIT_S)
    if is_file:
        yield Check("backups", database.check_backups(config, words, utc_now()))
    yield Check("erasures", database.check_erasures(config, words))
    yield Check("policy", _check_policy(config, words))
    models_s = config.model_timeout_s * services.MAX_REQUESTS + SLACK_S
    yield Check("model", _check_models(context), models_s)
    yield Check("font", services.check_charts(config.operator_locale, words))
    yield Check("pages", services.check_pages(config, words, offline=not context.online))


async def run_checks(checks: Iterable[Check], words: Texts) -> Report:
    """Run the checks at once. Returns the findings in their order."""
    findings = await asyncio.gather(*(_run_labelled(check, words) for check in checks))
    return Report(tuple(chain.from_iterable(findings)))


async def _run_labelled(check: Check, words: Texts) -> Sequence[Finding]:
    labels, findings = words[DoctorTexts].labels, await _run(check, words)
    return [replace(each, label=labels.get(each.check, check.label)) for each in findings]


async def _run(check: Check, words: Texts) -> Sequence[Finding]:
    name, texts = check.name, words[DoctorTexts]
    try:
        async with asyncio.timeout(check.limit_s):
            findings = await check.coroutine
        return [findings] if isinstance(findings, Finding) else findings
    except TimeoutError:
        return [failed(name, texts.took_too_long.format(seconds=round(check.limit_s)))]
    except CcBotError as error:
        is_about_file = isinstance(error, StartupError) and not isinstance(error, InvalidSetting)
        return [failed(name, explain(error, words), texts.file_fix if is_about_file else "")]
    except Exception as error:  # noqa: BLE001 - other checks still help
        return [failed(name, texts.broke.format(error=type(error).__name__))]


async def _check_program(config: Config, words: Texts) -> Sequence[Finding]:
    texts, zone = words[DoctorTexts], config.timezone
    versions = {"version": __version__, "python": platform.python_version(), "sqlite": SQLITE_VERSION}
    now = words[MomentTexts].written(config.clock().astimezone(zone), config.clock())
    time = texts.timezone_ok.format(zone=zone.key, time=now)
    findings = [ok("program", texts.program.format(**versions)), ok("timezone", time)]
    if offset := config.test_clock_offset:
        findings.append(warning("clock", texts.clock_set.format(seconds=round(offset.total_seconds()))))
    return findings


async def _check_discord(config: Config, words: Texts) -> Sequence[Finding]:
    bot = import_module("cc_bot.discord.bot")  # hikari takes a second to load
    names = partial(bot.list_command_names, config.discord_token or "")
    return await services.check_discord(config, words, names, utc_now)


async def _check_policy(config: Config, words: Texts) -> Finding:
    await make_policies(config).load()
    exists = operator_path(config, "policy.toml").exists()
    return ok("policy", words[DoctorTexts].policy_ok if exists else words[DoctorTexts].policy_none)


async def _check_models(context: CheckContext) -> Sequence[Finding]:
    names = [name for agent in await context.list_agents() for name in agent.models]
    config, words, offline = context.config, context.words, not context.online
    return await services.check_models(config, words, names, discover_tools().schemas(), offline=offline)
