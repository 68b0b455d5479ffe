"""What a channel's turn shows the model, over restarts, edits, long conversations and whatever happens."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import dropwhile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.prompt_cache import BLOCKS_THAT_LEAVE, BUDGET, GOAL, measure
from cc_bot.context.channel_prompt import said_tokens
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import part_tokens
from cc_bot.domain import ChannelKey, ContextMessage, Message
from cc_bot.llm.model import ChatRequest
from tests.assistant.channels import BOT, CHANNEL, Room, history, opened, texts

THREAD = ChannelKey(1000, 35)
LONG = "駅前の店で昼を食べて、川沿いの道を歩いて帰りました。"
"""About 20 tokens."""


def tokens(request: ChatRequest) -> int:
    return sum(map(part_tokens, request.prompt[1:-2]))


async def fill(room: Room, messages: int, key: ChannelKey = CHANNEL) -> None:
    for number in range(messages):
        await room.say(f"{number}：{LONG}", key=key)


async def give_up(room: Room, key: ChannelKey = CHANNEL) -> None:
    """Nobody answers what waits there."""
    await room.stores.mentions.give_up(key, await room.stores.mentions.list_waiting(key))


class TestHistory:
    async def test_is_everyones_in_order_up_to_the_question_without_what_waits(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as room:
            request = await room.ask("雨？")
            assert (history(request), request.shrinkable) == ([], False)
            await give_up(room)
            await room.say("明日は？", name="花子", at=40)
            await room.say("おはよう", name="太郎", at=9)
            await room.say("別の質問", waiting=True)
            first = await room.say("一つ目", waiting=True)
            await room.say("間")
            second = await room.say("二つ目", waiting=True)
            await room.say("後")
            request = await room.request(first, second)
            said = ["太郎: おはよう", "花子: 雨？", "花子: 明日は？", "花子: 間"]
            assert history(request, questions=2) == said
            assert texts(request.prompt[-2:]) == ["花子: 一つ目", "花子: 二つ目"]

    async def test_has_an_answer_that_was_posted_after_the_question_came(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as room:
            earlier = await room.say("先の質問", waiting=True)
            question = await room.say("質問", waiting=True)
            await room.answer(earlier, "先の答え")
            assert history(await room.request(question)) == ["花子: 先の質問", "先の答え"]

    async def test_of_a_thread_is_its_channels_up_to_its_start_and_its_own_after_a_reset(
        self, tmp_path: Path
    ) -> None:
        async with opened(tmp_path) as room:
            for number in range(1, 6):
                await room.say(f"{number}")
            await room.say("枝", key=THREAD)
            await room.say("よそ", key=ChannelKey(1000, 15))
            assert history(await room.ask(key=THREAD)) == ["花子: 1", "花子: 2", "花子: 3", "花子: 枝"]
            assert history(await room.ask()) == [f"花子: {number}" for number in range(1, 6)]
            await room.stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=20)
            assert history(await room.ask(key=THREAD)) == ["花子: 3", "花子: 枝"]


class TestRestart:
    @pytest.mark.parametrize("key", [CHANNEL, ChannelKey(1000, 105)])
    async def test_changes_no_byte_and_freezes_nothing_twice(self, tmp_path: Path, key: ChannelKey) -> None:
        async with opened(tmp_path, budget=400, block=80) as room:
            await fill(room, 10)
            for _ in range(20):
                await fill(room, 2, key)
                request, blocks = await room.ask(key=key), await room.blocks(key)
                await room.restart()
                [question] = await room.stores.mentions.list_waiting(key)
                assert await room.request(question, key=key) == request
                assert await room.blocks(key) == blocks
                await give_up(room, key)
            assert len(await room.blocks(key)) > 4


class TestBlocks:
    async def test_thaw_where_a_message_is_edited_or_deleted(self, tmp_path: Path) -> None:
        async with opened(tmp_path, block=40) as room:
            await fill(room, 8)
            await room.ask()
            frozen = await room.blocks()
            await room.stores.channels.edit(50, "直しました")
            await room.stores.channels.delete([60])
            shown = history(await room.ask())
            assert "花子: 直しました" in shown
            assert len(shown) == 7
            kept = [block for block in frozen if block[1] < 50]
            assert (await room.blocks())[: len(kept)] == kept != []


class TestBudget:
    async def test_lets_old_blocks_leave_and_keeps_a_quarter_free(self, tmp_path: Path) -> None:
        async with opened(tmp_path, budget=400, block=80) as room:
            begins, kept = set(), []
            for _ in range(60):
                await room.say(LONG + str(room.newest_id))
                request = await room.ask()
                await give_up(room)
                begins.add(history(request)[0])
                kept.append(tokens(request))
            assert max(kept) <= 400
            assert 3 <= len(begins) <= 20
            assert min(kept[30:]) > 400 * 0.5

    async def test_bounds_what_is_read_of_a_long_archive(self, tmp_path: Path) -> None:
        async with opened(tmp_path, budget=400, block=80, page_size=20) as room:
            said = [Message("user", LONG, author_name="花子", discord_id=10 + n) for n in range(3000)]
            await room.stores.channels.add_all(CHANNEL, said)
            room.newest_id = 5000
            room.recorder.statements.clear()
            await room.ask()
            pages = [s for s in room.recorder.statements if "ORDER BY discord_id DESC" in s.sql]
            assert len(pages) <= 2
            room.recorder.statements.clear()
            await room.request((await room.stores.mentions.list_waiting(CHANNEL))[-1])
            assert len(room.recorder.statements) <= 1 + 3

    async def test_is_halved_once_where_the_server_finds_the_request_too_long(self, tmp_path: Path) -> None:
        async with opened(tmp_path, block=60) as room:
            await fill(room, 20)
            prompt = await room.prompt(await room.say("質問", waiting=True))
            refused = prompt.request((), answer_begun=False, model="")
            assert refused.shrinkable
            assert prompt.shrink((), None)
            taken = prompt.request((), answer_begun=False, model="")
            assert 5 < len(history(taken)) < 12
            assert history(taken) == history(refused)[-len(history(taken)) :]
            assert taken.prompt[-1] == refused.prompt[-1]
            assert not taken.shrinkable
            assert not prompt.shrink((), None)


class TestCache:
    @pytest.mark.slow
    async def test_finds_at_least_nine_tenths_of_a_long_conversation_again(self) -> None:
        saved, _, left = await measure("blocks", PromptStyle(budget_tokens=BUDGET))
        assert saved >= GOAL
        assert left >= BLOCKS_THAT_LEAVE

    async def test_marks_stand_where_the_next_request_is_the_same(self, tmp_path: Path) -> None:
        async with opened(tmp_path, block=40) as room:
            await fill(room, 9)
            first = await room.ask("一つ目")
            room.now += timedelta(minutes=3)
            await give_up(room)
            await fill(room, 1)
            then = await room.ask("二つ目")
        assert len(first.stable) == 4
        end = first.stable[-1] + 1
        assert then.prompt[:end] == first.prompt[:end]
        assert then.cache_key == first.cache_key


A, B = ChannelKey(1000), ChannelKey(2000)
PLACES = (A, B, ChannelKey(1000, 125), ChannelKey(2000, 65), ChannelKey(1000, 305))
SMALL_BUDGET, SMALL_BLOCK = 240, 50
SAYINGS = (
    "雨",
    "今日は雨ですね。",
    "Let's meet at the station tomorrow.",
    "川沿いの道を歩いて帰りました。" * 3,
)

STEP = st.tuples(
    st.sampled_from(
        ["say"] * 8 + ["late", "edit", "delete", "reset", "answer", "leave", "ask", "ask", "ask", "restart"]
    ),
    st.integers(0, len(PLACES) - 1),
    st.integers(0, 1000),
    st.integers(0, len(SAYINGS) - 1),
)


@dataclass
class Model:
    """Every message ever said, and the last markers."""

    said: dict[int, tuple[ChannelKey, ContextMessage]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    own_resets: dict[ChannelKey, int] = field(default_factory=dict)
    """Those that this bot minds."""
    all_resets: dict[ChannelKey, int] = field(default_factory=dict)

    def add(self, key: ChannelKey, said: ContextMessage) -> None:
        if said.id > self.all_resets.get(key, 0):
            self.said.setdefault(said.id, (key, said))

    def context(self, key: ChannelKey) -> list[ContextMessage]:
        """All that is readable there, oldest first."""
        reset = self.own_resets.get(key, 0)
        own = {key: (reset, 2**63)}
        if key.thread_id:
            own[key.parent] = (max(reset, self.own_resets.get(key.parent, 0)), key.thread_id)
        shown = (
            said
            for place, said in (self.said[id_] for id_ in sorted(self.said))
            if place in own and own[place][0] < said.id <= own[place][1] and said.id not in self.waiting
        )
        return list(dropwhile(lambda said: said.role == "assistant", shown))


def rendered(said: ContextMessage) -> str:
    return said.content if said.role == "assistant" else f"{said.name}: {said.content}"


@dataclass
class Driver:
    """Does the same to the room and to the model, and compares what they show."""

    room: Room
    model: Model = field(default_factory=Model)
    full: set[ChannelKey] = field(default_factory=set)
    """Contexts that something may have left."""

    async def do(self, step: str, key: ChannelKey, number: int, text: str) -> None:
        ids = sorted(self.model.said)
        old = ids[number % len(ids)] if ids else 0
        match step:
            case "say":
                await self.say(key, text)
            case "late":
                at = key.thread_id + number % max(1, self.room.newest_id + 1)
                if at and at not in self.model.said:
                    await self.say(key, text, at)
            case "edit" if old and self.model.said[old][1].role == "user":
                await self.room.stores.channels.edit(old, text)
                place, said = self.model.said[old]
                self.model.said[old] = (place, said._replace(content=text))
            case "delete" if old:
                await self.room.stores.channels.delete([old])
                del self.model.said[old]
                self.model.waiting.discard(old)
            case "reset":
                await self.reset(key, bot=(0, BOT, 98)[number % 3], at=self.room.newest_id - number % 50)
            case "answer" | "leave" | "ask":
                await self.ask(key, text, step)
            case "restart":
                await self.room.restart()
            case _:  # nothing is there yet to be edited or deleted
                pass

    async def say(self, key: ChannelKey, text: str, at: int = 0, *, waiting: bool = False) -> Message:
        name = f"人{self.room.newest_id % 3}"
        message = await self.room.say(text, key=key, at=at, name=name, waiting=waiting)
        assert message.discord_id
        self.model.add(key, ContextMessage(message.discord_id, "user", name, text, message.author_id))
        return message

    async def reset(self, key: ChannelKey, bot: int, at: int) -> None:
        if at <= 0:
            return
        await self.room.stores.channels.reset(key, bot_id=bot, discord_id=at)
        self.model.all_resets[key] = max(at, self.model.all_resets.get(key, 0))
        if bot != 98:
            self.model.own_resets[key] = max(at, self.model.own_resets.get(key, 0))

    async def ask(self, key: ChannelKey, text: str, step: str) -> None:
        """Ask, compare, and answer; `leave` it waiting, or only look and take the question away."""
        question = await self.say(key, text, waiting=True)
        assert question.discord_id
        self.model.waiting.add(question.discord_id)
        await self.compare(key, question)
        if step == "answer":
            await self.room.answer(question, text, key=key)
            self.model.waiting.discard(question.discord_id)
            self.model.said[self.room.newest_id] = (
                key,
                ContextMessage(self.room.newest_id, "assistant", "", text, BOT),
            )
        elif step == "ask":
            await self.room.stores.mentions.give_up(key, [question])
            self.model.waiting.discard(question.discord_id)

    async def compare(self, key: ChannelKey, question: Message) -> None:
        request = await self.room.request(question, key=key)
        await self.room.restart()
        assert await self.room.request(question, key=key) == request
        expected = self.model.context(key)
        shown = history(request)
        cost = sum(map(said_tokens, expected))
        if cost > SMALL_BUDGET:
            self.full.add(key)
        if key in self.full:
            suffix = expected[len(expected) - len(shown) :]
            assert shown == [rendered(said) for said in suffix]
            assert sum(map(said_tokens, suffix)) <= SMALL_BUDGET
            assert not shown or suffix[0].role == "user"
        else:
            assert shown == [rendered(said) for said in expected]


class TestRequests:
    @pytest.mark.slow
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(steps=st.lists(STEP, min_size=10, max_size=60), page_size=st.integers(1, 12))
    async def test_show_what_was_said_in_their_place_whatever_happens(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        steps: list[tuple[str, int, int, int]],
        page_size: int,
    ) -> None:
        folder = tmp_path_factory.mktemp("channels")
        async with opened(folder, budget=SMALL_BUDGET, block=SMALL_BLOCK, page_size=page_size) as room:
            driver = Driver(room)
            for step, place, number, text in steps:
                await driver.do(step, PLACES[place], number, SAYINGS[text])
