"""`/admin status`."""

import lightbulb

from cc_bot.discord.bot_status import BotStatus
from cc_bot.discord.extensions.admin.group import admin, answer, owners_only
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages import admin_view


@admin.register
class Status(
    lightbulb.SlashCommand,
    name="admin_status",
    description="admin_status_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, status: BotStatus, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            return admin_view.status(await status.look(), reader.words)

        await answer(ctx.interaction, readers, act)
