"""Every sentence that cc-bot says, in every language, each pair side by side.

One file an area: a frozen dataclass whose fields are templates for `str.format`, and one instance of
it per language. A missing translation is therefore a type error, and tests compare the placeholders.
A command stands in a sentence as a mark, `</memory add>`: see naming.py.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.texts import (
    admin,
    agents,
    agents_file,
    answer,
    backup,
    canvas,
    chart,
    cli,
    commands,
    doctor,
    doctor_files,
    erasure,
    error_names,
    errors,
    heartbeat,
    memory,
    memory_box,
    memory_card,
    mention,
    operator_file,
    policy_file,
    privacy,
    proposal,
    receipt,
    remind_here,
    reminder,
    repeat,
    session,
    storage,
    summary,
    terminal,
    unfinished,
    usage,
)
from cc_bot.texts.naming import command_mention, named


@dataclass(frozen=True, slots=True)
class Texts:
    """All areas in one language."""

    locale: Locale
    admin: admin.AdminTexts
    agents: agents.AgentTexts
    agents_file: agents_file.AgentsFileTexts
    answer: answer.AnswerTexts
    backup: backup.BackupTexts
    canvas: canvas.CanvasTexts
    chart: chart.ChartTexts
    cli: cli.CliTexts
    doctor: doctor.DoctorTexts
    doctor_files: doctor_files.DoctorFileTexts
    erasure: erasure.ErasureTexts
    errors: error_names.ErrorTexts
    heartbeat: heartbeat.HeartbeatTexts
    memory: memory.MemoryTexts
    memory_box: memory_box.MemoryBoxTexts
    memory_card: memory_card.MemoryCardTexts
    mention: mention.MentionTexts
    operator_file: operator_file.OperatorFileTexts
    policy_file: policy_file.PolicyFileTexts
    privacy: privacy.PrivacyTexts
    proposal: proposal.ProposalTexts
    receipt: receipt.ReceiptTexts
    reminder: reminder.ReminderTexts
    remind_here: remind_here.RemindHereTexts
    repeat: repeat.RepeatTexts
    session: session.SessionTexts
    storage: storage.StorageTexts
    summary: summary.SummaryTexts
    terminal: terminal.TerminalTexts
    unfinished: unfinished.UnfinishedTexts
    usage: usage.UsageTexts


_MARKED = {
    Locale.JA: Texts(
        locale=Locale.JA,
        admin=admin.JA,
        agents=agents.JA,
        agents_file=agents_file.JA,
        answer=answer.JA,
        backup=backup.JA,
        canvas=canvas.JA,
        chart=chart.JA,
        cli=cli.JA,
        doctor=doctor.JA,
        doctor_files=doctor_files.JA,
        erasure=erasure.JA,
        errors=errors.JA,
        heartbeat=heartbeat.JA,
        memory=memory.JA,
        memory_box=memory_box.JA,
        memory_card=memory_card.JA,
        mention=mention.JA,
        operator_file=operator_file.JA,
        policy_file=policy_file.JA,
        privacy=privacy.JA,
        proposal=proposal.JA,
        receipt=receipt.JA,
        reminder=reminder.JA,
        remind_here=remind_here.JA,
        repeat=repeat.JA,
        session=session.JA,
        storage=storage.JA,
        summary=summary.JA,
        terminal=terminal.JA,
        unfinished=unfinished.JA,
        usage=usage.JA,
    ),
    Locale.EN: Texts(
        locale=Locale.EN,
        admin=admin.EN,
        agents=agents.EN,
        agents_file=agents_file.EN,
        answer=answer.EN,
        backup=backup.EN,
        canvas=canvas.EN,
        chart=chart.EN,
        cli=cli.EN,
        doctor=doctor.EN,
        doctor_files=doctor_files.EN,
        erasure=erasure.EN,
        errors=errors.EN,
        heartbeat=heartbeat.EN,
        memory=memory.EN,
        memory_box=memory_box.EN,
        memory_card=memory_card.EN,
        mention=mention.EN,
        operator_file=operator_file.EN,
        policy_file=policy_file.EN,
        privacy=privacy.EN,
        proposal=proposal.EN,
        receipt=receipt.EN,
        reminder=reminder.EN,
        remind_here=remind_here.EN,
        repeat=repeat.EN,
        session=session.EN,
        storage=storage.EN,
        summary=summary.EN,
        terminal=terminal.EN,
        unfinished=unfinished.EN,
        usage=usage.EN,
    ),
}


_PLAIN = {
    (locale, names): named(marked, commands.plainly(names))
    for locale, marked in _MARKED.items()
    for names in Locale
}


def texts(locale: Locale, *, names: Locale | None = None) -> Texts:
    """Every text in one language, with commands under the names that they have in it, or in that of `names`."""
    return _PLAIN[locale, names or locale]


def texts_with_mentions(locale: Locale, ids: Mapping[str, int]) -> Texts:
    """The same for Discord, which shows commands itself. `ids` has those of the commands that are registered;
    others stand under their names."""
    plainly = commands.plainly(locale)

    def show(command: str) -> str:
        known = ids.get(command.partition(" ")[0])
        return plainly(command) if known is None else command_mention(command, known)

    return named(_MARKED[locale], show)


def on_discord(moment: datetime) -> str:
    """A moment as Discord shows it to each reader: so long from now, in their own language.

    Source: "Message Formatting" of Discord's reference, Timestamp Styles.
    """
    return f"<t:{int(moment.timestamp())}:R>"


def explain(error: CcBotError, words: Texts, moment: Callable[[datetime], str] = on_discord) -> str:
    """One sentence for the person who can do something about the error, of these texts; `moment` writes when
    something is, for readers elsewhere than on Discord."""
    field = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    template: str = getattr(words.errors, field)
    params = {
        name: moment(value) if isinstance(value, datetime) else value for name, value in error.params.items()
    }
    return template.format(**params)
