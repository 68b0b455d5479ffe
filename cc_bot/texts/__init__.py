"""Every sentence that cc-bot says, in every language, each pair side by side.

One file an area: a frozen dataclass whose fields are templates for `str.format`, and one instance of
it per language. A missing translation is therefore a type error, and tests compare the placeholders.
"""

import re
from dataclasses import dataclass

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.texts import (
    agents,
    agents_file,
    answer,
    canvas,
    chart,
    cli,
    erasure,
    errors,
    heartbeat,
    memory,
    memory_box,
    memory_card,
    mention,
    receipt,
    remind_here,
    reminder,
    repeat,
    session,
    summary,
    terminal,
)


@dataclass(frozen=True, slots=True)
class Texts:
    """All areas in one language."""

    agents: agents.AgentTexts
    agents_file: agents_file.AgentsFileTexts
    answer: answer.AnswerTexts
    canvas: canvas.CanvasTexts
    chart: chart.ChartTexts
    cli: cli.CliTexts
    erasure: erasure.ErasureTexts
    errors: errors.ErrorTexts
    heartbeat: heartbeat.HeartbeatTexts
    memory: memory.MemoryTexts
    memory_box: memory_box.MemoryBoxTexts
    memory_card: memory_card.MemoryCardTexts
    mention: mention.MentionTexts
    receipt: receipt.ReceiptTexts
    reminder: reminder.ReminderTexts
    remind_here: remind_here.RemindHereTexts
    repeat: repeat.RepeatTexts
    session: session.SessionTexts
    summary: summary.SummaryTexts
    terminal: terminal.TerminalTexts


_TEXTS = {
    Locale.JA: Texts(
        agents=agents.JA,
        agents_file=agents_file.JA,
        answer=answer.JA,
        canvas=canvas.JA,
        chart=chart.JA,
        cli=cli.JA,
        erasure=erasure.JA,
        errors=errors.JA,
        heartbeat=heartbeat.JA,
        memory=memory.JA,
        memory_box=memory_box.JA,
        memory_card=memory_card.JA,
        mention=mention.JA,
        receipt=receipt.JA,
        reminder=reminder.JA,
        remind_here=remind_here.JA,
        repeat=repeat.JA,
        session=session.JA,
        summary=summary.JA,
        terminal=terminal.JA,
    ),
    Locale.EN: Texts(
        agents=agents.EN,
        agents_file=agents_file.EN,
        answer=answer.EN,
        canvas=canvas.EN,
        chart=chart.EN,
        cli=cli.EN,
        erasure=erasure.EN,
        errors=errors.EN,
        heartbeat=heartbeat.EN,
        memory=memory.EN,
        memory_box=memory_box.EN,
        memory_card=memory_card.EN,
        mention=mention.EN,
        receipt=receipt.EN,
        reminder=reminder.EN,
        remind_here=remind_here.EN,
        repeat=repeat.EN,
        session=session.EN,
        summary=summary.EN,
        terminal=terminal.EN,
    ),
}


def texts(locale: Locale) -> Texts:
    """Every text in one language."""
    return _TEXTS[locale]


def explain(error: CcBotError, locale: Locale) -> str:
    """One sentence for the person who can do something about the error."""
    field = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    template: str = getattr(texts(locale).errors, field)
    return template.format(**error.params)
