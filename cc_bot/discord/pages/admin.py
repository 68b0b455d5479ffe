"""The answers to `/admin`: how the bot is doing, which limits hold, and who may use it. Nothing is looked
up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import hikari

from cc_bot.administration import AccessInForce, LimitInForce, Mentionable
from cc_bot.charts import table
from cc_bot.discord.pages.custom_ids import PrivacyButton
from cc_bot.discord.pages.memory import COLOUR, EphemeralView, escape_markdown, one_line, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.domain.access import SUBJECTS, AccessRules, Subjects, ids_of
from cc_bot.domain.limits import LimitKey
from cc_bot.domain.message import Agent
from cc_bot.domain.privacy import CONFIRM_WITHIN, Holdings
from cc_bot.domain.process import LivingProcess, find_differing, find_free_shards, write_shards
from cc_bot.domain.summary import Summary
from cc_bot.domain.text import format_size, shorten
from cc_bot.domain.usage import UsageReport, chart_of
from cc_bot.status import Seen
from cc_bot.texts import Texts, on_discord
from cc_bot.texts.usage import money

# ---- admin view ----------------------------------------------------------------------------------------


def status(seen: Seen, words: Texts) -> str:
    """The answer to `/admin status`."""
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
    today = told.today.format(turns=f"{seen.turns_today:,}", tokens=f"{seen.tokens_today:,}", cost=cost)
    if seen.seconds_today:
        today = words.usage.sound.format(total=today, time=words.usage.time(seen.seconds_today))
    lines = [
        told.status.format(version=seen.version, schema=seen.schema_version),
        told.since.format(time=timestamp(seen.began_at, "R")),
        connected,
        told.database.format(size=format_size(seen.database_bytes)),
        *([] if seen.free_bytes is None else [told.disk.format(size=format_size(seen.free_bytes))]),
        told.turns.format(running=seen.load.running, waiting=seen.load.waiting)
        + (told.of_this_process if seen.shares else ""),
        today,
        *([backup] if seen.backs_up else []),
        *(
            told.model_changed.format(model=model, changes=", ".join(changes))
            for model, changes in seen.model_changes.items()
        ),
    ]
    if seen.shares:
        lines += _processes(seen, words)
    if seen.maintenance is not None:
        note = f"\n> {seen.maintenance.note}" if seen.maintenance.note else ""
        lines.append(told.under_maintenance.format(note=note))
    return "\n".join(lines)


LONGEST_PROCESSES: Final = 1000
"""Characters of what is told of processes one by one: the rest of the message needs as many."""
LONGEST_SHARDS: Final = 100


def _processes(seen: Seen, words: Texts) -> Iterator[str]:
    told = words.admin
    yield told.processes.format(count=len(seen.processes))
    left = LONGEST_PROCESSES
    in_trouble_first = sorted(seen.processes, key=lambda each: not (each.lapsed or each.is_unconnected))
    for number, each in enumerate(in_trouble_first):
        line = _process(each, seen, words)
        left -= len(line) + 1
        if left < 0:
            yield told.more_processes.format(count=len(in_trouble_first) - number)
            break
        yield line
    if free := find_free_shards(seen.processes):
        yield told.free_shards.format(shards=shorten(write_shards(free), LONGEST_SHARDS))
    if differing := find_differing(seen.processes):
        yield told.differing.format(what=", ".join(differing))


def _process(each: LivingProcess, seen: Seen, words: Texts) -> str:
    told, process = words.admin, each.process
    own = ", ".join(duty.name for duty in seen.duties if duty.process == process.name)
    return told.process.format(
        mark="⚠️ " if each.lapsed or each.is_unconnected else "",
        host=escape_markdown(process.host),
        shards=shorten(process.told_shards, LONGEST_SHARDS) or words.doctor_server.all_shards,
        time=timestamp(each.started_at, "R"),
        duties=f" · {own}" if own else "",
        state=told.unconnected if each.is_unconnected and not each.lapsed else "",
    )


def limits(in_force: Sequence[LimitInForce], words: Texts) -> str:
    """The answer to `/admin limits show`."""
    told = words.admin
    sources = {"here": "", "file": told.from_file, "default": told.by_default}
    lines = [
        told.limit_line.format(
            subject=limit_subject(each.key, words),
            limit=told.limits[each.key.name],
            value=limit_value(each.value, words),
            source=sources[each.source],
        )
        for each in in_force
    ]
    return "\n".join((told.limits_title, *lines))


def limit_subject(key: LimitKey, words: Texts) -> str:
    """The name of whom a limit is for."""
    return (
        words.admin.everyone
        if key.scope == "everyone"
        else Mentionable(key.scope, key.scope_id).mention(words)
    )


def limit_value(value: int | None, words: Texts) -> str:
    return words.admin.no_limit if value is None else f"{value:,}"


def access(in_force: AccessInForce, owners: Iterable[int], words: Texts) -> str:
    """The answer to `/admin access list`."""
    told, in_file, set_here = words.admin, in_force.in_file, in_force.set_here
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
    owned = ", ".join(Mentionable("user", user_id).mention(words) for user_id in sorted(owners))
    return "\n".join([*lines, told.access_owners.format(owners=owned), told.owners_stay])


def models(chains: Mapping[int, tuple[str, ...]], words: Texts) -> str:
    """The answer to `/admin model list`."""
    told = words.admin
    lines = [
        told.model_line.format(channel=f"<#{channel_id}>", models=", ".join(chain))
        for channel_id, chain in chains.items()
    ]
    return "\n".join(lines) or told.models_none


def _subjects(rules: Subjects, words: Texts) -> list[str]:
    return [Mentionable(kind, id_).mention(words) for kind in SUBJECTS for id_ in sorted(ids_of(rules, kind))]


# ---- agent list ------------------------------------------------------------------------------------------
# The agents of a place, as a user picks one.

MAX_LIST_CHARACTERS: Final = 1500
"""Of a message's 2000: what stands around the list needs the rest."""


def agent_list(agents: Sequence[Agent], all_words: Texts, *, in_use: str, default: str, gone: bool) -> str:
    """The agents that may be used in a place. `in_use` and `default` are the names of the one that answers
    the reader there and of the channel's; `gone`: the reader chose another one, which can't be used."""
    words, locale = all_words.agents, all_words.locale
    answering = next(agent for agent in agents if agent.name == in_use).display_name(locale)
    note = [f"-# {words.gone.format(display=answering)}"] if gone else []
    if len(agents) == 1:
        return "\n".join((words.only_one.format(display=answering), *note))
    lines: list[str] = []
    for agent in agents:
        marks = (words.in_use if agent.name == in_use else "") + (
            words.channel_default if agent.name == default else ""
        )
        line = f"- **{agent.display_name(locale)}** (`{agent.name}`){marks}"
        if description := agent.description(locale):
            line += f"\n  {description}"
        if sum(len(each) + 1 for each in (*lines, line)) > MAX_LIST_CHARACTERS:
            note.append(f"-# {words.more.format(count=len(agents) - len(lines))}")
            break
        lines.append(line)
    return "\n".join((f"**{words.title}**", *lines, *note, f"-# {words.usage}"))


# ---- privacy view ----------------------------------------------------------------------------------------
# The question whether to erase everything.


def erase_question(held: Holdings, user_id: int, words: Texts, now: datetime) -> EphemeralView:
    """The question for a user about whom something is stored."""
    until = now + CONFIRM_WITHIN
    moment = int(until.timestamp())
    erase, keep = PrivacyButton(user_id, "erase", moment), PrivacyButton(user_id, "keep", moment)
    told = words.privacy
    return EphemeralView(
        f"{told.asked(held)}\n{told.confirm_within.format(until=timestamp(until, 't'))}",
        buttons=(
            Button(told.erase, erase.custom_id(), danger=True),
            Button(told.keep, keep.custom_id()),
        ),
    )


# ---- summary view ----------------------------------------------------------------------------------------
# What is kept of a conversation as an embed: two summaries have no room in a message's 2000 characters.


def summary_embed(kept: Sequence[Summary], words: Texts) -> hikari.Embed:
    """The summaries, and when the newest was written, which clients show in their own zone and language."""
    parts = [
        f"**{words.summary.private}**\n{summary.content}"
        if summary.visibility == "private"
        else summary.content
        for summary in kept
    ]
    written = max(summary.created_at for summary in kept)
    return hikari.Embed(
        title=words.summary.title,
        description="\n\n".join((*parts, f"-# <t:{int(written.timestamp())}:f>")),
        colour=COLOUR,
    )


# ---- usage view ------------------------------------------------------------------------------------------
# What was used, as a message: two or three lines, and a small chart in text that reads well on a phone.

NAME_CHARACTERS = 60
"""Of a model: five stay under the 1024 characters of a field, even if each character needs a backslash."""


def usage_view(report: UsageReport, words: Texts) -> hikari.Embed:
    """A user's own report, or that of a server, where it tells how many used it."""
    told = words.usage
    of_server = report.users is not None
    lines = told.lines(report, on_discord, _model_name) if report.left or not report.empty else [told.nothing]
    embed = hikari.Embed(
        title=told.server_title if of_server else told.title,
        description="\n".join(lines),
        colour=COLOUR,
    )
    if report.days:
        embed.add_field(told.chart, f"```\n{table(chart_of(report, told.chart))}\n```")
    if of_server and report.models:
        embed.add_field(told.models, "\n".join(told.model_lines(report, _model_name)))
    return embed


def _model_name(model: str) -> str:
    return escape_markdown(shorten(one_line(model), NAME_CHARACTERS))
