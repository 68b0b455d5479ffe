"""`/admin …`: administration at run time, for owners. All replies are ephemeral."""

from collections.abc import Awaitable, Callable
from typing import Any, get_args

import hikari
import lightbulb

from cc_bot.chat.reply import Caller, Reply
from cc_bot.discord.gate import Owners
from cc_bot.discord.handlers import choices, number_option, reply_command, suggest_from, text_option
from cc_bot.domain.access import Ruling
from cc_bot.domain.usage import LIMIT_NAMES, MAX_LIMIT
from cc_bot.features import has
from cc_bot.features.admin import service as admin
from cc_bot.features.admin.service import (
    MAX_MODEL_CHARACTERS,
    MAX_MODELS,
    MAX_NOTE_CHARACTERS,
    Administration,
)

loader = lightbulb.Loader()

# Managers of a server can show hidden commands, so each command checks the user.
admin_group = lightbulb.Group(
    "admin",
    "admin_description",
    localize=True,
    # If only this changes, lightbulb does not update the command on Discord.
    default_member_permissions=hikari.Permissions.ADMINISTRATOR,
)
limits = admin_group.subgroup("admin_limits", "admin_limits_description", localize=True)
access = admin_group.subgroup("admin_access", "admin_access_description", localize=True)
model = admin_group.subgroup("admin_model", "admin_model_description", localize=True)
maintenance = admin_group.subgroup("admin_maintenance", "admin_maintenance_description", localize=True)
loader.command(admin_group)


@lightbulb.hook(lightbulb.ExecutionSteps.CHECKS, skip_when_failed=True)
async def owners_only(_: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, owners: Owners) -> None:
    await owners.require(ctx.interaction)


def owners_command(group: Any, key: str, run: Callable[..., Awaitable[Reply]], **options: Any) -> None:
    reply_command(group.register, key, run, hooks=[owners_only], **options)


MAX_NAME_CHARACTERS = 60


def _name(key: str, **options: Any) -> Any:
    return text_option(key, max_length=MAX_NAME_CHARACTERS, **options)


def _subject(key: str) -> dict[str, Any]:
    kinds = choices("admin", "user", "role", "channel", "guild")
    kind = text_option("admin_kind", default=None, choices=kinds)
    return {"subject": _name(key, default=""), "kind": kind}


def _limit() -> str:
    return text_option("admin_limit", choices=choices("admin", *LIMIT_NAMES))


async def show_access(caller: Caller, *, administration: Administration, owners: Owners) -> Reply:
    return await admin.show_access(caller, await owners.ids(), administration=administration)


owners_command(limits, "admin_limits_show", admin.show_limits)
owners_command(
    limits,
    "admin_limits_set",
    admin.set_limit,
    limit=_limit(),
    value=number_option("admin_value", default=None, min_value=1, max_value=MAX_LIMIT),
    **_subject("admin_for"),
)
owners_command(limits, "admin_limits_unset", admin.unset_limit, limit=_limit(), **_subject("admin_for"))
owners_command(access, "admin_access_list", show_access)
for ruling in get_args(Ruling):
    owners_command(
        access, f"admin_access_{ruling}", admin.set_rule, ruling=ruling, **_subject("admin_subject")
    )
owners_command(access, "admin_access_remove", admin.remove_rule, **_subject("admin_subject"))
owners_command(
    maintenance,
    "admin_maintenance_on",
    admin.begin_maintenance,
    note=text_option("admin_note", default="", max_length=MAX_NOTE_CHARACTERS),
)
owners_command(maintenance, "admin_maintenance_off", admin.end_maintenance)
if has("mcp"):
    from cc_bot.features.mcp import service as tool_servers
    from cc_bot.features.mcp.servers import Servers

    tools = admin_group.subgroup("admin_tools", "admin_tools_description", localize=True)

    async def suggest_servers(
        ctx: lightbulb.AutocompleteContext[str],
        servers: Servers = lightbulb.di.INJECTED,
        owners: Owners = lightbulb.di.INJECTED,
    ) -> list[str]:
        if int(ctx.interaction.user.id) not in await owners.ids():
            return []
        managed = sorted(servers.managed.items(), key=lambda each: not each[1].catalog.awaiting_owner)
        typed = str(ctx.focused.value or "").casefold()
        return [name for name, _ in managed if typed in name.casefold()]

    owners_command(
        tools,
        "admin_tools_show",
        tool_servers.show_tools,
        server=_name("admin_server", default="", autocomplete=suggest_from(suggest_servers)),
    )
    owners_command(
        tools,
        "admin_tools_accept",
        tool_servers.accept_tools,
        server=_name("admin_server", autocomplete=suggest_from(suggest_servers)),
        code=_name("admin_code"),
    )

owners_command(
    model,
    "admin_model_set",
    admin.set_models,
    models=text_option("admin_models", max_length=MAX_MODELS * (MAX_MODEL_CHARACTERS + 1)),
    channel=_name("admin_channel", default=""),
)
owners_command(model, "admin_model_unset", admin.unset_models, channel=_name("admin_channel", default=""))
owners_command(model, "admin_model_list", admin.list_models)
owners_command(admin_group, "admin_status", admin.show_status)
