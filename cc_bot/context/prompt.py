"""The prompt of one request, steadiest part first.

    stable system message | history | second system message (what changes) | the new question

The notes of its user that an operator wants told from the start stand at the end of the stable message: they
are other ones only when the user's memories are.

Two turns of a session share everything up to the end of the older one's history, byte for byte, which
is what a provider's prefix cache needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from cc_bot.context.canvas_lines import canvas_lines
from cc_bot.context.instructions import Instructions, instructions
from cc_bot.context.parts import message_parts, user_part
from cc_bot.context.profile import profile
from cc_bot.context.tokens import message_tokens
from cc_bot.context.window import window
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Message
from cc_bot.domain.session import Recollection
from cc_bot.llm.model import PromptPart, SystemPart, ToolSchema, UserPart


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """What the operator decides about every prompt."""

    budget_tokens: int = 80_000
    """Tokens of history in one request."""
    single_system: bool = False
    """Fold the second system message into the question: many local servers' chat templates take one
    system message only, and only first."""
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
    """Everything the model sees of a turn before it answers.

    `recap` tells of what was before the history; of the canvas it is told what may be seen in the turn;
    `persona` is what an agent is told to be instead of cc-bot's own; `notes` are the user's that are told
    from the start. Of the history, `budget_tokens` are shown at most, the style's own when it is None; `cost`
    tells what a message takes of them.
    """
    asked = user_part(question)
    budget = style.budget_tokens if budget_tokens is None else budget_tokens
    told = changing(
        locale, now.astimezone(timezone), timezone, recap.text if recap else "", paused=paused, canvas=canvas
    )
    tainted = canvas.tainted or (recap is not None and recap.tainted)
    if style.single_system:
        end: tuple[PromptPart, ...] = (
            UserPart(f"[{told}]\n\n{asked.text}", asked.images, asked.tainted or tainted),
        )
    else:
        end = (SystemPart(told, tainted), asked)
    return (
        SystemPart(_stable(locale, tools, persona, notes, timezone, temporary=temporary)),
        *(part for message in window(history, budget, cost) for part in message_parts(message)),
        *end,
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
    """Who answers: an agent's persona, which has to fit the place where it answers, or cc-bot's own."""
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
