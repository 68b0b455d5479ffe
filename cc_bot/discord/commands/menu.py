"""The message menu: ask about a message, translate it, summarize from it on, remember it.

Discord sends the message with the command, so no intent is needed. The answers are turns as of `/ask`, and
store only the message's id. A remembered message that not everyone in its server may read is recalled in
private only.
"""

import unicodedata
from functools import partial
from typing import Final

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.commands.memories import kept_reply
from cc_bot.discord.agents import Preloaded
from cc_bot.discord.attachments import files_of
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.incoming import has_no_visible_content, memorable_text, text_of
from cc_bot.discord.interactions import Answerable, author_name, is_ephemeral, own_space
from cc_bot.discord.messages.forwards import Forwards
from cc_bot.discord.pages.custom_ids import AskForm
from cc_bot.discord.places import may_read
from cc_bot.discord.presses import on_press, show_reply
from cc_bot.discord.recipients import Recipient, Recipients, tell
from cc_bot.discord.references import is_present, is_said, target_of
from cc_bot.domain.errors import (
    ConversationNotShown,
    EmptyQuestion,
    InputError,
    MemoryPaused,
    NothingToRead,
    NothingToTranslate,
)
from cc_bot.domain.memory import MAX_CONTENT_CHARACTERS, Source
from cc_bot.domain.message import Pointing, is_blank, is_recording
from cc_bot.domain.turn import AskedQuestion
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts, explain
from cc_bot.texts.area import without_mentions

loader = lightbulb.Loader()

FORM_CHARACTERS: Final = 4000
"""Discord's limit for a text input."""
EVERYONE: Final = frozenset(
    {"みんな", "みんなに", "全員", "全員に", "公開", "everyone", "everybody", "all", "public"}
)
"""Answers in the form that make the reply public; any other makes it private."""


@loader.command
class AskAboutThis(lightbulb.MessageCommand, name="ask_about_this", localize=True):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, *, answers: Answers, arrival: Preloaded, recipients: Recipients
    ) -> None:
        interaction, target = ctx.interaction, self.target
        recipient = await recipients.soon(interaction, arrival.settings)
        if await _refuses(_problem_reading(target), interaction, recipient):
            return
        answers.references.targets.keep(recipient.user_id, target_of(interaction, target))
        form = AskForm(recipient.user_id, int(target.id)).custom_id()
        fields = _form(recipient.words, with_audience=not (own_space(interaction) or is_ephemeral(target)))
        await interaction.create_modal_response(recipient.words.menu.form_title, form, components=fields)


@loader.command
class TranslateThis(lightbulb.MessageCommand, name="translate_this", localize=True):
    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        *,
        answers: Answers,
        arrival: Preloaded,
        forwards: Forwards,
        recipients: Recipients,
    ) -> None:
        interaction, target = ctx.interaction, self.target
        recipient = await recipients.soon(interaction, arrival.settings)
        problem = _problem_translating(target, answers.references.bot())
        if await _refuses(problem, interaction, recipient):
            return
        answers.references.targets.keep(recipient.user_id, target_of(interaction, target))
        forwards.forget((int(target.id),))  # the forward no longer waits for a question
        question = partial(_question, interaction, recipient.words.menu.translate, int(target.id), "menu")
        await answers.ask(interaction, question, arrival, ephemeral=True)


@loader.command
class SummariseFromHere(lightbulb.MessageCommand, name="summarise_from_here", localize=True):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, *, answers: Answers, arrival: Preloaded, recipients: Recipients
    ) -> None:
        interaction, target = ctx.interaction, self.target
        recipient = await recipients.soon(interaction, arrival.settings)
        problem = None if is_present(interaction) else ConversationNotShown()
        if await _refuses(problem, interaction, recipient):
            return
        answers.references.targets.keep(recipient.user_id, target_of(interaction, target))
        question = partial(_question, interaction, recipient.words.menu.summarise, int(target.id), "since")
        await answers.ask(interaction, question, arrival, ephemeral=True)


@on_press(loader, AskForm, not_yours=lambda words: words.answer.not_yours, response="own")
async def ask(
    interaction: hikari.ModalInteraction,
    form: AskForm,
    recipient: Recipient,
    *,
    answers: Answers,
    forwards: Forwards,
) -> None:
    entered = {each.custom_id: each.value or "" for row in interaction.components for each in row}
    text = without_mentions(entered.get("question", "")).strip()
    if await _refuses(EmptyQuestion() if is_blank(text) else None, interaction, recipient):
        return
    forwards.forget((form.message_id,))
    target = answers.references.targets.get(recipient.user_id, form.message_id)
    hidden = target is not None and is_ephemeral(target.message)  # ephemeral messages stay private
    public = _names_everyone(entered.get("audience", "")) and not hidden
    question = partial(_question, interaction, text, form.message_id, "menu")
    await answers.ask(interaction, question, Preloaded(), ephemeral=not public)


async def _refuses(problem: InputError | None, interaction: Answerable, recipient: Recipient) -> bool:
    """Report the problem, if any. The interaction is not acknowledged yet. Returns whether there was one."""
    if problem:
        await tell(interaction, explain(problem, recipient.words))
    return problem is not None


def _problem_reading(target: hikari.Message) -> InputError | None:
    return NothingToRead() if has_no_visible_content(target) or not is_said(target) else None


def _problem_translating(target: hikari.Message, bot: hikari.User) -> InputError | None:
    recorded = any(is_recording(file.media_type) for file in files_of(target))
    has_text = recorded or not is_blank(text_of(target, bot))
    return _problem_reading(target) or (None if has_text else NothingToTranslate())


def _names_everyone(entered: str) -> bool:
    """Return whether the answer is one of EVERYONE, in any width, and with or without punctuation."""
    return unicodedata.normalize("NFKC", entered).strip(" !.。").casefold() in EVERYONE


async def _question(interaction: Answerable, text: str, message_id: int, pointing: Pointing) -> AskedQuestion:
    return AskedQuestion(text, author_name(interaction), reply_to=message_id, pointing=pointing)


def _form(words: Texts, *, with_audience: bool) -> list[ModalActionRowBuilder]:
    """The audience is a text input, since the library's forms have no select menus."""
    question = ModalActionRowBuilder().add_text_input(
        "question",
        words.menu.form_question,
        style=hikari.TextInputStyle.PARAGRAPH,
        max_length=FORM_CHARACTERS,
    )
    if not with_audience:
        return [question]
    audience = ModalActionRowBuilder().add_text_input(
        "audience", words.menu.form_audience, value=words.menu.only_me, required=False, max_length=20
    )
    return [question, audience]


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
    except hikari.HTTPError:  # such as for user-installed bots
        return False
