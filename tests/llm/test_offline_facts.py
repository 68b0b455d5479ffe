"""The offline model is right on facts that nobody planned for (tests/llm/offline_cases.py).

Each case runs three ways: within one conversation, after a restart when the user had asked to remember
the facts, and with the facts as memories of another day among unrelated ones.
"""

import pytest

from tests.llm.offline_cases import ENGLISH, Case
from tests.llm.offline_cases_ja import JAPANESE
from tests.llm.offline_partner import Partner

CASES = (*ENGLISH, *JAPANESE)

ADMITS = ("分かりません", "I don't know that")
"""How it says that it does not know."""

UNRELATED = (
    "The recycling centre opens at 7",
    "図書館の本は返却済み",
    "I water the plants with rain water",
    "体育館の予約は毎月1日から",
)


def _check(case: Case, answer: str) -> None:
    spoken = answer.split("\n\n", maxsplit=1)[0].casefold()
    if case.answer is None:
        assert any(words.casefold() in spoken for words in ADMITS)
    else:
        assert case.answer.casefold() in spoken
    for wrong in case.never:
        assert wrong.casefold() not in spoken


def _names(case: Case) -> str:
    return case.asked


@pytest.mark.parametrize("case", CASES, ids=_names)
class TestAFactNobodyPlannedFor:
    async def test_is_answered_from_the_conversation(self, case: Case) -> None:
        user = Partner()
        await user.tell(*case.told)
        _check(case, await user.say(case.asked))

    async def test_is_answered_from_memories_of_another_day(self, case: Case) -> None:
        user = Partner().knows(*UNRELATED[:2], *case.told, *UNRELATED[2:])
        _check(case, await user.say(case.asked))
        assert user.calls[0][0] == "recall"


async def _kept(case: Case) -> Partner:
    user = Partner()
    await user.tell(*case.told)
    return user


class TestAFactThatTheUserAskedToRemember:
    async def test_is_answered_after_a_restart(self) -> None:
        asked_to_remember = 0
        for case in CASES:
            user = await _kept(case)
            if len(user.memories) < len(case.told):
                continue
            asked_to_remember += 1
            user.restart()
            _check(case, await user.say(case.asked))
        assert asked_to_remember >= 30
