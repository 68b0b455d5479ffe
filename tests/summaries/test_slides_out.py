from pathlib import Path

import pytest

from cc_bot.domain.errors import ContextTooLong
from cc_bot.llm.model import UserPart
from tests.summaries.conftest import open_desk

PARAGRAPH = "今日は駅前の店で友人と昼を食べ、そのあと川沿いの道をゆっくり歩いて帰りました。"


def questions(count: int) -> list[str]:
    return [f"{number}。{PARAGRAPH}" for number in range(count)]


class TestTokenBudget:
    @pytest.mark.parametrize("factor", [70, 250])
    async def test_leaves_no_message_out_that_is_in_no_summary(self, tmp_path: Path, factor: int) -> None:
        async with open_desk(tmp_path, limit=0, every=1000, budget=1500) as desk:
            await desk.stores.token_factors.learn("m", estimated=100, counted=factor)
            asked = questions(30)
            for number, question in enumerate(asked):
                await desk.talk(question)
                shown = [part.text for part in desk.model.requests[-1].prompt if isinstance(part, UserPart)]
                written = {
                    text
                    for fold in range(len(desk.writer.requests))
                    for role, text in desk.material(fold).said
                }
                assert {*asked[: number + 1]} <= {*shown, *written}
            assert len(shown) < len(asked)


class TestRefusedRequest:
    async def test_has_what_it_had_to_leave_out_written_down_at_once(self, tmp_path: Path) -> None:
        async with open_desk(tmp_path, limit=0, every=1000) as desk:
            await desk.talk(*questions(6))
            assert desk.writer.requests == []
            desk.model.script = [[ContextTooLong()], ["これで足りました。"]]
            desk.writer.script = [["- 駅前で昼"]]
            await desk.talk("続きは？")
            assert [text for role, text in desk.material().said if role == "user"] == [
                *questions(6),
                "続きは？",
            ]
            await desk.talk("その前は？")
            assert desk.told().endswith("要約: - 駅前で昼")
