"""The sentences that cc-bot says, all of them in every language.

One file a noun. An area is a class, and each of its attributes a sentence with both its languages side by side
(area.py); whoever has an area in one language reads strings of it. A missing translation is a type error, and
tests compare the placeholders. A command stands in a sentence as a mark, `</memory add>`: see naming.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_type_hints

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.texts.admin import AdminTexts
from cc_bot.texts.agents import AgentsFileTexts, AgentTexts, ModelsFileTexts, OperatorFileTexts, PolicyFileTexts
from cc_bot.texts.answer import AnswerTexts, MentionTexts, MessageMenuTexts, SummaryTexts, UnfinishedTexts
from cc_bot.texts.canvas import CanvasTexts, ChartTexts
from cc_bot.texts.cli import BackupTexts, CliTexts, StorageTexts
from cc_bot.texts.commands import plainly
from cc_bot.texts.console import ConsoleTexts
from cc_bot.texts.doctor import DoctorServerTexts, DoctorTexts
from cc_bot.texts.errors import ErrorTexts
from cc_bot.texts.memory import MemoryBoxTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts.naming import Show, command_mention
from cc_bot.texts.privacy import ErasureTexts, PrivacyTexts
from cc_bot.texts.proposal import ProposalTexts
from cc_bot.texts.reminder import HeartbeatTexts, ReminderTexts, RemindHereTexts, RepeatTexts
from cc_bot.texts.session import SessionTexts
from cc_bot.texts.terminal import TerminalTexts
from cc_bot.texts.tool_servers import FormTexts, ToolServersFileTexts, ToolServersTexts
from cc_bot.texts.usage import UsageTexts
from cc_bot.texts.web import WebCommandTexts, WebStartTexts, WebTexts
from cc_bot.texts.web_account import WebConversationTexts, WebPrivacyTexts, WebReminderTexts, WebSettingsTexts, WebUsageTexts
from cc_bot.texts.web_memory import WebMemoryTexts


@dataclass(frozen=True, slots=True)
class Texts:
    """The areas of texts in one language."""

    locale: Locale
    admin: AdminTexts
    agents: AgentTexts
    agents_file: AgentsFileTexts
    answer: AnswerTexts
    backup: BackupTexts
    canvas: CanvasTexts
    chart: ChartTexts
    cli: CliTexts
    console: ConsoleTexts
    doctor: DoctorTexts
    doctor_server: DoctorServerTexts
    erasure: ErasureTexts
    errors: ErrorTexts
    form: FormTexts
    heartbeat: HeartbeatTexts
    memory: MemoryTexts
    memory_box: MemoryBoxTexts
    memory_card: MemoryCardTexts
    mention: MentionTexts
    menu: MessageMenuTexts
    models_file: ModelsFileTexts
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
    tool_servers: ToolServersTexts
    tool_servers_file: ToolServersFileTexts
    unfinished: UnfinishedTexts
    usage: UsageTexts
    web: WebTexts
    web_memory: WebMemoryTexts
    web_command: WebCommandTexts
    web_conversation: WebConversationTexts
    web_privacy: WebPrivacyTexts
    web_reminder: WebReminderTexts
    web_settings: WebSettingsTexts
    web_usage: WebUsageTexts
    web_start: WebStartTexts


_AREAS: Final = {name: area for name, area in get_type_hints(Texts).items() if name != "locale"}


def _spoken(locale: Locale, show: Show) -> Texts:
    return Texts(locale, **{name: area(locale, show) for name, area in _AREAS.items()})


_PLAIN: Final = {(locale, names): _spoken(locale, plainly(names)) for locale in Locale for names in Locale}


def texts(locale: Locale, *, names: Locale | None = None) -> Texts:
    """Return every text in one language, with commands under the names that they have in it, or in that of
    `names`."""
    return _PLAIN[locale, names or locale]


def texts_with_mentions(locale: Locale, ids: Mapping[str, int]) -> Texts:
    """Return the same for Discord, which shows commands itself. `ids` has those of the commands that are
    registered; others stand under their names."""
    by_name = plainly(locale)

    def show(command: str) -> str:
        known = ids.get(command.partition(" ")[0])
        return by_name(command) if known is None else command_mention(command, known)

    return _spoken(locale, show)


def on_discord(moment: datetime) -> str:
    """A moment as Discord shows it to each reader: so long from now, in their own language.

    Source: "Message Formatting" of Discord's reference, Timestamp Styles.
    """
    return f"<t:{int(moment.timestamp())}:R>"


def explain(error: CcBotError, words: Texts, moment: Callable[[datetime], str] = on_discord) -> str:
    """Write one sentence for the person who can do something about the error, of these texts; `moment` writes
    when something is, for readers elsewhere than on Discord."""
    params = {name: moment(value) if isinstance(value, datetime) else value for name, value in error.params.items()}
    return words.errors.of[type(error)].format(**params)
