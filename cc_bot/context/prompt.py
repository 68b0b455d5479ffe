"""The prompt of one request, steadiest part first.

    stable system message | history | second system message (what changes) | the new question

The notes of its user that an operator wants told from the start stand at the end of the stable message: they
are other ones only when the user's memories are.

Two turns of a session share everything up to the end of the older one's history, byte for byte, which
is what a provider's prefix cache needs.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import chain
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.instructions import Instructions, instructions
from cc_bot.context.tokens import message_parts, message_tokens, user_part
from cc_bot.domain.canvas import Canvas, Card, Chart, Element, Text
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import Recollection, Session
from cc_bot.domain.summary import listed
from cc_bot.domain.text import shorten
from cc_bot.llm.model import PromptPart, SystemPart, ToolSchema

# ---- canvas lines ----------------------------------------------------------------------------------------
# What is on a canvas, in one line an element, as the model is told on every turn.
#
# Values are JSON strings: however a title reads, it stays on its line and within its quotes. Long ones are
# cut: this tells what is up, and every token of it is paid for again with each question.

CONTENT_SHOWN: Final = 80
"""Characters of a content."""


def canvas_lines(canvas: Canvas) -> str:
    lines = [_line(each) for each in canvas.elements]
    if canvas.mode != "list":
        focus = f" focus={_quoted(canvas.focus)}" if canvas.focus else ""
        lines.append(f"mode={_quoted(canvas.mode)}{focus}")
    return "\n".join(lines)


def _line(element: Element) -> str:
    match element:
        case Card(id_, title, content):
            kind, told = "card", {"title": title, "content": content}
        case Text(id_, content, title):
            kind, told = "text", {"title": title, "content": content} if title else {"content": content}
        case Chart(id_, title, type_):
            kind, told = "chart", {"title": title, "type": type_}
    values = ", ".join(f"{name}={_quoted(value)}" for name, value in told.items())
    return f"- [{kind}] id={_quoted(id_)}: {values}"


def _quoted(text: str) -> str:
    return json.dumps(shorten(" ".join(text.split()), CONTENT_SHOWN), ensure_ascii=False)


# ---- profile ---------------------------------------------------------------------------------------------
# The notes that a prompt tells of its user from the start, in one line each.
#
# Texts are JSON strings: however a note reads, it stays on its line and within its quotes. Long ones are cut,
# since every token of them is paid for again with each question; `recall` tells the whole.

NOTE_SHOWN: Final = 500
"""Characters of a note."""


def profile(notes: Sequence[Memory], who: str, words: Instructions, timezone: ZoneInfo) -> str:
    """The notes, marked off as what they are; empty where there are none. `who` names their user."""
    if not notes:
        return ""
    return "\n".join((words.profile.format(who=who), *(_noted(note, timezone) for note in notes)))


def _noted(note: Memory, timezone: ZoneInfo) -> str:
    day = note.updated_at.astimezone(timezone).date().isoformat()
    return f"- {day}: {json.dumps(shorten(note.content, NOTE_SHOWN), ensure_ascii=False)}"


# ---- window ----------------------------------------------------------------------------------------------
# How much of the history is sent: what fits the token budget, newest first, in whole pairs.
#
# Where not all of it fits, it begins at the same message for many turns and then moves on by many at once, so
# that a provider's cache knows most of each request. Nobody has to remember where it began: of the messages
# at which it may begin, it is the one whose hash is the least, and that stays the least until it fits no
# more.

KEPT_SHARE: Final = 0.5
"""How much of the budget is used at least. Half lets it begin anew every twentieth turn or so, and uses 72 %
of the budget on average; three quarters would begin anew twice as often."""


def window(
    history: Sequence[Message], budget_tokens: float, cost: Callable[[Message], float]
) -> tuple[Message, ...]:
    """The newest messages that fit the budget together, oldest first.

    A question is never parted from its answer: the window starts with a user message.
    """
    spent = 0.0
    starts: list[tuple[int, float]] = []
    for index in range(len(history) - 1, -1, -1):
        spent += cost(history[index])
        if spent > budget_tokens:
            return tuple(history[_steady(history, starts, budget_tokens) :])
        if history[index].role == "user":
            starts.append((index, spent))
    return tuple(history[starts[-1][0] :]) if starts else ()


def tokens_up_to(history: Sequence[Message], enough: float, cost: Callable[[Message], float]) -> float:
    """Count what the newest messages cost together, only until it is more than enough."""
    spent = 0.0
    for message in reversed(history):
        spent += cost(message)
        if spent > enough:
            break
    return spent


def _steady(history: Sequence[Message], starts: Sequence[tuple[int, float]], budget_tokens: float) -> int:
    """Choose where to begin; `starts` are the places that fit, newest first, with what is used from there
    on."""
    if not starts:
        return len(history)
    enough = [index for index, spent in starts if spent >= budget_tokens * KEPT_SHARE]
    return min(enough or [starts[-1][0]], key=lambda index: _hash(history[index]))


def _hash(message: Message) -> bytes:
    named = message.content if message.id is None else str(message.id)
    return blake2b(named.encode(errors="replace"), digest_size=8).digest()


# ---- prompt ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """The operator's decisions about every prompt."""

    budget_tokens: int = 80_000
    """Tokens of history in one request."""
    block_tokens: int = 1_500
    """Tokens of a channel's messages that are frozen together."""
    channel_locale: Locale = Locale.JA
    """In which language a channel's requests are made: in one, whoever asks, so that they begin alike."""


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
    recap: Recollection | None = None,
    canvas: Canvas = Canvas(),
    persona: str = "",
    notes: Sequence[Memory] = (),
    style: PromptStyle = PromptStyle(),
    budget_tokens: float | None = None,
    cost: Callable[[Message], float] = message_tokens,
) -> tuple[PromptPart, ...]:
    """Build everything that the model sees of a turn before it answers.

    `recap` tells of what was before the history; of the canvas it is told what may be seen in the turn;
    `persona` is what an agent is told to be instead of cc-bot's own; `notes` are the user's that are told
    from the start. Of the history, `budget_tokens` are shown at most, the style's own when it is None; `cost`
    tells what a message takes of them.
    """
    asked = user_part(question.below(history[-1].discord_id if history else None))
    budget = style.budget_tokens if budget_tokens is None else budget_tokens
    told = changing(
        locale, now.astimezone(timezone), timezone, recap.text if recap else "", paused=paused, canvas=canvas
    )
    tainted = canvas.tainted or (recap is not None and recap.tainted)
    return (
        SystemPart(_stable(locale, tools, persona, notes, timezone, temporary=temporary)),
        *chain.from_iterable(map(message_parts, window(history, budget, cost))),
        SystemPart(told, tainted),
        asked,
    )


def _stable(
    locale: Locale,
    tools: Sequence[ToolSchema],
    persona: str,
    notes: Sequence[Memory],
    timezone: ZoneInfo,
    *,
    temporary: bool,
) -> str:
    words = instructions(locale)
    offered = {tool.name for tool in tools}
    parts = (
        told_to_be(persona, words),
        words.remembering if "remember" in offered else "",
        words.recalling if "recall" in offered else "",
        words.temporary if temporary else "",
        profile(notes, words.the_user, words, timezone),
    )
    return "\n".join(part for part in parts if part)


def told_to_be(persona: str, words: Instructions) -> str:
    """Say who answers: an agent's persona, which has to fit the place where it answers, or cc-bot's own."""
    return f"{persona}\n{words.markdown}" if persona else words.persona


def changing(
    locale: Locale,
    local: datetime,
    timezone: ZoneInfo,
    recap: str = "",
    *,
    paused: bool = False,
    canvas: Canvas = Canvas(),
) -> str:
    """The present date and time, whether memory is paused, what is on the canvas, and what was said before
    the conversation."""
    words = instructions(locale)
    now = words.now.format(
        date=f"{local:%Y-%m-%d}",
        weekday=words.weekdays[local.weekday()],
        time=f"{local:%H:%M}",
        timezone=timezone.key,
    )
    parts = (
        f"{now}\n{words.paused}" if paused else now,
        "" if canvas.empty else f"{words.canvas}\n{canvas_lines(canvas)}",
        words.recap.format(summary=recap) if recap else "",
    )
    return "\n\n".join(part for part in parts if part)


# ---- built -----------------------------------------------------------------------------------------------
# A prompt, and what is known about it: where it is steady, and whether it could be shorter.


@dataclass(frozen=True, slots=True)
class Built:
    """The prompt of a turn before its first round."""

    parts: tuple[PromptPart, ...]
    stable: tuple[int, ...] = ()
    """As `ChatRequest.stable`."""
    history: bool = False
    """Whether it shows anything of what was said before the question: that could be left out."""


def of_session(parts: Sequence[PromptPart]) -> Built:
    """Wrap what `build_prompt` made: steady in its first part, and up to where its history ends."""
    last = len(parts) - 3
    return Built(tuple(parts), (0, last) if last > 0 else (0,), history=last > 0)


# ---- recap -----------------------------------------------------------------------------------------------
# What a turn is told of the conversation before its history: the summaries that may be seen in it.


def recap(session: Session, visibility: Visibility) -> Recollection:
    """Write what follows 'Previous conversation summary'; its text is empty when there is nothing to tell.

    `visibility` is that of the turn: what was written down of private turns is for private ones. An expired
    session's last words that are in no summary yet are told word for word, so that nothing waits for a model.
    """
    summaries, rest = (
        [known for known in all_known if visibility == "private" or known.visibility == "public"]
        for all_known in (session.summaries, session.rest)
    )
    texts = [known.text for known in summaries]
    if rest:
        texts.append(listed(known.text for known in rest))
    tainted = any(known.tainted for known in (*summaries, *rest))
    return Recollection(visibility, "\n".join(filter(None, texts)), tainted)


# ---- shrink ----------------------------------------------------------------------------------------------
# How much of the history a request may keep after its server refused it for its length.


def shrunk_history(history: int, beside: int, limit: int | None) -> int:
    """The tokens of history to keep, all of them as estimated; 0 when there is no room for any.

    `history` is what the refused request had of it, `beside` everything else in it, which has to stay. Half
    of the history is kept; none where it was the smaller part, as halving it would save next to nothing, and
    there is one more try only. Where the server told its `limit`, the request is to take three quarters of it
    at most, since the answer has to fit as well.
    """
    half = history // 2 if history >= beside else 0
    return half if limit is None else min(half, fitting_history(beside, limit))


def fitting_history(beside: int, limit: int) -> int:
    """The tokens of history for which there is room in a request to a model that takes `limit`."""
    return max(0, limit * 3 // 4 - beside)
