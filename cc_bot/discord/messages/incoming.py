"""A message of Discord as the model is to read it, and whom it is meant for. Nothing is sent or looked up."""

import re
from typing import Final

import hikari

from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.domain.message import Message, is_blank
from cc_bot.texts.naming import without_mentions

QUOTED_CHARACTERS = 300
"""Of an answer that is replied to and that the channel's conversation does not hold."""
ORDINARY: Final = frozenset({hikari.MessageType.DEFAULT, hikari.MessageType.REPLY})
"""What people write; the other types tell of pins, boosts, new threads, and of commands."""
FILE_NOTE = "[file: "
"""What a line begins with that names a file."""

_USER = re.compile(r"<@!?(\d+)>")
_CALL = re.compile(r"\A<@!?\d+>\s*")
_LONGEST_NAME = 100
_SMALL_PRINT = "-# "


def is_from_person(message: hikari.Message) -> bool:
    """Whether somebody wrote it: no bot, no webhook, not Discord itself."""
    return not (message.author.is_bot or message.author.is_system or message.webhook_id)


def is_addressed(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Whether it mentions the bot or replies to it. Discord counts a reply as a mention, unless its author
    switched that off."""
    return bot_id in (message.user_mentions or ())


def is_for_others(message: hikari.Message, bot_id: int) -> bool:
    """Whether it mentions somebody else, or replies to somebody else."""
    if message.mentions_everyone or message.role_mention_ids or {*(message.user_mentions or ())} - {bot_id}:
        return True
    return message.type is hikari.MessageType.REPLY and replied_to(message, bot_id) is None


def replied_to(message: hikari.PartialMessage, bot_id: int) -> hikari.PartialMessage | None:
    """The bot's message that this one replies to."""
    referenced = message.referenced_message
    if not referenced or not referenced.author or referenced.author.id != bot_id:
        return None
    return referenced


def owner_of(message: hikari.PartialMessage) -> int | None:
    """Whose session the answer belongs to that this message of the bot shows, as far as its buttons tell.

    Discord tells whose command a message answers, and not which command that was: it may be no answer at all.
    """
    for row in message.components or ():
        for component in row.components if isinstance(row, hikari.ActionRowComponent) else ():
            custom_id = component.custom_id if isinstance(component, hikari.ButtonComponent) else None
            button = parse_custom_id(custom_id or "")
            if isinstance(button, StopButton | AnswerButton):
                return button.user_id
    return None


def is_withheld(message: hikari.PartialMessage) -> bool:
    """Whether there is nothing to read: no text and no files, or none that Discord shows the bot."""
    return is_blank(message.content or "") and not message.attachments


def asks_nothing(message: hikari.Message, bot: hikari.User) -> bool:
    """Whether it only calls the bot, and points at nothing either."""
    is_reply = message.type is hikari.MessageType.REPLY
    return not (is_reply or message.attachments) and is_blank(text_of(message, bot))


def text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """What it says, with names instead of Discord's codes for people and commands.

    The bot's own name is left out where it only calls it: at the beginning and at the end.
    """
    text = _without_calls((message.content or "").strip(), int(bot.id))
    people = message.user_mentions or {}

    def named(mention: re.Match[str]) -> str:
        user = bot if int(mention[1]) == bot.id else people.get(hikari.Snowflake(mention[1]))
        return f"@{on_one_line(user.display_name or user.username)}" if user else mention[0]

    return without_mentions(_USER.sub(named, text)).strip()


def names_others(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Whether what it says, as `content_of` has it, holds names that its author did not choose: of people
    that it mentions, and of files."""
    return bool(message.attachments) or any(user_id != bot_id for user_id in message.user_mentions or ())


def content_of(message: hikari.PartialMessage, bot: hikari.User, *, quoting: bool = False) -> str:
    """What a channel's archive keeps of it: what it says, and the names of its files.

    `quoting`: the bot's message that it replies to is not in the archive, so the beginning of that stands
    before it. Nothing is ever quoted of other people: what they delete must be gone.
    """
    answer = replied_to(message, int(bot.id)) if quoting else None
    quote = quoted(answer.content or "") if answer else ""
    called = f"@{bot.username}" if message.referenced_message and not message.attachments else ""
    files = [f"{FILE_NOTE}{on_one_line(file.filename)}]" for file in message.attachments or ()]
    return "\n".join(filter(None, (quote, text_of(message, bot) or called, *files)))


def quoted(said: str, characters: int = QUOTED_CHARACTERS) -> str:
    """The beginning of what the bot said, as a quotation: without whom it calls, and without small print; and
    with names instead of codes for commands, whose ids the model has no use for."""
    text = without_mentions(_CALL.sub("", said))
    lines = [line for line in text.splitlines() if not line.startswith(_SMALL_PRINT)]
    text = "\n".join(lines).strip()
    cut = text[:characters] + ("…" if len(text) > characters else "")
    return "\n".join(f"> {line}" for line in cut.splitlines())


def to_message(message: hikari.Message, bot: hikari.User, *, quoting: bool = False) -> Message:
    """The message as a channel's archive keeps it."""
    return Message(
        "assistant" if message.author.id == bot.id else "user",
        content_of(message, bot, quoting=quoting),
        author_id=int(message.author.id),
        author_name=name_of_author(message),
        discord_id=int(message.id),
        created_at=message.timestamp,
        tainted=names_others(message, int(bot.id)) or _is_named_by_others(message),
    )


def name_of_author(message: hikari.Message) -> str:
    """What its author is called where they wrote it."""
    user = message.member or message.author
    return user.display_name or user.username


def _is_named_by_others(message: hikari.Message) -> bool:
    """Whether its author has a nickname in this server: who looks after the server may have chosen it."""
    return bool(message.member and message.member.nickname)


def _without_calls(text: str, bot_id: int) -> str:
    """Without the bot's mentions at both ends. The end is taken off piece by piece: an expression that looks
    for it from every space of a long run would take minutes for a message full of them."""
    text = re.sub(rf"\A(?:<@!?{bot_id}>[\s,、:：]*)+", "", text)
    calls = (f"<@{bot_id}>", f"<@!{bot_id}>")
    while text.endswith(calls):
        text = text[: text.rindex("<")].rstrip()
    return text


def file_names(content: str) -> list[str]:
    """The names of the files of a message, as the archive keeps them."""
    lines = (line for line in content.splitlines() if line.startswith(FILE_NOTE) and line.endswith("]"))
    return [line[len(FILE_NOTE) : -1] for line in lines]


def on_one_line(name: str) -> str:
    return " ".join(name.split())[:_LONGEST_NAME]
