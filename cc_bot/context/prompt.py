"""The prompt of one request, steadiest part first.

    stable system message | history | second system message (what changes) | the new question

Two turns of a session share everything up to the end of the older one's history, byte for byte, which
is what a provider's prefix cache needs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from cc_bot.context.attachments import as_prompt_text
from cc_bot.context.instructions import instructions
from cc_bot.context.tokens import message_tokens
from cc_bot.context.window import window
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message
from cc_bot.llm.model import (
    AssistantPart,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """What the operator decides about every prompt."""

    budget_tokens: int = 80_000
    """Tokens of history in one request."""
    single_system: bool = False
    """Fold the second system message into the question: many local servers' chat templates take one
    system message only, and only first."""


def build_prompt(
    history: Sequence[Message],
    question: Message,
    *,
    tools: Sequence[ToolSchema],
    locale: Locale,
    now: datetime,
    timezone: ZoneInfo,
    temporary: bool = False,
    recap: str = "",
    style: PromptStyle = PromptStyle(),
) -> tuple[PromptPart, ...]:
    """Everything the model sees of a turn before it answers. `recap` tells of what was before the history."""
    asked = _user_part(question)
    changing = _changing(locale, now.astimezone(timezone), timezone, recap)
    if style.single_system:
        end: tuple[PromptPart, ...] = (UserPart(f"[{changing}]\n\n{asked.text}", asked.images),)
    else:
        end = (SystemPart(changing), asked)
    return (
        SystemPart(_stable(locale, tools, temporary=temporary)),
        *_history_parts(window(history, style.budget_tokens, message_tokens)),
        *end,
    )


def _stable(locale: Locale, tools: Sequence[ToolSchema], *, temporary: bool) -> str:
    words = instructions(locale)
    offered = {tool.name for tool in tools}
    parts = (
        words.persona,
        words.remembering if "remember" in offered else "",
        words.recalling if "recall" in offered else "",
        words.temporary if temporary else "",
    )
    return "\n".join(part for part in parts if part)


def _changing(locale: Locale, local: datetime, timezone: ZoneInfo, recap: str) -> str:
    words = instructions(locale)
    now = words.now.format(
        date=f"{local:%Y-%m-%d}",
        weekday=words.weekdays[local.weekday()],
        time=f"{local:%H:%M}",
        timezone=timezone.key,
    )
    return "\n\n".join((now, words.recap.format(summary=recap))) if recap else now


def _history_parts(history: Iterable[Message]) -> Iterator[PromptPart]:
    for message in history:
        if message.role == "user":
            yield _user_part(message)
        else:
            yield from _assistant_parts(message)


def _user_part(message: Message) -> UserPart:
    files = (as_prompt_text(attachment) for attachment in message.attachments if not attachment.is_image)
    images = tuple(attachment for attachment in message.attachments if attachment.is_image)
    return UserPart("\n\n".join(filter(None, (message.content, *files))), images)


def _assistant_parts(message: Message) -> Iterator[PromptPart]:
    """The calls with their results first, then what was said: a call without its result is refused by
    most servers, so the two are never apart."""
    if message.tool_calls:
        yield AssistantPart(
            "", tuple(ToolRequest(call.id, call.name, call.arguments) for call in message.tool_calls)
        )
        for call in message.tool_calls:
            yield ToolResultPart(call.id, call.name, call.result)
    if message.content:
        yield AssistantPart(message.content)
