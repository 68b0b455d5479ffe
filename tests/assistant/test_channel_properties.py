"""Whatever happens in channels and in whatever order: what a request shows is what a simple model says."""

from dataclasses import dataclass, field
from itertools import dropwhile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.context.channel_prompt import said_tokens
from cc_bot.domain import ChannelKey, ContextMessage, Message
from tests.assistant.channels import BOT, Room, history, opened

pytestmark = pytest.mark.slow

A, B = ChannelKey(1000), ChannelKey(2000)
PLACES = (A, B, ChannelKey(1000, 125), ChannelKey(2000, 65), ChannelKey(1000, 305))
BUDGET, BLOCK = 240, 50
TEXTS = (
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
    st.integers(0, len(TEXTS) - 1),
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
        if cost > BUDGET:
            self.full.add(key)
        if key in self.full:
            suffix = expected[len(expected) - len(shown) :]
            assert shown == [rendered(said) for said in suffix]
            assert sum(map(said_tokens, suffix)) <= BUDGET
            assert not shown or suffix[0].role == "user"
        else:
            assert shown == [rendered(said) for said in expected]


class TestRequests:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(steps=st.lists(STEP, min_size=10, max_size=60), page_size=st.integers(1, 12))
    async def test_show_what_was_said_in_their_place_whatever_happens(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        steps: list[tuple[str, int, int, int]],
        page_size: int,
    ) -> None:
        folder = tmp_path_factory.mktemp("channels")
        async with opened(folder, budget=BUDGET, block=BLOCK, page_size=page_size) as room:
            driver = Driver(room)
            for step, place, number, text in steps:
                await driver.do(step, PLACES[place], number, TEXTS[text])
