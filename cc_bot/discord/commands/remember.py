"""The message context menu: keep that message as a memory.

A message that not everybody of its server may read is recalled in private only, and any other one everywhere.
"""

import hikari
import lightbulb

from cc_bot.commands.memories import kept_reply
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.incoming import memorable_text
from cc_bot.discord.interactions import is_ephemeral
from cc_bot.discord.places import may_read
from cc_bot.discord.presses import show_reply
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import MAX_CONTENT_CHARACTERS, Source
from cc_bot.stores.memory.store import MemoryStore

loader = lightbulb.Loader()


@loader.command
class RememberThis(lightbulb.MessageCommand, name="remember_this", localize=True):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, answers: Answers, memories: MemoryStore, recipients: Recipients
    ) -> None:
        recipient = await recipients.defer(ctx.interaction)
        if recipient.memory_paused:
            raise MemoryPaused
        words = recipient.words.memory
        message: hikari.Message = self.target
        ours = message.application_id == ctx.interaction.application_id
        text = memorable_text(message, answers.references.bot(), ours=ours)[:MAX_CONTENT_CHARACTERS]
        if not text:
            await ctx.interaction.edit_initial_response(words.empty_message)
            return
        is_open = False
        if ctx.guild_id is not None and not is_ephemeral(message):
            is_open = await _may_all_read(ctx.client.rest, ctx.guild_id, ctx.channel_id)
        added = await memories.add(
            recipient.user_id,
            text,
            audience="anywhere" if is_open else "private",
            source=Source(
                "message",
                link=message.make_link(ctx.guild_id),
                author=message.author.display_name or message.author.username,
            ),
        )
        reply = kept_reply(words.remembered_message, added, recipient)
        await show_reply(ctx.interaction, reply, recipient)


async def _may_all_read(
    rest: hikari.api.RESTClient, guild_id: hikari.Snowflake, channel_id: hikari.Snowflake
) -> bool:
    try:
        return await may_read(rest, int(guild_id), await rest.fetch_channel(channel_id), None)
    except hikari.HTTPError:  # as where the bot was only brought along by its user
        return False
