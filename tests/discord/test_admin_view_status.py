"""The bot at one moment, as an owner sees it where several processes are one bot."""

from datetime import UTC, datetime, timedelta

import pytest

from cc_bot.assistant.queue import Load
from cc_bot.discord.pages.admin import status
from cc_bot.domain.locale import Locale
from cc_bot.domain.process import LivingProcess, Process
from cc_bot.status import Seen
from cc_bot.texts import texts

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
LONGEST_MESSAGE = 2000
"""Characters of a message, says Discord."""


def process(number: int, *, connected: bool) -> LivingProcess:
    told = Process(
        f"p{number}", f"bot-{number:02}.tokyo.example.jp", "1.0", tuple(range(number * 4, number * 4 + 4)), 64
    )
    at = NOW - timedelta(minutes=0 if connected else 2)
    return LivingProcess(told, NOW - timedelta(hours=1), NOW, lapsed=False, connected_at=at)


def seen(*processes: LivingProcess) -> Seen:
    return Seen(
        version="0.1.0",
        schema_version=36,
        began_at=NOW,
        connected=True,
        latency_s=0.04,
        database_bytes=10**12,
        free_bytes=10**12,
        load=Load(64, 1000),
        underway=(),
        turns_today=10**6,
        tokens_today=10**9,
        seconds_today=10**5,
        cost_micros=10**12,
        currency="USD",
        backup_at=None,
        backs_up=True,
        maintenance=None,
        processes=processes,
    )


@pytest.mark.parametrize(
    ("locale", "told"),
    [(Locale.JA, "から。Discord につながっていません"), (Locale.EN, ". It is not connected to Discord")],
)
def test_marks_a_process_that_is_not_connected(locale: Locale, told: str) -> None:
    lines = status(seen(process(0, connected=True), process(1, connected=False)), texts(locale)).splitlines()
    [marked] = [line for line in lines if told in line]
    assert marked.startswith("- ⚠️ bot-01")


@pytest.mark.parametrize("locale", Locale)
def test_fits_a_message_while_none_of_many_is_connected(locale: Locale) -> None:
    many = [process(number, connected=number == 0) for number in range(100)]
    shown = status(seen(*many), texts(locale))
    assert len(shown) <= LONGEST_MESSAGE
    told = [line for line in shown.splitlines() if line.startswith("- ")]
    assert "⚠️" in told[0]
    assert str(100 - len(told) + 1) in told[-1]
