"""`/ask`: a question becomes a turn."""

import lightbulb

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.attachments import fetch_attachment
from cc_bot.discord.delivery.answer_pages import note_pages
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.interactions import author_name, defer, message_link, session_key, visibility_of
from cc_bot.discord.localization import Readers
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore

loader = lightbulb.Loader()


@loader.command
class Ask(lightbulb.SlashCommand, name="ask", description="ask_description", localize=True):
    question = lightbulb.string(
        "ask_question", "ask_question_description", localize=True, max_length=MAX_QUESTION_CHARACTERS
    )
    attachment = lightbulb.attachment(
        "ask_attachment", "ask_attachment_description", localize=True, default=None
    )
    private = lightbulb.boolean("ask_private", "ask_private_description", localize=True, default=False)
    temporary = lightbulb.boolean("ask_temporary", "ask_temporary_description", localize=True, default=False)

    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        assistant: Assistant,
        readers: Readers,
        running: RunningTurns,
        channels: ChannelStore,
    ) -> None:
        ephemeral = self.private or self.temporary
        shown_in = await defer(ctx.interaction, ephemeral=ephemeral)
        reader = await readers.of(ctx.interaction)
        message = await self._message(ctx, ephemeral=ephemeral)
        options = TurnOptions(
            reader.locale,
            reader.timezone,
            self.temporary,
            reader.welcomed,
            answer_discord_id=None if ephemeral else shown_in,
            memory_paused=reader.memory_paused,
            link="" if ephemeral else message_link(ctx.guild_id, ctx.channel_id, shown_in),
        )
        key = session_key(ctx.interaction)
        reply = reply_to_deferred(ctx.interaction, ephemeral=ephemeral)
        ended = await show_turn(
            lambda stop: assistant.ask(key, message, options, stop),
            reply,
            reader,
            running,
            temporary=self.temporary,
        )
        await note_pages(channels, ended, reply.further_ids)

    async def _message(self, ctx: lightbulb.Context, *, ephemeral: bool) -> Message:
        files = () if self.attachment is None else (await fetch_attachment(self.attachment),)
        return Message(
            "user",
            self.question.strip(),
            visibility=visibility_of(ctx.interaction, ephemeral=ephemeral),
            author_id=int(ctx.user.id),
            author_name=author_name(ctx.interaction),
            attachments=files,
        )
