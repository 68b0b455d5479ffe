"""What `/admin` shows: how the bot is doing, which limits hold, and who may use it. Nothing is looked up."""

from collections.abc import Iterable, Mapping

from cc_bot.discord.bot_status import Seen
from cc_bot.discord.pages.memory_view import timestamp
from cc_bot.discord.subjects import Named
from cc_bot.domain.access import SUBJECTS, AccessRules, listed
from cc_bot.domain.limits import DEFAULT_RULES, LIMIT_NAMES, LimitKey, LimitName, Rules
from cc_bot.domain.policy import Subjects
from cc_bot.texts import Texts
from cc_bot.texts.usage import money

_MEGABYTE = 1_000_000


def status(seen: Seen, words: Texts) -> str:
    """What `/admin status` answers."""
    told = words.admin
    cost = ""
    if seen.cost_micros is not None:
        cost = told.cost.format(cost=money(seen.cost_micros, seen.currency))
    connected = told.connected_just_now
    if seen.latency_s is not None:
        connected = told.connected.format(milliseconds=round(seen.latency_s * 1000))
    backup = told.no_backup
    if seen.backup_at is not None:
        backup = told.last_backup.format(time=timestamp(seen.backup_at, "R"))
    lines = [
        told.status.format(version=seen.version, schema=seen.schema_version),
        told.since.format(time=timestamp(seen.began_at, "R")),
        connected,
        told.database.format(size=f"{seen.database_bytes / _MEGABYTE:,.1f} MB"),
        told.turns.format(running=seen.load.running, waiting=seen.load.waiting),
        told.today.format(turns=f"{seen.turns_today:,}", tokens=f"{seen.tokens_today:,}", cost=cost),
        backup,
    ]
    if seen.maintenance is not None:
        note = f"\n> {seen.maintenance.note}" if seen.maintenance.note else ""
        lines.append(told.under_maintenance.format(note=note))
    return "\n".join(lines)


def limits(in_file: Rules, set_here: Rules, words: Texts) -> str:
    """What `/admin limits show` answers; what was set here goes before what the file says."""
    told = words.admin
    lines = [told.limits_title]
    for key in sorted({*in_file, *set_here}, key=lambda key: (key.scope, key.scope_id, key.name)):
        value = set_here[key] if key in set_here else in_file[key]
        lines.append(
            told.limit_line.format(
                subject=limited(key, words),
                limit=limit_name(key.name, words),
                value=limit_value(value, words),
                source="" if key in set_here else _source(key, value, words),
            )
        )
    return "\n".join(lines)


def _source(key: LimitKey, value: int | None, words: Texts) -> str:
    default = key in DEFAULT_RULES and DEFAULT_RULES[key] == value
    return words.admin.by_default if default else words.admin.from_file


def limited(key: LimitKey, words: Texts) -> str:
    """Whom a limit is for."""
    return words.admin.everyone if key.scope == "everyone" else Named(key.scope, key.scope_id).shown(words)


def limit_name(name: LimitName, words: Texts) -> str:
    told: Mapping[LimitName, str] = {limit: getattr(words.admin, limit) for limit in LIMIT_NAMES}
    return told[name]


def limit_value(value: int | None, words: Texts) -> str:
    return words.admin.no_limit if value is None else f"{value:,}"


def access(in_file: AccessRules, set_here: AccessRules, owners: Iterable[int], words: Texts) -> str:
    """What `/admin access list` answers."""
    told = words.admin
    everything = in_file | set_here
    lines = [told.access_title]
    if everything == AccessRules():
        lines.append(told.access_open)
    for template, rules, source in (
        (told.allowed, set_here.allow, ""),
        (told.allowed, in_file.allow, told.from_file),
        (told.denied, set_here.deny, ""),
        (told.denied, in_file.deny, told.from_file),
    ):
        if shown := ", ".join(_subjects(rules, words)):
            lines.append(template.format(subjects=shown) + source)
    if everything.allow != Subjects():
        lines.append(told.only_those)
    owned = ", ".join(Named("user", user_id).shown(words) for user_id in sorted(owners))
    return "\n".join([*lines, told.access_owners.format(owners=owned), told.owners_stay])


def models(chains: Mapping[int, tuple[str, ...]], words: Texts) -> str:
    """What `/admin model list` answers."""
    told = words.admin
    lines = [
        told.model_line.format(channel=f"<#{channel_id}>", models=", ".join(chain))
        for channel_id, chain in chains.items()
    ]
    return "\n".join(lines) or told.models_none


def _subjects(rules: Subjects, words: Texts) -> list[str]:
    return [Named(kind, id_).shown(words) for kind in SUBJECTS for id_ in sorted(listed(rules, kind))]
