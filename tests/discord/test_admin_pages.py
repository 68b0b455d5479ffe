"""What is shown of the bot itself: its agents, its processes, what was used, and its help."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.agents import LONGEST_DESCRIPTION, LONGEST_DISPLAY_NAME
from cc_bot.assistant.queue import Load
from cc_bot.discord.commands.settings import help_text
from cc_bot.discord.pages.admin import agent_list, status, usage_view
from cc_bot.domain.locale import Locale
from cc_bot.domain.member import Remaining, Total, UsageReport
from cc_bot.domain.message import Agent
from cc_bot.domain.process import LivingProcess, Process
from cc_bot.status import Seen
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

LONGEST_MESSAGE = 2000
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
RESETS = datetime(2026, 12, 1, tzinfo=UTC)


@given(
    count=st.integers(1, 100),
    display=st.integers(0, LONGEST_DISPLAY_NAME),
    description=st.integers(0, LONGEST_DESCRIPTION),
    locale=st.sampled_from(Locale),
    gone=st.booleans(),
)
def test_agents_fit_one_message_that_tells_how_many_it_leaves_out(
    count: int, display: int, description: int, locale: Locale, gone: bool
) -> None:
    names, about = (dict.fromkeys(Locale, each) for each in ("名" * display, "説" * description))
    known = [Agent(f"a{number}", names, about) for number in range(count)]
    words = mentioned(locale)
    shown = agent_list(known, words, in_use="a0", default=f"a{count - 1}", gone=gone)
    assert len(shown) <= LONGEST_MESSAGE
    left_out = count - shown.count("\n- **")
    assert count == 1 or left_out == 0 or words.agents.more.format(count=left_out) in shown


def process(number: int, *, connected: bool) -> LivingProcess:
    shards = tuple(range(number * 4, number * 4 + 4))
    told = Process(f"p{number}", f"bot-{number:02}.tokyo.example.jp", "1.0", shards, 64)
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


@pytest.mark.parametrize("locale", Locale)
def test_the_status_marks_processes_that_are_not_connected_and_fits_a_message(locale: Locale) -> None:
    words = texts(locale)
    two = status(seen(process(0, connected=True), process(1, connected=False)), words).splitlines()
    [marked] = [line for line in two if words.admin.unconnected in line]
    assert marked.startswith("- ⚠️ bot-01")
    shown = status(seen(*(process(number, connected=number == 0) for number in range(100))), words)
    assert len(shown) <= LONGEST_MESSAGE
    told = [line for line in shown.splitlines() if line.startswith("- ")]
    assert ("⚠️" in told[0], str(100 - len(told) + 1) in told[-1]) == (True, True)


def test_usage_tells_what_was_used_what_it_cost_and_what_is_left() -> None:
    left = Remaining("tokens_per_day", 2000, 500, RESETS), Remaining("tokens_per_month", 10**7, 8, RESETS)
    today, month = Total(2, 1500, 12_300), Total(40, 1_234_567, 4_560_000)
    report = UsageReport(today, month, (), (("gpt_5", month), ("", Total(1, 0, 0))), "USD", left=left)

    def lines(report: UsageReport, locale: Locale = Locale.EN) -> list[str]:
        return (usage_view(report, texts(locale)).description or "").splitlines()

    resets = f"(all again <t:{int(RESETS.timestamp())}:R>)"
    assert lines(report) == [
        "Today: 1,500 tokens, questions: 2, 0.0123 USD",
        "This month: 1,234,567 tokens, questions: 40, 4.56 USD",
        f"Left today: 500 of 2,000 tokens {resets}",
        f"Left this month: 8 of 10,000,000 tokens {resets}",
    ]
    assert lines(report, Locale.JA)[0] == "今日: 1,500 トークン・質問 2件・0.0123 USD"
    free = replace(report, currency="", left=(), unpriced=("gpt_5",))
    assert lines(free)[0] == "Today: 1,500 tokens, questions: 2"
    assert r"gpt\_5" in lines(free)[2]


@pytest.mark.parametrize("locale", list(Locale))
def test_help_tells_what_is_done_with_messages_and_every_command_and_fits_one_embed(locale: Locale) -> None:
    words = texts(locale).session
    off, some, everything = (help_text(words, reading) for reading in ("off", "mentions", "all"))
    assert [words.help_mention in told for told in (off, some, everything)] == [False, True, True]
    assert words.help_stored_all not in off
    assert some.endswith(words.help_stored_mentions)
    assert everything.endswith(words.help_stored_all)
    told = help_text(mentioned(locale).session, "all")
    names = set(re.findall(r"</([a-z -]+):", told))
    assert {"ask", "memory delete-all", "canvas clear", "agent default", "privacy erase"} <= names
    assert not any(name.startswith("admin") for name in names)
    of_owners = help_text(mentioned(locale).session, "all", owner=True)
    assert ("</admin status:" in of_owners, len(of_owners) <= 4096) == (True, True)
