"""What all `/admin` commands share: the groups, who may give them, and how they are answered.

That the commands are hidden from most members is a courtesy and no protection: anybody with the right to
manage a server can show them again. So each of them asks whether its user is an owner, before anything else.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, cast

import hikari
import lightbulb
import structlog

from cc_bot.discord.access.gate import Owners
from cc_bot.discord.delivery.reply import LONGEST_MESSAGE, NO_PINGS
from cc_bot.discord.interactions import Answerable, Mentionable, defer, named
from cc_bot.discord.localization import Reader, Readers
from cc_bot.domain.access import Subject
from cc_bot.domain.errors import SubjectNotUnderstood

Change = Literal[
    "limit_set",
    "limit_unset",
    "access_set",
    "access_removed",
    "models_set",
    "models_unset",
    "maintenance_begun",
    "maintenance_ended",
]

_log = structlog.get_logger(__name__)

loader = lightbulb.Loader()
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
loader.command(admin)


@lightbulb.hook(lightbulb.ExecutionSteps.CHECKS, skip_when_failed=True)
async def owners_only(_: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, owners: Owners) -> None:
    """Raises OwnersOnly."""
    await owners.require(ctx.interaction)


async def answer(interaction: Answerable, readers: Readers, act: Callable[[Reader], Awaitable[str]]) -> None:
    """Do what was asked for, and tell its user alone; what is too long comes as a file."""
    await defer(interaction, ephemeral=True)
    reader = await readers.of(interaction)
    told = await act(reader)
    if len(told) <= LONGEST_MESSAGE:
        await interaction.edit_initial_response(told, **NO_PINGS)
        return
    title, _, rest = told.partition("\n")
    file = hikari.Bytes(rest.encode(), reader.words.admin.file_name)
    await interaction.edit_initial_response(title, attachment=file, **NO_PINGS)


def note(reader: Reader, change: Change, **what: str | int | None) -> None:
    """Put on record what an owner changed, once it is done. Never what they wrote: only ids, numbers, and
    names that the program knows."""
    _log.info("admin_changed", change=change, by=reader.user_id, **what)


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


def named_in(interaction: hikari.PartialInteraction, text: str, kind: str | None) -> Mentionable:
    """Whom a command is about. Raises SubjectNotUnderstood."""
    guild_id = None if interaction.guild_id is None else int(interaction.guild_id)
    found = named(text, cast("Subject | None", kind), guild_id)  # Discord takes no other choice
    if found is None:
        raise SubjectNotUnderstood
    return found
