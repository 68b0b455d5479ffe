"""`/admin maintenance`: for a while nobody but owners is answered. What is being answered is not cut off."""

import lightbulb

from cc_bot.discord.extensions.admin.group import answer, maintenance, note, owners_only
from cc_bot.discord.localization import Reader, Readers
from cc_bot.stores import AccessStore

MAX_NOTE_CHARACTERS = 300


@maintenance.register
class On(
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
    async def invoke(self, ctx: lightbulb.Context, store: AccessStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            await store.begin_maintenance(" ".join(self.words.split()), set_by=reader.user_id)
            note(reader, "maintenance_begun")
            return reader.words.admin.maintenance_begun

        await answer(ctx.interaction, readers, act)


@maintenance.register
class Off(
    lightbulb.SlashCommand,
    name="admin_maintenance_off",
    description="admin_maintenance_off_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, store: AccessStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            if not await store.end_maintenance():
                return reader.words.admin.maintenance_was_off
            note(reader, "maintenance_ended")
            return reader.words.admin.maintenance_ended

        await answer(ctx.interaction, readers, act)
