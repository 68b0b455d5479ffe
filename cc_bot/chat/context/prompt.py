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
from cc_bot.domain.session import PromptNote, Session, list_statements
from cc_bot.domain.text import Locale, shorten
from cc_bot.features.memory.model import Memory
from cc_bot.llm.model import PromptPart, SystemPart, ToolSchema

MAX_NOTE_CHARACTERS: Final = 500  # longer notes are cut; `recall` returns all of them


def profile(notes: Sequence[Memory], who: str, words: Instructions, timezone: ZoneInfo) -> str:
    """Return the notes that are always sent. `who` names their user."""
    if not notes:
        return ""
    return "\n".join((words.profile.format(who=who), *(_note_line(note, timezone) for note in notes)))


def _note_line(note: Memory, timezone: ZoneInfo) -> str:
    day = note.updated_at.astimezone(timezone).date().isoformat()
    return f"- {day}: {json.dumps(shorten(note.content, MAX_NOTE_CHARACTERS), ensure_ascii=False)}"


# For provider caches, the window starts at the same message for many turns and then moves by many: the
# possible start with the least hash stays the least until it no longer fits.

KEPT_SHARE: Final = 0.5
"""Least share of the budget that is used. A half moves the start about every twentieth turn and uses 72 % on
average; three quarters would move it twice as often."""


def window(
    history: Sequence[Message], budget_tokens: float, cost: Callable[[Message], float]
) -> tuple[Message, ...]:
    """Return the newest messages that fit, oldest first, starting with a question."""
    spent = 0.0
    starts: list[tuple[int, float]] = []
    for index in range(len(history) - 1, -1, -1):
        spent += cost(history[index])
        if spent > budget_tokens:
            return tuple(history[_stable_start(history, starts, budget_tokens) :])
        if history[index].role == "user":
            starts.append((index, spent))
    return tuple(history[starts[-1][0] :]) if starts else ()


def tokens_up_to(history: Sequence[Message], max_tokens: float, cost: Callable[[Message], float]) -> float:
    """Count the tokens of the newest messages until they exceed `max_tokens`."""
    spent = 0.0
    for message in reversed(history):
        spent += cost(message)
        if spent > max_tokens:
            break
    return spent


def _stable_start(
    history: Sequence[Message], starts: Sequence[tuple[int, float]], budget_tokens: float
) -> int:
    """Return the window's first index. `starts`: possible ones and their tokens, newest first."""
    if not starts:
        return len(history)
    long_enough = [index for index, spent in starts if spent >= budget_tokens * KEPT_SHARE]
    return min(long_enough or [starts[-1][0]], key=lambda index: _hash(history[index]))


def _hash(message: Message) -> bytes:
    named = message.content if message.id is None else str(message.id)
    return blake2b(named.encode(errors="replace"), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class PromptStyle:
    budget_tokens: int = 80_000  # for history in one request
    block_tokens: int = 1_500  # channel messages frozen together
    channel_locale: Locale = Locale.JA
    """For a channel's instructions: the same for all users, so that caches hit."""


def build_prompt(
    history: Sequence[Message],
    question: Message,
    *,
    tools: Sequence[ToolSchema],
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    temporary: bool = False,
    paused: bool = False,
    summary: PromptNote | None = None,
    canvas: SystemPart = SystemPart(""),
    persona: str = "",
    notes: Sequence[Memory] = (),
    budget_tokens: float = PromptStyle().budget_tokens,
    cost: Callable[[Message], float] = message_tokens,
) -> tuple[PromptPart, ...]:
    """`summary` is of the conversation before the history; `notes` are memories that are always sent."""
    question_part = user_part(question.below(history[-1].discord_id if history else None))
    words, earlier = instructions(locale), summary.text if summary else ""
    changing_text = changing(locale, now, timezone, earlier, paused=paused, canvas=canvas.text)
    unstored, known = words.temporary if temporary else "", profile(notes, words.the_user, words, timezone)
    tainted = canvas.tainted or (summary is not None and summary.tainted)
    return (
        SystemPart(system_text(persona, tools, words, unstored, known)),
        *chain.from_iterable(map(message_parts, window(history, budget_tokens, cost))),
        SystemPart(changing_text, tainted),
        question_part,
    )


def system_text(
    persona: str, tools: Sequence[ToolSchema], words: Instructions, *more: str, channel: str = ""
) -> str:
    offered = {tool.name for tool in tools}
    parts = (
        f"{persona}\n{words.markdown}" if persona else words.persona,
        channel,
        words.remembering if "remember" in offered else "",
        words.recalling if "recall" in offered else "",
        *more,
    )
    return "\n".join(filter(None, parts))


def changing(
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    recap: str = "",
    *,
    paused: bool = False,
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
        f"{time_line}\n{words.paused}" if paused else time_line,
        canvas,
        words.recap.format(summary=recap) if recap else "",
    )
    return "\n\n".join(part for part in parts if part)


def summary_note(session: Session, visibility: Visibility) -> PromptNote:
    """Return the previous conversation's summary; a private one in private turns only. User messages of an
    expired session that are not summarized yet are quoted."""
    summaries, rest = (
        [known for known in all_known if visibility == "private" or known.visibility == "public"]
        for all_known in (session.summaries, session.unsummarized)
    )
    texts = [known.text for known in summaries]
    if rest:
        texts.append(list_statements(known.text for known in rest))
    tainted = any(known.tainted for known in (*summaries, *rest))
    return PromptNote(visibility, "\n".join(filter(None, texts)), tainted)


def shrunk_history(history: int, other_tokens: int, limit: int | None) -> int:
    """Return the history tokens to keep after a request was refused for its length: half; none if it was less
    than the rest of the request. At most three quarters of `limit` are used, to leave room for the answer."""
    half = history // 2 if history >= other_tokens else 0
    return half if limit is None else min(half, fitting_history(other_tokens, limit))


def fitting_history(other_tokens: int, limit: int) -> int:
    return max(0, limit * 3 // 4 - other_tokens)
