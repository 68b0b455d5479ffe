"""`/admin limits`: how much may be used. What is set here goes before what the operator's file says."""

from typing import cast

import hikari
import lightbulb

from cc_bot.discord.extensions.admin.group import answer, limits, note, owners_only
from cc_bot.discord.extensions.admin.options import MAX_NAME_CHARACTERS, kind_option, named_in
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages import admin_view
from cc_bot.domain.errors import LimitNotForChannels, LimitNotForServers
from cc_bot.domain.limits import EVERYONE, LARGEST, QUOTAS, LimitKey, LimitName
from cc_bot.policy import Policies
from cc_bot.stores import LimitStore


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
class Show(
    lightbulb.SlashCommand,
    name="admin_limits_show",
    description="admin_limits_show_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, store: LimitStore, policies: Policies, readers: Readers
    ) -> None:
        async def act(reader: Reader) -> str:
            set_here = {each.key: each.value for each in await store.all()}
            return admin_view.limits((await policies.now()).limits, set_here, reader.words)

        await answer(ctx.interaction, readers, act)


@limits.register
class Set(
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
    async def invoke(self, ctx: lightbulb.Context, store: LimitStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            key, words = _key(ctx.interaction, self.limit, self.for_, self.kind), reader.words
            await store.set(key.scope, key.scope_id, key.name, self.value, set_by=reader.user_id)
            note(reader, "limit_set", **_recorded(key), value=self.value)
            return words.admin.limit_set.format(
                subject=admin_view.limited(key, words),
                limit=admin_view.limit_name(key.name, words),
                value=admin_view.limit_value(self.value, words),
            )

        await answer(ctx.interaction, readers, act)


@limits.register
class Unset(
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
    async def invoke(self, ctx: lightbulb.Context, store: LimitStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            key = _key(ctx.interaction, self.limit, self.for_, self.kind)
            told = reader.words.admin
            if not await store.unset(key.scope, key.scope_id, key.name):
                return told.limit_was_not_set
            note(reader, "limit_unset", **_recorded(key))
            return told.limit_unset

        await answer(ctx.interaction, readers, act)


def _key(interaction: hikari.PartialInteraction, limit: str, text: str, kind: str | None) -> LimitKey:
    """Raises SubjectNotUnderstood, LimitNotForChannels and LimitNotForServers."""
    name = cast("LimitName", limit)  # Discord takes no other choice
    if not text.strip() and kind is None:
        return LimitKey("everyone", EVERYONE, name)
    found = named_in(interaction, text, kind)
    if found.subject == "channel":
        raise LimitNotForChannels
    if found.subject == "guild" and name in QUOTAS:
        raise LimitNotForServers
    return LimitKey(found.subject, found.id, name)


def _recorded(key: LimitKey) -> dict[str, str | int]:
    return {"limit": key.name, "subject": key.scope, "subject_id": key.scope_id}
