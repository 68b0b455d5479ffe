from pathlib import Path

from tests.databases import DatabaseSettings
from tests.faults.campaign import campaign
from tests.faults.traffic import KINDS
from tests.faults.weather import MODEL, trouble_with_discord

IMPATIENT = {"CC_BOT_MODEL_TIMEOUT": "2"}
WAVES = 6


class TestModel:
    async def test_in_trouble_leaves_nobody_without_a_word(
        self, seed: int, tmp_path: Path, database_settings: DatabaseSettings
    ) -> None:
        async with campaign(tmp_path, f"model {seed}", {**database_settings(), **IMPATIENT}) as fought:
            for number, (name, trouble) in enumerate(MODEL.items()):
                for kind in (KINDS[number % len(KINDS)], "public"):
                    expected = len(fought.traffic.asked) + 1
                    fought.traffic.teller.trouble[expected] = trouble
                    asked = await fought.traffic.ask(kind)
                    fought.log.append(f"{asked}: {name}")
                if number % 4 == 3:
                    await fought.traffic.settled()
            await fought.ends_well(f"seed {seed}")


class TestDiscord:
    async def test_in_trouble_leaves_nobody_without_a_word(
        self, seed: int, tmp_path: Path, database_settings: DatabaseSettings
    ) -> None:
        async with campaign(tmp_path, f"discord {seed}", database_settings()) as fought:
            for _ in range(WAVES):
                fought.log += trouble_with_discord(fought.stage, fought.rng, bursts=5)
                await fought.traffic.wave()
                await fought.traffic.settled()
                fought.stage.discord.faults.forget()
            await fought.ends_well(f"seed {seed}")
