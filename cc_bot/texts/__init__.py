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
    answer,
    canvas,
    cli,
    commands,
    doctor,
    errors,
    memory,
    privacy,
    proposal,
    reminder,
    session,
    terminal,
    usage,
)
from cc_bot.texts.admin import AdminTexts
from cc_bot.texts.agents import AgentsFileTexts, AgentTexts, OperatorFileTexts, PolicyFileTexts
from cc_bot.texts.answer import AnswerTexts, MentionTexts, SummaryTexts, UnfinishedTexts
from cc_bot.texts.canvas import CanvasTexts, ChartTexts
from cc_bot.texts.cli import BackupTexts, CliTexts, StorageTexts
from cc_bot.texts.doctor import DoctorFileTexts, DoctorTexts
from cc_bot.texts.errors import ErrorTexts
from cc_bot.texts.memory import MemoryBoxTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts.naming import command_mention, named
from cc_bot.texts.privacy import ErasureTexts, PrivacyTexts
from cc_bot.texts.proposal import ProposalTexts
from cc_bot.texts.reminder import HeartbeatTexts, ReminderTexts, RemindHereTexts, RepeatTexts
from cc_bot.texts.session import SessionTexts
from cc_bot.texts.terminal import TerminalTexts
from cc_bot.texts.usage import UsageTexts


@dataclass(frozen=True, slots=True)
class Texts:
    """All areas in one language."""

    locale: Locale
    admin: AdminTexts
    agents: AgentTexts
    agents_file: AgentsFileTexts
    answer: AnswerTexts
    backup: BackupTexts
    canvas: CanvasTexts
    chart: ChartTexts
    cli: CliTexts
    doctor: DoctorTexts
    doctor_files: DoctorFileTexts
    erasure: ErasureTexts
    errors: ErrorTexts
    heartbeat: HeartbeatTexts
    memory: MemoryTexts
    memory_box: MemoryBoxTexts
    memory_card: MemoryCardTexts
    mention: MentionTexts
    operator_file: OperatorFileTexts
    policy_file: PolicyFileTexts
    privacy: PrivacyTexts
    proposal: ProposalTexts
    receipt: ReceiptTexts
    reminder: ReminderTexts
    remind_here: RemindHereTexts
    repeat: RepeatTexts
    session: SessionTexts
    storage: StorageTexts
    summary: SummaryTexts
    terminal: TerminalTexts
    unfinished: UnfinishedTexts
    usage: UsageTexts


_MARKED = {
    Locale.JA: Texts(
        locale=Locale.JA,
        admin=admin.JA,
        agents=agents.AGENTS_JA,
        agents_file=agents.AGENTS_FILE_JA,
        answer=answer.ANSWER_JA,
        backup=cli.BACKUP_JA,
        canvas=canvas.CANVAS_JA,
        chart=canvas.CHART_JA,
        cli=cli.CLI_JA,
        doctor=doctor.DOCTOR_JA,
        doctor_files=doctor.DOCTOR_FILES_JA,
        erasure=privacy.ERASURE_JA,
        errors=errors.JA,
        heartbeat=reminder.HEARTBEAT_JA,
        memory=memory.MEMORY_JA,
        memory_box=memory.MEMORY_BOX_JA,
        memory_card=memory.MEMORY_CARD_JA,
        mention=answer.MENTION_JA,
        operator_file=agents.OPERATOR_FILE_JA,
        policy_file=agents.POLICY_FILE_JA,
        privacy=privacy.PRIVACY_JA,
        proposal=proposal.JA,
        receipt=memory.RECEIPT_JA,
        reminder=reminder.REMINDER_JA,
        remind_here=reminder.REMIND_HERE_JA,
        repeat=reminder.REPEAT_JA,
        session=session.JA,
        storage=cli.STORAGE_JA,
        summary=answer.SUMMARY_JA,
        terminal=terminal.TERMINAL_JA,
        unfinished=answer.UNFINISHED_JA,
        usage=usage.JA,
    ),
    Locale.EN: Texts(
        locale=Locale.EN,
        admin=admin.EN,
        agents=agents.AGENTS_EN,
        agents_file=agents.AGENTS_FILE_EN,
        answer=answer.ANSWER_EN,
        backup=cli.BACKUP_EN,
        canvas=canvas.CANVAS_EN,
        chart=canvas.CHART_EN,
        cli=cli.CLI_EN,
        doctor=doctor.DOCTOR_EN,
        doctor_files=doctor.DOCTOR_FILES_EN,
        erasure=privacy.ERASURE_EN,
        errors=errors.EN,
        heartbeat=reminder.HEARTBEAT_EN,
        memory=memory.MEMORY_EN,
        memory_box=memory.MEMORY_BOX_EN,
        memory_card=memory.MEMORY_CARD_EN,
        mention=answer.MENTION_EN,
        operator_file=agents.OPERATOR_FILE_EN,
        policy_file=agents.POLICY_FILE_EN,
        privacy=privacy.PRIVACY_EN,
        proposal=proposal.EN,
        receipt=memory.RECEIPT_EN,
        reminder=reminder.REMINDER_EN,
        remind_here=reminder.REMIND_HERE_EN,
        repeat=reminder.REPEAT_EN,
        session=session.EN,
        storage=cli.STORAGE_EN,
        summary=answer.SUMMARY_EN,
        terminal=terminal.TERMINAL_EN,
        unfinished=answer.UNFINISHED_EN,
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
