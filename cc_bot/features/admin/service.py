"""Settings that owners change at run time. Front ends check that the caller is an owner.

The log gets ids, numbers and known names, never an owner's text.
"""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from typing import Final, Literal, NamedTuple

import structlog

from cc_bot.chat.policy import Policies
from cc_bot.chat.reply import Caller, Reply
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.access import SUBJECTS, AccessRule, Ruling, Subject
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, InputError, ModelNotFound
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
    IdNotUnderstood,
    LimitNotForChannels,
    LimitNotForServers,
    LimitNotUnderstood,
    ModelsNotUnderstood,
    SubjectNotUnderstood,
)
from cc_bot.features.admin.status import BotStatus
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.texts.replies import ReplyTexts

_log = structlog.get_logger(__name__)

# Owners type a mention or an id, as Discord's own options can't name anything of another server.

_MENTION: Final = re.compile(r"<(@!?|@&|#)(\d{1,19})>")
_SUBJECT_BY_SIGN: Final[dict[str, Subject]] = {"@": "user", "@!": "user", "@&": "role", "#": "channel"}
_MAX_ID: Final = 2**63


class Mentionable(NamedTuple):
    subject: Subject
    id: int


def parse_subject(text: str, kind: Subject | None, guild_id: int | None = None) -> Mentionable:
    """Parse a mention, or an id of this `kind`; empty: this server. Raises SubjectNotUnderstood."""
    text = unicodedata.normalize("NFKC", text).strip()
    if match := _MENTION.fullmatch(text):
        mentioned = Mentionable(_SUBJECT_BY_SIGN[match[1]], int(match[2]))
        if kind in (None, mentioned.subject) and 0 < mentioned.id < _MAX_ID:
            return mentioned
    elif kind == "guild" and not text and guild_id is not None:
        return Mentionable(kind, guild_id)
    elif kind and re.fullmatch(r"[0-9]{1,19}", text) and 0 < int(text) < _MAX_ID:
        return Mentionable(kind, int(text))
    raise IdNotUnderstood if kind else SubjectNotUnderstood


MAX_MODELS: Final = 5
MAX_MODEL_CHARACTERS: Final = 100
MAX_NOTE_CHARACTERS: Final = 300
MODEL_TIMEOUT_S: Final = 10.0  # a slower model is not called unknown, as its server may be loading it

ProbeModel = Callable[[str], Awaitable[None]]
"""Requests one token from a model. Raises CcBotError if there is no answer."""


@dataclass(frozen=True, slots=True)
class Administration:
    stores: Stores
    policies: Policies
    probe_model: ProbeModel | None  # None: models are not checked
    default_models: tuple[str, ...] = ()  # in the order they are asked; empty if the offline model answers
    make_backup: Callable[[], Awaitable[object]] | None = None  # None for a database server


def _log_change(change: str, caller: Caller, **fields: str | int | None) -> None:
    _log.info("admin_changed", change=change, by=caller.user_id, **fields)


class LimitWithSource(NamedTuple):
    key: LimitKey
    value: int | None  # None: no limit
    source: Literal["owner", "file", "default"]  # an owner's limit, set at run time, overrides the file's


async def list_limits(administration: Administration) -> Sequence[LimitWithSource]:
    keys = [LimitKey("everyone", EVERYONE_ID, name) for name in LIMIT_NAMES]
    limits = {key: LimitWithSource(key, None, "default") for key in keys}
    for key, value in (await administration.policies.current()).limits.items():
        limits[key] = LimitWithSource(key, value, "default" if value == DEFAULT_RULES.get(key, 0) else "file")
    for each in await administration.stores.limits.list_all():
        limits[each.key] = LimitWithSource(each.key, each.value, "owner")
    return sorted(limits.values(), key=lambda each: (each.key.scope, each.key.scope_id))


_SOURCE_MARKS: Final = {"owner": " ✏️", "file": " 📄", "default": ""}


async def show_limits(caller: Caller, *, administration: Administration) -> Reply:
    """The lines of each user, role or server follow its name."""
    texts, limits = caller.words[AdminTexts], await list_limits(administration)
    lines = list[str]()
    for each in limits:
        fields = _format_limit(each.key, each.value, caller)
        heading = f"**{fields['subject']}**"
        lines += [] if heading in lines else [heading]
        lines.append(f"- {fields['limit']}: **{fields['value']}**{_SOURCE_MARKS[each.source]}")
    sources = {each.source for each in limits}
    notes = [meaning for source, meaning in texts.limit_sources.items() if source in sources]
    return Reply(tuple(lines), title=texts.limits_title, notes=tuple(notes))


async def set_limit(
    caller: Caller,
    limit: str,
    value: int | None,
    subject: str,
    kind: Subject | None,
    *,
    administration: Administration,
) -> Reply:
    """Set a limit; None means no limit. Raises InputError."""
    key = parse_limit(limit, subject, kind, caller.guild_id)
    await administration.stores.limits.set(key, value, set_by=caller.user_id)
    _log_change("limit_set", caller, **_log_fields(key), value=value)
    return Reply((caller.words[AdminTexts].limit_set.format(**_format_limit(key, value, caller)),))


async def unset_limit(
    caller: Caller, limit: str, subject: str, kind: Subject | None, *, administration: Administration
) -> Reply:
    """Remove a limit set at run time. Raises InputError."""
    texts, key = caller.words[AdminTexts], parse_limit(limit, subject, kind, caller.guild_id)
    if not await administration.stores.limits.unset(key):
        return Reply((texts.limit_was_not_set,))
    _log_change("limit_unset", caller, **_log_fields(key))
    return Reply((texts.limit_unset,))


def parse_limit(limit: str, text: str, kind: Subject | None, guild_id: int | None = None) -> LimitKey:
    """Parse the name of a limit, and its subject as in `parse_subject`, or everyone without text and kind.
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
    number = texts.no_limit if value is None else f"{value:,}"
    if value is not None and key.name == "memory_bytes":
        number = format_size(value)
    who = texts.everyone if key.scope == "everyone" else caller.format_mention(key.scope, key.scope_id)
    return {"subject": who, "limit": texts.limits[key.name], "value": number}


def _log_fields(key: LimitKey) -> dict[str, str | int]:
    return {"limit": key.name, "subject": key.scope, "subject_id": key.scope_id}


class RuleWithSource(NamedTuple):
    rule: AccessRule
    is_set_by_owner: bool  # at run time; else in the policy file


async def list_rules(administration: Administration) -> Sequence[RuleWithSource]:
    """Return the allow rules, then the deny rules, sorted by kind and id."""
    rules = [RuleWithSource(rule, True) for rule in (await administration.stores.access.get_state()).rules]
    rules += [RuleWithSource(rule, False) for rule in (await administration.policies.current()).access]
    return sorted(rules, key=lambda each: (each.rule.ruling, SUBJECTS.index(each.rule.subject), each.rule.id))


async def show_access(caller: Caller, owners: Collection[int], *, administration: Administration) -> Reply:
    texts, rules = caller.words[AdminTexts], await list_rules(administration)
    templates = {"allow": texts.allowed, "deny": texts.denied}
    lines = [
        templates[rule.ruling].format(subject=caller.format_mention(rule.subject, rule.id))
        + ("" if is_set_by_owner else _SOURCE_MARKS["file"])
        for rule, is_set_by_owner in rules
    ] or [texts.access_open]
    mentions = ", ".join(caller.format_mention("user", user_id) for user_id in sorted(owners))
    lines.append(texts.access_owners.format(owners=mentions))
    console = caller.words[ConsoleTexts]
    return Reply(tuple(lines), title=console.access, notes=(console.access_hint,) if rules else ())


async def set_rule(
    caller: Caller, subject: str, kind: Subject | None, *, ruling: Ruling, administration: Administration
) -> Reply:
    """Raises SubjectNotUnderstood."""
    texts, target = caller.words[AdminTexts], parse_subject(subject, kind, caller.guild_id)
    await administration.stores.access.set(*target, ruling, set_by=caller.user_id)
    _log_change("access_set", caller, rule=ruling, subject=target.subject, subject_id=target.id)
    sentence = texts.access_allowed if ruling == "allow" else texts.access_denied
    kind_name = caller.words[ReplyTexts].subject_kinds[target.subject]
    line = sentence.format(subject=caller.format_mention(*target), kind=kind_name)
    return Reply((line, texts.owners_stay))


async def remove_rule(
    caller: Caller, subject: str, kind: Subject | None, *, administration: Administration
) -> Reply:
    texts, target = caller.words[AdminTexts], parse_subject(subject, kind, caller.guild_id)
    if removed := await administration.stores.access.unset(*target):
        _log_change("access_removed", caller, subject=target.subject, subject_id=target.id)
    template = texts.access_removed if removed else texts.access_had_no_rule
    lines = [template.format(subject=caller.format_mention(*target))]
    if any((rule.subject, rule.id) == target for rule in (await administration.policies.current()).access):
        lines.append(texts.access_also_in_file)
    return Reply(tuple(lines))


async def begin_maintenance(caller: Caller, note: str, *, administration: Administration) -> Reply:
    """From now on answer only owners; other users see the note. Answers in progress are finished."""
    note = one_line(remove_controls(note))[:MAX_NOTE_CHARACTERS]
    await administration.stores.access.begin_maintenance(note, set_by=caller.user_id)
    _log_change("maintenance_begun", caller)
    return Reply((caller.words[AdminTexts].maintenance_begun,))


async def end_maintenance(caller: Caller, *, administration: Administration) -> Reply:
    if not await administration.stores.access.end_maintenance():
        return Reply((caller.words[AdminTexts].maintenance_was_off,))
    _log_change("maintenance_ended", caller)
    return Reply((caller.words[AdminTexts].maintenance_ended,))


async def make_backup(caller: Caller, *, administration: Administration) -> Reply:
    """Raises StartupError."""
    if administration.make_backup is None:
        raise InputError
    await administration.make_backup()
    _log_change("backup_made", caller)
    return Reply((caller.words[ConsoleTexts].backup_made,))


async def list_models(caller: Caller, *, administration: Administration) -> Reply:
    texts = caller.words[AdminTexts]
    lines = tuple(
        f"- {caller.format_mention('channel', channel_id)}: {' → '.join(chain)}"
        for channel_id, chain in (await administration.stores.channel_models.list_chains()).items()
    )
    return Reply(lines or (texts.models_none,), title=caller.words[ConsoleTexts].channel_models)


async def set_models(caller: Caller, models: str, channel: str, *, administration: Administration) -> Reply:
    texts, channel_id, chain = caller.words[AdminTexts], _parse_channel(caller, channel), parse_models(models)
    await administration.stores.channel_models.set(channel_id, chain, set_by=caller.user_id)
    _log_change("models_set", caller, channel=channel_id, models=len(chain))
    mention = caller.format_mention("channel", channel_id)
    lines = [texts.models_set.format(channel=mention, models=" → ".join(chain))]
    if missing := await _find_unknown(chain, administration):
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
    """Split a list of model names, known or unknown. Raises ModelsNotUnderstood."""
    parts = re.split("[,、]", unicodedata.normalize("NFKC", text))
    names = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not names or len(names) > MAX_MODELS:
        raise ModelsNotUnderstood
    if any(len(name) > MAX_MODEL_CHARACTERS or not name.isprintable() or "`" in name for name in names):
        raise ModelsNotUnderstood
    return names


def _parse_channel(caller: Caller, text: str) -> int:
    return parse_subject(text.strip() or f"<#{caller.channel_id}>", "channel").id


async def _find_unknown(models: Sequence[str], administration: Administration) -> Sequence[str]:
    """Request a token from each model, as a server's list of models may be incomplete."""
    probe = administration.probe_model
    if probe is None:
        return ()

    async def is_unknown(model: str) -> bool:
        with suppress(CcBotError, TimeoutError):
            async with asyncio.timeout(MODEL_TIMEOUT_S):
                try:
                    await probe(model)
                except ModelNotFound:
                    return True
        return False

    return [*compress(models, await asyncio.gather(*map(is_unknown, models)))]


async def show_status(caller: Caller, *, status: BotStatus) -> Reply:
    texts, maintenance = caller.words[AdminTexts], await status.get_maintenance()
    lines, console = list[str](), caller.words[ConsoleTexts]
    for each in await status.describe(caller, utc_now()):
        lines.append(f"{_MARKS[each.verdict]} {each.label}: {each.value}")
        if each.verdict in ("warning", "failed"):
            lines.append(f"-# {console.how_to_fix.format(what=console.fixes[each.fix], command=each.fix)}")
    if maintenance is not None:
        note = caller.format_text(maintenance.note, MAX_NOTE_CHARACTERS)
        lines += [texts.under_maintenance, *([f"> {note}"] if note else [])]
    return Reply(tuple(lines), title=console.status)


_MARKS: Final = {"": "-#", "ok": "🟢", "warning": "🟡", "failed": "🔴"}
