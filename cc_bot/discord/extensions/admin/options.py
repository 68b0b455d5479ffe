"""The options by which owners name whom a command is about."""

from typing import cast

import hikari
import lightbulb

from cc_bot.discord.subjects import Named, named
from cc_bot.domain.access import Subject
from cc_bot.domain.errors import SubjectNotUnderstood

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


def named_in(interaction: hikari.PartialInteraction, text: str, kind: str | None) -> Named:
    """Whom a command is about. Raises SubjectNotUnderstood."""
    guild_id = None if interaction.guild_id is None else int(interaction.guild_id)
    found = named(text, cast("Subject | None", kind), guild_id)  # Discord takes no other choice
    if found is None:
        raise SubjectNotUnderstood
    return found
