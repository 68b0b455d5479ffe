"""What is asked of the offline model may be made to hold it up: it says that it does not know, and nobody
else waits for it."""

import time

import pytest

from cc_bot.llm.model import ChatRequest, Finish, UserPart
from cc_bot.llm.offline import OfflineModel
from cc_bot.llm.offline.replies import LONGEST
from tests.llm.asking import hear

NOT_KNOWN = "I don't know that"

HOSTILE = (
    "a" + " " * 5_990 + "a",
    "覚えて" + "\n" * 5_900 + "a",
    "remember " + " " * 5_900 + "x",
    "please " * 800 + "x",
    "リマインド" * 1_100,
    "キャンバスに" * 900,
    "。" * 5_900,
    "ok, " * 1_400 + "remind me",
    "猫は何？" * 1_400,
    "remember that " * 420,
    "remember " * 666,
    "fyi, " * 1_200,
    "I remember " * 540,
)
"""They took up to an hour, or more calls than the stack has room for."""


async def answer(*said: str) -> str:
    return (await hear(OfflineModel(), ChatRequest(prompt=tuple(map(UserPart, said))))).text


class TestQuestion:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    async def test_that_is_meant_to_hold_it_up_is_answered(self, text: str) -> None:
        assert isinstance((await hear(OfflineModel(), ChatRequest(prompt=(UserPart(text),)))).finish, Finish)

    async def test_is_read_beside_the_event_loop(self) -> None:
        all_threads, this_thread = time.process_time(), time.thread_time()
        for text in HOSTILE:
            await answer(text)
        assert time.thread_time() - this_thread < (time.process_time() - all_threads) / 2

    @pytest.mark.parametrize(("asked", "told"), [("hello", NOT_KNOWN), ("こんにちは", "それは分かりません")])
    async def test_that_runs_into_the_limit_gets_an_ordinary_answer(self, asked: str, told: str) -> None:
        request = ChatRequest(prompt=(UserPart(asked),))
        assert told not in (await hear(OfflineModel(), request)).text
        assert told in (await hear(OfflineModel(step_s=0), request)).text

    async def test_of_more_characters_than_one_may_have_is_not_read(self) -> None:
        assert NOT_KNOWN in await answer("my cat is Momo. " * (LONGEST // 16 + 1) + "What is my cat called?")

    async def test_is_answered_beside_others_that_can_not_be_read(self) -> None:
        said = ("うちの猫の名前はモモです。", *("please " * 570 + "x" for _ in range(3)), "猫の名前は？")
        assert "モモ" in await answer(*said)
