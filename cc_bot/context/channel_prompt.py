"""The prompt of a turn in a channel, the stable part first.

stable system message | messages, one part each | second system message (what changes) | the question

Authors are named before their words, with a mark of their own. The list of current speakers and the asker's
notes change from turn to turn, so they follow the messages.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.instructions import instructions
from cc_bot.context.prompt import Built, changing, profile, told_to_be
from cc_bot.context.speakers import YOU, beginning, speaker, spoken
from cc_bot.context.tokens import UNSAID, part_tokens, user_part
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.domain.message import ContextMessage, Message
from cc_bot.domain.text import one_line
from cc_bot.llm.model import AssistantPart, SystemPart, ToolSchema, UserPart


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


MARK_EVERY: Final = 16
"""Messages. Anthropic looks back over twenty parts from a mark."""
MAX_NAMED: Final = 20
"""People whose names are listed: those who spoke last."""


def build_channel_prompt(
    shown: Sequence[ContextMessage],
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
) -> Built:
    """Build the prompt of a channel turn. `persona`: the agent's, in place of cc-bot's own. `notes`: the
    asker's memories that are always sent. A thread's title is the words of its owner."""
    now_told = changing(locale, now.astimezone(timezone), timezone, paused=paused)
    words = instructions(locale)
    of_asker = profile(notes, words.the_asker, words, timezone)
    told = "\n\n".join(filter(None, (f"{now_told}\n{_speakers(shown, questions, locale)}", of_asker)))
    last_id = shown[-1].id if shown else None
    asked = [_asked(question.below(last_id)) for question in questions]
    history = [render(row, asker_id) for row in shown]
    system = SystemPart(_stable(locale, tools, persona))
    titled = words.thread.format(title=one_line(thread_title))
    title = [UserPart(titled, tainted=thread_owner_id != asker_id)] if thread_title else []
    others = any(part.tainted for part in history)  # and it names them
    parts = (system, *history, SystemPart(told, others), *title, *asked)
    return Built(parts, _marks(len(history)), history=bool(history))


def _marks(length: int) -> tuple[int, ...]:
    """Return where to mark the prompt for a provider's cache: after the system message, at the end of the
    history and, since that moves, at two places of it that stay as long as it begins alike. Four at most."""
    steady = length - length % MARK_EVERY
    return tuple(at for at in sorted({0, steady - MARK_EVERY, steady, length}) if at >= 0)


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


def _speakers(shown: Sequence[ContextMessage], questions: Sequence[Message], locale: Locale) -> str:
    """List who spoke last, and who asks."""
    words = instructions(locale)
    spoke = (speaker(row.name, row.author_id) for row in reversed(shown) if row.role == "user")
    asking = speaker(questions[-1].author_name, questions[-1].author_id)
    named = list(islice(dict.fromkeys((asking, *spoke)), MAX_NAMED))
    return words.speakers.format(speakers=words.between_names.join(named), asking=asking)


def _asked(question: Message) -> UserPart:
    said = spoken(question.author_name, question.author_id, question.content)
    return replace(user_part(replace(question, content=said)), tainted=question.taints)
