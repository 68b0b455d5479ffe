"""What holds for the archive of channels after anything that Discord may tell, in any order."""

from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Database, Statement
from cc_bot.stores import Stores
from tests.stores.places import PLACES, answer, archived, freeze, frozen, ids, said

Kind = Literal["add", "ask", "page", "edit", "delete", "answer", "reset"]
KINDS: tuple[Kind, ...] = ("add", "add", "ask", "page", "edit", "delete", "answer", "reset")
TEXTS = ("", "はい", "いいえ、違います。", "Yes.", "猫 🐈")
BLOCKS = ((1, 9), (10, 99), (100, 10**18))
TABLES = ("messages", "mentions", "answer_pages", "block_boundaries", "thread_metadata")


@dataclass(frozen=True)
class Step:
    kind: Kind
    key: ChannelKey
    numbers: tuple[int, ...]
    text: str


NUMBERS = st.sampled_from([*range(5, 15), 98, 99, 100, 10**17, 10**18])
STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(KINDS),
        key=st.sampled_from(PLACES),
        numbers=st.lists(NUMBERS, min_size=1, max_size=4).map(tuple),
        text=st.sampled_from(TEXTS),
    ),
    max_size=12,
)


@dataclass
class Model:
    """The archive told in the plainest way."""

    messages: dict[int, tuple[ChannelKey, str]] = field(default_factory=dict)
    answers: set[int] = field(default_factory=set)
    waits: dict[int, bool] = field(default_factory=dict)
    """By the id of a mention: whether it still waits."""
    resets: dict[ChannelKey, int] = field(default_factory=dict)

    def take(self, step: Step) -> set[tuple[ChannelKey, int]]:
        """Do it, and tell where something changed."""
        match step.kind:
            case "add" | "ask":
                return self._add(step, step.numbers[:1])
            case "page":
                return self._add(step, step.numbers)
            case "edit":
                return self._edit(step.numbers[0], step.text)
            case "delete":
                return self._delete(step.numbers)
            case "answer":
                return self._answer(step, step.numbers[0])
            case "reset":
                self.resets[step.key] = max(self.resets.get(step.key, 0), step.numbers[0])
                return set()

    def of(self, key: ChannelKey) -> dict[int, str]:
        return {id_: text for id_, (place, text) in sorted(self.messages.items()) if place == key}

    def waiting(self, key: ChannelKey) -> list[int]:
        marker = self.resets.get(key, 0)
        return [id_ for id_ in self.of(key) if self.waits.get(id_) and id_ > marker]

    def left_behind(self, key: ChannelKey) -> list[int]:
        marker = self.resets.get(key, 0)
        return [id_ for id_ in self.of(key) if self.waits.get(id_) and id_ <= marker]

    def _add(self, step: Step, numbers: tuple[int, ...]) -> set[tuple[ChannelKey, int]]:
        new = {
            id_
            for id_ in numbers
            if step.text and id_ > self.resets.get(step.key, 0) and id_ not in self.messages
        }
        self.messages |= dict.fromkeys(new, (step.key, step.text))
        asked = numbers[0]
        here = step.text and asked > self.resets.get(step.key, 0) and self.messages[asked][0] == step.key
        if step.kind == "ask" and here and asked not in self.answers:
            self.waits.setdefault(asked, True)
        return {(step.key, id_) for id_ in new}

    def _edit(self, id_: int, text: str) -> set[tuple[ChannelKey, int]]:
        place, before = self.messages.get(id_, (None, text))
        if place is None or not text or text == before or id_ in self.answers:
            return set()
        self.messages[id_] = (place, text)
        return {(place, id_)}

    def _delete(self, numbers: tuple[int, ...]) -> set[tuple[ChannelKey, int]]:
        gone = {(self.messages.pop(id_)[0], id_) for id_ in set(numbers) if id_ in self.messages}
        for _, id_ in gone:
            self.waits.pop(id_, None)
            self.answers.discard(id_)
        return gone

    def _answer(self, step: Step, id_: int) -> set[tuple[ChannelKey, int]]:
        """All that waits in the place is answered."""
        if id_ in self.messages:  # an id is never that of a question and of an answer
            return set()
        self.waits |= dict.fromkeys(self.waiting(step.key), False)
        self.messages[id_] = (step.key, step.text)
        self.answers.add(id_)
        return {(step.key, id_)}


async def take(stores: Stores, step: Step, known: set[int]) -> None:
    """The same for the stores; `known` are the ids that an answer can't have."""
    first = step.numbers[0]
    match step.kind:
        case "add" | "ask":
            await stores.channels.add(step.key, said(first, step.text), waiting=step.kind == "ask")
        case "page":
            await stores.channels.add_all(step.key, [said(id_, step.text) for id_ in step.numbers])
        case "edit":
            await stores.channels.edit(first, step.text)
        case "delete":
            await stores.channels.delete(step.numbers)
        case "answer" if first not in known:
            questions = await stores.mentions.list_waiting(step.key)
            await stores.channels.commit_answer(step.key, answer(first, step.text), questions)
        case "answer":
            pass
        case "reset":
            await stores.channels.reset(step.key, bot_id=0, discord_id=first)


async def empty(database: Database) -> None:
    await database.transaction([Statement(f"DELETE FROM {table}") for table in TABLES], ())


class TestArchive:
    @pytest.mark.slow
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=STEPS)
    async def test_after_anything_is_what_discord_has(
        self, stores: Stores, database: Database, steps: list[Step]
    ) -> None:
        await empty(database)
        model = Model()
        for step in steps:
            for key in PLACES:
                await database.transaction(
                    [Statement("DELETE FROM block_boundaries WHERE channel_id = $1", (key.channel_id,))], ()
                )
            for key in PLACES:
                await freeze(database, key, *BLOCKS)
            await take(stores, step, {*model.messages})
            changed = model.take(step)
            for key in PLACES:
                assert await archived(database, key) == model.of(key)
                assert ids(await stores.mentions.list_waiting(key)) == model.waiting(key)
                assert ids(await stores.mentions.list_left_behind(key)) == model.left_behind(key)
                oldest = min((id_ for place, id_ in changed if place == key), default=2**62)
                assert await frozen(database, key) == [block for block in BLOCKS if block[1] < oldest]
        newest = {
            key: max((id_ for id_ in model.of(key) if id_ not in model.answers), default=0)
            for key in PLACES
            if model.of(key)
        }
        assert {place.key: place.newest_id for place in await stores.channels.list_places(limit=9)} == newest
