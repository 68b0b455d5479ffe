"""Settings that owners change at run time. Front ends check that the caller is an owner.

The log gets ids, numbers and known names, never an owner's text.
"""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import structlog

from cc_bot.chat.policy import Policies
from cc_bot.chat.reply import Caller, Reply
from cc_bot.chat.stores.opening import Stores
from cc_bot.db.process import find_differing, find_free_shards, write_shards
from cc_bot.domain.access import SUBJECTS, AccessRules, Ruling, Subject
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, ModelNotFound
from cc_bot.domain.text import format_size, one_line, remove_controls
from cc_bot.domain.usage import (
    DEFAULT_RULES,
    EVERYONE_ID,
    LIMIT_NAMES,
    MAX_LIMIT,
    QUOTAS,
    LimitKey,
    LimitName,
)
from cc_bot.features.admin.errors import (
    LimitNotForChannels,
    LimitNotForServers,
    LimitNotUnderstood,
    ModelsNotUnderstood,
    SubjectNotUnderstood,
)
from cc_bot.features.admin.status import BotStatus, StatusSnapshot
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.texts import Texts
from cc_bot.texts.cli import ProcessTexts
from cc_bot.texts.replies import UsageTexts, money

_log = structlog.get_logger(__name__)

# Owners type a mention or an id, as Discord's own options offer nothing of other servers.

_MENTION: Final = re.compile(r"<(@!?|@&|#)(\d{1,19})>")
_SUBJECT_BY_SIGN: Final[dict[str, Subject]] = {"@": "user", "@!": "user", "@&": "role", "#": "channel"}
_MAX_ID: Final = 2**63


class Mentionable(NamedTuple):
    subject: Subject
    id: int


def parse_subject(text: str, kind: Subject | None, guild_id: int | None = None) -> Mentionable:
    """Parse a mention, or the id of a `kind`; no text: the server. Raises SubjectNotUnderstood."""
    text = unicodedata.normalize("NFKC", text).strip()
    if match := _MENTION.fullmatch(text):
        mentioned = Mentionable(_SUBJECT_BY_SIGN[match[1]], int(match[2]))
        if kind in (None, mentioned.subject) and 0 < mentioned.id < _MAX_ID:
            return mentioned
    elif kind == "guild" and not text and guild_id is not None:
        return Mentionable(kind, guild_id)
    elif kind and re.fullmatch(r"[0-9]{1,19}", text) and 0 < int(text) < _MAX_ID:
        return Mentionable(kind, int(text))
    raise SubjectNotUnderstood


MAX_MODELS: Final = 5
MAX_MODEL_CHARACTERS: Final = 100
MAX_NOTE_CHARACTERS: Final = 300
MODEL_TIMEOUT_S: Final = 10.0  # a slower model is not reported as missing: its server may be loading it

ProbeModel = Callable[[str], Awaitable[None]]
"""Requests one token from a model. Raises CcBotError if there is no answer."""


@dataclass(frozen=True, slots=True)
class Administration:
    stores: Stores
    policies: Policies
    probe_model: ProbeModel | None  # None: models are not checked


def _log_change(change: str, caller: Caller, **fields: str | int | None) -> None:
    _log.info("admin_changed", change=change, by=caller.user_id, **fields)


@dataclass(frozen=True, slots=True)
class LimitWithSource:
    key: LimitKey
    value: int | None  # None: no limit
    source: Literal[
        "owner", "file", "default"
    ]  # an owner's limit, set at run time, overrides the policy file's


async def list_limits(administration: Administration) -> Sequence[LimitWithSource]:
    limits = dict[LimitKey, LimitWithSource]()
    for key, value in (await administration.policies.current()).limits.items():
        limits[key] = LimitWithSource(key, value, "default" if value == DEFAULT_RULES.get(key, 0) else "file")
    for each in await administration.stores.limits.list_all():
        limits[each.key] = LimitWithSource(each.key, each.value, "owner")
    return sorted(limits.values(), key=lambda each: (each.key.scope, each.key.scope_id, each.key.name))


async def show_limits(caller: Caller, *, administration: Administration) -> Reply:
    texts = caller.words[AdminTexts]
    sources = {"owner": "", "file": texts.from_file, "default": texts.by_default}
    lines = (
        texts.limit_line.format(**_format_limit(each.key, each.value, caller), source=sources[each.source])
        for each in await list_limits(administration)
    )
    return Reply(tuple(lines), title=texts.limits_title)


async def set_limit(
    caller: Caller,
    limit: str,
    value: int | None,
    subject: str,
    kind: Subject | None,
    *,
    administration: Administration,
) -> Reply:
    """Set a limit; None: no limit. Raises as `parse_limit`."""
    key = parse_limit(limit, subject, kind, caller.guild_id)
    await administration.stores.limits.set(key, value, set_by=caller.user_id)
    _log_change("limit_set", caller, **_log_fields(key), value=value)
    return Reply((caller.words[AdminTexts].limit_set.format(**_format_limit(key, value, caller)),))


async def unset_limit(
    caller: Caller, limit: str, subject: str, kind: Subject | None, *, administration: Administration
) -> Reply:
    """Remove a limit set at run time. Raises as `parse_limit`."""
    texts, key = caller.words[AdminTexts], parse_limit(limit, subject, kind, caller.guild_id)
    if not await administration.stores.limits.unset(key):
        return Reply((texts.limit_was_not_set,))
    _log_change("limit_unset", caller, **_log_fields(key))
    return Reply((texts.limit_unset,))


def name_subject_of_limit(key: LimitKey, caller: Caller) -> str:
    if key.scope == "everyone":
        return caller.words[AdminTexts].everyone
    return caller.format_mention(key.scope, key.scope_id)


def parse_limit(limit: str, text: str, kind: Subject | None, guild_id: int | None = None) -> LimitKey:
    """Parse the name of a limit, and its subject as in `parse_subject`; neither text nor kind: everyone.
    Raises LimitNotUnderstood, SubjectNotUnderstood, LimitNotForChannels and LimitNotForServers."""
    name: LimitName | None = next((each for each in LIMIT_NAMES if each == limit), None)
    if name is None:
        raise LimitNotUnderstood
    if not text.strip() and kind is None:
        return LimitKey("everyone", EVERYONE_ID, name)
    subject, id_ = parse_subject(text, kind, guild_id)
    if subject == "channel":
        raise LimitNotForChannels
    if subject == "guild" and name in QUOTAS:
        raise LimitNotForServers
    return LimitKey(subject, id_, name)


def parse_limit_value(text: str) -> int | None:
    """Parse a value; empty means no limit. Raises LimitNotUnderstood."""
    digits = unicodedata.normalize("NFKC", text).strip().replace(",", "")
    if not digits:
        return None
    if not re.fullmatch(r"[0-9]{1,16}", digits) or not 1 <= int(digits) <= MAX_LIMIT:
        raise LimitNotUnderstood
    return int(digits)


def _format_limit(key: LimitKey, value: int | None, caller: Caller) -> Mapping[str, str]:
    texts = caller.words[AdminTexts]
    number = texts.no_limit if value is None else f"{value:,}" + (" B" if key.name == "memory_bytes" else "")
    return {"subject": name_subject_of_limit(key, caller), "limit": texts.limits[key.name], "value": number}


def _log_fields(key: LimitKey) -> dict[str, str | int]:
    return {"limit": key.name, "subject": key.scope, "subject_id": key.scope_id}


@dataclass(frozen=True, slots=True)
class AccessRulesBySource:
    set_in_file: AccessRules
    set_by_owners: AccessRules

    @property
    def all(self) -> AccessRules:
        return self.set_in_file | self.set_by_owners

    @property
    def has_allow_rules(self) -> bool:
        return any(rule.ruling == "allow" for rule in self.all)


async def read_access(administration: Administration) -> AccessRulesBySource:
    set_in_file = (await administration.policies.current()).access
    return AccessRulesBySource(set_in_file, (await administration.stores.access.get_state()).rules)


async def show_access(caller: Caller, owners: Collection[int], *, administration: Administration) -> Reply:
    texts, by_source = caller.words[AdminTexts], await read_access(administration)
    lines = [] if by_source.all else [texts.access_open]
    rulings: tuple[tuple[Ruling, str], ...] = (("allow", texts.allowed), ("deny", texts.denied))
    for ruling, template in rulings:
        for rules, source in ((by_source.set_by_owners, ""), (by_source.set_in_file, texts.from_file)):
            if subjects := ", ".join(caller.format_mention(*each) for each in list_subjects(rules, ruling)):
                lines.append(template.format(subjects=subjects) + source)
    if by_source.has_allow_rules:
        lines.append(texts.only_those)
    mentions = ", ".join(caller.format_mention("user", user_id) for user_id in sorted(owners))
    lines.append(texts.access_owners.format(owners=mentions))
    return Reply((*lines, texts.owners_stay), title=texts.access_title)


def list_subjects(rules: AccessRules, ruling: Ruling) -> list[Mentionable]:
    """Return the subjects of the rules with a ruling, sorted by kind and id."""
    subjects = (Mentionable(rule.subject, rule.id) for rule in rules if rule.ruling == ruling)
    return sorted(subjects, key=lambda each: (SUBJECTS.index(each.subject), each.id))


async def set_rule(
    caller: Caller, ruling: Ruling, subject: str, kind: Subject | None, *, administration: Administration
) -> Reply:
    """Raises SubjectNotUnderstood."""
    texts, target = caller.words[AdminTexts], parse_subject(subject, kind, caller.guild_id)
    await administration.stores.access.set(*target, ruling, set_by=caller.user_id)
    _log_change("access_set", caller, rule=ruling, subject=target.subject, subject_id=target.id)
    sentences = texts.access_allowed if ruling == "allow" else texts.access_denied
    sentence = sentences[target.subject].format(subject=caller.format_mention(*target))
    return Reply((sentence, texts.owners_stay))


async def remove_rule(
    caller: Caller, subject: str, kind: Subject | None, *, administration: Administration
) -> Reply:
    texts, target = caller.words[AdminTexts], parse_subject(subject, kind, caller.guild_id)
    if removed := await administration.stores.access.unset(*target):
        _log_change("access_removed", caller, subject=target.subject, subject_id=target.id)
    template = texts.access_removed if removed else texts.access_had_no_rule
    lines = [template.format(subject=caller.format_mention(*target))]
    if any((rule.subject, rule.id) == target for rule in (await read_access(administration)).set_in_file):
        lines.append(texts.access_also_in_file)
    return Reply(tuple(lines))


async def begin_maintenance(caller: Caller, note: str, *, administration: Administration) -> Reply:
    """Answer only owners, and other users with the note as one line. Answers in progress are finished."""
    note = one_line(remove_controls(note))
    await administration.stores.access.begin_maintenance(note, set_by=caller.user_id)
    _log_change("maintenance_begun", caller)
    return Reply((caller.words[AdminTexts].maintenance_begun,))


async def end_maintenance(caller: Caller, *, administration: Administration) -> Reply:
    if not await administration.stores.access.end_maintenance():
        return Reply((caller.words[AdminTexts].maintenance_was_off,))
    _log_change("maintenance_ended", caller)
    return Reply((caller.words[AdminTexts].maintenance_ended,))


async def list_models(caller: Caller, *, administration: Administration) -> Reply:
    texts = caller.words[AdminTexts]
    lines = tuple(
        f"- {caller.format_mention('channel', channel_id)}: {', '.join(chain)}"
        for channel_id, chain in (await administration.stores.channel_models.list_chains()).items()
    )
    return Reply(lines or (texts.models_none,))


async def set_models(caller: Caller, models: str, channel: str, *, administration: Administration) -> Reply:
    texts, channel_id, chain = caller.words[AdminTexts], _parse_channel(caller, channel), parse_models(models)
    await administration.stores.channel_models.set(channel_id, chain, set_by=caller.user_id)
    _log_change("models_set", caller, channel=channel_id, models=len(chain))
    template = texts.models_set if len(chain) > 1 else texts.model_set
    lines = [template.format(channel=caller.format_mention("channel", channel_id), models=", ".join(chain))]
    probe = administration.probe_model
    if missing := await _find_missing(chain, probe) if probe else ():
        lines.append(texts.models_unknown.format(models=", ".join(missing)))
    return Reply(tuple(lines))


async def unset_models(caller: Caller, channel: str, *, administration: Administration) -> Reply:
    texts, channel_id = caller.words[AdminTexts], _parse_channel(caller, channel)
    was_set = await administration.stores.channel_models.unset(channel_id)
    if was_set:
        _log_change("models_unset", caller, channel=channel_id)
    template = texts.models_unset if was_set else texts.models_were_not_set
    return Reply((template.format(channel=caller.format_mention("channel", channel_id)),))


def parse_models(text: str) -> tuple[str, ...]:
    """Split a list of model names, which may not exist. Raises ModelsNotUnderstood."""
    parts = re.split("[,、]", unicodedata.normalize("NFKC", text))
    names = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not names or len(names) > MAX_MODELS:
        raise ModelsNotUnderstood
    if any(len(name) > MAX_MODEL_CHARACTERS or not name.isprintable() or "`" in name for name in names):
        raise ModelsNotUnderstood
    return names


def _parse_channel(caller: Caller, text: str) -> int:
    return parse_subject(text, "channel").id if text.strip() else caller.channel_id


async def _find_missing(models: Sequence[str], probe: ProbeModel) -> Sequence[str]:
    """Return the missing models. Probes each, as a server's list of models may be incomplete."""

    async def is_missing(model: str) -> bool:
        with suppress(CcBotError, TimeoutError):
            try:
                async with asyncio.timeout(MODEL_TIMEOUT_S):
                    await probe(model)
            except ModelNotFound:
                return True
        return False

    results = await asyncio.gather(*map(is_missing, models))
    return [model for model, missing in zip(models, results, strict=True) if missing]


async def show_status(caller: Caller, *, status: BotStatus) -> Reply:
    snapshot, texts = await status.take_snapshot(), caller.words[AdminTexts]
    lines = [
        f"{_MARKS[each.verdict]} {each.label}: {each.value}"
        for each in describe_status(snapshot, caller, utc_now())
    ]
    if snapshot.maintenance is not None:
        note = caller.format_text(snapshot.maintenance.note, MAX_NOTE_CHARACTERS)
        lines += [texts.under_maintenance, *([f"> {note}"] if note else [])]
    return Reply(tuple(lines), title=caller.words[ConsoleTexts].status)


_MARKS: Final = {"": "▫️", "ok": "🟢", "warning": "🟡", "failed": "🔴"}


class Fact(NamedTuple):
    label: str
    value: str
    verdict: Literal["", "ok", "warning", "failed"] = ""
    at: datetime | None = None  # what `value` says, if that is a moment


OLD_BACKUP: Final = timedelta(days=2)
LOW_DISK_BYTES: Final = 2**30


def describe_status(snapshot: StatusSnapshot, caller: Caller, now: datetime) -> Sequence[Fact]:
    texts = caller.words[ConsoleTexts]
    connected = texts.connected_just_now if snapshot.connected else texts.disconnected
    if snapshot.connected and snapshot.latency_s is not None:
        connected = texts.connected.format(milliseconds=round(snapshot.latency_s * 1000))
    backup, backup_at = texts.no_backup, snapshot.backup_at
    if backup_at is not None:
        backup = caller.format_moment(backup_at)
    is_backed_up = backup_at is not None and now - backup_at < OLD_BACKUP
    free = snapshot.free_bytes
    has_room = free is not None and free >= LOW_DISK_BYTES
    turns = texts.turns_count.format(running=snapshot.load.running, waiting=snapshot.load.waiting)
    return [
        Fact("Discord", connected, "ok" if snapshot.connected else "failed"),
        *(
            [Fact(texts.last_backup, backup, "ok" if is_backed_up else "warning", backup_at)]
            if snapshot.backs_up
            else []
        ),
        Fact(
            texts.disk, texts.unknown if free is None else format_size(free), "ok" if has_room else "warning"
        ),
        Fact(texts.turns, f"{turns} {texts.of_this_process}" if snapshot.has_other_processes else turns),
        Fact(texts.today, _format_today(snapshot, caller.words)),
        Fact(texts.since, caller.format_moment(snapshot.began_at), at=snapshot.began_at),
        Fact(texts.database, format_size(snapshot.database_bytes)),
        Fact(
            texts.version,
            texts.version_value.format(version=snapshot.version, schema=snapshot.schema_version),
        ),
        *(Fact(f"🧩 {model}", ", ".join(changes)) for model, changes in snapshot.model_changes.items()),
        *(Fact(texts.processes, line) for line in _process_lines(snapshot, caller)),
    ]


def _format_today(snapshot: StatusSnapshot, texts: Texts) -> str:
    tokens, turns = f"{snapshot.tokens_today:,}", f"{snapshot.turns_today:,}"
    today = texts[UsageTexts].total.format(tokens=tokens, turns=turns)
    if snapshot.cost_micros is not None:
        cost = money(snapshot.cost_micros, snapshot.currency)
        today = texts[UsageTexts].total_cost.format(tokens=tokens, turns=turns, cost=cost)
    if snapshot.seconds_today:
        today = texts[UsageTexts].sound.format(
            total=today, time=texts[UsageTexts].duration(snapshot.seconds_today)
        )
    return today


def _process_lines(snapshot: StatusSnapshot, caller: Caller) -> Iterator[str]:
    if not snapshot.has_other_processes:
        return
    texts = caller.words[ProcessTexts]
    for each in snapshot.processes:
        process = each.process
        duties = ", ".join(duty.name for duty in snapshot.duties if duty.process == process.name)
        fields = {"host": caller.format_text(process.host), "shards": process.shards_text or texts.all_shards}
        template = texts.process_lapsed if each.lapsed else texts.process
        yield template.format(**fields, duties=duties or texts.no_duties)
        if each.is_unconnected and not each.lapsed:
            yield texts.process_unconnected.format(**fields)
    if free := find_free_shards(snapshot.processes):
        yield texts.free_shards.format(shards=write_shards(free))
    if differing := find_differing(snapshot.processes):
        yield texts.differing.format(what=", ".join(differing))
