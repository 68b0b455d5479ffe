"""`/ask`: a question becomes a turn, and stands in the ledger before Discord is told that it was taken."""

from dataclasses import dataclass, replace
from functools import partial

import lightbulb

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.correlation import begin_turn
from cc_bot.discord.agents import Chooser, Chosen, stand_in_note
from cc_bot.discord.attachments import fetch_attachment
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.entries import Delivery, TurnDeliveries, asked_files
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.delivery.undone import note_pages
from cc_bot.discord.interactions import (
    author_name,
    can_write,
    defer,
    message_link,
    own_space,
    roles_of,
    visibility_of,
)
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.messages.addressing import Unasked
from cc_bot.domain.ledger import AskedQuestion
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore
from cc_bot.texts.naming import without_mentions

loader = lightbulb.Loader()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is known before the question is acknowledged."""

    reader: Reader
    chosen: Chosen
    text: str
    entry: Delivery


@loader.command
class AskCommand(lightbulb.SlashCommand, name="ask", description="ask_description", localize=True):
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
        entries: TurnDeliveries,
    ) -> None:
        begin_turn()
        ephemeral = self.private or self.temporary
        prepared, shown_in = await entries.acknowledged(
            self._prepare(ctx, readers, chooser, unasked, entries, ephemeral=ephemeral),
            partial(defer, ctx.interaction, ephemeral=ephemeral),
            undo=lambda prepared: prepared.entry.settle(),
        )
        reader, chosen = prepared.reader, prepared.chosen
        async with prepared.entry as entry:
            await entry.shown_in(shown_in)
            message = await self._message(ctx, prepared.text, ephemeral=ephemeral)
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
                entry=entry.id,
                role_ids=roles_of(ctx.interaction.member),
            )
            reply = reply_to_deferred(ctx.interaction, ephemeral=ephemeral, noting=entry.posted)
            ended = await show_turn(
                lambda stop: boards.noting(
                    chosen.key, assistant.ask(chosen.key, message, options, stop), ctx.interaction
                ),
                reply,
                reader,
                running,
                temporary=self.temporary,
                note=stand_in_note(chosen, reader),
                name=entry.id,
            )
            await note_pages(channels, ended, reply.further_ids)
            await entry.ended(ended)
        if ended.canvas_changed:
            await boards.changed(chosen.key, ctx.interaction, ephemeral=ephemeral)

    async def _prepare(
        self,
        ctx: lightbulb.Context,
        readers: Readers,
        chooser: Chooser,
        unasked: Unasked,
        entries: TurnDeliveries,
        *,
        ephemeral: bool,
    ) -> _Prepared:
        interaction = ctx.interaction
        reader, chosen = await readers.of(interaction), await chooser.of(interaction)
        text = without_mentions(self.question).strip()
        if own_space(interaction):
            text = await unasked.quoting_the_last(int(ctx.user.id), int(ctx.channel_id), text)
        visibility = visibility_of(interaction, ephemeral=ephemeral)
        turn = replace(
            entries.of_interaction(
                interaction, chosen.key, "ask", reader, visibility=visibility, ephemeral=ephemeral
            ),
            temporary=self.temporary,
            question=AskedQuestion(
                text, author_name(interaction), asked_files((self.attachment,) if self.attachment else ())
            ),
        )
        return _Prepared(reader, chosen, text, await entries.accept(turn))

    async def _message(self, ctx: lightbulb.Context, text: str, *, ephemeral: bool) -> Message:
        files = () if self.attachment is None else (await fetch_attachment(self.attachment),)
        return Message(
            "user",
            text,
            visibility=visibility_of(ctx.interaction, ephemeral=ephemeral),
            author_id=int(ctx.user.id),
            author_name=author_name(ctx.interaction),
            attachments=files,
        )
