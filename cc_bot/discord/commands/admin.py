"""`/admin …`: looking after the bot while it runs. For its owners; every reply is for them alone."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import hikari
import lightbulb

from cc_bot.administration import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    Administration,
    Mentionable,
    parse_chain,
    parse_limit,
    parse_subject,
)
from cc_bot.discord.declaring import choices, command, number_option, suggesting, text_option
from cc_bot.discord.interactions import Answerable
from cc_bot.discord.owners import Owners
from cc_bot.discord.pages import admin as pages
from cc_bot.discord.pages.memory import escape_markdown
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.discord.pages.split import MESSAGE_LIMIT
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.access import Ruling, Subject
from cc_bot.domain.limits import MAX_LIMIT, LimitKey
from cc_bot.domain.text import shorten
from cc_bot.status import BotStatus
from cc_bot.texts import Texts
from cc_bot.texts.tool_servers import details_file, say_accepted, say_servers

loader = lightbulb.Loader()

# ---- group ---------------------------------------------------------------------------------------------
# What all `/admin` commands share: the groups, who may give them, and how they are answered.
#
# That the commands are hidden from most members is a courtesy and no protection: anybody with the right to
# manage a server can show them again. So each of them asks whether its user is an owner, before anything
# else.


admin = lightbulb.Group(
    "admin",
    "admin_description",
    localize=True,
    # Discord learns of this with the command; lightbulb does not push a later change to it alone.
    default_member_permissions=hikari.Permissions.ADMINISTRATOR,
)
limits = admin.subgroup("admin_limits", "admin_limits_description", localize=True)
access = admin.subgroup("admin_access", "admin_access_description", localize=True)
model = admin.subgroup("admin_model", "admin_model_description", localize=True)
maintenance = admin.subgroup("admin_maintenance", "admin_maintenance_description", localize=True)
tools = admin.subgroup("admin_tools", "admin_tools_description", localize=True)
loader.command(admin)


@lightbulb.hook(lightbulb.ExecutionSteps.CHECKS, skip_when_failed=True)
async def owners_only(_: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, owners: Owners) -> None:
    """Refuse everybody else. Raises OwnersOnly."""
    await owners.require(ctx.interaction)


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that an owner gave, and what answers it."""

    interaction: hikari.CommandInteraction
    recipient: Recipient
    administration: Administration
    owners: Owners
    status: BotStatus

    @property
    def user_id(self) -> int:
        return self.recipient.user_id

    @property
    def words(self) -> Texts:
        return self.recipient.words


Reply = str | tuple[str, hikari.Bytes]
"""A text, or one with a file."""


class OwnersCommand(Protocol):
    """A command of `/admin`."""

    async def reply(self, asked: Asked) -> Reply: ...


def owners_command(
    register: Callable[[Any], Any], key: str
) -> Callable[[type[OwnersCommand]], type[OwnersCommand]]:
    """Register a class with a method `reply` as a command for owners alone."""

    def declare(declared: type[OwnersCommand]) -> type[OwnersCommand]:
        async def invoke(
            self: OwnersCommand,
            ctx: lightbulb.Context,
            *,
            administration: Administration,
            owners: Owners,
            status: BotStatus,
            recipients: Recipients,
        ) -> None:
            recipient = await recipients.defer(ctx.interaction)
            asked = Asked(ctx.interaction, recipient, administration, owners, status)
            await _show(ctx.interaction, await self.reply(asked), recipient.words)

        namespace: Any = declared
        namespace.invoke = invoke
        return command(register, key, hooks=[owners_only])(declared)

    return declare


async def _show(interaction: Answerable, reply: Reply, words: Texts) -> None:
    """Show a reply; a long one as a file."""
    if isinstance(reply, str) and len(reply) > MESSAGE_LIMIT:
        title, _, rest = reply.partition("\n")
        reply = title, hikari.Bytes(rest.encode(), words.admin.file_name)
    text, file = (reply, hikari.UNDEFINED) if isinstance(reply, str) else reply
    await interaction.edit_initial_response(text, attachment=file, **NO_PINGS)


# ---- options ---------------------------------------------------------------------------------------------
# The options by which owners name whom a command is about.

MAX_NAME_CHARACTERS = 60


def subject_option() -> str:
    """A mention, or an id; empty for the server that it is given in."""
    return text_option("admin_subject", default="", max_length=MAX_NAME_CHARACTERS)


def kind_option() -> str | None:
    kinds = choices("admin", "user", "role", "channel", "guild")
    return text_option("admin_kind", default=None, choices=kinds)


def _subject(interaction: hikari.PartialInteraction, text: str, kind: str | None) -> Mentionable:
    """Return whom a command is about. Raises SubjectNotUnderstood."""
    return parse_subject(text, _kind(kind), _guild_id(interaction))


def _kind(kind: str | None) -> Subject | None:
    return cast("Subject | None", kind)  # Discord takes no other choice


def _guild_id(interaction: hikari.PartialInteraction) -> int | None:
    return None if interaction.guild_id is None else int(interaction.guild_id)


# ---- limits --------------------------------------------------------------------------------------------
# `/admin limits`: how much may be used. What is set here goes before what the operator's file says.


def _limit_option() -> str:
    return text_option(
        "admin_limit",
        choices=choices(
            "admin",
            "turns_per_minute",
            "tokens_per_day",
            "tokens_per_month",
            "concurrent",
            "memories",
            "memory_bytes",
            "imports_per_hour",
            "commands_per_minute",
        ),
    )


def _for_option() -> str:
    return text_option("admin_for", default="", max_length=MAX_NAME_CHARACTERS)


@owners_command(limits.register, "admin_limits_show")
class ShowLimits(OwnersCommand):
    async def reply(self, asked: Asked) -> str:
        return pages.limits(await asked.administration.list_limits(), asked.words)


@owners_command(limits.register, "admin_limits_set")
class SetLimits(OwnersCommand):
    limit = _limit_option()
    value = number_option("admin_value", default=None, min_value=1, max_value=MAX_LIMIT)
    for_ = _for_option()
    kind = kind_option()

    async def reply(self, asked: Asked) -> str:
        key, words = _key(asked.interaction, self.limit, self.for_, self.kind), asked.words
        await asked.administration.set_limit(asked.user_id, key, self.value)
        return words.admin.limit_set.format(
            subject=pages.limit_subject(key, words),
            limit=words.admin.limits[key.name],
            value=pages.limit_value(self.value, words),
        )


@owners_command(limits.register, "admin_limits_unset")
class UnsetLimits(OwnersCommand):
    limit = _limit_option()
    for_ = _for_option()
    kind = kind_option()

    async def reply(self, asked: Asked) -> str:
        key = _key(asked.interaction, self.limit, self.for_, self.kind)
        unset = await asked.administration.unset_limit(asked.user_id, key)
        told = asked.words.admin
        return told.limit_unset if unset else told.limit_was_not_set


def _key(interaction: hikari.PartialInteraction, limit: str, text: str, kind: str | None) -> LimitKey:
    """Return whom a limit is about, and which it is. Raises as parse_limit."""
    return parse_limit(limit, text, _kind(kind), _guild_id(interaction))


# ---- access ----------------------------------------------------------------------------------------------
# `/admin access`: who may use the bot, and where. It holds from the next question on.


@owners_command(access.register, "admin_access_list")
class ListAccess(OwnersCommand):
    async def reply(self, asked: Asked) -> str:
        return pages.access(await asked.administration.list_access(), await asked.owners.ids(), asked.words)


@owners_command(access.register, "admin_access_allow")
class AllowAccess(OwnersCommand):
    subject = subject_option()
    kind = kind_option()

    async def reply(self, asked: Asked) -> str:
        return await _rule(asked, self.subject, self.kind, "allow")


@owners_command(access.register, "admin_access_deny")
class DenyAccess(OwnersCommand):
    subject = subject_option()
    kind = kind_option()

    async def reply(self, asked: Asked) -> str:
        return await _rule(asked, self.subject, self.kind, "deny")


@owners_command(access.register, "admin_access_remove")
class RemoveAccess(OwnersCommand):
    subject = subject_option()
    kind = kind_option()

    async def reply(self, asked: Asked) -> str:
        found = _subject(asked.interaction, self.subject, self.kind)
        removal = await asked.administration.remove_rule(asked.user_id, found)
        told = asked.words.admin
        sentence = told.access_removed if removal.removed else told.access_had_no_rule
        lines = [sentence.format(subject=found.phrase(asked.words))]
        if removal.also_in_file:
            lines.append(told.access_also_in_file)
        return "\n".join(lines)


async def _rule(asked: Asked, subject: str, kind: str | None, ruling: Ruling) -> str:
    found = _subject(asked.interaction, subject, kind)
    await asked.administration.rule(asked.user_id, found, ruling)
    texts = asked.words.admin
    sentences = texts.access_allowed if ruling == "allow" else texts.access_denied
    return f"{sentences[found.subject].format(subject=found.phrase(asked.words))}\n{texts.owners_stay}"


# ---- maintenance -----------------------------------------------------------------------------------------
# `/admin maintenance`: for a while nobody but owners is answered. What is being answered is not cut off.


@owners_command(maintenance.register, "admin_maintenance_on")
class MaintenanceOn(OwnersCommand):
    words = text_option("admin_note", default="", max_length=MAX_NOTE_CHARACTERS)

    async def reply(self, asked: Asked) -> str:
        await asked.administration.begin_maintenance(asked.user_id, self.words)
        return asked.words.admin.maintenance_begun


@owners_command(maintenance.register, "admin_maintenance_off")
class MaintenanceOff(OwnersCommand):
    async def reply(self, asked: Asked) -> str:
        ended = await asked.administration.end_maintenance(asked.user_id)
        told = asked.words.admin
        return told.maintenance_ended if ended else told.maintenance_was_off


# ---- tools -----------------------------------------------------------------------------------------------
# `/admin tools`: the servers with tools, and agreeing to tools that are not what they were.


async def suggest_servers(
    ctx: lightbulb.AutocompleteContext[str],
    administration: Administration = lightbulb.di.INJECTED,
    owners: Owners = lightbulb.di.INJECTED,
) -> list[str]:
    """Offer the servers of which something waits first, to owners alone."""
    if int(ctx.interaction.user.id) not in await owners.ids():
        return []
    reports = sorted(administration.list_servers(), key=lambda each: not each.withheld)
    typed = str(ctx.focused.value or "").casefold()
    return [each.server for each in reports if typed in each.server.casefold()]


@owners_command(tools.register, "admin_tools_show")
class ShowTools(OwnersCommand):
    server = text_option(
        "admin_server", default="", max_length=MAX_NAME_CHARACTERS, autocomplete=suggesting(suggest_servers)
    )

    async def reply(self, asked: Asked) -> Reply:
        reports, texts = asked.administration.list_servers(), asked.words.tool_servers
        if not self.server:
            return say_servers(reports, texts, escape_markdown)
        found = asked.administration.list_tools(self.server)
        own = [each for each in reports if each.server == self.server]
        shown = shorten(say_servers(own, texts, escape_markdown), MESSAGE_LIMIT - 400)
        if not found:
            return f"{shown}\n{texts.details_none}"
        written = await asyncio.to_thread(details_file, self.server, found, texts)
        notes = [texts.details, *([texts.details_cut] if written.cut else [])]
        notes += [texts.code.format(code=each.code) for each in own if each.code]
        return "\n".join((shown, *notes)), hikari.Bytes(written.text.encode(), texts.details_file)


@owners_command(tools.register, "admin_tools_accept")
class AcceptTools(OwnersCommand):
    server = text_option(
        "admin_server", max_length=MAX_NAME_CHARACTERS, autocomplete=suggesting(suggest_servers)
    )
    code = text_option("admin_code", max_length=MAX_NAME_CHARACTERS)

    async def reply(self, asked: Asked) -> str:
        accepted = await asked.administration.accept_tools(asked.user_id, self.server, self.code)
        return say_accepted(self.server, accepted, asked.words.tool_servers, escape_markdown)


# ---- model -----------------------------------------------------------------------------------------------
# `/admin model`: which models answer in a channel. An agent that names models of its own keeps those.


def _channel_option() -> str:
    return text_option("admin_channel", default="", max_length=MAX_NAME_CHARACTERS)


@owners_command(model.register, "admin_model_set")
class SetModels(OwnersCommand):
    models = text_option("admin_models", max_length=MAX_MODELS * (MAX_MODEL_CHARACTERS + 1))
    channel = _channel_option()

    async def reply(self, asked: Asked) -> str:
        channel_id, chain = _channel(asked.interaction, self.channel), parse_chain(self.models)
        missing = await asked.administration.set_models(asked.user_id, channel_id, chain)
        told = asked.words.admin
        sentence = told.models_set if len(chain) > 1 else told.model_set
        lines = [sentence.format(channel=f"<#{channel_id}>", models=", ".join(chain))]
        if missing:
            lines.append(told.models_unknown.format(models=", ".join(missing)))
        return "\n".join(lines)


@owners_command(model.register, "admin_model_unset")
class UnsetModels(OwnersCommand):
    channel = _channel_option()

    async def reply(self, asked: Asked) -> str:
        told, channel_id = asked.words.admin, _channel(asked.interaction, self.channel)
        unset = await asked.administration.unset_models(asked.user_id, channel_id)
        sentence = told.models_unset if unset else told.models_were_not_set
        return sentence.format(channel=f"<#{channel_id}>")


@owners_command(model.register, "admin_model_list")
class ListModels(OwnersCommand):
    async def reply(self, asked: Asked) -> str:
        return pages.models(await asked.administration.list_models(), asked.words)


def _channel(interaction: hikari.PartialInteraction, text: str) -> int:
    """Return the channel that is named, or the one that is asked in. Raises SubjectNotUnderstood."""
    return _subject(interaction, text, "channel").id if text.strip() else int(interaction.channel.id)


# ---- status ----------------------------------------------------------------------------------------------
# `/admin status`.


@owners_command(admin.register, "admin_status")
class ShowStatus(OwnersCommand):
    async def reply(self, asked: Asked) -> str:
        return pages.status(await asked.status.look(), asked.words)
