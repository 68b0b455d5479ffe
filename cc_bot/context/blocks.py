"""A channel's messages as a request shows them: how one looks, which are frozen together, and what leaves.

A message becomes one part of a prompt, made by one function from its row alone. So it makes no difference to
the bytes of a request whether it is frozen: blocks decide what leaves together, what is counted how, and
where a cache's marks stand. What leaves does so whole blocks at a time and some blocks at once, so that most
requests begin as the one before them did.

Tokens are counted as the model counts them: a frozen block as it was counted when it was frozen, everything
else by the estimate times the model's factor.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from cc_bot.context.parts import UNSAID
from cc_bot.context.tokens import part_tokens
from cc_bot.domain.channel import Block, ChannelKey, Said
from cc_bot.llm.model import AssistantPart, UserPart

NAME_CHARACTERS: Final = 40
"""Discord's display names have 32."""
NAMELESS: Final = "?"
_NOT_IN_NAMES: Final = frozenset(":：#＃﹟♯⌗")
"""What ends a name, and what begins a mark or looks so."""
KEPT_SHARE: Final = 0.75
"""How full the budget is after something has left. The less is kept, the seldomer a request begins anew."""
BLOCKS_IN_BUDGET: Final = 4
"""A block is at most this part of the budget, so that what leaves does not take everything along."""


def render(said: Said) -> UserPart | AssistantPart:
    """The part of a prompt that a message becomes. Names come before what people said, not before answers."""
    if said.role == "assistant":
        return AssistantPart(said.content or UNSAID, tainted=True)
    return UserPart(spoken(said.name, said.author_id, said.content), tainted=True)


def spoken(name: str, author_id: int, text: str) -> str:
    """What someone said, with their name before it. All lines but the first are set in, so that none of them
    can pass for what somebody else said."""
    first, *others = text.splitlines() or [""]
    return "\n".join((f"{speaker(name, author_id)}: {first}", *(f"  {line}".rstrip() for line in others)))


@lru_cache(maxsize=4096)
def speaker(name: str, author_id: int) -> str:
    """A name on one line and without a colon, so that it ends where it seems to, and the mark of whose it is.

    Anybody may take another's name, or the bot's. The mark is made of the id alone, so it is the same in
    every request, after a restart and beside whatever names come later: frozen messages keep their bytes.
    """
    letters = (
        " " if unicodedata.category(letter)[0] in "CZ" or letter in _NOT_IN_NAMES else letter
        for letter in name
    )
    shown = " ".join("".join(letters).split())[:NAME_CHARACTERS].strip() or NAMELESS
    return f"{shown}{mark_of(author_id)}"


def mark_of(author_id: int) -> str:
    """Tells people of one name apart: `#` and six digits, two tokens of most models; empty for an unknown
    id. Two people in a million share one, and nobody can choose theirs."""
    if not author_id:
        return ""
    digest = blake2b(author_id.to_bytes(8, "big"), digest_size=8).digest()
    return f"#{int.from_bytes(digest) % 10**6:06}"


def said_tokens(said: Said) -> int:
    """About what a message costs."""
    return part_tokens(render(said))


@dataclass(frozen=True, slots=True)
class Measure:
    """What there is room for, and how it is counted."""

    budget: float
    """Tokens as the model counts them, of a whole context and of a block."""
    block: float
    factor: float
    """What the model counts for each token that we estimate."""
    cost: Callable[[Said], float] = said_tokens
    """In tokens as estimated."""

    @classmethod
    def of(cls, budget: int, block: int, factor: float, cost: Callable[[Said], float]) -> "Measure":
        return cls(budget, min(block, budget / BLOCKS_IN_BUDGET), factor, cost)

    def tokens(self, rows: Sequence[Said]) -> float:
        return sum(map(self.cost, rows)) * self.factor


@dataclass(frozen=True, slots=True)
class Group:
    """Messages that stand together: a block, or a run of messages that are in none."""

    key: ChannelKey
    rows: tuple[Said, ...]
    tokens: float
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a context may show of one place. A thread's has two: its channel's up to its start, its own."""

    key: ChannelKey
    rows: tuple[Said, ...]
    """Oldest first."""
    blocks: tuple[Block, ...] = ()
    """Those that may be relied on, oldest first."""
    settled_before: int = 0
    """What stands before this id can be frozen."""
    taken_from: int | None = None
    """From this id on they are in a block that reaches beyond what the context shows."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request shows, and what is to be remembered of that."""

    groups: tuple[Group, ...] = ()
    frozen: tuple[Block, ...] = ()
    """New blocks."""
    first: int = 0
    """The oldest message that is shown; when none is, the first one that could be."""
    left: bool = False
    """Whether something left."""


def plan(stretches: Sequence[Stretch], measure: Measure) -> Plan:
    """Freeze what is due, then let the oldest leave if it is too much."""
    groups = [group for stretch in stretches for group in _frozen(stretch, measure)]
    new = tuple(
        group.block
        for stretch in stretches
        for group in groups
        if group.key == stretch.key and group.block is not None and group.block not in stretch.blocks
    )
    kept = _kept(groups, measure)
    if not groups:
        return Plan()
    first = kept[0].rows[0].id if kept else groups[-1].rows[-1].id + 1
    return Plan(tuple(kept), new, first, left=first > groups[0].rows[0].id)


def grouped(stretch: Stretch, measure: Measure) -> list[Group]:
    """The rows of a stretch by the blocks that they are in, oldest first; what is in none is counted."""
    ids = [row.id for row in stretch.rows]
    groups, at = [], 0

    def loose(start: int, end: int) -> None:
        rows = stretch.rows[start:end]
        if rows:
            groups.append(Group(stretch.key, rows, measure.tokens(rows)))

    for block in stretch.blocks:
        start = bisect_left(ids, block.first_id, at)
        end = bisect_right(ids, block.last_id, start)
        loose(at, start)
        if start < end:
            groups.append(Group(stretch.key, stretch.rows[start:end], block.tokens, block))
        at = end
    taken = len(ids) if stretch.taken_from is None else bisect_left(ids, stretch.taken_from, at)
    loose(at, taken)
    loose(taken, len(ids))
    return groups


def fitting(blocks: Sequence[Block], measure: Measure) -> Sequence[Block]:
    """The blocks that there is room for, as far as they alone can tell: all, or the newest."""
    if sum(block.tokens for block in blocks) <= measure.budget:
        return blocks
    start, spent = len(blocks), 0.0
    while start and spent + blocks[start - 1].tokens <= measure.budget * KEPT_SHARE:
        start -= 1
        spent += blocks[start].tokens
    return blocks[start:]


def _frozen(stretch: Stretch, measure: Measure) -> list[Group]:
    """The groups of a stretch once what is due to be frozen is.

    The newest run is where messages are added: what is left of it when it is short enough stays as it is. A
    run before a block has nothing to wait for.
    """
    taken = (
        stretch.taken_from is not None and bool(stretch.rows) and stretch.rows[-1].id >= stretch.taken_from
    )
    groups = grouped(stretch, measure)
    last = len(groups) - 1
    frozen = list[Group]()
    for index, group in enumerate(groups):
        if group.block or (taken and index == last):
            frozen.append(group)
        else:
            frozen.extend(_cut(group, measure, stretch.settled_before, closed=index < last))
    return frozen


def _cut(group: Group, measure: Measure, settled_before: int, *, closed: bool) -> list[Group]:
    """A run in blocks, and what is left of it."""
    if not closed and group.tokens <= measure.block:
        return [group]
    rows, start, cut = group.rows, 0, list[Group]()
    costs = [measure.cost(row) * measure.factor for row in rows]
    while start < len(rows) and (closed or sum(costs[start:]) > measure.block):
        end = _block_end(rows, costs, start, settled_before, measure.block)
        if end == start:
            break
        tokens = max(1, round(sum(costs[start:end])))
        block = Block(group.key, rows[start].id, rows[end - 1].id, tokens)
        cut.append(Group(group.key, rows[start:end], tokens, block))
        start = end
    if start < len(rows):
        cut.append(Group(group.key, rows[start:], sum(costs[start:])))
    return cut


def _block_end(
    rows: Sequence[Said], costs: Sequence[float], start: int, settled_before: int, size: float
) -> int:
    """Where the block that starts here ends: before the row that is too much; at `start` if it can't yet."""
    end, tokens = start, 0.0
    while end < len(rows) and (end == start or tokens + costs[end] <= size):
        if rows[end].id >= settled_before:
            return start
        tokens += costs[end]
        end += 1
    return end


def _kept(groups: Sequence[Group], measure: Measure) -> list[Group]:
    """What stays when all of it is too much: whole groups, of the last one alone as much as fits."""
    total = sum(group.tokens for group in groups)
    if total <= measure.budget:
        return list(groups)
    start = 0
    while start < len(groups) - 1 and total > measure.budget * KEPT_SHARE:
        total -= groups[start].tokens
        start += 1
    if total <= measure.budget:
        return list(groups[start:])
    newest = _newest(groups[-1], measure)
    return [newest] if newest else []


def _newest(group: Group, measure: Measure) -> Group | None:
    """As much of the end of a group as fits, in no block; None when its last message alone is too long."""
    start, spent = len(group.rows), 0.0
    while start:
        spent += measure.cost(group.rows[start - 1]) * measure.factor
        room = measure.budget * (KEPT_SHARE if start < len(group.rows) else 1)
        if spent > room:
            break
        start -= 1
    rows = group.rows[start:]
    return replace(group, rows=rows, tokens=measure.tokens(rows), block=None) if rows else None
