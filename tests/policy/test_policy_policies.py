"""The file while the program runs; that a file is followed at all is tested with that of agents."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import InvalidPolicy
from cc_bot.domain.locale import Locale
from cc_bot.domain.member import LimitKey, Policy
from cc_bot.policy import Policies

A_MINUTE = LimitKey("everyone", 0, "turns_per_minute")


class TestPolicies:
    async def test_without_a_file_are_the_defaults(self, tmp_path: Path) -> None:
        policies = Policies(tmp_path / "policy.toml", locale=Locale.EN)
        assert await policies.load() == await policies.now() == Policy()

    async def test_follow_the_file_and_keep_to_it_while_it_is_wrong(self, tmp_path: Path) -> None:
        file = tmp_path / "policy.toml"
        policies = Policies(file, locale=Locale.EN)
        await policies.load()
        file.write_text("[limits]\nturns_per_minute = 2")
        assert (await policies.now()).limits[A_MINUTE] == 2
        file.write_text("[limits]\nturns_per_minute = 0")
        with capture_logs() as records:
            assert (await policies.now()).limits[A_MINUTE] == 2
        assert [record["event"] for record in records] == ["policy_not_reloaded"]

    async def test_end_the_start_with_what_is_wrong(self, tmp_path: Path) -> None:
        file = tmp_path / "policy.toml"
        file.write_text("[limits]\nturns_per_minute = 0")
        with pytest.raises(InvalidPolicy, match="turns_per_minute"):
            await Policies(file, locale=Locale.EN).load()

    async def test_end_the_start_when_a_named_file_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidPolicy, match="CC_BOT_POLICY_FILE"):
            await Policies(tmp_path / "other.toml", locale=Locale.EN, required=True).load()
