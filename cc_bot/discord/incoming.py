"""Reads Discord messages without I/O: their text for the model, and whom they address."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import hikari

from cc_bot.discord.attachments import files_of, forwards_of, is_voice_message, on_one_line
from cc_bot.discord.pages.answer import without_transcript
from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.discord.pages.page import controls_of, texts_of
from cc_bot.domain.message import Message, is_blank
from cc_bot.domain.text import shorten
from cc_bot.texts.area import plain_commands

MAX_QUOTED_CHARACTERS = 300
ORDINARY_TYPES: Final = frozenset({hikari.MessageType.DEFAULT, hikari.MessageType.REPLY})
"""Messages of users; other types report pins, boosts, new threads and commands."""
FILE_NOTE = "[file: "  # begins a line that names a file

_USER_MENTION = re.compile(r"<@!?(\d+)>")
_LEADING_MENTION = re.compile(r"\A<@!?\d+>\s*")
_SMALL_PRINT = "-# "


def is_from_person(message: hikari.Message) -> bool:
    return not (message.author.is_bot or message.author.is_system or message.webhook_id)


def is_addressed(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether a message mentions the bot, or replies to it with a ping."""
    return bot_id in (message.user_mentions or ())


def is_for_others(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether a message mentions anyone but the bot, or replies to another user."""
    if message.mentions_everyone or message.role_mention_ids or {*(message.user_mentions or ())} - {bot_id}:
        return True
    return message.type is hikari.MessageType.REPLY and replied_bot_message(message, bot_id) is None


def replied_bot_message(message: hikari.PartialMessage, bot_id: int) -> hikari.PartialMessage | None:
    referenced = message.referenced_message
    if not referenced or not referenced.author or referenced.author.id != bot_id:
        return None
    return referenced


def answer_owner(message: hikari.PartialMessage) -> int | None:
    for component in controls_of(message):
        button = parse_custom_id(component.custom_id or "")
        if isinstance(button, StopButton | AnswerButton):
            return button.user_id
    return None


def has_no_visible_content(message: hikari.PartialMessage) -> bool:
    extras = message.embeds or message.poll or message.stickers or message.attachments
    if extras or any(map(_has_content, forwards_of(message))):
        return False
    return is_blank(message.content or "") and not any(texts_of(message))


def is_empty_question(message: hikari.Message, bot: hikari.User) -> bool:
    is_reply = message.type is hikari.MessageType.REPLY
    return not (is_reply or files_of(message)) and is_blank(text_of(message, bot))


def is_forward(message: hikari.PartialMessage) -> bool:
    """Return whether a message forwards others and has no text of its own."""
    return bool(forwards_of(message)) and is_blank(message.content or "")


def text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """Return typed text and quoted extras such as embeds, with users' names in place of mentions."""
    typed = typed_text_of(message, bot)
    return "\n".join(filter(None, (typed, *_quoted_extras(message, bot))))


def typed_text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """Return typed text without mentions of the bot at its ends, with users' names in place of mentions."""
    text = _without_own_mentions((message.content or "").strip(), int(bot.id))
    return _with_names(text, message.user_mentions or {}, bot)


def memorable_text(message: hikari.PartialMessage, bot: hikari.User, *, by_bot: bool) -> str:
    """Return what "Remember this" stores: the message's text, else the text of its forwards and embeds."""
    typed = typed_text_of(message, bot)
    if by_bot:
        typed = _with_names(without_small_print(message.content or ""), message.user_mentions or {}, bot)
    forwards = forwards_of(message)
    embeds = [*(message.embeds or ()), *(embed for each in forwards for embed in each.embeds)]
    shown = (
        *(_with_names(each.content or "", each.user_mentions, bot) for each in forwards),
        *(part for embed in embeds for part in (embed.title, embed.description)),
        *texts_of(message),
    )
    return typed or plain_commands("\n".join(filter(None, shown))).strip()


def contains_foreign_text(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether `text_with_file_names` has text that others may have written, such as names."""
    has_files = bool(files_of(message)) and not is_voice_message(message)  # Discord names voice messages
    shows_others = message.embeds or has_files or forwards_of(message)
    return bool(shows_others) or any(user_id != bot_id for user_id in message.user_mentions or ())


def text_with_file_names(message: hikari.PartialMessage, bot: hikari.User, *, quoting: bool = False) -> str:
    """Return the text and names of files, as the archive stores them. `quoting`: quote the bot's message that
    this one replies to. Users are never quoted: a quotation would outlive what they delete."""
    answer = replied_bot_message(message, int(bot.id)) if quoting else None
    quote = quotation(answer.content or "") if answer else ""
    mention = f"@{bot.username}" if message.referenced_message and not files_of(message) else ""
    files = [f"{FILE_NOTE}{on_one_line(file.filename)}]" for file in files_of(message)]
    return "\n".join(filter(None, (quote, text_of(message, bot) or mention, *files)))


def quotation(text: str, max_characters: int = MAX_QUOTED_CHARACTERS) -> str:
    """Quote the beginning of a message of the bot, without ping and small print."""
    text = without_small_print(text)
    return _quote(text[:max_characters] + ("…" if len(text) > max_characters else ""))


def without_small_print(text: str) -> str:
    text = plain_commands(without_transcript(_LEADING_MENTION.sub("", text)))
    lines = [line for line in text.splitlines() if not line.startswith(_SMALL_PRINT)]
    return "\n".join(lines).strip()


def replied_message_id(message: hikari.PartialMessage) -> int | None:
    """Return the id of the message in the same channel that this one replies to."""
    reference = message.message_reference
    if (
        not reference
        or reference.type != hikari.messages.MessageReferenceType.DEFAULT
        or reference.id is None
    ):
        return None
    return int(reference.id) if reference.channel_id == message.channel_id else None


def to_message(message: hikari.Message, bot: hikari.User, *, quoting: bool = False) -> Message:
    return Message(
        "assistant" if message.author.id == bot.id else "user",
        text_with_file_names(message, bot, quoting=quoting),
        author_id=int(message.author.id),
        author_name=name_of_author(message),
        discord_id=int(message.id),
        created_at=message.timestamp,
        # A moderator may have chosen the nickname.
        tainted=contains_foreign_text(message, int(bot.id))
        or bool(message.member and message.member.nickname),
        reply_to=None if quoting else replied_message_id(message),
    )


def name_of_author(message: hikari.PartialMessage) -> str:
    user = message.member or message.author
    return (user.display_name or user.username) if user else ""


_AFTER_NAME: Final = re.compile(r"\s|$")


def _with_names(text: str, people: Mapping[hikari.Snowflake, hikari.User], bot: hikari.User) -> str:
    def write_name(mention: re.Match[str]) -> str:
        user = bot if int(mention[1]) == bot.id else people.get(hikari.Snowflake(mention[1]))
        if not user:
            return mention[0]
        # Another user chose the name, which must not contain an address or look like typed words.
        name = "_".join((user.display_name or user.username).replace("://", ":").split())
        has_space = _AFTER_NAME.match(mention.string, mention.end())
        return f"@{name}" if has_space else f"@{name} "

    return plain_commands(_USER_MENTION.sub(write_name, text)).strip()


def _without_own_mentions(text: str, bot_id: int) -> str:
    """Strip both ends. At the end, a regular expression could take minutes."""
    text = re.sub(rf"\A(?:<@!?{bot_id}>[\s,、:：]*)+", "", text)
    mentions = (f"<@{bot_id}>", f"<@!{bot_id}>")
    while text.endswith(mentions):
        text = text[: text.rindex("<")].rstrip()
    return text


# Link previews, embeds and forwards are quoted, since the author did not write them.

MAX_EMBEDS: Final = 5
MAX_QUOTED_EMBED_CHARACTERS: Final = 800  # Discord allows 6,000, more than in the message itself


def _quoted_extras(message: hikari.PartialMessage, bot: hikari.User) -> Iterator[str]:
    yield from _embed_texts(message.embeds or ())
    if texts := "\n".join(texts_of(message)):
        yield f"[embed]\n{_quote(shorten(plain_commands(texts), MAX_EMBEDS * MAX_QUOTED_EMBED_CHARACTERS))}"
    if message.poll:
        yield _poll_text(message.poll)
    yield from _sticker_notes(message.stickers or ())
    yield from (_forward_text(snapshot, bot) for snapshot in forwards_of(message))


def _embed_texts(embeds: Sequence[hikari.Embed]) -> Iterator[str]:
    for embed in embeds[:MAX_EMBEDS]:
        author = embed.author.name if embed.author else None
        fields = (f"{field.name}: {field.value}" for field in embed.fields)
        footer = embed.footer.text if embed.footer else None
        text = "\n".join(filter(None, (author, embed.title, embed.description, *fields, footer)))
        if not is_blank(text):
            yield f"[embed]\n{_quote(shorten(plain_commands(text), MAX_QUOTED_EMBED_CHARACTERS))}"


def _poll_text(poll: hikari.polls.Poll) -> str:
    results = poll.results
    votes = {each.id: each.count for each in results.answer_counts} if results else {}
    lines = (
        f"- {_media_text(answer.poll_media)}{f': {votes.get(answer.answer_id, 0)}' if results else ''}"
        for answer in poll.answers
    )
    kind = "poll, closed" if results and results.is_finalized else "poll"
    return "\n".join((f"[{kind}] {_media_text(poll.question)}", *lines))


def _media_text(media: hikari.polls.PollMedia) -> str:
    return on_one_line(f"{media.emoji or ''} {media.text or ''}")


def _sticker_notes(stickers: Sequence[hikari.stickers.PartialSticker]) -> Iterator[str]:
    return (f"[sticker: {on_one_line(sticker.name)}]" for sticker in stickers)


def _has_content(snapshot: hikari.messages.MessageSnapshot) -> bool:
    return bool(snapshot.content or snapshot.embeds or snapshot.attachments or snapshot.stickers)


def _forward_text(snapshot: hikari.messages.MessageSnapshot, bot: hikari.User) -> str:
    typed = _with_names(snapshot.content or "", snapshot.user_mentions, bot)
    parts = (typed, *_embed_texts(snapshot.embeds), *_sticker_notes(snapshot.stickers))
    return "\n".join(filter(None, ("[forwarded message]", _quote("\n".join(filter(None, parts))))))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
