from dataclasses import dataclass, field
from datetime import timedelta
from itertools import dropwhile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.prompt_cache import BLOCKS_THAT_LEAVE, BUDGET, GOAL, measure
from cc_bot.chat.context.channel_prompt import row_tokens
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.domain.message import ChannelKey, ContextMessage, Message
from tests.assistant.channels import BOT, CHANNEL, Room, history, opened
from tests.stores.locations import list_waiting

LONG = "駅前の店で昼を食べて、川沿いの道を歩いて帰りました。"
"""About 20 tokens."""


async def fill(room: Room, messages: int, key: ChannelKey = CHANNEL) -> None:
    for number in range(messages):
        await room.say(f"{number}：{LONG}", key=key)


async def give_up(room: Room, key: ChannelKey = CHANNEL) -> None:
    await room.stores.ledger.mark_failed(key, await list_waiting(room.stores, key))


async def test_a_thread_shows_its_channel_up_to_its_start_and_its_own_also_what_waits(tmp_path: Path) -> None:
    async with opened(tmp_path) as room:
        thread = ChannelKey(1000, 35)
        for number in range(1, 6):
            await room.say(f"{number}")
        await room.say("別の質問", waiting=True)
        await room.say("枝", key=thread)
        await room.say("よそ", key=ChannelKey(1000, 15))
        assert history(await room.ask(key=thread)) == ["花子: 1", "花子: 2", "花子: 3", "花子: 枝"]
        assert history(await room.ask()) == [*(f"花子: {number}" for number in range(1, 6)), "花子: 別の質問"]
        await room.stores.channels.reset(CHANNEL, bot_id=BOT, discord_id=20)
        assert history(await room.ask(key=thread)) == ["花子: 3", "花子: 枝", "花子: どう思う？"]


class TestBudget:
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
            await room.request((await list_waiting(room.stores, CHANNEL))[-1])
            assert len(room.recorder.statements) <= 1 + 4

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
        saved, _, left = await measure("blocks", PromptSettings(budget_tokens=BUDGET))
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


LOCATIONS = (ChannelKey(1000), ChannelKey(2000), ChannelKey(1000, 125), ChannelKey(2000, 65))
SMALL_BUDGET = 240
SAYINGS = (
    "雨",
    "今日は雨ですね。",
    "Let's meet at the station tomorrow.",
    "川沿いの道を歩いて帰りました。" * 3,
)
ACTIONS = ["say"] * 8 + ["late", "edit", "delete", "reset", "answer", "ask", "ask", "ask", "restart"]
STEP = st.tuples(
    st.sampled_from(ACTIONS), st.sampled_from(LOCATIONS), st.integers(0, 1000), st.sampled_from(SAYINGS)
)


@dataclass
class Driver:
    """Does the same to a room and to a plain model of it, and compares what they show."""

    room: Room
    said: dict[int, tuple[ChannelKey, ContextMessage]] = field(default_factory=dict)
    resets: dict[ChannelKey, int] = field(default_factory=dict)
    full: set[ChannelKey] = field(default_factory=set)
    """Contexts that something may have left."""

    async def do(self, step: str, key: ChannelKey, number: int, text: str) -> None:
        channels, newest = self.room.stores.channels, self.room.newest_id
        old = sorted(self.said)[number % len(self.said)] if self.said else 0
        match step:
            case "say":
                await self.say(key, text)
            case "late" if (at := key.thread_id + number % max(1, newest + 1)) and at not in self.said:
                await self.say(key, text, at)
            case "edit" if old and self.said[old][1].role == "user":
                await channels.edit(old, text)
                location, said = self.said[old]
                self.said[old] = (location, said._replace(content=text))
            case "delete" if old:
                await channels.delete([old])
                del self.said[old]
            case "reset" if (at := newest - number % 50) > 0:
                await channels.reset(key, bot_id=BOT, discord_id=at)
                self.resets[key] = max(at, self.resets.get(key, 0))
            case "answer" | "ask":
                await self.ask(key, text, answered=step == "answer")
            case "restart":
                await self.room.restart()
            case _:  # nothing is there yet to be edited or deleted
                pass

    async def say(self, key: ChannelKey, text: str, at: int = 0, *, waiting: bool = False) -> Message:
        name = f"人{self.room.newest_id % 3}"
        message = await self.room.say(text, key=key, at=at, name=name, waiting=waiting)
        self.note(key, ContextMessage(message.discord_id or 0, "user", name, text, message.author_id))
        return message

    def note(self, key: ChannelKey, said: ContextMessage) -> None:
        if said.id > self.resets.get(key, 0):
            self.said.setdefault(said.id, (key, said))

    async def ask(self, key: ChannelKey, text: str, *, answered: bool) -> None:
        """Ask, compare, and answer or take the question away."""
        question = await self.say(key, text, waiting=True)
        await self.compare(key, question)
        if answered:
            await self.room.answer(question, text, key=key)
            self.note(key, ContextMessage(self.room.newest_id, "assistant", "", text, BOT))
        else:
            await self.room.stores.ledger.mark_failed(key, [question])

    def context(self, key: ChannelKey, question: Message) -> list[ContextMessage]:
        """All that is readable there, oldest first."""
        reset = self.resets.get(key, 0)
        own = {key: (reset, 2**63)}
        if key.thread_id:
            own[key.parent] = (max(reset, self.resets.get(key.parent, 0)), key.thread_id)
        shown = (
            said
            for location, said in (self.said[id_] for id_ in sorted(self.said))
            if location in own
            and own[location][0] < said.id <= own[location][1]
            and said.id != question.discord_id
        )
        return list(dropwhile(lambda said: said.role == "assistant", shown))

    async def compare(self, key: ChannelKey, question: Message) -> None:
        request = await self.room.request(question, key=key)
        await self.room.restart()
        assert await self.room.request(question, key=key) == request
        expected, shown = self.context(key, question), history(request)
        if sum(map(row_tokens, expected)) > SMALL_BUDGET:
            self.full.add(key)
        kept = expected[len(expected) - len(shown) :]
        assert shown == [each.content if each.name == "" else f"{each.name}: {each.content}" for each in kept]
        if key in self.full:
            assert sum(map(row_tokens, kept)) <= SMALL_BUDGET
            assert not kept or kept[0].role == "user"
        else:
            assert kept == expected


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=10, max_size=60), page_size=st.integers(1, 12))
async def test_requests_show_what_was_said_in_their_location_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, ChannelKey, int, str]], page_size: int
) -> None:
    folder = tmp_path_factory.mktemp("channels")
    async with opened(folder, budget=SMALL_BUDGET, block=50, page_size=page_size) as room:
        driver = Driver(room)
        for step in steps:
            await driver.do(*step)
