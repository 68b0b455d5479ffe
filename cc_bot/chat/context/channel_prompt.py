"""The prompt of a turn in a channel, the stable part first:

stable system message | messages, one part each | second system message (what changes) | the question

Messages are dropped in whole blocks, several at once, so that most requests begin alike and providers' caches
hit. A frozen block keeps its token count; other messages are estimated. Freezing changes no request.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, groupby
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.context.instructions import instructions
from cc_bot.chat.context.prompt import changing_text, memories_text, system_text
from cc_bot.chat.context.tokens import (
    EMPTY_ANSWER,
    YOU,
    format_speaker,
    part_tokens,
    shorten_quotation,
    user_part,
    with_author,
)
from cc_bot.domain.message import Block, ChannelKey, ContextMessage, Message
from cc_bot.domain.text import Locale, one_line
from cc_bot.features.memory.model import Memory
from cc_bot.llm.model import AssistantPart, ChatRequest, SystemPart, ToolSchema, UserPart

KEPT_SHARE: Final = 0.75  # share of the budget that is still used after blocks were dropped
MIN_BLOCKS_IN_BUDGET: Final = 4
CACHE_MARKED_BLOCKS: Final = 3  # providers accept four cache marks; the system message has one
MAX_SPEAKERS: Final = 20
AFTER_ALL_IDS: Final = 2**62


def render_message(row: ContextMessage, asker_id: int | None = None) -> UserPart | AssistantPart:
    """Render a message. The asker's messages and the answers to them are not tainted."""
    tainted = row.is_foreign_to(asker_id)
    if row.role == "assistant":
        return AssistantPart(row.content or EMPTY_ANSWER, tainted=tainted)
    text = row.content
    if row.reply_to is not None:
        quotation = "> (a message that is not shown)"  # such as a deleted one
        if row.replied is not None:
            name = (
                YOU if row.replied_name is None else format_speaker(row.replied_name, row.replied_author_id)
            )
            quotation = f"> {name}: {shorten_quotation(row.replied)}"
        text = f"{quotation}\n{text}"
    return UserPart(with_author(row.name, row.author_id, text), tainted=tainted)


def row_tokens(row: ContextMessage) -> int:
    return part_tokens(render_message(row))


@dataclass(frozen=True, slots=True)
class TokenBudget:
    total: float
    block: float
    factor: float  # tokens that the model counts per estimated token
    estimate: Callable[[ContextMessage], float] = row_tokens

    @classmethod
    def create(
        cls, total: int, block: int, factor: float, estimate: Callable[[ContextMessage], float]
    ) -> "TokenBudget":
        return cls(total, min(block, total / MIN_BLOCKS_IN_BUDGET), factor, estimate)

    def count_tokens(self, rows: Sequence[ContextMessage]) -> list[float]:
        return [self.estimate(row) * self.factor for row in rows]


@dataclass(frozen=True, slots=True)
class Group:
    key: ChannelKey
    rows: tuple[ContextMessage, ...]
    tokens: float
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class MessageRange:
    """The messages of a channel or thread that a context may show. A thread's context has two ranges."""

    key: ChannelKey
    rows: tuple[ContextMessage, ...] = ()  # oldest first
    blocks: tuple[Block, ...] = ()  # valid blocks, oldest first
    unsettled_id: int = 0  # messages before this id do not change any more, so they may be frozen
    outer_block_id: int | None = None  # from this id on, messages belong to a block that ends after the range
    stale_blocks: tuple[Block, ...] = ()  # blocks that begin before a reset; new blocks replace them
    reset_id: int = 0  # ids up to this one are never read
    end_id: int = AFTER_ALL_IDS  # ids from this one on are not read
    question_ids: frozenset[int] = frozenset()  # not read: the prompt shows them after the history
    newest_question_id: int = AFTER_ALL_IDS  # after this id only answers are read


@dataclass(frozen=True, slots=True)
class ContextPlan:
    groups: tuple[Group, ...] = ()
    new_blocks: tuple[Block, ...] = ()
    first_id: int = 0  # of the oldest message shown; if none is shown, of the next message
    is_cut: bool = False  # True if older messages are left out


def plan_context(ranges: Sequence[MessageRange], budget: TokenBudget) -> ContextPlan:
    groups = [group for messages in ranges for group in _freeze(messages, budget)]
    if not groups:
        return ContextPlan()
    stored = {block for messages in ranges for block in messages.blocks}
    new_blocks = (group.block for group in groups if group.block is not None and group.block not in stored)
    shown = _newest_groups(groups, budget)
    first_id = shown[0].rows[0].id if shown else groups[-1].rows[-1].id + 1
    return ContextPlan(tuple(shown), tuple(new_blocks), first_id, is_cut=first_id > groups[0].rows[0].id)


def group_rows(messages: MessageRange, budget: TokenBudget) -> list[Group]:
    ends = [block.last_id for block in messages.blocks]

    def group_key(row: ContextMessage) -> tuple[int, bool, bool]:
        """Return the index of the next block, and whether the row belongs to it, or to the outer block."""
        index = bisect_left(ends, row.id)
        is_frozen = index < len(ends) and messages.blocks[index].first_id <= row.id
        return index, is_frozen, _is_in_outer_block(row, messages)

    groups = []
    for (index, is_frozen, _), group in groupby(messages.rows, group_key):
        rows, block = tuple(group), messages.blocks[index] if is_frozen else None
        tokens = block.tokens if block else sum(budget.count_tokens(rows))
        groups.append(Group(messages.key, rows, tokens, block))
    return groups


def _is_in_outer_block(row: ContextMessage, messages: MessageRange) -> bool:
    return messages.outer_block_id is not None and row.id >= messages.outer_block_id


def newest_blocks(blocks: Sequence[Block], budget: TokenBudget) -> Sequence[Block]:
    tokens = [block.tokens for block in blocks]
    if sum(tokens) <= budget.total:
        return blocks
    return blocks[_find_start(tokens, budget.total * KEPT_SHARE) :]


def _find_start(tokens: Sequence[float], max_tokens: float) -> int:
    return len(tokens) - bisect_right([*accumulate(reversed(tokens))], max_tokens)


def _freeze(messages: MessageRange, budget: TokenBudget) -> list[Group]:
    """Freeze full blocks. The rest of the last group stays unfrozen, or all of it in the outer block."""
    groups = group_rows(messages, budget)
    frozen = list[Group]()
    for index, group in enumerate(groups):
        is_last = index == len(groups) - 1
        if group.block or (is_last and _is_in_outer_block(messages.rows[-1], messages)):
            frozen.append(group)
        else:
            frozen.extend(_split(group, budget, messages.unsettled_id, freezes_rest=not is_last))
    return frozen


def _split(group: Group, budget: TokenBudget, unsettled_id: int, *, freezes_rest: bool) -> list[Group]:
    """Split off full blocks, and with `freezes_rest` a last one that is not full."""
    rows, start, parts = group.rows, 0, list[Group]()
    counts = budget.count_tokens(rows)
    while start < len(rows) and (freezes_rest or sum(counts[start:]) > budget.block):
        end = start + max(1, bisect_right([*accumulate(counts[start:])], budget.block))
        if rows[end - 1].id >= unsettled_id:
            break
        tokens = max(1, round(sum(counts[start:end])))
        block = Block(group.key, rows[start].id, rows[end - 1].id, tokens)
        parts.append(Group(group.key, rows[start:end], tokens, block))
        start = end
    if start < len(rows):
        parts.append(Group(group.key, rows[start:], sum(counts[start:])))
    return parts


def _newest_groups(groups: Sequence[Group], budget: TokenBudget) -> Sequence[Group]:
    """Return the newest groups that fit; if even the last one is too long, its newest messages that fit."""
    tokens, max_tokens = [group.tokens for group in groups], budget.total * KEPT_SHARE
    if sum(tokens) <= budget.total:
        return groups
    start = min(_find_start(tokens, max_tokens), len(groups) - 1)
    if sum(tokens[start:]) <= budget.total:
        return groups[start:]
    rows = groups[-1].rows
    counts = budget.count_tokens(rows)
    start = _find_start(counts, max_tokens)
    if start == len(rows) and counts[-1] <= budget.total:
        start -= 1
    if start == len(rows):
        return []
    return [replace(groups[-1], rows=rows[start:], tokens=sum(counts[start:]), block=None)]


@dataclass(frozen=True, slots=True)
class ShownHistory:
    rows: tuple[ContextMessage, ...]
    block_ends: tuple[int, ...] = ()  # for each frozen block, the number of rows up to its end

    @classmethod
    def from_groups(cls, groups: Sequence[Group]) -> "ShownHistory":
        rows = tuple(row for group in groups for row in group.rows)
        ends = accumulate(len(group.rows) for group in groups)
        block_ends = tuple(end for end, group in zip(ends, groups, strict=True) if group.block)
        return cls(rows, block_ends)._from_question()

    def keep_newest(self, max_tokens: float) -> "ShownHistory":
        return self._from_row(_find_start([*map(row_tokens, self.rows)], max_tokens))._from_question()

    def _from_question(self) -> "ShownHistory":
        """Drop the answers before the first question."""
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
    memory_paused: bool = False,
    persona: str = "",
    memories: Sequence[Memory] = (),
    asker_id: int | None = None,
    thread_title: str = "",
    thread_owner_id: int = 0,
) -> ChatRequest:
    """`persona` replaces the default one; `memories` are the asker's memories that are always sent."""
    words = instructions(locale)
    state = changing_text(locale, now, timezone, memory_paused=memory_paused)
    asker_memories = memories_text(memories, words.the_asker, words, timezone)
    changes = "\n\n".join(
        filter(None, (f"{state}\n{_name_speakers(shown, questions, locale)}", asker_memories))
    )
    last_id = shown.rows[-1].id if shown.rows else None
    question_parts = [_question_part(question.without_repeated_reference(last_id)) for question in questions]
    history = [render_message(row, asker_id) for row in shown.rows]
    system = SystemPart(system_text(persona, tools, words, channel=words.channel))
    title_text = words.thread.format(title=one_line(thread_title))
    title = [UserPart(title_text, tainted=thread_owner_id != asker_id)] if thread_title else []
    names_others = any(part.tainted for part in history)  # the speakers in `changes` chose their names
    parts = (system, *history, SystemPart(changes, names_others), *title, *question_parts)
    return ChatRequest(parts, stable=(0, *shown.block_ends[-CACHE_MARKED_BLOCKS:]), shrinkable=bool(history))


def _name_speakers(shown: ShownHistory, questions: Sequence[Message], locale: Locale) -> str:
    words = instructions(locale)
    new_rows = shown.rows[shown.block_ends[-1] if shown.block_ends else 0 :]
    speakers = [format_speaker(row.name, row.author_id) for row in reversed(new_rows) if row.role == "user"]
    asker = format_speaker(questions[-1].author_name, questions[-1].author_id)
    names = list(dict.fromkeys([asker, *speakers]))[:MAX_SPEAKERS]
    return words.speakers.format(speakers=words.between_names.join(names), asking=asker)


def _question_part(question: Message) -> UserPart:
    labelled = with_author(question.author_name, question.author_id, question.content)
    return replace(user_part(replace(question, content=labelled)), tainted=question.is_tainting)
