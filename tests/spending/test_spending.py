"""Whatever asks a model is admitted first, and settled whatever its end is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.policy import Policy
from cc_bot.chat.spending import TOKENS_PER_REQUEST, Spending, UsageRecorder
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.stores.usage import UsageStore
from cc_bot.db import open_database
from cc_bot.domain.errors import LimitReached, StorageError
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import DailyUsage, LimitKey, Payer, Price, PriceList
from cc_bot.llm.model import ChatRequest, Finish, UserPart
from tests.scripted_model import ScriptedModel

PAYER = Payer(11, 500)
REQUEST = ChatRequest((UserPart("?"),))
A_DAY = LimitKey("everyone", 0, "tokens_per_day")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"sqlite:///{tmp_path}/sessions.db") as stores:
        yield stores


class Office:
    """A policy that a test may change."""

    def __init__(self) -> None:
        self.policy = Policy(limits={}, prices=PriceList("USD", {"small": Price(2, 10, 1)}))

    async def current(self) -> Policy:
        return self.policy


async def ask(recorder: UsageRecorder) -> None:
    model = ScriptedModel([["はい", Finish("stop", usage=Usage(1000, 100, 500), model="small")]])
    async for _ in recorder.metered(model).stream(REQUEST):
        pass


async def used(stores: Stores) -> tuple[DailyUsage, ...]:
    return await stores.usage.list_for_user(PAYER.user_id, date(2000, 1, 1))


class TestSpending:
    async def test_counts_tokens_and_cost_also_of_what_failed_or_was_cancelled(self, stores: Stores) -> None:
        spending, asked = Spending(stores.usage, Office().current), asyncio.Event()

        async def fails() -> None:
            async with spending.charge(PAYER, "turn", model="small") as recorder:
                await ask(recorder)
                await ask(recorder)
                raise LookupError

        with pytest.raises(LookupError):
            await fails()

        async def never_ends() -> None:
            async with spending.charge(PAYER, "summary", model="small") as recorder:
                await ask(recorder)
                asked.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(never_ends())
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        summary, turn = await used(stores)
        assert (summary.purpose, summary.tokens) == ("summary", 1100)
        assert (turn.model, turn.purpose, turn.turns) == ("small", "turn", 1)
        assert turn.usage == Usage(2000, 200, 1000)
        assert turn.cost_micros == 1000 * 2 + 1000 * 1 + 200 * 10

    async def test_begins_nothing_beyond_a_limit(self, stores: Stores) -> None:
        office = Office()
        office.policy = replace(office.policy, limits={A_DAY: 1100})
        spending = Spending(stores.usage, office.current)
        async with spending.charge(PAYER, "turn", model="small") as recorder:
            await ask(recorder)
        with pytest.raises(LimitReached):
            async with spending.charge(PAYER, "heartbeat", model="small"):
                pytest.fail("it was begun")
        office.policy = replace(office.policy, limits={A_DAY: 1101})
        async with spending.charge(PAYER, "heartbeat", model="small"):
            pass

    async def test_after_a_kill_has_spent_what_was_reserved(self, stores: Stores) -> None:
        spending = Spending(stores.usage, Office().current)
        await spending.charge(PAYER, "turn", model="small", tokens=50).__aenter__()
        other = UsageStore(stores.usage._database, process="other")
        await Spending(other, Office().current).settle_abandoned()
        [each] = await used(stores)
        assert (each.tokens, each.cost_micros) == (TOKENS_PER_REQUEST + 50, (TOKENS_PER_REQUEST + 50) * 2)

    async def test_takes_no_answer_back_that_can_not_be_settled_and_begins_none_off_the_record(
        self, tmp_path: Path
    ) -> None:
        url = f"sqlite:///{tmp_path}/sessions.db"
        async with open_stores(url), open_database(url) as database:
            spending = Spending(UsageStore(database))
            with capture_logs() as records:
                async with spending.charge(PAYER, "turn", model="small") as recorder:
                    await ask(recorder)
                    await database.close()
            with pytest.raises(StorageError):
                async with Spending(UsageStore(database)).charge(PAYER, "turn", model="small"):
                    pytest.fail("it was begun")
        assert [record["event"] for record in records] == ["usage_not_settled"]
