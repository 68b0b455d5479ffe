from pathlib import Path

import pytest

from tests.databases import DatabaseSettings
from tests.faults.asked import Kind
from tests.faults.campaign import campaign
from tests.faults.kills import EDIT, AnyTime, AtModel, AtRequest, Moment, moments
from tests.faults.traffic import BY_COMMAND

CAMPAIGNS, KILLS = 8, 13
QUARTER_S = 15 * 60 + 10
"""Discord takes no word for an interaction after a quarter of an hour."""
AWAY: tuple[Moment, ...] = (
    AtModel(2, answered=False, within_s=0.1),
    AtRequest(EDIT, arrives=False, nth=3),
    AtModel(4, answered=True, within_s=0.06),
    AnyTime(),
)


@pytest.mark.parametrize("number", range(CAMPAIGNS))
async def test_killed_again_and_again_it_loses_nothing_and_says_nothing_twice(
    seed: int, number: int, tmp_path: Path, database_settings: DatabaseSettings
) -> None:
    weather, reading = number % 2 == 1, number % 4 < 2
    name = f"kills {seed} {number}"
    async with campaign(tmp_path, name, database_settings(), stormy=weather, reads_all=reading) as fought:
        for moment in fought.rng.sample(plan := moments(number, CAMPAIGNS, KILLS), len(plan)):
            await fought.live_and_die(moment)
        await fought.ends_well(f"seed {seed}, campaign {number}")
        assert len(fought.kills_s) >= KILLS


async def test_down_for_longer_than_tokens_live_it_still_answers_or_tells_everybody(
    seed: int, tmp_path: Path, database_settings: DatabaseSettings
) -> None:
    """Interactions can't be answered any more: what is said comes as a message in the channel, or by DM."""
    kinds: tuple[Kind, ...] = (*BY_COMMAND, "dm")
    async with campaign(
        tmp_path, f"away {seed}", database_settings(), away_s=QUARTER_S, kinds=kinds
    ) as fought:
        for moment in AWAY:
            await fought.live_and_die(moment)
        await fought.ends_well(f"seed {seed}")
