"""`/admin …`: looking after the bot while it runs. For its owners; every reply is for them alone."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import cast

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
from cc_bot.discord.access import Owners, suggesting
from cc_bot.discord.interactions import MAX_CHOICES, Answerable
from cc_bot.discord.pages import admin as pages
from cc_bot.discord.pages.memory import escape_markdown
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.discord.pages.split import MESSAGE_LIMIT
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.member import LARGEST, LimitKey, Ruling, Subject
from cc_bot.domain.text import shorten
from cc_bot.status import BotStatus
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


async def answer(
    interaction: Answerable, recipients: Recipients, act: Callable[[Recipient], Awaitable[str]]
) -> None:
    """Do what was asked for, and tell its user alone; what is too long comes as a file."""
    recipient = await recipients.defer(interaction)
    told = await act(recipient)
    if len(told) <= MESSAGE_LIMIT:
        await interaction.edit_initial_response(told, **NO_PINGS)
        return
    title, _, rest = told.partition("\n")
    file = hikari.Bytes(rest.encode(), recipient.words.admin.file_name)
    await interaction.edit_initial_response(title, attachment=file, **NO_PINGS)


# ---- options ---------------------------------------------------------------------------------------------
# The options by which owners name whom a command is about.

MAX_NAME_CHARACTERS = 60


def subject_option() -> str:
    """A mention, or an id; empty for the server that it is given in."""
    return lightbulb.string(
        "admin_subject",
        "admin_subject_description",
        localize=True,
        default="",
        max_length=MAX_NAME_CHARACTERS,
    )


def kind_option() -> str | None:
    return lightbulb.string(
        "admin_kind",
        "admin_kind_description",
        localize=True,
        default=None,
        choices=[
            lightbulb.Choice("admin_user_choice", "user", localize=True),
            lightbulb.Choice("admin_role_choice", "role", localize=True),
            lightbulb.Choice("admin_channel_choice", "channel", localize=True),
            lightbulb.Choice("admin_guild_choice", "guild", localize=True),
        ],
    )


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
    return lightbulb.string(
        "admin_limit",
        "admin_limit_description",
        localize=True,
        choices=[
            lightbulb.Choice("admin_turns_per_minute_choice", "turns_per_minute", localize=True),
            lightbulb.Choice("admin_tokens_per_day_choice", "tokens_per_day", localize=True),
            lightbulb.Choice("admin_tokens_per_month_choice", "tokens_per_month", localize=True),
            lightbulb.Choice("admin_concurrent_choice", "concurrent", localize=True),
            lightbulb.Choice("admin_memories_choice", "memories", localize=True),
            lightbulb.Choice("admin_memory_bytes_choice", "memory_bytes", localize=True),
            lightbulb.Choice("admin_imports_per_hour_choice", "imports_per_hour", localize=True),
            lightbulb.Choice("admin_commands_per_minute_choice", "commands_per_minute", localize=True),
        ],
    )


def _for_option() -> str:
    return lightbulb.string(
        "admin_for", "admin_for_description", localize=True, default="", max_length=MAX_NAME_CHARACTERS
    )


@limits.register
class ShowLimits(
    lightbulb.SlashCommand,
    name="admin_limits_show",
    description="admin_limits_show_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            return pages.limits(await administration.list_limits(), recipient.words)

        await answer(ctx.interaction, recipients, act)


@limits.register
class SetLimits(
    lightbulb.SlashCommand,
    name="admin_limits_set",
    description="admin_limits_set_description",
    localize=True,
    hooks=[owners_only],
):
    limit = _limit_option()
    value = lightbulb.integer(
        "admin_value",
        "admin_value_description",
        localize=True,
        default=None,
        min_value=1,
        max_value=LARGEST,
    )
    for_ = _for_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            key, words = _key(ctx.interaction, self.limit, self.for_, self.kind), recipient.words
            await administration.set_limit(recipient.user_id, key, self.value)
            return words.admin.limit_set.format(
                subject=pages.limit_subject(key, words),
                limit=words.admin.limits[key.name],
                value=pages.limit_value(self.value, words),
            )

        await answer(ctx.interaction, recipients, act)


@limits.register
class UnsetLimits(
    lightbulb.SlashCommand,
    name="admin_limits_unset",
    description="admin_limits_unset_description",
    localize=True,
    hooks=[owners_only],
):
    limit = _limit_option()
    for_ = _for_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            key = _key(ctx.interaction, self.limit, self.for_, self.kind)
            unset = await administration.unset_limit(recipient.user_id, key)
            told = recipient.words.admin
            return told.limit_unset if unset else told.limit_was_not_set

        await answer(ctx.interaction, recipients, act)


def _key(interaction: hikari.PartialInteraction, limit: str, text: str, kind: str | None) -> LimitKey:
    """Return whom a limit is about, and which it is. Raises as parse_limit."""
    return parse_limit(limit, text, _kind(kind), _guild_id(interaction))


# ---- access ----------------------------------------------------------------------------------------------
# `/admin access`: who may use the bot, and where. It holds from the next question on.


@access.register
class ListAccess(
    lightbulb.SlashCommand,
    name="admin_access_list",
    description="admin_access_list_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        administration: Administration,
        owners: Owners,
        recipients: Recipients,
    ) -> None:
        async def act(recipient: Recipient) -> str:
            return pages.access(await administration.list_access(), await owners.ids(), recipient.words)

        await answer(ctx.interaction, recipients, act)


@access.register
class AllowAccess(
    lightbulb.SlashCommand,
    name="admin_access_allow",
    description="admin_access_allow_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        await _rule(self, ctx, "allow", administration, recipients)


@access.register
class DenyAccess(
    lightbulb.SlashCommand,
    name="admin_access_deny",
    description="admin_access_deny_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        await _rule(self, ctx, "deny", administration, recipients)


@access.register
class RemoveAccess(
    lightbulb.SlashCommand,
    name="admin_access_remove",
    description="admin_access_remove_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            found = _subject(ctx.interaction, self.subject, self.kind)
            removal = await administration.remove_rule(recipient.user_id, found)
            told = recipient.words.admin
            sentence = told.access_removed if removal.removed else told.access_had_no_rule
            lines = [sentence.format(subject=found.phrase(recipient.words))]
            if removal.also_in_file:
                lines.append(told.access_also_in_file)
            return "\n".join(lines)

        await answer(ctx.interaction, recipients, act)


async def _rule(
    command: "AllowAccess | DenyAccess",
    ctx: lightbulb.Context,
    ruling: Ruling,
    administration: Administration,
    recipients: Recipients,
) -> None:
    async def act(recipient: Recipient) -> str:
        found = _subject(ctx.interaction, command.subject, command.kind)
        await administration.rule(recipient.user_id, found, ruling)
        told = recipient.words.admin
        sentences = told.access_allowed if ruling == "allow" else told.access_denied
        sentence = sentences[found.subject].format(subject=found.phrase(recipient.words))
        return f"{sentence}\n{told.owners_stay}"

    await answer(ctx.interaction, recipients, act)


# ---- maintenance -----------------------------------------------------------------------------------------
# `/admin maintenance`: for a while nobody but owners is answered. What is being answered is not cut off.


@maintenance.register
class MaintenanceOn(
    lightbulb.SlashCommand,
    name="admin_maintenance_on",
    description="admin_maintenance_on_description",
    localize=True,
    hooks=[owners_only],
):
    words = lightbulb.string(
        "admin_note", "admin_note_description", localize=True, default="", max_length=MAX_NOTE_CHARACTERS
    )

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            await administration.begin_maintenance(recipient.user_id, self.words)
            return recipient.words.admin.maintenance_begun

        await answer(ctx.interaction, recipients, act)


@maintenance.register
class MaintenanceOff(
    lightbulb.SlashCommand,
    name="admin_maintenance_off",
    description="admin_maintenance_off_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            ended = await administration.end_maintenance(recipient.user_id)
            told = recipient.words.admin
            return told.maintenance_ended if ended else told.maintenance_was_off

        await answer(ctx.interaction, recipients, act)


# ---- tools -----------------------------------------------------------------------------------------------
# `/admin tools`: the servers with tools, and agreeing to tools that are not what they were.


async def suggest_servers(
    ctx: lightbulb.AutocompleteContext[str],
    administration: Administration = lightbulb.di.INJECTED,
    owners: Owners = lightbulb.di.INJECTED,
) -> None:
    """Offer the servers of which something waits first, to owners alone."""
    typed = str(ctx.focused.value or "").casefold()
    try:
        asks_owner = int(ctx.interaction.user.id) in await owners.ids()
        reports = administration.list_servers() if asks_owner else ()
    except CcBotError:  # a list of choices has no place for a sentence
        reports = ()
    ordered = sorted(reports, key=lambda each: not each.withheld)
    names = [each.server for each in ordered if typed in each.server.casefold()]
    with contextlib.suppress(hikari.HikariError):  # too late, or Discord's trouble: there is nobody to tell
        await ctx.respond(names[:MAX_CHOICES])


@tools.register
class ShowTools(
    lightbulb.SlashCommand,
    name="admin_tools_show",
    description="admin_tools_show_description",
    localize=True,
    hooks=[owners_only],
):
    server = lightbulb.string(
        "admin_server",
        "admin_server_description",
        localize=True,
        default="",
        max_length=MAX_NAME_CHARACTERS,
        autocomplete=suggesting(suggest_servers),
    )

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            return say_servers(administration.list_servers(), recipient.words.tool_servers, escape_markdown)

        if self.server:
            await self._show_details(ctx.interaction, administration, recipients)
        else:
            await answer(ctx.interaction, recipients, act)

    async def _show_details(
        self, interaction: Answerable, administration: Administration, recipients: Recipients
    ) -> None:
        """Give every tool of a server as a file. Raises ToolServerUnknown."""
        recipient = await recipients.defer(interaction)
        words, found = recipient.words, administration.list_tools(self.server)
        reports = [each for each in administration.list_servers() if each.server == self.server]
        shown = shorten(say_servers(reports, words.tool_servers, escape_markdown), MESSAGE_LIMIT - 400)
        if not found:
            await interaction.edit_initial_response(f"{shown}\n{words.tool_servers.details_none}", **NO_PINGS)
            return
        written = await asyncio.to_thread(details_file, self.server, found, words.tool_servers)
        notes = [words.tool_servers.details, *([words.tool_servers.details_cut] if written.cut else [])]
        notes += [words.tool_servers.code.format(code=each.code) for each in reports if each.code]
        file = hikari.Bytes(written.text.encode(), words.tool_servers.details_file)
        await interaction.edit_initial_response("\n".join((shown, *notes)), attachment=file, **NO_PINGS)


@tools.register
class AcceptTools(
    lightbulb.SlashCommand,
    name="admin_tools_accept",
    description="admin_tools_accept_description",
    localize=True,
    hooks=[owners_only],
):
    server = lightbulb.string(
        "admin_server",
        "admin_server_description",
        localize=True,
        max_length=MAX_NAME_CHARACTERS,
        autocomplete=suggesting(suggest_servers),
    )
    code = lightbulb.string(
        "admin_code", "admin_code_description", localize=True, max_length=MAX_NAME_CHARACTERS
    )

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            accepted = await administration.accept_tools(recipient.user_id, self.server, self.code)
            return say_accepted(self.server, accepted, recipient.words.tool_servers, escape_markdown)

        await answer(ctx.interaction, recipients, act)


# ---- model -----------------------------------------------------------------------------------------------
# `/admin model`: which models answer in a channel. An agent that names models of its own keeps those.


def _channel_option() -> str:
    return lightbulb.string(
        "admin_channel",
        "admin_channel_description",
        localize=True,
        default="",
        max_length=MAX_NAME_CHARACTERS,
    )


@model.register
class SetModels(
    lightbulb.SlashCommand,
    name="admin_model_set",
    description="admin_model_set_description",
    localize=True,
    hooks=[owners_only],
):
    models = lightbulb.string(
        "admin_models",
        "admin_models_description",
        localize=True,
        max_length=MAX_MODELS * (MAX_MODEL_CHARACTERS + 1),
    )
    channel = _channel_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            channel_id, chain = _channel(ctx.interaction, self.channel), parse_chain(self.models)
            missing = await administration.set_models(recipient.user_id, channel_id, chain)
            told = recipient.words.admin
            sentence = told.models_set if len(chain) > 1 else told.model_set
            lines = [sentence.format(channel=f"<#{channel_id}>", models=", ".join(chain))]
            if missing:
                lines.append(told.models_unknown.format(models=", ".join(missing)))
            return "\n".join(lines)

        await answer(ctx.interaction, recipients, act)


@model.register
class UnsetModels(
    lightbulb.SlashCommand,
    name="admin_model_unset",
    description="admin_model_unset_description",
    localize=True,
    hooks=[owners_only],
):
    channel = _channel_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            told, channel_id = recipient.words.admin, _channel(ctx.interaction, self.channel)
            unset = await administration.unset_models(recipient.user_id, channel_id)
            sentence = told.models_unset if unset else told.models_were_not_set
            return sentence.format(channel=f"<#{channel_id}>")

        await answer(ctx.interaction, recipients, act)


@model.register
class ListModels(
    lightbulb.SlashCommand,
    name="admin_model_list",
    description="admin_model_list_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, administration: Administration, recipients: Recipients
    ) -> None:
        async def act(recipient: Recipient) -> str:
            return pages.models(await administration.list_models(), recipient.words)

        await answer(ctx.interaction, recipients, act)


def _channel(interaction: hikari.PartialInteraction, text: str) -> int:
    """Return the channel that is named, or the one that is asked in. Raises SubjectNotUnderstood."""
    return _subject(interaction, text, "channel").id if text.strip() else int(interaction.channel.id)


# ---- status ----------------------------------------------------------------------------------------------
# `/admin status`.


@admin.register
class ShowStatus(
    lightbulb.SlashCommand,
    name="admin_status",
    description="admin_status_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, status: BotStatus, recipients: Recipients) -> None:
        async def act(recipient: Recipient) -> str:
            return pages.status(await status.look(), recipient.words)

        await answer(ctx.interaction, recipients, act)
