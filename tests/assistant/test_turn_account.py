"""A turn is accounted for: where its time went, how it ended, and under which id."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.contextvars import clear_contextvars, get_contextvars
from structlog.testing import capture_logs

import cc_bot.tools
from cc_bot.assistant import Assistant, AssistantSettings
from cc_bot.assistant.turn import Account
from cc_bot.domain.errors import Busy, Crowded, LimitReached, ModelUnavailable, ShuttingDown, StorageError
from cc_bot.domain.measures import Ending, NullMeter, Phase
from cc_bot.llm.model import Fallback, ToolRequest
from cc_bot.log import begin_turn, job
from cc_bot.stores import open_stores
from cc_bot.tools.registry import discover
from tests.assistant.conftest import Table
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only


@dataclass
class Noted(NullMeter):
    """A meter that keeps what it is told."""

    endings: list[tuple[Ending, float, Mapping[Phase, float]]] = field(default_factory=list)
    tools: list[tuple[str, bool]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        self.endings.append((ending, seconds, dict(phases)))

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        self.tools.append((name, ok))

    def record_failure(self, kind: str) -> None:
        self.kinds.append(kind)


@pytest.fixture
def meter() -> Noted:
    return Noted()


@pytest.fixture
async def metered(tmp_path: Path, meter: Noted) -> AsyncIterator[Table]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        model = ScriptedModel()
        assistant = Assistant(
            stores, only(model), discover(cc_bot.tools), AssistantSettings(max_turns=1), meter=meter
        )
        yield Table(assistant, stores, model)


class TestTheMeter:
    async def test_is_told_where_the_time_of_an_answer_went(self, metered: Table, meter: Noted) -> None:
        await metered.answer("元気？")
        [(ending, seconds, phases)] = meter.endings
        assert ending == "complete"
        assert set(phases) == {"queue", "store", "model_first_token", "model"}
        assert 0 < phases["store"] <= seconds
        assert phases["model_first_token"] <= phases["model"]

    async def test_is_told_of_tools_by_the_names_that_there_are(self, metered: Table, meter: Noted) -> None:
        metered.model.script = [
            [ToolRequest("1", "recall", '{"query": "猫"}'), ToolRequest("2", "ひみつの道具", "{}")],
            ["はい"],
        ]
        await metered.answer("猫の名前は？")
        assert meter.tools == [("recall", True), ("unknown", False)]
        assert "tools" in meter.endings[0][2]

    async def test_is_told_of_a_turn_that_failed_and_why(self, metered: Table, meter: Noted) -> None:
        metered.model.script = [[ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            await metered.answer("元気？")
        [(ending, _, phases)] = meter.endings
        assert (ending, meter.kinds) == ("failed", ["ModelUnavailable"])
        assert "model_first_token" not in phases

    @pytest.mark.parametrize(
        ("error", "ending"),
        [
            (LimitReached(what="turns_per_minute", resets="7"), "refused"),
            (Busy(), "refused"),
            (ShuttingDown(), "refused"),
            (Crowded(), "failed"),
            (StorageError(), "failed"),
            (ValueError(), "failed"),
        ],
    )
    def test_can_tell_a_refusal_from_a_failure(self, meter: Noted, error: Exception, ending: str) -> None:
        Account(meter).record_failure(error)
        assert (meter.endings[0][0], meter.kinds) == (ending, [type(error).__name__])

    async def test_does_not_take_a_change_of_models_for_a_first_word(
        self, metered: Table, meter: Noted
    ) -> None:
        metered.model.script = [[Fallback("second"), ModelUnavailable()]]
        with pytest.raises(ModelUnavailable):
            await metered.answer("元気？")
        assert "model_first_token" not in meter.endings[0][2]

    async def test_is_told_of_the_wait_in_line(self, metered: Table, meter: Noted) -> None:
        gate = asyncio.Event()
        metered.model.script = [["はい", gate]]
        first = asyncio.create_task(metered.ask("一つ目"))
        await metered.model.asked()
        in_line = asyncio.Event()
        second = asyncio.create_task(metered.ask("二つ目", seen=lambda _: in_line.set()))
        await in_line.wait()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, second)
        [_, (_, seconds, phases)] = meter.endings
        assert 0 < phases["queue"] < seconds


class TestTheRecord:
    async def test_tells_the_phases_of_an_answer(self, table: Table) -> None:
        with capture_logs() as records:
            await table.answer("元気？")
        [record] = [record for record in records if record["event"] == "turn_done"]
        assert {"queue_s", "store_s", "first_token_s", "model_s", "seconds"} <= set(record)

    async def test_tells_the_phases_that_a_failure_came_to(self, table: Table) -> None:
        table.model.script = [[ModelUnavailable()]]
        with capture_logs() as records, pytest.raises(ModelUnavailable):
            await table.answer("元気？")
        [record] = [record for record in records if record["event"] == "turn_failed"]
        assert "model_s" in record
        assert "first_token_s" not in record

    def test_sums_what_is_entered_several_times(self) -> None:
        noted = Noted()
        account = Account(noted)
        for _ in range(2):
            with account.phase("store"):
                pass
        account.record_failure(ValueError())
        assert set(noted.endings[0][2]) == {"store"}
        assert noted.kinds == ["ValueError"]


class TestTheId:
    @pytest.fixture(autouse=True)
    def _unbound(self) -> None:
        clear_contextvars()

    async def test_that_a_front_end_gave_is_the_turns_own(self, table: Table) -> None:
        begin_turn()
        given = get_contextvars()["turn"]
        await table.answer("元気？")
        assert get_contextvars()["turn"] == given

    async def test_of_a_turn_is_not_that_of_the_one_before(self, table: Table) -> None:
        begin_turn()
        await table.answer("一つ目")
        first = get_contextvars()["turn"]
        await table.answer("二つ目")
        assert get_contextvars()["turn"] != first

    async def test_reaches_the_tasks_that_are_started_from_there(self, table: Table) -> None:
        begin_turn()
        given = get_contextvars()["turn"]

        async def elsewhere() -> object:
            await table.answer("元気？")
            return get_contextvars()["turn"]

        assert await asyncio.create_task(elsewhere()) == given
        await table.answer("もう一つ")  # in the task that gave the id, which is taken up by now
        assert get_contextvars()["turn"] != given

    def test_of_a_job_ends_with_it(self) -> None:
        with job("sweep"):
            assert str(get_contextvars()["job"]).startswith("sweep-")
        assert "job" not in get_contextvars()
