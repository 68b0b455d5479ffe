"""The whole program over a database on a server: killed and asked again, and with a server that dies."""

from pathlib import Path

import pytest

from tests.end_to_end.stage import running_stage
from tests.loopback.model_server import says

pytestmark = pytest.mark.postgresql("its own engine")


async def test_answers_remembers_and_goes_on_after_a_kill(url: str, tmp_path: Path) -> None:
    settings = {"CC_BOT_DATABASE_URL": url, "CC_BOT_DATA_FOLDER": str(tmp_path)}
    async with running_stage(tmp_path, settings) as stage:
        aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        stage.model.script(says("いい名前ですね。"))
        assert (await stage.ask(aiko, channel, "犬の名前はポチです")).text.startswith("いい名前ですね。")
        assert "水曜は在宅" in await stage.told(aiko, channel, "memory add", content="水曜は在宅")
        await stage.restart()
        stage.model.script(says("ポチです。"))
        assert (await stage.ask(aiko, channel, "犬の名前は？")).text.startswith("ポチです。")
        said = [each["content"] for each in stage.model.requests[-1].messages if each["role"] != "system"]
        assert said[-3:] == ["犬の名前はポチです", "いい名前ですね。", "犬の名前は？"]
        assert "水曜は在宅" in await stage.told(aiko, channel, "memory search", query="在宅")
        assert not [*tmp_path.rglob("*.db")]  # noqa: ASYNC240 - a look at the end
        assert "Traceback" not in stage.program.output
