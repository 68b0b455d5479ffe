"""The prompt of a turn in a channel, steadiest part first.

    stable system message | messages, one part each | second system message (what changes) | the questions

Everyone in the channel is shown by the name that stands before what they said, with a mark that is theirs
alone. The names of who speaks now
change from turn to turn, so they come after the messages, with the date; and so do the notes of who asks that
an operator wants told from the start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.blocks import Group, render, said_tokens, speaker, spoken
from cc_bot.context.built import Built
from cc_bot.context.instructions import instructions
from cc_bot.context.parts import user_part
from cc_bot.context.profile import profile
from cc_bot.context.prompt import PromptStyle, changing, told_to_be
from cc_bot.domain.channel import Said
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Message
from cc_bot.llm.model import AssistantPart, PromptPart, SystemPart, ToolSchema, UserPart

MARKED_BLOCKS: Final = 3
"""Providers take four marks; one is the system message's."""
NAMED: Final = 20
"""People whose names are told, at most: those who spoke last."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The messages of a context, oldest first, and where its frozen blocks end."""

    rows: tuple[Said, ...]
    ends: tuple[int, ...] = ()
    """After how many of the rows a block ends, ascending."""

    @classmethod
    def of(cls, groups: Sequence[Group]) -> "Shown":
        rows = tuple(row for group in groups for row in group.rows)
        ends = accumulate(len(group.rows) for group in groups)
        frozen = tuple(end for end, group in zip(ends, groups, strict=True) if group.block)
        return cls(rows, frozen)._from_question()

    def newest(self, tokens: float) -> "Shown":
        """Its newest messages that fit, in tokens as estimated."""
        start, spent = len(self.rows), 0.0
        while start:
            spent += said_tokens(self.rows[start - 1])
            if spent > tokens:
                break
            start -= 1
        return self._without(start)._from_question()

    def _from_question(self) -> "Shown":
        """A history never starts with an answer."""
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
    style: PromptStyle = PromptStyle(),
) -> Built:
    """Everything the model sees of a channel's turn before it answers; `persona` is what an agent is told to
    be instead of cc-bot's own, `notes` are those of who asks that are told from the start."""
    now_told = changing(locale, now.astimezone(timezone), timezone, paused=paused)
    words = instructions(locale)
    of_asker = profile(notes, words.the_asker, words, timezone)
    told = "\n\n".join(filter(None, (f"{now_told}\n{_speakers(shown, questions, locale)}", of_asker)))
    asked = [_asked(question, alone=len(questions) == 1) for question in questions]
    history = list(map(render, shown.rows))
    others = bool(shown.rows)
    system = SystemPart(_stable(locale, tools, persona))
    if style.single_system:
        first, *further = asked
        folded = UserPart(f"[{told}]\n\n{first.text}", first.images, first.tainted or others)
        parts, ends = _alternating((system, *history, folded, *further), shown.ends)
    else:
        parts, ends = (system, *history, SystemPart(told, others), *asked), shown.ends
    return Built(parts, (0, *ends[-MARKED_BLOCKS:]), history=bool(history))


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
    """Who speaks since the last block, and who asks."""
    words = instructions(locale)
    unfrozen = shown.rows[shown.ends[-1] if shown.ends else 0 :]
    spoke = [speaker(row.name, row.author_id) for row in reversed(unfrozen) if row.role == "user"]
    asking = [speaker(question.author_name, question.author_id) for question in questions]
    named = list(dict.fromkeys([*asking, *spoke]))[:NAMED]
    return words.speakers.format(
        speakers=words.between_names.join(named),
        asking=words.between_names.join(dict.fromkeys(asking)),
    )


def _asked(question: Message, *, alone: bool) -> UserPart:
    """Of several people's questions each is foreign to the others."""
    said = spoken(question.author_name, question.author_id, question.content)
    part = user_part(replace(question, content=said))
    return replace(part, tainted=question.taints or not alone)


def _alternating(
    parts: Sequence[PromptPart], ends: Sequence[int]
) -> tuple[tuple[PromptPart, ...], tuple[int, ...]]:
    """Question and answer by turns, as templates want it that know one system message only, and where of the
    places `ends` are now.

    What several people say one after the other becomes one part, so a block may end within one: there the
    next request may go on, and no mark can stand.
    """
    merged: list[PromptPart] = []
    marks: list[int] = []
    for index, part in enumerate(parts):
        match merged[-1:], part:
            case [UserPart(before, images, tainted)], UserPart(text, more):
                joined = f"{before}\n\n{text}"
                merged[-1] = UserPart(joined, (*images, *more), tainted or part.tainted)
            case [AssistantPart(before, tainted=tainted)], AssistantPart(text):
                merged[-1] = AssistantPart(f"{before}\n\n{text}", tainted=tainted or part.tainted)
            case _:
                if index - 1 in ends:
                    marks.append(len(merged) - 1)
                merged.append(part)
    return tuple(merged), tuple(marks)
