"""A question as its author knows it: what they did, and what the bot has to show for it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from tests.faults.stories import Sentence, sentences
from tests.loopback.discord import Channel, LoopbackDiscord, Message, Reply, Shown, User

_STOP = {"止める", "Stop"}

Kind = Literal["public", "private", "temporary", "long", "mention", "long mention", "dm", "reply"]


@dataclass(eq=False, slots=True)
class Asked:
    """One question. It came by a command (`reply`) or as a message (`post`)."""

    number: int
    kind: Kind
    user: User
    channel: Channel
    reply: Reply | None = None
    post: Message | None = None
    presses: list[Reply] = field(default_factory=list)
    """Buttons under its answer that its author pressed since."""
    fresh_location: bool = True
    """A program that starts does not look there for what was missed: it knows no such place."""
    unheard: bool = False
    """The program died before it took any notice of a message, and nothing tells the next one of it."""
    shared: bool = False
    """Others ask in the same channel, and its author asks elsewhere: only what refers to it belongs to it."""
    after: list[Message] = field(default_factory=list)
    edits: int = 0
    deleted_s: float | None = None
    """When its author deleted the message, by the loop's clock."""

    @property
    def stored(self) -> bool:
        return self.kind != "temporary"

    @property
    def interactions(self) -> list[Reply]:
        return [*([self.reply] if self.reply else []), *self.presses]

    def __str__(self) -> str:
        return f"question {self.number} ({self.kind}, {self.user.locale})"


@dataclass(eq=False, slots=True)
class Reminded:
    mark: str
    user: User
    channel: Channel
    reply: Reply | None
    asked: Asked | None = None
    """The message that asked for it, where no command did."""


def own_messages(discord: LoopbackDiscord, asked: Asked) -> list[Message]:
    found: dict[int, Message] = {}
    for reply in asked.interactions:
        found |= {message.id: message for message in reply.stored}
    if asked.post is not None and not asked.shared:
        found |= {message.id: message for message in discord.answer(asked.post).stored}
    begun = asked.post.id if asked.post else asked.reply.interaction.id if asked.reply else 0
    posts = {begun, *(post.id for post in asked.after)}
    direct, alone = discord.dm(asked.user), asked.reply is not None and not asked.shared
    recent = [*takewhile(lambda message: message.id > begun, reversed(discord.world.messages.values()))]
    for message in reversed(recent):
        if message.author is not discord.bot or message.channel not in (asked.channel, direct):
            continue
        refers = message.reply_to is not None and message.reply_to.id in {*found, *posts}
        said = any(each.question == asked.number for each in sentences(message.content))
        by_itself = message.reply_to is None and message.interaction is None
        instead = message.channel is direct and message.id > min(found, default=begun)
        if refers or said or (alone and (by_itself or instead)):
            found[message.id] = message
    return sorted(found.values(), key=lambda message: message.id)


def seen(discord: LoopbackDiscord, asked: Asked) -> list[Shown]:
    return [message.shown for message in own_messages(discord, asked) if not message.deleted]


def promises(discord: LoopbackDiscord, asked: Asked) -> bool:
    over, shown = out_of_reach(asked), seen(discord, asked)
    waiting = any(each.loading or _STOP & {*each.labels} for each in shown if each.id not in over)
    over_anyway = asked.unheard or asked.deleted_s is not None
    return waiting or (asked.post is not None and not shown and not over_anyway)


def out_of_reach(asked: Asked) -> set[int]:
    """The messages of interactions whose tokens are dead."""
    now_s = time.monotonic()  # which is the clock of event loops, too
    dead = [reply for reply in asked.interactions if reply.interaction.is_expired(now_s)]
    return {message.id for reply in dead for message in reply.stored}


def history(discord: LoopbackDiscord, asked: Asked) -> str:
    lines = [f"{asked}: in {asked.channel.kind.name} {asked.channel.id}"]
    if asked.post is not None:
        lines.append(f"  {asked.post.history[0].at_s:.2f} posted")
    for reply in asked.interactions:
        interaction = reply.interaction
        at_s = interaction.answered_at_s or 0.0
        lines.append(f"  {interaction.sent_at_s:.2f} {interaction.kind.name}, acknowledged {at_s:.2f}")
    for message in own_messages(discord, asked):
        where = "ephemeral" if message.ephemeral else message.channel.kind.name
        lines += [
            f"  {s.at_s:.2f} {message.id} {where} {s.text[:60]!r} {s.labels}"
            f"{' thinking' if s.loading else ''}{' deleted' if s.deleted else ''}"
            for s in message.history
        ]
    return "\n".join(lines)


def written_out(shown: Iterable[Shown]) -> str:
    """The texts of messages, one under the other."""
    return "\n".join(each.text for each in shown)


def in_files(shown: Iterable[Shown]) -> list[list[Sentence]]:
    files = [attachment.file for each in shown for attachment in each.attachments]
    return [sentences(file.data.decode()) for file in files if file.name.endswith(".md")]
