"""A turn is accounted for: which are active, where its time went, how it ended, and under which id."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.measures import Ending, Meter, Phase
from cc_bot.llm.model import Fallback
from tests.assistant.conftest import Table, call, laid_table
from tests.scripted_model import Step


@dataclass
class Noted(Meter):
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
    async with laid_table(tmp_path, max_turns=1, meter=meter) as table:
        yield table


class TestTheMeter:
    async def test_is_told_where_the_time_of_an_answer_went_and_which_tools_it_took(
        self, metered: Table, meter: Noted
    ) -> None:
        metered.model.script = [[call("recall", query="猫"), call("ひみつの道具", "2")], ["はい"]]
        with capture_logs() as records:
            await metered.answer("猫の名前は？")
        [(ending, seconds, phases)] = meter.endings
        assert ending == "complete"
        assert set(phases) == {"queue", "store", "model_first_token", "model", "tools"}
        assert 0 < phases["store"] <= seconds
        assert phases["model_first_token"] <= phases["model"]
        assert meter.tools == [("recall", True), ("unknown", False)]
        [record] = [record for record in records if record["event"] == "turn_done"]
        assert {"queue_s", "store_s", "first_token_s", "model_s", "seconds"} <= set(record)
        metered.model.script = [["は", ModelUnavailable()]]
        await metered.answer("犬は？")
        assert "model_first_token" in meter.endings[-1][2], "also of an answer that is cut"

    @pytest.mark.parametrize("before", [[], [Fallback("second")]], ids=["", "after a change of models"])
    async def test_is_told_of_a_turn_that_failed_and_why(
        self, metered: Table, meter: Noted, before: list[Step]
    ) -> None:
        metered.model.script = [[*before, ModelUnavailable()]]
        with capture_logs() as records, pytest.raises(ModelUnavailable):
            await metered.answer("元気？")
        [(ending, _, phases)] = meter.endings
        assert (ending, meter.kinds) == ("failed", ["ModelUnavailable"])
        assert "model_first_token" not in phases
        [record] = [record for record in records if record["event"] == "turn_failed"]
        assert "model_s" in record
        assert "first_token_s" not in record
        assert metered.assistant.turns.queued_turns == ()
