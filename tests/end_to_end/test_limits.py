import asyncio
import re
import time
from collections.abc import Callable, Iterator

import pytest

from cc_bot.discord.gate import FLOOD_PAUSE_S, MAX_BURST
from cc_bot.domain.errors import LimitReached
from tests.end_to_end.memories import run
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

STAGE = "own_stage"
USED_UP = "いま使える分を使いきりました。"


@pytest.fixture
def decide(stage: Stage) -> Iterator[Callable[[str], object]]:
    """Write the operator's file; it is gone after the test."""
    file = stage.program.folder / "data" / "policy.toml"
    yield lambda text: file.write_text(text, encoding="utf-8")
    file.unlink()


async def refused(stage: Stage, user: User, channel: Channel) -> str:
    reply = await stage.begin(user, channel, "まだ？")
    await reply.finished(lambda shown: "<t:" in shown.text)
    return reply.text


def in_seconds(sentence: str) -> float:
    [moment] = re.findall(r"<t:(\d+):R>", sentence)
    return int(moment) - time.time()


async def test_a_limit_is_told_and_lets_no_request_be_made(
    stage: Stage, aiko: User, ben: User, channel: Channel, decide: Callable[[str], object]
) -> None:
    decide(f"[limits.users.{aiko.id}]\ntokens_per_day = 18\n[limits.users.{ben.id}]\nturns_per_minute = 1\n")
    await stage.ask_in_words(aiko, channel, "はい。")
    sentence = await refused(stage, aiko, channel)
    assert sentence.startswith(USED_UP)
    assert 0 < in_seconds(sentence) <= 25 * 3600
    await stage.said(ben, channel, "Are you there?", "はい。")
    assert (await refused(stage, ben, channel)).startswith(LimitReached.en.partition(" Please")[0])
    told = await stage.says(
        await stage.write(ben, channel, "もう一度"), LimitReached.en.partition(" Please")[0]
    )
    assert 0 <= in_seconds(told.text) <= 60
    assert len(stage.model.requests) == 2
    left = "SELECT count(*) FROM turns WHERE user_id IN (?, ?) AND state IN ('accepted', 'answered')"
    await stage.eventually(left, aiko.id, ben.id, gives=[(0,)])  # nothing for the next start to show


@pytest.mark.slow
async def test_a_flood_stops_nobody_else(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    most = MAX_BURST["interaction"]
    sent = [await stage.discord.slash(aiko, channel, "help") for _ in range(5 * most)]
    assert "<t:" not in (await run(stage, ben, channel, "list")).text
    await asyncio.gather(*(each.finished() for each in sent[:most]))
    await stage.discord.quiet()
    *served, last = [each for each in sent if each.interaction.answered is not None]
    assert most <= len(served) < len(sent) - 1
    assert not any(["<t:" in (await each.finished()).text for each in served])
    assert 0 < in_seconds((await last.finished()).text) <= FLOOD_PAUSE_S + 1
