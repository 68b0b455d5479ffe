"""All checks, side by side, each within its time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from cc_bot.doctor.findings import Finding, Name, Notes, Report
from cc_bot.texts import Texts


@dataclass(frozen=True, slots=True)
class Check:
    name: Name
    """What it is called where it breaks or takes too long; it may find out about more than that."""
    label: str
    run: Callable[[], Awaitable[Sequence[Finding]]]
    limit_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is to be looked at."""

    checks: Sequence[Check]
    words: Texts


async def examined(checkup: Checkup) -> Report:
    """Run every check. Their findings stand in the order of the checks."""
    found = await asyncio.gather(*(_run(check, checkup.words) for check in checkup.checks))
    return Report(tuple(finding for findings in found for finding in findings))


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
