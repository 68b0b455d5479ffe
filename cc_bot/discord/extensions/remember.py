"""The message context menu: keep that message as a memory."""

import hikari
import lightbulb

from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.discord.memory_view import quoted
from cc_bot.domain.memory import MAX_CONTENT_CHARACTERS
from cc_bot.stores.memories import MemoryStore

loader = lightbulb.Loader()


@loader.command
class RememberThis(lightbulb.MessageCommand, name="remember_this", localize=True):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        words = reader.words.memory
        message: hikari.Message = self.target
        text = _text_of(message)
        if not text:
            await ctx.interaction.edit_initial_response(words.empty_message)
            return
        added = await memories.add(
            reader.user_id,
            text,
            metadata={
                "source": "message",
                "link": message.make_link(ctx.guild_id),
                "author": message.author.display_name or message.author.username,
            },
        )
        sentence = words.remembered_message.format(id=added.id, content=quoted(added.content))
        await ctx.interaction.edit_initial_response(sentence)


def _text_of(message: hikari.Message) -> str:
    """What the message says; for one that consists of embeds, what those say."""
    embeds = (part for embed in message.embeds for part in (embed.title, embed.description) if part)
    return "\n".join(filter(None, ((message.content or "").strip() or "\n".join(embeds),)))[
        :MAX_CONTENT_CHARACTERS
    ]
