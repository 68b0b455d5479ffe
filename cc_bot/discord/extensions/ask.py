"""`/ask`: a question becomes a turn."""

import lightbulb

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.agents import Chooser, stand_in_note
from cc_bot.discord.attachments import fetch_attachment
from cc_bot.discord.delivery.answer_pages import note_pages
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.interactions import author_name, can_write, defer, message_link, own_space, visibility_of
from cc_bot.discord.localization import Readers
from cc_bot.discord.messages.unasked import Unasked
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
        *,
        assistant: Assistant,
        readers: Readers,
        running: RunningTurns,
        channels: ChannelStore,
        boards: CanvasBoards,
        chooser: Chooser,
        unasked: Unasked,
    ) -> None:
        ephemeral = self.private or self.temporary
        shown_in = await defer(ctx.interaction, ephemeral=ephemeral)
        reader = await readers.of(ctx.interaction)
        message = await self._message(ctx, unasked, ephemeral=ephemeral)
        chosen = await chooser.of(ctx.interaction)
        options = TurnOptions(
            reader.locale,
            reader.timezone,
            self.temporary,
            reader.welcomed,
            answer_discord_id=None if ephemeral else shown_in,
            memory_paused=reader.memory_paused,
            link="" if ephemeral else message_link(ctx.guild_id, ctx.channel_id, shown_in),
            agent=chosen.agent,
            guild_id=None if ctx.guild_id is None else int(ctx.guild_id),
            can_write_there=can_write(ctx.interaction),
        )
        reply = reply_to_deferred(ctx.interaction, ephemeral=ephemeral)
        ended = await show_turn(
            lambda stop: boards.noting(
                chosen.key, assistant.ask(chosen.key, message, options, stop), ctx.interaction
            ),
            reply,
            reader,
            running,
            temporary=self.temporary,
            note=stand_in_note(chosen, reader),
        )
        await note_pages(channels, ended, reply.further_ids)
        if ended.canvas_changed:
            await boards.changed(chosen.key, ctx.interaction, ephemeral=ephemeral)

    async def _message(self, ctx: lightbulb.Context, unasked: Unasked, *, ephemeral: bool) -> Message:
        files = () if self.attachment is None else (await fetch_attachment(self.attachment),)
        question, user_id = self.question.strip(), int(ctx.user.id)
        if own_space(ctx.interaction):
            question = await unasked.quoting_the_last(user_id, int(ctx.channel_id), question)
        return Message(
            "user",
            question,
            visibility=visibility_of(ctx.interaction, ephemeral=ephemeral),
            author_id=user_id,
            author_name=author_name(ctx.interaction),
            attachments=files,
        )
