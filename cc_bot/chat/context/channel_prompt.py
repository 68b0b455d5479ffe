"""The prompt of a turn in a channel, the stable part first:

stable system message | messages, one part each | second system message (what changes) | the question

Messages are dropped in whole blocks, several at once, so that most requests begin alike and providers' caches
hit. A frozen block keeps its token count, others are estimated; freezing changes no request.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, groupby
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.context.instructions import instructions
from cc_bot.chat.context.prompt import changing, profile, system_text
from cc_bot.chat.context.tokens import (
    EMPTY_ANSWER,
    YOU,
    beginning,
    part_tokens,
    speaker,
    user_part,
    with_author,
)
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.text import Locale, one_line
from cc_bot.features.memory.model import Memory
from cc_bot.llm.model import AssistantPart, ChatRequest, SystemPart, ToolSchema, UserPart

KEPT_SHARE: Final = 0.75  # share of the budget that is used after blocks were dropped
BLOCKS_IN_BUDGET: Final = 4  # at least this many blocks fit in the budget
MARKED_BLOCKS: Final = 3  # providers accept four cache marks, of which the system message has one
MAX_SPEAKERS: Final = 20
UNBOUNDED: Final = 2**62


def render(row: ContextMessage, asker_id: int | None = None) -> UserPart | AssistantPart:
    """Return the part for a message. The asker's messages and the answers to them are not tainted."""
    tainted = row.is_foreign_to(asker_id)
    if row.role == "assistant":
        return AssistantPart(row.content or EMPTY_ANSWER, tainted=tainted)
    text = row.content
    if row.reply_to is not None:
        quoted = "> (a message that is not shown)"  # such as a deleted one
        if row.replied is not None:
            name = YOU if row.replied_name is None else speaker(row.replied_name, row.replied_id)
            quoted = f"> {name}: {beginning(row.replied)}"
        text = f"{quoted}\n{text}"
    return UserPart(with_author(row.name, row.author_id, text), tainted=tainted)


def row_tokens(row: ContextMessage) -> int:
    return part_tokens(render(row))


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Tokens for the history and for one block, as the model counts them."""

    total: float
    block: float
    factor: float  # tokens that the model counts per estimated token
    cost: Callable[[ContextMessage], float] = row_tokens  # estimated tokens of a message

    @classmethod
    def of(
        cls, budget: int, block: int, factor: float, cost: Callable[[ContextMessage], float]
    ) -> "TokenBudget":
        return cls(budget, min(block, budget / BLOCKS_IN_BUDGET), factor, cost)

    def costs(self, rows: Sequence[ContextMessage]) -> list[float]:
        return [self.cost(row) * self.factor for row in rows]


@dataclass(frozen=True, slots=True)
class Group:
    """The messages of a block, or adjacent messages outside any block."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...]
    tokens: float
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class MessageRange:
    """The messages of a channel or thread that a context may show; a thread's context has a range of each."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...] = ()  # oldest first
    blocks: tuple[Block, ...] = ()  # valid blocks, oldest first
    settled_before: int = 0  # messages before this id do not change any more and may be frozen
    in_block_from: int | None = None
    """From this id on, messages belong to a block that extends beyond the context."""
    stale: tuple[Block, ...] = ()  # blocks that may only be read in part; new ones replace them
    reset: int = 0  # ids up to this one are never read
    before: int = UNBOUNDED  # ids from this one on are not read
    hidden: frozenset[int] = frozenset()
    """Ids of the questions, which the prompt shows after the history."""
    asked: int = UNBOUNDED  # after this id only answers are read


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """The messages that a request shows, and the blocks to store."""

    groups: tuple[Group, ...] = ()
    frozen: tuple[Block, ...] = ()
    first: int = 0  # id of the oldest message shown; if none is, of the first that could be
    is_cut: bool = False  # True if older messages are left out


def plan_context(ranges: Sequence[MessageRange], budget: TokenBudget) -> ContextPlan:
    groups = [group for each in ranges for group in _freeze(each, budget)]
    known = {block for each in ranges for block in each.blocks}
    new = tuple(group.block for group in groups if group.block is not None and group.block not in known)
    if not groups:
        return ContextPlan()
    shown = _newest_fitting(groups, budget)
    first = shown[0].rows[0].id if shown else groups[-1].rows[-1].id + 1
    return ContextPlan(tuple(shown), new, first, is_cut=first > groups[0].rows[0].id)


def group_rows(shown: MessageRange, budget: TokenBudget) -> list[Group]:
    ends = [block.last_id for block in shown.blocks]

    def run_of(row: ContextMessage) -> tuple[int, bool, bool]:
        at = bisect_left(ends, row.id)
        taken = shown.in_block_from is not None and row.id >= shown.in_block_from
        return at, at < len(ends) and shown.blocks[at].first_id <= row.id, taken

    groups = []
    for (at, is_frozen, _), run in groupby(shown.rows, run_of):
        rows, block = tuple(run), shown.blocks[at] if is_frozen else None
        groups.append(Group(shown.key, rows, block.tokens if block else sum(budget.costs(rows)), block))
    return groups


def newest_blocks(blocks: Sequence[Block], budget: TokenBudget) -> Sequence[Block]:
    """Return the newest blocks that fit, without other messages."""
    tokens = [block.tokens for block in blocks]
    if sum(tokens) <= budget.total:
        return blocks
    return blocks[_newest_within(tokens, budget.total * KEPT_SHARE) :]


def _newest_within(tokens: Sequence[float], room: float) -> int:
    """Return the first index from which on all fit."""
    return len(tokens) - bisect_right([*accumulate(reversed(tokens))], room)


def _freeze(shown: MessageRange, budget: TokenBudget) -> list[Group]:
    """Freeze full blocks. The newest messages are not frozen while they are less than a block, or part of a
    block beyond the context."""
    groups = group_rows(shown, budget)
    taken = bool(shown.rows) and shown.in_block_from is not None and shown.rows[-1].id >= shown.in_block_from
    frozen = list[Group]()
    for index, group in enumerate(groups):
        is_last = index == len(groups) - 1
        if group.block or (taken and is_last):
            frozen.append(group)
        else:
            frozen.extend(_split(group, budget, shown.settled_before, closed=not is_last))
    return frozen


def _split(group: Group, budget: TokenBudget, settled_before: int, *, closed: bool) -> list[Group]:
    """Split off blocks while more than one is left; all messages if `closed`."""
    rows, start, parts = group.rows, 0, list[Group]()
    costs = budget.costs(rows)
    while start < len(rows) and (closed or sum(costs[start:]) > budget.block):
        end = start + max(1, bisect_right([*accumulate(costs[start:])], budget.block))
        if rows[end - 1].id >= settled_before:
            break
        tokens = max(1, round(sum(costs[start:end])))
        block = Block(group.key, rows[start].id, rows[end - 1].id, tokens)
        parts.append(Group(group.key, rows[start:end], tokens, block))
        start = end
    if start < len(rows):
        parts.append(Group(group.key, rows[start:], sum(costs[start:])))
    return parts


def _newest_fitting(groups: Sequence[Group], budget: TokenBudget) -> Sequence[Group]:
    """Return the newest groups that fit, or the newest messages that fit of the last one."""
    tokens, room = [group.tokens for group in groups], budget.total * KEPT_SHARE
    if sum(tokens) <= budget.total:
        return groups
    start = min(_newest_within(tokens, room), len(groups) - 1)
    if sum(tokens[start:]) <= budget.total:
        return groups[start:]
    rows = groups[-1].rows
    costs = budget.costs(rows)
    at = _newest_within(costs, room)
    if at == len(rows) and costs[-1] <= budget.total:
        at -= 1
    return [replace(groups[-1], rows=rows[at:], tokens=sum(costs[at:]), block=None)] if rows[at:] else []


@dataclass(frozen=True, slots=True)
class ShownHistory:
    rows: tuple[ContextMessage, ...]
    block_ends: tuple[int, ...] = ()  # for each frozen block, the number of rows up to its end

    @classmethod
    def of(cls, groups: Sequence[Group]) -> "ShownHistory":
        rows = tuple(row for group in groups for row in group.rows)
        ends = accumulate(len(group.rows) for group in groups)
        frozen = tuple(end for end, group in zip(ends, groups, strict=True) if group.block)
        return cls(rows, frozen)._from_question()

    def newest(self, tokens: float) -> "ShownHistory":
        return self._from_row(_newest_within([*map(row_tokens, self.rows)], tokens))._from_question()

    def _from_question(self) -> "ShownHistory":
        answers = 0
        while answers < len(self.rows) and self.rows[answers].role == "assistant":
            answers += 1
        return self._from_row(answers) if answers else self

    def _from_row(self, first: int) -> "ShownHistory":
        return ShownHistory(self.rows[first:], tuple(end - first for end in self.block_ends if end > first))


def build_channel_prompt(
    shown: ShownHistory,
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
) -> ChatRequest:
    """`persona` replaces the default one; `notes` are the asker's memories that are always sent."""
    time_text = changing(locale, now, timezone, paused=paused)
    words = instructions(locale)
    asker_notes = profile(notes, words.the_asker, words, timezone)
    changes = "\n\n".join(filter(None, (f"{time_text}\n{_speakers(shown, questions, locale)}", asker_notes)))
    last_id = shown.rows[-1].id if shown.rows else None
    asked = [_question_part(question.below(last_id)) for question in questions]
    history = [render(row, asker_id) for row in shown.rows]
    system = SystemPart(system_text(persona, tools, words, channel=words.channel))
    title_text = words.thread.format(title=one_line(thread_title))
    title = [UserPart(title_text, tainted=thread_owner_id != asker_id)] if thread_title else []
    quotes_others = any(part.tainted for part in history)  # and it names them
    parts = (system, *history, SystemPart(changes, quotes_others), *title, *asked)
    return ChatRequest(parts, stable=(0, *shown.block_ends[-MARKED_BLOCKS:]), shrinkable=bool(history))


def _speakers(shown: ShownHistory, questions: Sequence[Message], locale: Locale) -> str:
    """Name the asker, and the authors since the last block."""
    words = instructions(locale)
    new_rows = shown.rows[shown.block_ends[-1] if shown.block_ends else 0 :]
    speakers = [speaker(row.name, row.author_id) for row in reversed(new_rows) if row.role == "user"]
    asker = speaker(questions[-1].author_name, questions[-1].author_id)
    names = list(dict.fromkeys([asker, *speakers]))[:MAX_SPEAKERS]
    return words.speakers.format(speakers=words.between_names.join(names), asking=asker)


def _question_part(question: Message) -> UserPart:
    labelled = with_author(question.author_name, question.author_id, question.content)
    return replace(user_part(replace(question, content=labelled)), tainted=question.taints)
