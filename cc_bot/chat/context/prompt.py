"""The prompt of a request, the stable part first:

stable system message | history | second system message (what changes) | the new question

Turns of a session share the older history byte for byte, as provider caches need.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import chain
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.context.instructions import Instructions, instructions
from cc_bot.chat.context.tokens import message_parts, message_tokens, user_part
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import PromptNote, Session, list_quoted
from cc_bot.domain.text import Locale, shorten
from cc_bot.features.memory.model import Memory
from cc_bot.llm.model import PromptPart, SystemPart, ToolSchema

MAX_MEMORY_CHARACTERS: Final = 500  # longer memories are cut; `recall` returns all of them


def memories_text(memories: Sequence[Memory], who: str, words: Instructions, timezone: ZoneInfo) -> str:
    """Introduce and list the memories that are always sent. `who` names their user."""
    if not memories:
        return ""
    return "\n".join((words.profile.format(who=who), *(_memory_line(each, timezone) for each in memories)))


def _memory_line(memory: Memory, timezone: ZoneInfo) -> str:
    day = memory.updated_at.astimezone(timezone).date().isoformat()
    return f"- {day}: {json.dumps(shorten(memory.content, MAX_MEMORY_CHARACTERS), ensure_ascii=False)}"


CountTokens = Callable[[Message], float]

# For provider caches, the window starts at the same message for many turns, and then moves by many messages:
# of all starts at which the history fits, the message with the least hash is chosen.

MIN_USED_SHARE: Final = 0.5
"""Share of the budget. With a half, the start moves about every twentieth turn, and uses 72 % of it on
average; with three quarters, it would move twice as often."""


def select_window(
    history: Sequence[Message], budget_tokens: float, count_tokens: CountTokens
) -> tuple[Message, ...]:
    """Return the newest messages that fit, oldest first, starting with a question."""
    tokens = 0.0
    starts: list[tuple[int, float]] = []  # index of a question, tokens from there on
    for index in range(len(history) - 1, -1, -1):
        tokens += count_tokens(history[index])
        if tokens > budget_tokens:
            return tuple(history[_stable_start(history, starts, budget_tokens) :])
        if history[index].role == "user":
            starts.append((index, tokens))
    return tuple(history[starts[-1][0] :]) if starts else ()


def count_up_to(history: Sequence[Message], max_tokens: float, count_tokens: CountTokens) -> float:
    """Count the tokens of the newest messages until they exceed `max_tokens`."""
    tokens = 0.0
    for message in reversed(history):
        tokens += count_tokens(message)
        if tokens > max_tokens:
            break
    return tokens


def _stable_start(
    history: Sequence[Message], starts: Sequence[tuple[int, float]], budget_tokens: float
) -> int:
    """Return the window's first index. `starts`: as in `select_window`, newest first."""
    if not starts:
        return len(history)
    long_enough = [index for index, tokens in starts if tokens >= budget_tokens * MIN_USED_SHARE]
    return min(long_enough or [starts[-1][0]], key=lambda index: _hash(history[index]))


def _hash(message: Message) -> bytes:
    identity = message.content if message.id is None else str(message.id)
    return blake2b(identity.encode(errors="replace"), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class PromptSettings:
    budget_tokens: int = 80_000  # for history in one request
    block_tokens: int = 1_500  # channel messages frozen together
    channel_locale: Locale = Locale.JA
    """The language of a channel's instructions: the same for all users, so that caches hit."""


def build_prompt(
    history: Sequence[Message],
    question: Message,
    *,
    tools: Sequence[ToolSchema],
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    is_temporary: bool = False,
    memory_paused: bool = False,
    summary: PromptNote | None = None,
    canvas: SystemPart = SystemPart(""),
    persona: str = "",
    memories: Sequence[Memory] = (),
    budget_tokens: float = PromptSettings().budget_tokens,
    count_tokens: CountTokens = message_tokens,
) -> tuple[PromptPart, ...]:
    """`summary`: of the conversation before the history. `memories`: those that are always sent."""
    question_part = user_part(
        question.without_repeated_reference(history[-1].discord_id if history else None)
    )
    words, summary = instructions(locale), summary or PromptNote("public", "", tainted=False)
    state = changing_text(
        locale, now, timezone, summary.text, memory_paused=memory_paused, canvas=canvas.text
    )
    user_memories = memories_text(memories, words.the_user, words, timezone)
    system = system_text(persona, tools, words, words.temporary if is_temporary else "", user_memories)
    return (
        SystemPart(system),
        *chain.from_iterable(map(message_parts, select_window(history, budget_tokens, count_tokens))),
        SystemPart(state, canvas.tainted or summary.tainted),
        question_part,
    )


def system_text(
    persona: str, tools: Sequence[ToolSchema], words: Instructions, *more_lines: str, channel: str = ""
) -> str:
    offered = {tool.name for tool in tools}
    parts = (
        f"{persona}\n{words.markdown}" if persona else words.persona,
        channel,
        words.remembering if "remember" in offered else "",
        words.recalling if "recall" in offered else "",
        *more_lines,
    )
    return "\n".join(filter(None, parts))


def changing_text(
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    summary: str = "",
    *,
    memory_paused: bool = False,
    canvas: str = "",
) -> str:
    """Return the second system message."""
    words, local = instructions(locale), now.astimezone(timezone)
    time_line = words.now.format(
        date=f"{local:%Y-%m-%d}",
        weekday=words.weekdays[local.weekday()],
        time=f"{local:%H:%M}",
        timezone=timezone.key,
    )
    parts = (
        f"{time_line}\n{words.paused}" if memory_paused else time_line,
        canvas,
        words.recap.format(summary=summary) if summary else "",
    )
    return "\n\n".join(filter(None, parts))


def summary_note(session: Session, visibility: Visibility) -> PromptNote:
    """Return the summaries of the previous conversation, private ones in private turns only. The user's
    messages of an expired session that are in no summary yet are quoted."""
    summaries, user_messages = (
        [note for note in notes if visibility == "private" or note.visibility == "public"]
        for notes in (session.summaries, session.unsummarized)
    )
    texts = [note.text for note in summaries]
    if user_messages:
        texts.append(list_quoted(note.text for note in user_messages))
    tainted = any(note.tainted for note in (*summaries, *user_messages))
    return PromptNote(visibility, "\n".join(filter(None, texts)), tainted)


def reduce_history_tokens(history_tokens: int, other_tokens: int, limit: int | None) -> int:
    """Return the tokens of history to keep after a request was refused for its length: half of them, or none
    if the rest of the request is longer. `limit`: the context limit, if the server reported one."""
    half = history_tokens // 2 if history_tokens >= other_tokens else 0
    return half if limit is None else min(half, max_history_tokens(other_tokens, limit))


def max_history_tokens(other_tokens: int, limit: int) -> int:
    """Return the tokens of history that fit; a quarter of the context limit is left for the answer."""
    return max(0, limit * 3 // 4 - other_tokens)
