from datetime import UTC, datetime
from typing import Any

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.proposal import ProposalLine, ProposedCalls
from cc_bot.features.canvas.drawing import CanvasDraft
from cc_bot.features.canvas.model import Canvas, Card
from cc_bot.features.memory.model import Memory, Source
from cc_bot.features.reminders.store import ScheduleStore
from tests.proposals import called
from tests.tools.conftest import ME, TOOLS, Turn, result_of

WRITING = {schema.name for schema in TOOLS.schemas()} - {
    schema.name for schema in TOOLS.schemas(writing=False)
}
TOMORROW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def turn(turn: Turn) -> Turn:
    return turn.having(
        clock=lambda: datetime(2026, 11, 22, 3, tzinfo=UTC),
        canvas=CanvasDraft(Canvas((Card("card-1", "天気", "晴れ"),)), "public"),
        stores=turn.stores,
    )


@pytest.fixture
async def memory(stores: Stores) -> Memory:
    return await stores.memories.add(ME.user_id, "会議は金曜", tags=("会議",))


class TestTaintedTurn:
    async def test_proposes_what_each_tool_would_change_and_changes_nothing(
        self, turn: Turn, memory: Memory
    ) -> None:
        reminder = await turn.stores[ScheduleStore].add(ME, "薬", TOMORROW)
        tainted = turn.having(tainted=True, recalled_memories=frozenset({memory.id}), changed_count=1)
        arguments: dict[str, dict[str, Any]] = {
            "remember": {"content": "猫が好き", "tags": ["猫"]},
            "update_memory": {"id": memory.id, "content": "会議は木曜"},
            "forget": {"id": memory.id},
            "schedule": {"when": "2026-11-23T09:00", "text": "薬", "repeat": "0 9 * * *"},
            "cancel_schedule": {"id": reminder.id},
            "canvas_add_card": {"title": "買い物", "content": "牛乳"},
            "canvas_show_text": {"content": "牛乳"},
            "canvas_add_chart": {"title": "雨", "kind": "bar", "labels": ["月"], "series": [{"values": [1]}]},
            "canvas_update_card": {"id": "card-1", "content": "雨"},
            "canvas_remove_element": {"id": "card-1"},
            "canvas_set_mode": {"mode": "clear"},
        }
        assert {*arguments} == WRITING
        proposals = list[ProposedCalls]()
        for name, given in arguments.items():
            outcome = await tainted.call(name, **given)
            assert outcome.ok, (name, outcome.text)
            assert result_of(outcome)["proposed"] is True
            assert outcome.changes == ()
            assert outcome.proposal is not None
            proposals.append(outcome.proposal)
        assert [each.calls[0].name for each in proposals] == [*arguments]
        assert [each.calls[0].asked[0] for each in proposals] == [*arguments]
        assert await turn.stores.memories.list(ME.user_id) == [memory]
        assert await turn.stores[ScheduleStore].list(ME.user_id) == [reminder]
        assert isinstance(tainted.context.canvas, CanvasDraft)
        assert tainted.context.canvas.redraw is None
        assert tainted.context.canvas.canvas.is_empty, "the turn sees what it proposed"

    async def test_proposes_exactly_what_is_there_and_what_would_be(self, turn: Turn, memory: Memory) -> None:
        reminder = await turn.stores[ScheduleStore].add(ME, "薬", TOMORROW)
        tainted = turn.having(tainted=True)
        kept: dict[str, object] = {"content": "猫が好き", "category": "pets", "tags": [], "expires": "never"}
        kept["supersedes"] = memory.number
        reminding = {"when": TOMORROW.isoformat(), "text": "薬", "repeat": ""}
        for name, given, arguments, texts in (
            (
                "remember",
                {"content": " 猫が好き ", "category": "pets", "supersedes": memory.number},
                kept,
                ["会議は金曜", "猫が好き"],
            ),
            (
                "update_memory",
                {"id": memory.number, "content": "会議は木曜", "expires": "2026-11-23"},
                {"id": memory.number, "content": "会議は木曜", "expires": "2026-11-24T00:00:00+09:00"},
                ["会議は金曜", "会議は木曜"],
            ),
            ("forget", {"id": memory.number}, {"id": memory.number}, ["会議は金曜"]),
            ("schedule", {"when": "明日9時", "text": "薬"}, reminding, ["薬"]),
            ("cancel_schedule", {"id": reminder.number}, {"id": reminder.number}, ["薬"]),
        ):
            proposal = (await tainted.call(name, **given)).proposal
            assert proposal is not None
            assert called(proposal) == [(name, arguments)]
            assert [part.below for part in proposal.shown.parts if part.below] == texts

    async def test_shows_what_is_filed_with_a_memory(self, turn: Turn, memory: Memory) -> None:
        def fields(parts: tuple[ProposalLine, ...]) -> list[dict[str, object]]:
            return [{**part.values} for part in parts if part.values]

        tainted = turn.private.having(tainted=True)
        given: dict[str, Any] = {"tags": ["曜日"], "category": "仕事", "expires": "never"}
        edit = (await tainted.call("update_memory", id=memory.number, **given)).proposal
        assert edit is not None
        assert fields(edit.shown.parts) == [
            {"name": "カテゴリ", "old": "一般", "new": "仕事"},
            {"name": "タグ", "old": "#会議", "new": "#曜日"},
            {"name": "使う場所", "old": "どこでも", "new": "🔒 DM と自分だけに見える回答"},
        ]
        kept = (await tainted.call("remember", content="猫が好き", **given)).proposal
        assert kept is not None
        assert [each["value"] for each in fields(kept.shown.parts)] == [
            *("仕事", "#曜日", "🔒 DM と自分だけに見える回答")
        ]

    async def test_cancels_the_reminder_that_its_message_names_better_than_all_others(
        self, turn: Turn
    ) -> None:
        for text in ("朝の薬を飲む", "薬を買う"):
            await turn.stores[ScheduleStore].add(ME, text, TOMORROW)
        for said, number, done in (("薬", 1, False), ("買う薬", 1, False), ("買う薬", 2, True)):
            tainted = turn.having(tainted=True, own_words=f"{said}のお知らせを取り消して")
            outcome = await tainted.call("cancel_schedule", id=number)
            assert (outcome.proposal is None) is done, (said, number)

    async def test_that_nobody_watches_is_refused(self, turn: Turn, memory: Memory) -> None:
        unwatched = turn.having(tainted=True, can_propose=False)
        for name, arguments in (
            ("remember", {"content": "猫が好き"}),
            ("forget", {"id": memory.id}),
            ("canvas_add_card", {"title": "買い物", "content": "牛乳"}),
        ):
            outcome = await unwatched.call(name, **arguments)
            assert (outcome.ok, outcome.proposal) == (False, None)
        assert await turn.stores.memories.list(ME.user_id) == [memory]


class TestUntaintedTurn:
    @pytest.mark.parametrize("name", ["update_memory", "forget"])
    @pytest.mark.parametrize(
        ("recalled", "made", "changing", "proposed"),
        [(True, False, 1, False), (False, False, 1, True), (True, False, 2, True), (False, True, 3, False)],
        ids=["it was shown", "it was not shown", "it is one of several", "this turn has made it"],
    )
    async def test_changes_one_memory_that_its_user_was_shown_and_proposes_it_for_others(
        self,
        turn: Turn,
        stores: Stores,
        memory: Memory,
        name: str,
        changing: int,
        *,
        recalled: bool,
        made: bool,
        proposed: bool,
    ) -> None:
        mine = frozenset({memory.id})
        turn = turn.having(recalled_memories=mine if recalled else frozenset(), changed_count=changing)
        turn = turn.having(new_memories=mine if made else frozenset())
        content = {"content": "会議は木曜"} if name == "update_memory" else {}
        outcome = await turn.call(name, id=memory.id, **content)
        assert (outcome.proposal is not None, len(outcome.changes)) == (proposed, not proposed)
        assert (await turn.stores.memories.get(ME.user_id, memory.id) == memory) is proposed


class TestKnownMemory:
    @pytest.mark.parametrize("tainted", [True, False])
    async def test_said_again_stays_as_it_is(self, turn: Turn, memory: Memory, *, tainted: bool) -> None:
        outcome = await turn.having(tainted=tainted).call("remember", content="会議は、金曜！")
        assert (outcome.proposal, result_of(outcome)["remembered"]["change"]) == (None, "unchanged")
        assert await turn.stores.memories.list(ME.user_id) == [memory]

    @pytest.mark.parametrize("tainted", [True, False])
    async def test_with_another_end_is_a_change_that_is_proposed(
        self, turn: Turn, memory: Memory, *, tainted: bool
    ) -> None:
        given = {"content": "会議は金曜。", "expires": "2026-11-24", "tags": ["嘘"]}
        outcome = await turn.having(tainted=tainted).call("remember", **given)
        assert outcome.proposal is not None
        [(name, changes)] = called(outcome.proposal)
        assert (name, changes["tags"]) == ("update_memory", ["嘘"])
        assert await turn.stores.memories.list(ME.user_id) == [memory]


class TestWhatIsLookedUp:
    @pytest.mark.parametrize(
        ("source", "tainted"),
        [
            (Source("command"), False),
            (Source("model", model="m"), False),
            (Source("terminal"), False),
            (Source(), False),
            (Source("message", link="https://discord.com/channels/1/2/3"), False),
            (Source("message", author="Ben"), True),
            (Source("import"), True),
            (Source("proposal"), True),
        ],
    )
    async def test_taints_where_it_may_be_somebody_elses_words(
        self, turn: Turn, source: Source, *, tainted: bool
    ) -> None:
        await turn.stores.memories.add(ME.user_id, "猫の名前はモチ", source=source)
        assert (await turn.call("recall", query="猫")).tainted is tainted
        assert (await turn.call("list_memories")).tainted is tainted
        assert (await turn.call("remember", content="猫の名前はモチではなくタマ")).tainted is tainted

    @pytest.mark.parametrize("tainted", [True, False])
    async def test_of_reminders_taints_where_a_tainted_turn_wrote_them(
        self, turn: Turn, *, tainted: bool
    ) -> None:
        await turn.stores[ScheduleStore].add(ME, "薬", TOMORROW, tainted=tainted)
        assert (await turn.call("list_schedules")).tainted is tainted
