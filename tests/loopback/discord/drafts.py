"""From the body of a request to the new state of a message: checked first, then put together.

A draft of an edit starts from the message as it is, because PATCH keeps whatever the body does not name.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.loopback.discord import limits
from tests.loopback.discord.components import V2_FLAG, V2_KINDS, Component, check_components, walk, with_ids
from tests.loopback.discord.messages import Attachment, File, Message
from tests.loopback.discord.refusals import empty_message, invalid_form, upload_too_large

Keep = Callable[[File], Attachment]
"""Stores an uploaded file and answers with the attachment that stands for it."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A message as sent: its JSON, and the files by their number in `files[n]`."""

    body: dict[str, Any]
    files: dict[int, File]


@dataclass(frozen=True, slots=True)
class Draft:
    content: str
    embeds: list[dict[str, Any]]
    components: list[Component]
    attachments: list[Attachment]
    v2: bool

    def apply(self, message: Message) -> None:
        message.content, message.embeds = self.content, self.embeds
        message.components, message.attachments = self.components, self.attachments
        if self.v2:
            message.flags |= V2_FLAG


def compose(upload: Upload, keep: Keep, previous: Message | None = None) -> Draft:
    """Raises Refusal for whatever Discord would not take; stores files only when all else was right."""
    body = upload.body
    content = (
        previous.content if previous and "content" not in body else limits.check_content(body.get("content"))
    )
    embeds = previous.embeds if previous and "embeds" not in body else list(body.get("embeds") or [])
    limits.check_embeds(embeds)
    limits.check_allowed_mentions(body.get("allowed_mentions"))
    v2 = bool((body.get("flags") or 0) & V2_FLAG or (previous and previous.flags & V2_FLAG))
    components = (
        previous.components if previous and "components" not in body else list(body.get("components") or [])
    )
    _check_generation(components, v2=v2, other=bool(content or embeds))
    check_components(components, v2=v2)
    _check_files(upload)
    attachments = _attachments(upload, keep, previous)
    if not (content or embeds or components or attachments):
        raise empty_message()
    return Draft(content, _with_urls(embeds, attachments), with_ids(components), attachments, v2)


def _check_generation(components: list[Component], *, v2: bool, other: bool) -> None:
    if v2 and other:
        message = "The 'content' and 'embeds' fields cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        raise invalid_form(["content"], "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)
    if not v2 and any(component.get("type") in V2_KINDS for component in walk(components)):
        raise invalid_form(
            ["components", 0], "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1,).'
        )


def _check_files(upload: Upload) -> None:
    if any(len(file.data) > limits.UPLOAD_BYTES for file in upload.files.values()):
        raise upload_too_large()
    if len(upload.files) > limits.FILES:
        raise invalid_form(["files"], "BASE_TYPE_MAX_LENGTH", f"Must be {limits.FILES} or fewer in length.")


def _attachments(upload: Upload, keep: Keep, previous: Message | None) -> list[Attachment]:
    """An edit with an `attachments` list keeps those it names, without one all; new files come last."""
    kept = list(previous.attachments) if previous else []
    if (listed := upload.body.get("attachments")) is None:
        return kept + [keep(file) for _, file in sorted(upload.files.items())]
    named: dict[str, dict[str, Any]] = {str(entry["id"]): entry for entry in listed}
    kept = [attachment for attachment in kept if str(attachment.id) in named]
    known = {str(number) for number in upload.files} | {str(attachment.id) for attachment in kept}
    if unknown := named.keys() - known:
        raise invalid_form(["attachments"], "ATTACHMENT_NOT_FOUND", f"Attachment data not found: {unknown}")
    return kept + [keep(_described(file, named.get(str(n), {}))) for n, file in sorted(upload.files.items())]


def _described(file: File, entry: dict[str, Any]) -> File:
    """The JSON's name wins over the one in the multipart header, which clients may percent-encode."""
    return File(entry.get("filename") or file.name, file.data, file.content_type, entry.get("description"))


def _with_urls(embeds: list[dict[str, Any]], attachments: list[Attachment]) -> list[dict[str, Any]]:
    """`attachment://name` in an embed's picture becomes the URL of the file that came with it, or that the
    message had and keeps; where there is no such file, there is no picture to see."""
    urls = {attachment.file.name: attachment.url for attachment in attachments}

    def resolved(embed: dict[str, Any]) -> dict[str, Any]:
        copy = {"type": "rich", **embed}
        for key in ("image", "thumbnail"):
            url = (copy.get(key) or {}).get("url", "")
            if url.startswith("attachment://"):
                found = urls.get(url.removeprefix("attachment://"))
                copy[key] = {**copy[key], "url": found} if found else None
        return {name: value for name, value in copy.items() if value is not None}

    return [resolved(embed) for embed in embeds]


@dataclass(frozen=True, slots=True)
class Pings:
    """Whom a text would notify, given the `allowed_mentions` that came with it."""

    everyone: bool
    user_ids: frozenset[int]
    role_ids: frozenset[int]

    def __bool__(self) -> bool:
        return self.everyone or bool(self.user_ids) or bool(self.role_ids)


def pings(content: str, allowed: dict[str, Any] | None, *, replied_id: int | None = None) -> Pings:
    """Without `allowed_mentions` everything in the content pings; with it only what it lists.

    `replied_id` is the author replied to, when that pings; no text names it.
    """
    everyone = re.search(r"@(everyone|here)\b", content) is not None
    users = frozenset(map(int, re.findall(r"<@!?(\d+)>", content)))
    roles = frozenset(map(int, re.findall(r"<@&(\d+)>", content)))
    replied = frozenset() if replied_id is None else frozenset({replied_id})
    if allowed is None:
        return Pings(everyone, users | replied, roles)
    parse = allowed.get("parse") or []
    listed_users = frozenset(map(int, allowed.get("users") or []))
    listed_roles = frozenset(map(int, allowed.get("roles") or []))
    return Pings(
        everyone and "everyone" in parse,
        (users if "users" in parse else users & listed_users) | replied,
        roles if "roles" in parse else roles & listed_roles,
    )
