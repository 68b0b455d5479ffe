"""Messages and what a user sees of them, at each moment of their life."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tests.loopback.discord.channels import Channel, User
from tests.loopback.discord.limits import BUTTON, LINK, SELECTS, TEXT, Component, walk

EPHEMERAL = 1 << 6
LOADING = 1 << 7
SILENT = 1 << 12
IS_VOICE_MESSAGE = 1 << 13
HAS_SNAPSHOT = 1 << 14
FORWARD = 1
"""The type of a message's reference to what it forwards ("Message Reference Types")."""
_LISTS = ("embeds", "components", "attachments")
_BLANK: dict[str, Any] = {"content": "", **dict.fromkeys(_LISTS, ())}


@dataclass(frozen=True, slots=True)
class File:
    """Something to upload: what a user attaches, or what the bot sent with a message."""

    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    description: str | None = None
    duration_s: float | None = None


@dataclass(eq=False, slots=True)
class Attachment:
    """A stored file. `url` serves it until a test lets it expire."""

    id: int
    file: File
    url: str
    ephemeral: bool = False
    expired: bool = False

    def payload(self) -> dict[str, Any]:
        file, urls = self.file, dict.fromkeys(("url", "proxy_url"), self.url)
        answer: dict[str, Any] = {
            "id": str(self.id),
            "filename": file.name,
            "content_type": file.content_type,
            **urls,
        }
        answer |= {"size": len(file.data)} | ({"ephemeral": True} if self.ephemeral else {})
        if file.content_type.startswith("image/"):
            answer |= {"width": 1, "height": 1}
        if file.duration_s is not None:
            answer |= {"duration_secs": file.duration_s, "waveform": "FzYACgAA"}
        return answer if file.description is None else answer | {"description": file.description}


@dataclass(frozen=True, slots=True)
class Poll:
    """A question with its answers, how many people chose each, and whether it is over ("Poll Resource")."""

    question: str
    answers: tuple[str, ...]
    votes: tuple[int, ...] = ()
    """As far as they are counted: there may be fewer than answers."""
    closed: bool = False

    def payload(self) -> dict[str, Any]:
        numbered = enumerate(self.answers, 1)
        counts = [{"id": i, "count": n, "me_voted": False} for i, n in enumerate(self.votes, 1)]
        fixed = {"expiry": "2026-01-01T00:00:00+00:00", "allow_multiselect": False, "layout_type": 1}
        answers = [{"answer_id": i, "poll_media": {"text": text}} for i, text in numbered]
        results = {"is_finalized": self.closed, "answer_counts": counts}
        return fixed | {"question": {"text": self.question}, "answers": answers, "results": results}


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    custom_id: str | None
    url: str | None
    disabled: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """One state of one message as its readers see it; `at_s` is the loop's time in seconds, for intervals."""

    id: int
    at_s: float
    author: User
    content: str
    embeds: tuple[dict[str, Any], ...] = ()
    components: tuple[Component, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    ephemeral: bool = False
    loading: bool = False
    edited: bool = False
    deleted: bool = False

    @property
    def buttons(self) -> list[Button]:
        return [
            Button(c.get("label") or "", c.get("custom_id"), c.get("url"), bool(c.get("disabled")))
            for c in walk(list(self.components))
            if c.get("type") == BUTTON
        ]

    @property
    def labels(self) -> list[str]:
        """The labels of the buttons that can be pressed."""
        return [button.label for button in self.buttons if not button.disabled]

    @property
    def text(self) -> str:
        """Everything there is to read: content, embeds, text components, one under the other; no labels."""
        return "\n".join(text for text in self._texts() if text)

    @property
    def written(self) -> str:
        """`text`, with the labels and hints of buttons and menus too: all that has a language."""
        hints: list[str] = []
        for component in walk(list(self.components)):
            hints += [component.get("label") or "", component.get("placeholder") or ""]
        return "\n".join([self.text, *filter(None, hints)])

    def reworded(self, change: Callable[[str], str]) -> "Shown":
        """The same with another wording where mentions are shown."""

        def changed(embed: dict[str, Any]) -> dict[str, Any]:
            entries = [{**each, "value": change(each["value"])} for each in embed.get("fields") or []]
            described = {"description": change(embed["description"])} if embed.get("description") else {}
            return {**embed, **described, **({"fields": entries} if entries else {})}

        components = [deepcopy(each) for each in self.components]
        for part in walk(components):
            if part.get("type") == TEXT:
                part["content"] = change(part["content"])
        embeds = tuple(map(changed, self.embeds))
        return replace(self, content=change(self.content), embeds=embeds, components=tuple(components))

    def _texts(self) -> Iterator[str]:
        yield self.content
        for embed in self.embeds:
            yield (embed.get("author") or {}).get("name") or ""
            yield embed.get("title") or ""
            yield embed.get("description") or ""
            for entry in embed.get("fields") or []:
                yield f"{entry['name']}\n{entry['value']}"
            yield (embed.get("footer") or {}).get("text") or ""
        for component in walk(list(self.components)):
            if component.get("type") == TEXT:
                yield component["content"]


@dataclass(eq=False, slots=True)
class Message:
    id: int
    channel: Channel
    author: User
    created_at: datetime
    content: str = ""
    embeds: list[dict[str, Any]] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flags: int = 0
    kind: int = 0
    edited_at: datetime | None = None
    nonce: str | None = None
    mentions: list[User] = field(default_factory=list)
    everyone: bool = False
    interaction: dict[str, Any] | None = None
    application_id: int | None = None
    reply_to: "Message | None" = None
    pings_replied: bool = False
    thread: Channel | None = None
    poll: Poll | None = None
    stickers: tuple[str, ...] = ()
    forwarded: "Message | None" = None
    snapshot: dict[str, Any] | None = None
    deleted: bool = False
    reactions: list[str] = field(default_factory=list)
    history: list[Shown] = field(default_factory=list)

    @property
    def ephemeral(self) -> bool:
        return bool(self.flags & EPHEMERAL)

    @property
    def silent(self) -> bool:
        return bool(self.flags & SILENT)

    @property
    def loading(self) -> bool:
        return bool(self.flags & LOADING)

    def record(self, at_s: float) -> None:
        lists: dict[str, Any] = {key: tuple(getattr(self, key)) for key in _LISTS}
        flags = {key: getattr(self, key) for key in ("ephemeral", "loading", "deleted")}
        edited = self.edited_at is not None
        self.history.append(Shown(self.id, at_s, self.author, self.content, **lists, **flags, edited=edited))

    @property
    def shown(self) -> Shown:
        return self.history[-1]

    def find_component(self, label_or_custom_id: str) -> Component:
        """Raises AssertionError when nothing there can be used under that label or custom id."""
        usable = [
            c for c in walk(self.components) if c.get("type") in SELECTS | {BUTTON} and c.get("style") != LINK
        ]
        names = [(c.get("label") or c.get("placeholder") or "", c.get("custom_id") or "") for c in usable]
        for component, (label, custom_id) in zip(usable, names, strict=True):
            if label_or_custom_id in (label, custom_id):
                assert not component.get("disabled"), f"{label_or_custom_id!r} is disabled"
                return component
        raise AssertionError(f"no component {label_or_custom_id!r} in this message; there are {names}")

    def payload(self, *, readable: "Readable | None" = None, nested: bool = False) -> dict[str, Any]:
        """The JSON of this message; what is not `readable` comes without all that people wrote.

        `nested`: as the referenced message of another one, which brings no further messages along.
        """
        blank = readable is not None and not readable(self)
        answer: dict[str, Any] = {
            **self._written(),
            **(_BLANK if blank else {}),
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "author": self.author.payload(),
            "mention_everyone": self.everyone,
            "tts": False,
            "pinned": False,
        }
        if self.stickers:  # what the intent guards does not have them
            answer["sticker_items"] = self.sticker_items()
        if self.poll is not None and not blank:
            answer["poll"] = self.poll.payload()
        if self.snapshot is not None:
            answer["message_snapshots"] = [{"message": self.snapshot | (_BLANK if blank else {})}]
        if self.author.is_webhook:
            answer["webhook_id"] = str(self.author.id)
        if self.application_id is not None:
            answer |= {"application_id": str(self.application_id), "webhook_id": str(self.application_id)}
        if self.interaction is not None:
            answer["interaction_metadata"] = self.interaction
        if (reference := self._reference()) is not None:
            answer["message_reference"] = reference
        if self.reply_to is not None and not nested:
            gone, told = self.reply_to.deleted, self.reply_to.payload(readable=readable, nested=True)
            answer["referenced_message"] = None if gone else told
        return answer

    def sticker_items(self) -> list[dict[str, Any]]:
        return [{"id": str(i), "name": name, "format_type": 1} for i, name in enumerate(self.stickers, 1)]

    def take_snapshot(self) -> dict[str, Any]:
        if self.snapshot is not None:
            return self.snapshot
        return self._written() | {"sticker_items": self.sticker_items(), "components": []}

    def _written(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "content": self.content,
            "embeds": self.embeds,
            "components": self.components,
            "attachments": [attachment.payload() for attachment in self._loose()],
            "timestamp": self.created_at.isoformat(),
            "edited_timestamp": self.edited_at.isoformat() if self.edited_at else None,
            "flags": self.flags,
            "mentions": [user.payload() for user in self.mentions],
            "mention_roles": [],
        }

    def _loose(self) -> list[Attachment]:
        """Files that an embed or a component shows are no attachments of the message any more, until an edit
        takes them out of it (discord/discord-api-docs issues 4809 and 2840)."""
        shown = [embed.get(key) or {} for embed in self.embeds for key in ("image", "thumbnail")]
        pictures = {each.get("url") for each in shown}
        for component in walk(self.components):
            pictures |= {(component.get("file") or {}).get("url")}
            pictures |= {item["media"]["url"] for item in component.get("items") or []}
        return [attachment for attachment in self.attachments if attachment.url not in pictures]

    def _reference(self) -> dict[str, Any] | None:
        """A system message about a thread refers to the thread, and to no message."""
        kind = 0 if self.forwarded is None else FORWARD
        if (message := self.reply_to or self.forwarded) is not None:
            where, what = message.channel, {"message_id": str(message.id)}
        elif self.thread is not None:
            where, what = self.thread, {}
        else:
            return None
        in_guild = {"guild_id": str(where.guild.id)} if where.guild else {}
        return {"type": kind, "channel_id": str(where.id), **what, **in_guild}


Readable = Callable[[Message], bool]
