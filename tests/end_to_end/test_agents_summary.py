"""Each agent's conversation is summarized by itself."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.agents import FILE, use, write_file
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """With room for four messages, so that two turns are a long conversation."""
    folder = tmp_path_factory.mktemp("cc-bot")
    write_file(folder, FILE)
    async with running_stage(folder, {"CC_BOT_HISTORY_LIMIT": "4"}) as stage:
        yield stage


class TestSummary:
    async def test_of_one_agent_is_not_seen_by_another_and_deleted_by_its_own_button(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script_notes(says("- 合言葉はオオルリ"))
        for question in ("1", "2"):
            await stage.ask(aiko, channel, question)
        await stage.eventually(
            "SELECT agent, content FROM summaries WHERE channel_id = ?",
            channel.id,
            gives=[("default", "- 合言葉はオオルリ")],
        )
        shown = await (await stage.discord.slash(aiko, channel, "summary")).finished()
        await use(stage, aiko, channel, "poet")
        assert "要約はまだありません" in await stage.told(aiko, channel, "summary")
        await stage.ask(aiko, channel)
        assert "オオルリ" not in str(stage.model.requests[-1].body)
        press = await stage.discord.click(aiko, shown.message, "要約を消す")
        await press.finished(lambda told: "消しました" in told.text)
        assert stage.rows("SELECT 1 FROM summaries WHERE channel_id = ?", channel.id) == []
