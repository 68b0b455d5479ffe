"""From the body of a request to the new state of a message: checked first, then put together.

A draft of an edit starts from the message as it is, because PATCH keeps whatever the body does not name.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.loopback.discord import limits
from tests.loopback.discord.limits import Component, check_components, with_ids
from tests.loopback.discord.messages import SILENT, Attachment, File, Message
from tests.loopback.discord.refusals import empty_message, require, require_length, upload_too_large

V2_FLAG = 1 << 15

Keep = Callable[[File], Attachment]


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
    flags: int = 0

    def apply(self, message: Message) -> None:
        message.content, message.embeds = self.content, self.embeds
        message.flags |= self.flags  # never unset ("Message Flags")
        message.components, message.attachments = self.components, self.attachments


def compose(upload: Upload, keep: Keep, previous: Message | None = None) -> Draft:
    """Raises Refusal for whatever Discord would not take; stores files only when all else was right."""

    def sent_or_kept(key: str) -> Any:
        return getattr(previous, key) if previous and key not in upload.body else upload.body.get(key)

    content = limits.check_content(sent_or_kept("content"))
    embeds, components = list(sent_or_kept("embeds") or []), list(sent_or_kept("components") or [])
    limits.check_embeds(embeds)
    limits.check_allowed_mentions(upload.body.get("allowed_mentions"))
    given = upload.body.get("flags") or 0
    require(not (previous and given & SILENT), ["flags"], "An edit can't set SUPPRESS_NOTIFICATIONS.")
    v2 = bool((given | (previous.flags if previous else 0)) & V2_FLAG)
    check_components(components, v2=v2)
    for key, value in {"content": content, "embeds": embeds}.items() if v2 else ():
        require(
            not value, [key], f"The '{key}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        )
    require_length(upload.files, ["files"], limits.FILES)
    if any(len(file.data) > limits.UPLOAD_BYTES for file in upload.files.values()):
        raise upload_too_large()
    attachments = _attachments(upload, keep, previous)
    if not (content or embeds or components or attachments):
        raise empty_message()
    shown = with_ids(_with_file_urls(components, attachments))
    return Draft(content, _with_urls(embeds, attachments), shown, attachments, given & (V2_FLAG | SILENT))


def _attachments(upload: Upload, keep: Keep, previous: Message | None) -> list[Attachment]:
    """An edit with an `attachments` list keeps those it names, without one all; new files come last."""
    kept = list(previous.attachments) if previous else []
    if (listed := upload.body.get("attachments")) is None:
        return kept + [keep(file) for _, file in sorted(upload.files.items())]
    named: dict[str, dict[str, Any]] = {str(entry["id"]): entry for entry in listed}
    kept = [attachment for attachment in kept if str(attachment.id) in named]
    known = {str(number) for number in upload.files} | {str(attachment.id) for attachment in kept}
    require(named.keys() <= known, ["attachments"], f"Attachment data not found: {named.keys() - known}")
    for number, file in sorted(upload.files.items()):
        entry = named.get(str(number), {})  # its name wins over the multipart header's, which may be encoded
        name, description = entry.get("filename") or file.name, entry.get("description")
        kept.append(keep(File(name, file.data, file.content_type, description)))
    return kept


def _with_file_urls(components: list[Component], attachments: list[Attachment]) -> list[Component]:
    """As `_with_urls`, for the files that components show. Raises Refusal for a file that is not there."""
    urls = {f"attachment://{attachment.file.name}": attachment.url for attachment in attachments}
    kept = set(urls.values())

    def media(given: dict[str, Any]) -> dict[str, Any]:
        url = urls.get(given["url"], given["url"])
        require(url in kept, ["components"], f"The attachment was not found: {given['url']}")
        return {"url": url, "proxy_url": url}

    def resolved(component: Component) -> Component:
        copy = dict(component)
        if component["type"] == limits.FILE:
            copy["file"] = media(component["file"])
        if component["type"] == limits.GALLERY:
            copy["items"] = [{**item, "media": media(item["media"])} for item in component["items"]]
        if "components" in copy:
            copy["components"] = [resolved(inner) for inner in copy["components"]]
        return copy

    return [resolved(component) for component in components]


def _with_urls(embeds: list[dict[str, Any]], attachments: list[Attachment]) -> list[dict[str, Any]]:
    """`attachment://name` in an embed's picture becomes the URL of the file that came with it, or that the
    message had and keeps; where there is no such file, there is no picture to see."""
    urls = {attachment.file.name: attachment.url for attachment in attachments}

    def with_result(embed: dict[str, Any]) -> dict[str, Any]:
        copy = {"type": "rich", **embed}
        for key in ("image", "thumbnail"):
            url = (copy.get(key) or {}).get("url", "")
            if url.startswith("attachment://"):
                found = urls.get(url.removeprefix("attachment://"))
                copy[key] = {**copy[key], "url": found} if found else None
        return {name: value for name, value in copy.items() if value is not None}

    return [with_result(embed) for embed in embeds]


@dataclass(frozen=True, slots=True)
class Pings:
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
    if allowed is not None:
        parse = allowed.get("parse") or []
        everyone = everyone and "everyone" in parse
        users = users if "users" in parse else users & {int(each) for each in allowed.get("users") or []}
        roles = roles if "roles" in parse else roles & {int(each) for each in allowed.get("roles") or []}
    return Pings(everyone, users | ({replied_id} if replied_id is not None else set()), roles)
