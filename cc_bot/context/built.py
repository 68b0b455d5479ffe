"""A prompt, and what is known about it: where it is steady, and whether it could be shorter."""

from collections.abc import Sequence
from dataclasses import dataclass

from cc_bot.llm.model import PromptPart


@dataclass(frozen=True, slots=True)
class Built:
    """The prompt of a turn before its first round."""

    parts: tuple[PromptPart, ...]
    stable: tuple[int, ...] = ()
    """As `ChatRequest.stable`."""
    history: bool = False
    """Whether it shows anything of what was said before the question: that could be left out."""


def of_session(parts: Sequence[PromptPart], *, single_system: bool) -> Built:
    """What `build_prompt` made: steady in its first part, and up to where its history ends."""
    last = len(parts) - (1 if single_system else 2) - 1
    return Built(tuple(parts), (0, last) if last > 0 else (0,), history=last > 0)
