"""Forms that a browser sends twice."""

import asyncio

import pytest

from cc_bot.domain.errors import EmptyReminder
from cc_bot.web.form import SentForms


class TestSentForms:
    async def test_remember_no_more_than_so_many(self) -> None:
        forms, done = SentForms(most=2), list[str]()

        async def press(key: str) -> None:
            async def act() -> None:
                done.append(key)

            await forms.once(1, key, ("薬",), act)

        for key in ("a", "b", "a", "c", "b", "a"):
            await press(key)
        assert done == ["a", "b", "c", "a"]

    async def test_that_comes_while_the_first_is_refused_is_tried_itself(self) -> None:
        forms, tries = SentForms(), list[int]()

        async def act() -> None:
            tries.append(1)
            await asyncio.sleep(0)
            if len(tries) == 1:
                raise EmptyReminder

        first, second = await asyncio.gather(
            *(forms.once(1, "a", ("薬",), act) for _ in range(2)), return_exceptions=True
        )
        assert isinstance(first, EmptyReminder)
        assert second is None
        await forms.once(1, "a", ("薬",), act)
        assert len(tries) == 2

    @pytest.mark.parametrize("key", ["", "a"])
    async def test_without_a_key_are_done_each_time(self, key: str) -> None:
        forms, done = SentForms(), list[str]()

        async def act() -> None:
            done.append(key)

        for _ in range(2):
            await forms.once(1, key, (), act)
        assert len(done) == (1 if key else 2)
