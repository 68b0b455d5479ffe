"""Mixed life, for as long as `--minutes` says: nothing is lost, doubled or stuck, and wishes are granted."""

import asyncio
from pathlib import Path

import pytest

from tests.databases import DatabaseSettings
from tests.faults.campaign import campaign
from tests.faults.kills import FOLLOW_UP, STEPS, AnyTime
from tests.faults.life import Life
from tests.faults.weather import MODEL, trouble_with_discord

PACE_S = 0.35
DONE_AT_ONCE = 0.95
MOMENTS = (
    *(each for each in STEPS if "for the 1." in str(each) and FOLLOW_UP not in str(each)),
    *[AnyTime()] * 8,
)


@pytest.mark.parametrize("reading", ["mentions", "all"])
async def test_of_mixed_life_loses_nothing_and_grants_what_is_wished_for_by_mention(
    seed: int, minutes: float, reading: str, tmp_path: Path, database_settings: DatabaseSettings
) -> None:
    settings = {**database_settings(), "CC_BOT_CHANNELS": reading, "CC_BOT_SUMMARY_EVERY": "4"}
    async with campaign(tmp_path, f"life {seed} {reading}", settings, people=Life) as fought:
        life, rng, discord = fought.traffic, fought.rng, fought.stage.discord
        assert isinstance(life, Life)
        fought.hurried = False
        ends = asyncio.get_running_loop().time() + 60 * minutes
        while asyncio.get_running_loop().time() < ends:
            fought.stormy = rng.random() < 0.5
            await life.live(rng.uniform(2, 6), PACE_S)
            life.teller.trouble[len(life.asked) + 1] = MODEL[rng.choice([*MODEL])]
            fought.log += trouble_with_discord(fought.stage, rng, bursts=2)
            await life.live(rng.uniform(2, 6), PACE_S)
            discord.faults.forget()
            match rng.randrange(5):
                case 0:
                    await asyncio.sleep(1.0)  # what a lost session had not heard yet is told to nobody
                    life.note_deaf()
                    await discord.drop_gateway(rng.choice((None, 4000)), resumable=rng.random() < 0.5)
                    await discord.wait(lambda: discord.connected, "a new connection", timeout_s=60)
                case 1:
                    await asyncio.sleep(0.5)
                    life.note_deaf()
                    await fought.stop()
                    await life.away()
                    await fought.start()
                case _:
                    await fought.live_and_die(rng.choice(MOMENTS))
        life.note_deaf()
        await fought.rest()
        verdict, wishes = fought.verdict(), life.figures()
        told = f"seed {seed}, {reading}: {len(life.asked)} questions, {len(fought.kills_s)} kills, {wishes}"
        print(told)  # noqa: T201 - figures, for whoever asks pytest to show them
        assert verdict == "", f"{told}\n{verdict}"
        granted = sum(ends.get("done", 0) for ends in wishes.values())
        asked = sum(sum(ends.values()) - ends.get("not asked", 0) for ends in wishes.values())
        assert granted >= DONE_AT_ONCE * asked, "\n".join([told, *life.left()])
