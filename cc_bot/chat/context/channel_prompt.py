"""The prompt of a turn in a channel, the stable part first.

stable system message | messages, one part each | second system message (what changes) | the question

Messages are dropped in whole blocks, several at once, so that most requests begin like the one before and
providers' caches hit. A block is frozen with its token count; other messages are estimated. Freezing changes
nothing in a request, as a message is rendered from its row alone.
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
from cc_bot.chat.context.tokens import UNSAID, YOU, beginning, part_tokens, speaker, user_part, with_author
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.text import Locale, one_line
from cc_bot.features.memory.model import Memory
from cc_bot.llm.model import AssistantPart, ChatRequest, SystemPart, ToolSchema, UserPart

KEPT_SHARE: Final = 0.75
"""How full the budget is after blocks were dropped."""
BLOCKS_IN_BUDGET: Final = 4
"""A block is at most this fraction of the budget."""
MARKED_BLOCKS: Final = 3
"""Providers accept four cache marks; one is on the system message."""
NAMED: Final = 20
UNBOUNDED: Final = 2**62


def render(said: ContextMessage, asker_id: int | None = None) -> UserPart | AssistantPart:
    """Names precede what people said, not answers. The asker's words, and answers to them, are not
    tainted."""
    tainted = said.is_foreign_to(asker_id)
    if said.role == "assistant":
        return AssistantPart(said.content or UNSAID, tainted=tainted)
    text = said.content
    if said.reply_to is not None:
        quoted = "> (a message that is not shown)"  # such as a deleted one
        if said.replied is not None:
            name = YOU if said.replied_name is None else speaker(said.replied_name, said.replied_id)
            quoted = f"> {name}: {beginning(said.replied)}"
        text = f"{quoted}\n{text}"
    return UserPart(with_author(said.name, said.author_id, text), tainted=tainted)


def said_tokens(said: ContextMessage) -> int:
    return part_tokens(render(said))


@dataclass(frozen=True, slots=True)
class TokenBudget:
    budget: float
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

    def costs(self, rows: Sequence[ContextMessage]) -> list[float]:
        return [self.cost(row) * self.factor for row in rows]


@dataclass(frozen=True, slots=True)
class Group:
    """A block, or a run of messages outside any block."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...]
    tokens: float
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class MessageRange:
    """The messages of one channel or thread that a context may show. A thread's context has two: its
    channel's up to the thread's start, and its own."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...] = ()
    """Oldest first."""
    blocks: tuple[Block, ...] = ()
    """Valid ones, oldest first."""
    settled_before: int = 0
    """Messages before this id do not change any more: they may be frozen."""
    taken_from: int | None = None
    """From this id on, messages belong to a block that reaches beyond the context."""
    stale: tuple[Block, ...] = ()
    """They may only be read in part; new ones replace them."""
    reset: int = 0
    """Ids up to here are never read."""
    before: int = UNBOUNDED
    """Ids from here on are not read."""
    hidden: frozenset[int] = frozenset()
    """The questions, which are shown below the history."""
    asked: int = UNBOUNDED
    """After this id only answers are shown."""


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """The messages a request shows, and the blocks to store."""

    groups: tuple[Group, ...] = ()
    frozen: tuple[Block, ...] = ()
    first: int = 0
    """The oldest message shown; if none is, the first that could be."""
    left: bool = False


def plan_context(ranges: Sequence[MessageRange], measure: TokenBudget) -> ContextPlan:
    groups = [group for each in ranges for group in _frozen(each, measure)]
    known = {block for each in ranges for block in each.blocks}
    new = tuple(group.block for group in groups if group.block is not None and group.block not in known)
    if not groups:
        return ContextPlan()
    kept = _kept(groups, measure)
    first = kept[0].rows[0].id if kept else groups[-1].rows[-1].id + 1
    return ContextPlan(tuple(kept), new, first, left=first > groups[0].rows[0].id)


def grouped(shown: MessageRange, measure: TokenBudget) -> list[Group]:
    """Oldest first."""
    ends = [block.last_id for block in shown.blocks]

    def run_of(row: ContextMessage) -> tuple[int, bool, bool]:
        at = bisect_left(ends, row.id)
        taken = shown.taken_from is not None and row.id >= shown.taken_from
        return at, at < len(ends) and shown.blocks[at].first_id <= row.id, taken

    groups = []
    for (at, is_frozen, _), run in groupby(shown.rows, run_of):
        rows, block = tuple(run), shown.blocks[at] if is_frozen else None
        groups.append(Group(shown.key, rows, block.tokens if block else sum(measure.costs(rows)), block))
    return groups


def fitting(blocks: Sequence[Block], measure: TokenBudget) -> Sequence[Block]:
    """Return the newest blocks that fit, judged by the blocks alone."""
    tokens = [block.tokens for block in blocks]
    if sum(tokens) <= measure.budget:
        return blocks
    return blocks[_newest_within(tokens, measure.budget * KEPT_SHARE) :]


def _newest_within(tokens: Sequence[float], room: float) -> int:
    """Return the index from which on everything fits."""
    return len(tokens) - bisect_right([*accumulate(reversed(tokens))], room)


def _frozen(shown: MessageRange, measure: TokenBudget) -> list[Group]:
    """Freeze what is due. The newest run stays as it is while it is short, or belongs to a block beyond the
    context."""
    groups = grouped(shown, measure)
    taken = bool(shown.rows) and shown.taken_from is not None and shown.rows[-1].id >= shown.taken_from
    frozen = list[Group]()
    for index, group in enumerate(groups):
        is_last = index == len(groups) - 1
        if group.block or (taken and is_last):
            frozen.append(group)
        else:
            frozen.extend(_cut(group, measure, shown.settled_before, closed=not is_last))
    return frozen


def _cut(group: Group, measure: TokenBudget, settled_before: int, *, closed: bool) -> list[Group]:
    """Split a run into blocks and a rest, as long as it is more than a block; all of it if `closed`."""
    rows, start, cut = group.rows, 0, list[Group]()
    costs = measure.costs(rows)
    while start < len(rows) and (closed or sum(costs[start:]) > measure.block):
        end = start + max(1, bisect_right([*accumulate(costs[start:])], measure.block))
        if rows[end - 1].id >= settled_before:
            break
        tokens = max(1, round(sum(costs[start:end])))
        block = Block(group.key, rows[start].id, rows[end - 1].id, tokens)
        cut.append(Group(group.key, rows[start:end], tokens, block))
        start = end
    if start < len(rows):
        cut.append(Group(group.key, rows[start:], sum(costs[start:])))
    return cut


def _kept(groups: Sequence[Group], measure: TokenBudget) -> Sequence[Group]:
    """Return whole groups that fit, or as much as fits of the last one."""
    tokens, room = [group.tokens for group in groups], measure.budget * KEPT_SHARE
    if sum(tokens) <= measure.budget:
        return groups
    start = min(_newest_within(tokens, room), len(groups) - 1)
    if sum(tokens[start:]) <= measure.budget:
        return groups[start:]
    rows = groups[-1].rows
    costs = measure.costs(rows)
    at = _newest_within(costs, room)
    if at == len(rows) and costs[-1] <= measure.budget:
        at -= 1
    return [replace(groups[-1], rows=rows[at:], tokens=sum(costs[at:]), block=None)] if rows[at:] else []


@dataclass(frozen=True, slots=True)
class ShownHistory:
    rows: tuple[ContextMessage, ...]
    ends: tuple[int, ...] = ()
    """Number of rows up to the end of each frozen block."""

    @classmethod
    def of(cls, groups: Sequence[Group]) -> "ShownHistory":
        rows = tuple(row for group in groups for row in group.rows)
        ends = accumulate(len(group.rows) for group in groups)
        frozen = tuple(end for end, group in zip(ends, groups, strict=True) if group.block)
        return cls(rows, frozen)._from_question()

    def newest(self, tokens: float) -> "ShownHistory":
        return self._without(_newest_within([*map(said_tokens, self.rows)], tokens))._from_question()

    def _from_question(self) -> "ShownHistory":
        answers = 0
        while answers < len(self.rows) and self.rows[answers].role == "assistant":
            answers += 1
        return self._without(answers) if answers else self

    def _without(self, first: int) -> "ShownHistory":
        return ShownHistory(self.rows[first:], tuple(end - first for end in self.ends if end > first))


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
    """`persona`: the agent's, in place of cc-bot's own. `notes`: the asker's memories that are always sent. A
    thread's title is the words of its owner."""
    now_text = changing(locale, now, timezone, paused=paused)
    words = instructions(locale)
    of_asker = profile(notes, words.the_asker, words, timezone)
    changes = "\n\n".join(filter(None, (f"{now_text}\n{_speakers(shown, questions, locale)}", of_asker)))
    last_id = shown.rows[-1].id if shown.rows else None
    asked = [_asked(question.below(last_id)) for question in questions]
    history = [render(row, asker_id) for row in shown.rows]
    system = SystemPart(system_text(persona, tools, words, channel=words.channel))
    titled = words.thread.format(title=one_line(thread_title))
    title = [UserPart(titled, tainted=thread_owner_id != asker_id)] if thread_title else []
    others = any(part.tainted for part in history)  # and it names them
    parts = (system, *history, SystemPart(changes, others), *title, *asked)
    return ChatRequest(parts, stable=(0, *shown.ends[-MARKED_BLOCKS:]), shrinkable=bool(history))


def _speakers(shown: ShownHistory, questions: Sequence[Message], locale: Locale) -> str:
    """List who spoke since the last block, and the asker."""
    words = instructions(locale)
    unfrozen = shown.rows[shown.ends[-1] if shown.ends else 0 :]
    spoke = [speaker(row.name, row.author_id) for row in reversed(unfrozen) if row.role == "user"]
    asking = speaker(questions[-1].author_name, questions[-1].author_id)
    named = list(dict.fromkeys([asking, *spoke]))[:NAMED]
    return words.speakers.format(speakers=words.between_names.join(named), asking=asking)


def _asked(question: Message) -> UserPart:
    said = with_author(question.author_name, question.author_id, question.content)
    return replace(user_part(replace(question, content=said)), tainted=question.taints)
