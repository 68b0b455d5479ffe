"""All sentences of cc-bot. A missing translation is a type error; tests compare the placeholders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, get_type_hints

from cc_bot.domain import errors
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale
from cc_bot.texts.admin import AdminTexts, ConsoleTexts
from cc_bot.texts.answer import AnswerTexts, CanvasTexts, MentionTexts, MessageMenuTexts, SummaryTexts, UnfinishedTexts
from cc_bot.texts.area import Area, Sentence, Show, by_key
from cc_bot.texts.cli import AgentsFileTexts, BackupTexts, CliTexts, ModelsFileTexts, OperatorFileTexts, PolicyFileTexts, StorageTexts, TerminalTexts
from cc_bot.texts.commands import plainly
from cc_bot.texts.doctor import DoctorServerTexts, DoctorTexts
from cc_bot.texts.memory import MemoryBoxTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts.privacy import ErasureTexts, PrivacyTexts
from cc_bot.texts.proposal import ProposalTexts
from cc_bot.texts.reminder import HeartbeatTexts, ReminderTexts, RemindHereTexts, RepeatTexts
from cc_bot.texts.session import AgentTexts, SessionTexts, UsageTexts
from cc_bot.texts.tool_servers import FormTexts, ToolServersFileTexts, ToolServersTexts
from cc_bot.texts.web import WebCommandTexts, WebConversationTexts, WebMemoryTexts, WebPrivacyTexts, WebReminderTexts, WebSettingsTexts, WebTexts, WebUsageTexts

_ERRORS: Final = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, CcBotError)]


class ErrorTexts(Area):
    of = by_key({each: Sentence(ja=each.ja, en=each.en) for each in _ERRORS})
    tell_operator = Sentence(ja="ボットの管理者にお知らせください", en="tell the bot's operator")
    """A phrase in errors' sentences, for readers other than the operator."""


@dataclass(frozen=True, slots=True)
class Texts:
    locale: Locale
    admin: AdminTexts
    agents: AgentTexts
    agents_file: AgentsFileTexts
    answer: AnswerTexts
    backup: BackupTexts
    canvas: CanvasTexts
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


_AREAS: Final = {name: area for name, area in get_type_hints(Texts).items() if name != "locale"}


def _make(locale: Locale, show: Show) -> Texts:
    return Texts(locale, **{name: area(locale, show) for name, area in _AREAS.items()})


@cache
def _plain(locale: Locale, names: Locale) -> Texts:
    return _make(locale, plainly(names))


def texts(locale: Locale, *, names: Locale | None = None) -> Texts:
    """Return all texts in one language, with command names in that of `names`."""
    return _plain(locale, names or locale)


def texts_with_mentions(locale: Locale, ids: Mapping[str, int]) -> Texts:
    """Return the texts with mentions of the registered commands (`ids`) and names of others."""
    by_name = plainly(locale)

    def show(name: str) -> str:
        known = ids.get(name.partition(" ")[0])
        return by_name(name) if known is None else f"</{name}:{known}>"

    return _make(locale, show)


def on_discord(moment: datetime) -> str:
    """Return a Discord timestamp, shown as the distance from now."""
    return f"<t:{int(moment.timestamp())}:R>"


def explain(error: CcBotError, words: Texts, moment: Callable[[datetime], str] = on_discord) -> str:
    params = {name: moment(value) if isinstance(value, datetime) else value for name, value in error.params.items()}
    return words.errors.of[type(error)].format(**params)
