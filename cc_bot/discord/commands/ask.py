"""`/ask`, and the message menu: ask about a message, translate it, summarize from it on, remember it."""

import unicodedata
from functools import partial
from typing import Any, Final

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.chat.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.attachments import asked_file, files_of
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.handlers import (
    Submission,
    command,
    file_option,
    message_command,
    on_press,
    show,
    switch_option,
    text_option,
)
from cc_bot.discord.incoming import has_no_visible_content, memorable_text, text_of
from cc_bot.discord.interactions import Answerable, Preloaded, author_name, is_bot_dm, is_ephemeral, tell
from cc_bot.discord.locations import may_read
from cc_bot.discord.messages.routing import Forwards, ProactiveMessageQuotes
from cc_bot.discord.pages.custom_ids import AskForm
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.references import MenuTarget, is_bot_present, is_finished
from cc_bot.domain.errors import (
    ConversationNotShown,
    EmptyQuestion,
    InputError,
    MemoryPaused,
    NothingToRead,
    NothingToTranslate,
)
from cc_bot.domain.message import ReferenceKind, is_blank, is_recording
from cc_bot.domain.turn import AskedQuestion
from cc_bot.features.memory.model import MAX_CONTENT_CHARACTERS, Source
from cc_bot.features.memory.service import build_saved_reply
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import AnswerTexts, MessageMenuTexts
from cc_bot.texts.area import plain_commands

loader = lightbulb.Loader()

MAX_FORM_CHARACTERS: Final = 4000
_ATTACHMENTS: Final[dict[str, Any]] = {
    f"attachment{number}": file_option(f"ask_attachment{number}", default=None) for number in ("", 2, 3, 4, 5)
}
_PUBLIC_WORDS: Final = frozenset(
    {"みんな", "みんなに", "全員", "全員に", "公開", "everyone", "everybody", "all", "public"}
)
"""Answers in the form that make the reply public."""


@command(
    loader.command,
    "ask",
    question=text_option("ask_question", max_length=MAX_QUESTION_CHARACTERS),
    **_ATTACHMENTS,
    private=switch_option("ask_private", default=False),
    temporary=switch_option("ask_temporary", default=False),
)
async def ask(
    ctx: lightbulb.Context,
    *,
    question: str,
    private: bool,
    temporary: bool,
    answers: Answers,
    preloaded: Preloaded,
    quotes: ProactiveMessageQuotes,
    forwards: Forwards,
    **attachments: hikari.Attachment | None,
) -> None:
    interaction = ctx.interaction

    async def read() -> AskedQuestion:
        text, forward_ids = plain_commands(question).strip(), tuple[int, ...]()
        if is_bot_dm(interaction):
            user_id, channel_id = int(interaction.user.id), int(interaction.channel_id)
            text = await quotes.quote_last(user_id, channel_id, text)
            forward_ids = await forwards.claim(channel_id, user_id, int(interaction.id))
        files = tuple(map(asked_file, filter(None, attachments.values())))
        return AskedQuestion(text, author_name(interaction), files, forwards=forward_ids)

    try:
        await answers.ask(interaction, read, preloaded, ephemeral=private or temporary, temporary=temporary)
    finally:
        forwards.release_claims(int(interaction.id))


async def _make_question(
    interaction: Answerable, text: str, message_id: int, kind: ReferenceKind
) -> AskedQuestion:
    return AskedQuestion(text, author_name(interaction), reply_to=message_id, pointing=kind)


async def _accept_target(
    target: hikari.Message,
    problem: InputError | None,
    interaction: hikari.CommandInteraction,
    preloaded: Preloaded,
    answers: Answers,
) -> Recipient | None:
    """Cache the message and return the user. If there is a problem, report it and return None."""
    recipient = await answers.recipients.find_quickly(interaction, preloaded.settings)
    if problem:
        await tell(interaction, explain(problem, recipient.words))
        return None
    may_be_fetched = is_bot_present(interaction) and not is_ephemeral(target)
    menu_target = MenuTarget(target, int(interaction.id), may_be_fetched)
    answers.references.cache.put_target(recipient.user_id, menu_target)
    return recipient


@message_command(loader.command, "ask_about_this")
async def ask_about_this(
    ctx: lightbulb.Context, *, target: hikari.Message, answers: Answers, preloaded: Preloaded
) -> None:
    interaction = ctx.interaction
    if recipient := await _accept_target(target, _reading_problem(target), interaction, preloaded, answers):
        form = AskForm(recipient.user_id, int(target.id)).custom_id()
        private = is_bot_dm(interaction) or is_ephemeral(target)
        fields = _form_fields(recipient.words, with_audience=not private)
        title = recipient.words[MessageMenuTexts].form_title
        await interaction.create_modal_response(title, form, components=fields)


@message_command(loader.command, "translate_this")
async def translate_this(
    ctx: lightbulb.Context,
    *,
    target: hikari.Message,
    answers: Answers,
    preloaded: Preloaded,
    forwards: Forwards,
) -> None:
    interaction, problem = ctx.interaction, _reading_problem(target)
    has_recording = any(is_recording(file.media_type) for file in files_of(target))
    if not problem and not has_recording and is_blank(text_of(target, answers.references.bot())):
        problem = NothingToTranslate()
    if recipient := await _accept_target(target, problem, interaction, preloaded, answers):
        forwards.forget((int(target.id),))  # a forward no longer waits for a question
        text = recipient.words[MessageMenuTexts].translate
        question = partial(_make_question, interaction, text, int(target.id), "menu")
        await answers.ask(interaction, question, preloaded, ephemeral=True)


@message_command(loader.command, "summarise_from_here")
async def summarise_from_here(
    ctx: lightbulb.Context, *, target: hikari.Message, answers: Answers, preloaded: Preloaded
) -> None:
    interaction = ctx.interaction
    problem = None if is_bot_present(interaction) else ConversationNotShown()
    if recipient := await _accept_target(target, problem, interaction, preloaded, answers):
        text = recipient.words[MessageMenuTexts].summarise
        question = partial(_make_question, interaction, text, int(target.id), "since")
        await answers.ask(interaction, question, preloaded, ephemeral=True)


@on_press(AskForm, not_yours=lambda words: words[AnswerTexts].not_yours, response="by_handler")
async def ask_from_form(press: Submission[AskForm], answers: Answers, forwards: Forwards) -> None:
    interaction, form, recipient = press
    values = press.values
    text = plain_commands(values.get("question", "")).strip()
    if is_blank(text):
        await tell(interaction, explain(EmptyQuestion(), recipient.words))
        return
    forwards.forget((form.message_id,))
    target = answers.references.cache.get_target(recipient.user_id, form.message_id)
    may_be_public = target is None or not is_ephemeral(target.message)
    audience = unicodedata.normalize("NFKC", values.get("audience", "")).strip(" !.。").casefold()
    is_public = audience in _PUBLIC_WORDS and may_be_public
    question = partial(_make_question, interaction, text, form.message_id, "menu")
    await answers.ask(interaction, question, Preloaded(), ephemeral=not is_public)


def _reading_problem(target: hikari.Message) -> InputError | None:
    return NothingToRead() if has_no_visible_content(target) or not is_finished(target) else None


def _form_fields(words: Texts, *, with_audience: bool) -> list[ModalActionRowBuilder]:
    """The user types the audience, since hikari's forms have no menus."""
    question = ModalActionRowBuilder().add_text_input(
        "question",
        words[MessageMenuTexts].form_question,
        style=hikari.TextInputStyle.PARAGRAPH,
        max_length=MAX_FORM_CHARACTERS,
    )
    if not with_audience:
        return [question]
    audience = ModalActionRowBuilder().add_text_input(
        "audience",
        words[MessageMenuTexts].form_audience,
        value=words[MessageMenuTexts].only_me,
        required=False,
        max_length=20,
    )
    return [question, audience]


@message_command(loader.command, "remember_this")
async def remember_this(
    ctx: lightbulb.Context,
    *,
    target: hikari.Message,
    answers: Answers,
    memories: MemoryStore,
    recipients: Recipients,
) -> None:
    recipient = await recipients.defer(ctx.interaction)
    if recipient.memory_paused:
        raise MemoryPaused
    words = recipient.words[MemoryTexts]
    by_bot = target.application_id == ctx.interaction.application_id
    text = memorable_text(target, answers.references.bot(), by_bot=by_bot)[:MAX_CONTENT_CHARACTERS]
    if not text:
        await ctx.interaction.edit_initial_response(words.empty_message)
        return
    # A message that not everyone in its server may read is recalled only in private.
    is_public = False
    if ctx.guild_id is not None and not is_ephemeral(target):
        is_public = await _may_all_read(ctx.client.rest, ctx.guild_id, ctx.channel_id)
    author = target.author.display_name or target.author.username
    added = await memories.add(
        recipient.user_id,
        text,
        audience="anywhere" if is_public else "private",
        source=Source("message", link=target.make_link(ctx.guild_id), author=author),
    )
    await show(ctx.interaction, build_saved_reply(words.remembered_message, added, recipient), recipient)


async def _may_all_read(
    rest: hikari.api.RESTClient, guild_id: hikari.Snowflake, channel_id: hikari.Snowflake
) -> bool:
    try:
        return await may_read(rest, int(guild_id), await rest.fetch_channel(channel_id), None)
    except hikari.HTTPError:  # such as for user-installed bots
        return False
