import asyncio
from pathlib import Path

import pytest

from cc_bot.domain.errors import ModelUnavailable
from cc_bot.llm.model import Finish
from tests.summaries.conftest import Desk, open_desk


class TestFailure:
    @pytest.mark.parametrize(
        "trouble", [[ModelUnavailable()], [" \n"], ["途中ま", Finish("cut")]], ids=["error", "empty", "cut"]
    )
    async def test_loses_nothing_and_is_tried_again_after_the_next_turn(
        self, desk: Desk, trouble: list[object]
    ) -> None:
        desk.writer.script = [trouble, ["- 一から三"]]  # type: ignore[list-item]  # steps of several kinds
        await desk.talk("一", "二")
        assert await desk.kept() == {}
        await desk.talk("三")
        assert [text for role, text in desk.material().said if role == "user"] == ["一", "二", "三"]
        assert await desk.kept() == {"public": "- 一から三"}

    async def test_again_and_again_is_not_paid_for_each_turn(self, desk: Desk) -> None:
        desk.writer.script = [[ModelUnavailable()] for _ in range(9)]
        await desk.talk(*(str(number) for number in range(9)))
        assert len(desk.writer.requests) == 2


class TestHangingModel:
    async def test_delays_no_reply_and_ends_with_the_program(self, tmp_path: Path) -> None:
        async with open_desk(tmp_path, every=1) as desk:
            desk.writer.script = [[asyncio.Event()]]
            await desk.ask("一")
            await desk.writer.asked()
            for question in ("二", "三"):
                assert (await desk.answer(question)).content == f"You said: {question}"
            assert len(desk.writer.requests) == 1, "one at a time for each session"
        assert desk.writer.ended_early == 1

    async def test_loses_nothing_when_the_program_ends(self, tmp_path: Path) -> None:
        async with open_desk(tmp_path, every=1) as desk:
            desk.writer.script = [["- 一", asyncio.Event()]]
            await desk.ask("一")
            await desk.writer.asked()
        async with open_desk(tmp_path, every=1) as desk:
            await desk.talk("二")
            assert [text for role, text in desk.material().said if role == "user"] == ["一", "二"]
