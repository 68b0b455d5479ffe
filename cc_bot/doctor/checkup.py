"""All checks, side by side, each within its time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from cc_bot.doctor.findings import Finding, Name, Notes, Report, Verdict
from cc_bot.texts import Texts


@dataclass(frozen=True, slots=True)
class Check:
    name: Name
    """What it is called where it breaks or takes too long; it may find out about more than that."""
    label: str
    run: Callable[[], Awaitable[Sequence[Finding]]]
    limit_s: float = 15.0
    unfinished: Verdict = "warning"
    """What it comes to that the whole checkup was over before: a server that says nothing is a failure."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is to be looked at."""

    checks: Sequence[Check]
    words: Texts
    until_s: float | None = None
    """When it has to be over, by the event loop's clock; None: when all checks are."""


async def examined(checkup: Checkup) -> Report:
    """Run every check. Their findings stand in the order of the checks. What is not over in time is told of
    as that, and its threads are left to themselves."""
    running = [(check, asyncio.create_task(_run(check, checkup.words))) for check in checkup.checks]
    if running:
        left_s = None
        if checkup.until_s is not None:
            left_s = max(0.0, checkup.until_s - asyncio.get_running_loop().time())
        await asyncio.wait([task for _, task in running], timeout=left_s)
    found = [task.result() if task.done() else [_unfinished(check, checkup.words)] for check, task in running]
    for _, task in running:
        task.cancel()
    return Report(tuple(finding for findings in found for finding in findings))


def _unfinished(check: Check, words: Texts) -> Finding:
    said = words.doctor
    notes = Notes(check.name, check.label)
    return notes.unfinished(check.unfinished, said.unfinished, said.unfinished_mend)


async def _run(check: Check, words: Texts) -> Sequence[Finding]:
    notes = Notes(check.name, check.label)
    try:
        async with asyncio.timeout(check.limit_s):
            return await check.run()
    except TimeoutError:
        seconds = round(check.limit_s)
        told = words.doctor.took_too_long.format(seconds=seconds)
        return [notes.failed(told, words.doctor.took_too_long_mend)]
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are worth reading
        told = words.doctor.broke.format(error=type(error).__name__)
        return [notes.failed(told, words.doctor.broke_mend)]
