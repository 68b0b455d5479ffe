"""Forms that a browser sends twice."""

import asyncio

from cc_bot.domain.errors import EmptyReminder
from cc_bot.web.form import SentForms


class TestSentForms:
    async def test_are_done_once_for_each_key_and_remember_no_more_than_so_many(self) -> None:
        forms, done = SentForms(most=2), list[str]()

        async def press(key: str) -> None:
            async def act() -> None:
                done.append(key)

            await forms.once(1, key, ("薬",), act)

        for key in ("a", "b", "a", "c", "b", "a", "", ""):
            await press(key)
        assert done == ["a", "b", "c", "a", "", ""]

    async def test_that_come_while_the_first_is_refused_are_tried_themselves(self) -> None:
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
