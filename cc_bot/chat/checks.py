"""Arguments and findings of the checks of `cc-bot doctor`."""

from collections.abc import Awaitable, Collection, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from cc_bot.chat.agents import Agents
from cc_bot.db.process import ActiveProcess, Duty, find_differing, find_free_shards, write_shards
from cc_bot.domain.errors import CcBotError, StartupError
from cc_bot.domain.message import Agent
from cc_bot.texts import Texts
from cc_bot.texts.cli import ProcessTexts

if TYPE_CHECKING:
    from cc_bot.config import Config

# warning: the bot runs, but something may not work; off: not set up, and nothing is wrong
Verdict = Literal["ok", "off", "warning", "failed"]
SLACK_S = 2.0  # how much longer a check may take than its own timeouts, which it reports itself


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a check, without secrets."""

    check: str
    verdict: Verdict
    detail: str
    fix: str = ""
    label: str = field(default="", compare=False)  # the label of its check, which the doctor fills in
    setting: str = field(default="", compare=False)  # the setting to correct, if it is known


class Check(NamedTuple):
    name: str
    coroutine: Coroutine[Any, Any, Finding | Sequence[Finding]]
    limit_s: float = 30.0
    label: str = ""  # the check's name for the operator; empty if the doctor has one


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    config: "Config"
    words: Texts
    online: bool  # if False, only checks that use no network run
    agents: Agents

    async def list_agents(self) -> Collection[Agent]:
        """Return the agents; none if their file is invalid, as another check reports that."""
        try:
            return (await self.agents.load()).values()
        except StartupError:
            return ()


class Service(Protocol):
    @property
    def name(self) -> str: ...

    async def close(self) -> None: ...


def ok(check: str, detail: str) -> Finding:
    return Finding(check, "ok", detail)


def off(check: str, detail: str) -> Finding:
    return Finding(check, "off", detail)


def warning(check: str, text: str, fix: str = "") -> Finding:
    return _finding(check, "warning", text, fix)


def failed(check: str, text: str, fix: str = "") -> Finding:
    return _finding(check, "failed", text, fix)


def _finding(check: str, verdict: Verdict, text: str, fix: str) -> Finding:
    """`text` may contain the fix, after an arrow."""
    detail, _, fix_in_text = text.partition("\n→ ")
    return Finding(check, verdict, detail, fix or fix_in_text)


async def try_service(
    check: str, service: Service, attempt: Awaitable[object], success_text: str, failure_text: str
) -> Finding:
    """Attempt to use the service, and close it. A failure is a warning: the bot answers without the
    service."""
    try:
        await attempt
    except CcBotError:
        return warning(check, failure_text.format(name=service.name))
    finally:
        await service.close()
    return ok(check, success_text.format(name=service.name))


def check_processes(
    processes: Sequence[ActiveProcess], all_duties: Sequence[Duty], words: Texts
) -> Iterator[Finding]:
    texts = words[ProcessTexts]
    for each in processes:
        process = each.process
        duties = ", ".join(duty.name for duty in all_duties if duty.process == process.name)
        facts = {"host": process.host, "shards": process.shards_text or texts.all_shards}
        if each.lapsed:
            yield warning("database", texts.process_lapsed.format(**facts), texts.process_lapsed_fix)
        elif each.is_unconnected:
            yield warning(
                "database", texts.process_unconnected.format(**facts), texts.process_unconnected_fix
            )
        else:
            yield ok("database", texts.process.format(**facts, duties=duties or texts.no_duties))
    if free := find_free_shards(processes):
        yield warning("database", texts.free_shards.format(shards=write_shards(free)), texts.free_shards_fix)
    if differing := find_differing(processes):
        yield warning("database", texts.differing.format(what=", ".join(differing)), texts.differing_fix)
