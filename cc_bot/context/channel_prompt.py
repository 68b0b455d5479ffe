"""The prompt of a turn in a channel, the stable part first.

stable system message | messages, one part each | second system message (what changes) | the question

Authors are named before their words, with a mark of their own. The list of current speakers and the asker's
notes change from turn to turn, so they follow the messages.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.instructions import instructions
from cc_bot.context.prompt import BuiltPrompt, changing, profile, told_to_be
from cc_bot.context.speakers import YOU, beginning, speaker, spoken
from cc_bot.context.tokens import UNSAID, part_tokens, user_part
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.text import one_line
from cc_bot.llm.model import AssistantPart, SystemPart, ToolSchema, UserPart

# ---- blocks ----------------------------------------------------------------------------------------------
# Blocks: which messages are frozen together and dropped together.
#
# A message is rendered from its row alone, so freezing does not change a request's bytes. Blocks decide what
# is dropped together (whole blocks, several at once, so that most requests begin like the one before), and
# where cache marks are set. A frozen block keeps the token count it was frozen with; other messages are
# estimated times the model's factor.

KEPT_SHARE: Final = 0.75
"""How full the budget is after blocks were dropped. A smaller share means fewer cache misses."""
BLOCKS_IN_BUDGET: Final = 4
"""A block is at most this fraction of the budget."""


def render(said: ContextMessage, asker_id: int | None = None) -> UserPart | AssistantPart:
    """Return the prompt part of a message. Names precede what people said, not answers. The asker's words,
    and answers to them, are not tainted."""
    tainted = said.is_foreign_to(asker_id)
    if said.role == "assistant":
        return AssistantPart(said.content or UNSAID, tainted=tainted)
    text = said.content if said.reply_to is None else f"{_replied(said)}\n{said.content}"
    return UserPart(spoken(said.name, said.author_id, text), tainted=tainted)


def _replied(said: ContextMessage) -> str:
    """One line from the row of the message replied to, so that a deleted message is not quoted."""
    if said.replied is None:
        return "> (a message that is not shown)"
    name = YOU if said.replied_name is None else speaker(said.replied_name, said.replied_id)
    return f"> {name}: {beginning(said.replied)}"


def said_tokens(said: ContextMessage) -> int:
    return part_tokens(render(said))


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The token budget, and how tokens are counted."""

    budget: float
    """Tokens as the model counts them, of a whole context and of a block."""
    block: float
    factor: float
    """Tokens that the model counts per estimated token."""
    cost: Callable[[ContextMessage], float] = said_tokens
    """In estimated tokens."""

    @classmethod
    def of(
        cls, budget: int, block: int, factor: float, cost: Callable[[ContextMessage], float]
    ) -> "TokenBudget":
        return cls(budget, min(block, budget / BLOCKS_IN_BUDGET), factor, cost)

    def tokens(self, rows: Sequence[ContextMessage]) -> float:
        return sum(map(self.cost, rows)) * self.factor


@dataclass(frozen=True, slots=True)
class Group:
    """A block, or a run of messages outside any block."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...]
    tokens: float
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class MessageRange:
    """The messages of one channel that a context may show. A thread has two: its channel's up to its start,
    and its own."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...]
    """Oldest first."""
    blocks: tuple[Block, ...] = ()
    """The valid blocks, oldest first."""
    settled_before: int = 0
    """Messages before this id may be frozen."""
    taken_from: int | None = None
    """From this id on, messages belong to a block that reaches beyond the context."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request shows, and which blocks to store."""

    groups: tuple[Group, ...] = ()
    frozen: tuple[Block, ...] = ()
    """New blocks."""
    first: int = 0
    """The oldest message shown; if none is, the first that could be."""
    left: bool = False
    """Whether messages were dropped."""


def plan(stretches: Sequence[MessageRange], measure: TokenBudget) -> Plan:
    """Freeze what is due, then drop the oldest if it is too much."""
    groups = [group for stretch in stretches for group in _frozen(stretch, measure)]
    known = {block for stretch in stretches for block in stretch.blocks}
    new = tuple(group.block for group in groups if group.block is not None and group.block not in known)
    kept = _kept(groups, measure)
    if not groups:
        return Plan()
    first = kept[0].rows[0].id if kept else groups[-1].rows[-1].id + 1
    return Plan(tuple(kept), new, first, left=first > groups[0].rows[0].id)


def grouped(stretch: MessageRange, measure: TokenBudget) -> list[Group]:
    """Return the rows in groups by block, oldest first."""
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


def fitting(blocks: Sequence[Block], measure: TokenBudget) -> Sequence[Block]:
    """Return the newest blocks that fit, judged by the blocks alone."""
    if sum(block.tokens for block in blocks) <= measure.budget:
        return blocks
    start, spent = len(blocks), 0.0
    while start and spent + blocks[start - 1].tokens <= measure.budget * KEPT_SHARE:
        start -= 1
        spent += blocks[start].tokens
    return blocks[start:]


def _frozen(stretch: MessageRange, measure: TokenBudget) -> list[Group]:
    """Freeze what is due. The newest run stays as it is while it is short; a run before a block does not
    wait."""
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


def _cut(group: Group, measure: TokenBudget, settled_before: int, *, closed: bool) -> list[Group]:
    """Split a run into blocks and a rest."""
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
    rows: Sequence[ContextMessage], costs: Sequence[float], start: int, settled_before: int, size: float
) -> int:
    """Return the end of the block that starts here; `start` if it can't be frozen yet."""
    end, tokens = start, 0.0
    while end < len(rows) and (end == start or tokens + costs[end] <= size):
        if rows[end].id >= settled_before:
            return start
        tokens += costs[end]
        end += 1
    return end


def _kept(groups: Sequence[Group], measure: TokenBudget) -> list[Group]:
    """Return the groups that fit: whole groups, and of the last one as much as fits."""
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


def _newest(group: Group, measure: TokenBudget) -> Group | None:
    """Return the end of a group that fits, outside any block; None if its last message alone is too long."""
    start, spent = len(group.rows), 0.0
    while start:
        spent += measure.cost(group.rows[start - 1]) * measure.factor
        room = measure.budget * (KEPT_SHARE if start < len(group.rows) else 1)
        if spent > room:
            break
        start -= 1
    rows = group.rows[start:]
    return replace(group, rows=rows, tokens=measure.tokens(rows), block=None) if rows else None


# ---- channel prompt --------------------------------------------------------------------------------------

MARKED_BLOCKS: Final = 3
"""Providers accept four marks; one is on the system message."""
NAMED: Final = 20
"""The most recent speakers who are named."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The messages of a context, oldest first, and the ends of its frozen blocks."""

    rows: tuple[ContextMessage, ...]
    ends: tuple[int, ...] = ()
    """Number of rows up to the end of each block, ascending."""

    @classmethod
    def of(cls, groups: Sequence[Group]) -> "Shown":
        rows = tuple(row for group in groups for row in group.rows)
        ends = accumulate(len(group.rows) for group in groups)
        frozen = tuple(end for end, group in zip(ends, groups, strict=True) if group.block)
        return cls(rows, frozen)._from_question()

    def newest(self, tokens: float) -> "Shown":
        """Return the newest messages that fit, in estimated tokens."""
        start, spent = len(self.rows), 0.0
        while start:
            spent += said_tokens(self.rows[start - 1])
            if spent > tokens:
                break
            start -= 1
        return self._without(start)._from_question()

    def _from_question(self) -> "Shown":
        """Drop answers at the start."""
        answers = 0
        while answers < len(self.rows) and self.rows[answers].role == "assistant":
            answers += 1
        return self._without(answers) if answers else self

    def _without(self, first: int) -> "Shown":
        return Shown(self.rows[first:], tuple(end - first for end in self.ends if end > first))


def build_channel_prompt(
    shown: Shown,
    questions: Sequence[Message],
    *,
    tools: Sequence[ToolSchema],
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    paused: bool = False,
    persona: str = "",
    notes: Sequence[Memory] = (),
    asker_id: int | None = None,
    thread_title: str = "",
    thread_owner_id: int = 0,
) -> BuiltPrompt:
    """Build the prompt of a channel turn. `persona`: the agent's, in place of cc-bot's own. `notes`: the
    asker's memories that are always sent. A thread's title is the words of its owner."""
    now_told = changing(locale, now.astimezone(timezone), timezone, paused=paused)
    words = instructions(locale)
    of_asker = profile(notes, words.the_asker, words, timezone)
    told = "\n\n".join(filter(None, (f"{now_told}\n{_speakers(shown, questions, locale)}", of_asker)))
    last_id = shown.rows[-1].id if shown.rows else None
    asked = [_asked(question.below(last_id)) for question in questions]
    history = [render(row, asker_id) for row in shown.rows]
    system = SystemPart(_stable(locale, tools, persona))
    titled = words.thread.format(title=one_line(thread_title))
    title = [UserPart(titled, tainted=thread_owner_id != asker_id)] if thread_title else []
    others = any(part.tainted for part in history)  # and it names them
    parts = (system, *history, SystemPart(told, others), *title, *asked)
    return BuiltPrompt(parts, (0, *shown.ends[-MARKED_BLOCKS:]), history=bool(history))


def _stable(locale: Locale, tools: Sequence[ToolSchema], persona: str) -> str:
    words = instructions(locale)
    offered = {tool.name for tool in tools}
    parts = (
        told_to_be(persona, words),
        words.channel,
        words.remembering if "remember" in offered else "",
        words.recalling if "recall" in offered else "",
    )
    return "\n".join(part for part in parts if part)


def _speakers(shown: Shown, questions: Sequence[Message], locale: Locale) -> str:
    """List who spoke since the last block, and the asker."""
    words = instructions(locale)
    unfrozen = shown.rows[shown.ends[-1] if shown.ends else 0 :]
    spoke = [speaker(row.name, row.author_id) for row in reversed(unfrozen) if row.role == "user"]
    asking = speaker(questions[-1].author_name, questions[-1].author_id)
    named = list(dict.fromkeys([asking, *spoke]))[:NAMED]
    return words.speakers.format(speakers=words.between_names.join(named), asking=asking)


def _asked(question: Message) -> UserPart:
    said = spoken(question.author_name, question.author_id, question.content)
    return replace(user_part(replace(question, content=said)), tainted=question.taints)
