"""Changes that come at once, from one program and from several: each subject's are made in order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Final

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.usage import Reservation, ReservationRequest, Settlement
from cc_bot.domain.errors import LimitReached
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import LimitKey, ModelUsage, Payer
from tests.stores.backends import KEY, OpenStores, turn
from tests.stores.locations import answer, said

GUILD: Final = 5
AT_ONCE: Final = 20
ROUNDS: Final = 30
PROGRAMS: Final = 4


@pytest.fixture
async def programs(open_again: OpenStores) -> AsyncIterator[Sequence[Stores]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_again()) for _ in range(PROGRAMS)]


def admitted(outcomes: Sequence[object]) -> list[Reservation]:
    given = [each for each in outcomes if isinstance(each, Reservation)]
    assert all(isinstance(each, Reservation | LimitReached) for each in outcomes), outcomes
    return given


async def ask_at_once(
    programs: Sequence[Stores], payers: Sequence[Payer], rules: dict[LimitKey, int | None]
) -> list[Reservation]:
    """Ask as often as there are payers, each time in the next program."""
    asked = (
        programs[at % PROGRAMS].usage.reserve(ReservationRequest(payer, "turn", "model", 100), rules)
        for at, payer in enumerate(payers)
    )
    return admitted(await asyncio.gather(*asked, return_exceptions=True))


async def end_all(programs: Sequence[Stores], reservations: Sequence[Reservation]) -> None:
    """Give back half of them, and settle the others, where they count for no number at once any more."""
    await asyncio.gather(
        *(
            program.usage.release(each) if at % 2 else program.usage.settle(Settlement(each, ()))
            for at, each in enumerate(reservations)
            for program in [programs[at % PROGRAMS]]
        )
    )


class TestLimit:
    @pytest.mark.slow
    async def test_of_user_or_guild_admits_no_more_in_many_programs(self, programs: Sequence[Stores]) -> None:
        one, many = [Payer(7, GUILD)] * AT_ONCE, [Payer(id_, GUILD) for id_ in range(1, 21)]
        for _ in range(ROUNDS):
            for payers, limit in (
                (one, LimitKey("everyone", 0, "concurrent")),
                (many, LimitKey("guild", GUILD, "concurrent")),
            ):
                given = await ask_at_once(programs, payers, {limit: 5})
                assert len(given) == 5
                await end_all(programs, given)
        await programs[0].limits.set(LimitKey("guild", GUILD, "concurrent"), 5, set_by=1)
        assert len(await ask_at_once(programs, many, {})) == 5

    async def test_of_tokens_counts_what_is_settled_meanwhile(self, programs: Sequence[Stores]) -> None:
        payers = [Payer(id_, GUILD) for id_ in range(1, AT_ONCE + 1)]
        spent = ((ModelUsage("model", Usage(prompt_tokens=100)), 0),)
        for number in range(1, 6):
            given = await ask_at_once(programs, payers, {})
            settling = asyncio.gather(
                *(programs[at % 2].usage.settle(Settlement(each, spent)) for at, each in enumerate(given))
            )
            used_up: dict[LimitKey, int | None] = {
                LimitKey("guild", GUILD, "tokens_per_day"): number * AT_ONCE * 100
            }
            assert await ask_at_once(programs, payers, used_up) == []
            assert all(await settling)


class TestMemories:
    async def test_are_numbered_without_a_gap_and_alike_kept_once(self, programs: Sequence[Stores]) -> None:
        kept = await asyncio.gather(
            *(programs[at % PROGRAMS].memories.remember(7, f"{at}番目のメモ") for at in range(AT_ONCE))
        )
        assert all(each.kind == "added" for each in kept)
        assert sorted(each.memory.number or 0 for each in kept) == [*range(1, AT_ONCE + 1)]
        alike = await asyncio.gather(*(each.memories.remember(8, "猫が好き") for each in [*programs] * 5))
        assert len({each.memory.id for each in alike}) == 1
        assert await programs[0].memories.count(8) == 1


class TestSession:
    async def test_is_one_with_whole_turns_in_their_order(self, programs: Sequence[Stores]) -> None:
        sessions = await asyncio.gather(*(each.sessions.open(KEY) for each in [*programs] * 5))
        [session] = {session.id: session for session in sessions}.values()
        await asyncio.gather(
            *(
                programs[at % PROGRAMS].sessions.commit_turn(session, turn(f"質問{at}"))
                for at in range(AT_ONCE)
            )
        )
        history = (await programs[0].sessions.open(KEY, extra=2 * AT_ONCE)).history
        asked, answered = history[::2], history[1::2]
        assert [message.content for message in answered] == [f"{each.content}の答え" for each in asked]
        assert {message.content for message in asked} == {f"質問{at}" for at in range(AT_ONCE)}
        assert [message.id for message in history] == sorted(message.id or 0 for message in history)


class TestErasing:
    async def test_leaves_no_answer_to_what_is_erased(self, programs: Sequence[Stores]) -> None:
        first, second, *_ = programs
        location, numbers = ChannelKey(3), range(100, 140)
        questions = [said(number, author_id=7) for number in numbers]
        for question in questions:
            await first.channels.add(location, question, is_question=True)
        answering = (
            second.channels.archive_answer(location, answer((question.discord_id or 0) + 500), [question])
            for question in questions
        )
        erasing = asyncio.create_task(first.personal_data.erase(7))
        await asyncio.gather(*answering, return_exceptions=True)
        await erasing
        known = {*numbers, *(number + 500 for number in numbers)}
        assert await first.channels.find_stored_or_forwarded(known) == frozenset()
