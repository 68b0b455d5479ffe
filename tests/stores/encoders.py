import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cc_bot.domain.errors import ModelError
from cc_bot.features.memory.search.vectors import UnrelatedCosines, Vector, quantize

TOPICS: Final = (
    ("猫", "ねこ", "cat", "pet"),
    ("妻", "奥さん", "wife", "spouse"),
    ("車", "プリウス", "moped"),
    ("楽器", "ギター", "guitar"),
    ("仕事", "会社", "job"),
)


UNRELATED: Final = UnrelatedCosines(mean=0.07, spread=0.08)


@dataclass
class TopicEncoder:
    """Texts about the same topic are near to each other, whatever their words."""

    name: str = "topics"
    embedded: list[str] = field(default_factory=list)
    trouble: list[Exception | None] = field(default_factory=list)
    refuses: dict[str, ModelError] = field(default_factory=dict)
    waits_for: asyncio.Event | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it has been asked for a vector."""
    unrelated: UnrelatedCosines | None = UNRELATED

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.set()
        if self.waits_for:
            await self.waits_for.wait()
        if self.trouble and (error := self.trouble.pop(0)):
            raise error
        for text in texts:
            if text in self.refuses:
                raise self.refuses[text]
        self.embedded += texts
        return [
            quantize([1.0 if any(w in text.lower() for w in topic) else 0.05 for topic in TOPICS])
            for text in texts
        ]

    async def close(self) -> None:
        """Nothing is held."""
