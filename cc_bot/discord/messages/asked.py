"""Questions of a channel that get one answer, and how many those are at most."""

import zlib
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from cc_bot.discord.localization import Reader
from cc_bot.discord.pages.custom_ids import base36
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.message import Message, ToolCall
from cc_bot.stores import channel_turn

MAX_TOGETHER = 10
"""Questions that one answer can do justice to; who waits behind them is answered next."""
MAX_TOGETHER_CHARACTERS = 6000
"""Of these questions in all: what one question may have."""
REMEMBERED = 1000
"""Questions of which is known how they read when they were last answered."""


@dataclass(slots=True)
class Asked:
    """Questions that get one answer, and what became of it."""

    key: ChannelKey
    questions: Sequence[Message]
    reader: Reader
    calls: tuple[ToolCall, ...] = ()
    """What an earlier run of the program did for them before it was ended."""
    postponed: bool = False

    @property
    def turn(self) -> str:
        """Its name in the ledger; empty where tools act for nobody."""
        return channel_turn(self.newest_id) if len(self.questions) == 1 else ""

    @property
    def newest_id(self) -> int:
        return id_of(self.questions[-1])

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(map(id_of, self.questions))

    @property
    def askers(self) -> frozenset[int]:
        return frozenset(question.author_id for question in self.questions)

    @property
    def edition(self) -> str:
        """The same as long as the questions read the same, also for the next run of the program."""
        return base36(zlib.crc32("\n".join(question.content for question in self.questions).encode()))

    def among(self, ids: Collection[int]) -> tuple[Message, ...]:
        """Its questions with these ids."""
        return tuple(question for question in self.questions if id_of(question) in ids)


@dataclass(frozen=True, slots=True)
class AsRead:
    """How questions read when they were last answered, so that an edit that the answer has seen already does
    not lead to another one. Kept are hashes, not texts."""

    _hashes: OrderedDict[int, int] = field(default_factory=OrderedDict)

    def note(self, questions: Sequence[Message]) -> None:
        """These are answered."""
        self._hashes.update((id_of(question), hash(question.content)) for question in questions)
        while len(self._hashes) > REMEMBERED:
            self._hashes.popitem(last=False)

    def holds(self, questions: Sequence[Message]) -> bool:
        """Whether all of them still read as they did."""
        return all(self._hashes.get(id_of(question)) == hash(question.content) for question in questions)


def together(waiting: Sequence[Message]) -> Sequence[Message]:
    """The oldest of those that wait, as many as are answered at once; at least one."""
    characters = 0
    for count, question in enumerate(waiting[:MAX_TOGETHER]):
        characters += len(question.content)
        if count and characters > MAX_TOGETHER_CHARACTERS:
            return waiting[:count]
    return waiting[:MAX_TOGETHER]


def id_of(question: Message) -> int:
    if question.discord_id is None:
        raise ValueError("what is asked in a channel has an id of Discord's")
    return question.discord_id
