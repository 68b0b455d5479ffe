"""What a message may hold. Every rule raises the Refusal that Discord answers with.

Lengths are counted in code points, as the API does (the client's own counter differs).
Source: "Message Object", "Embed Limits" and "Allowed Mentions Object" of the documentation. Which pictures an
embed may name is in "Using Attachments within Embeds" ("Uploading Files"); that texts of white space count as
missing, and an embed of nothing as one without a description, is what the API answers (the errors
BASE_TYPE_REQUIRED and URL_TYPE_INVALID_SCHEME are quoted all over the issues of Discord's libraries).
"""

from typing import Any

from tests.loopback.discord.refusals import invalid_form, missing, too_long, wrong_value

CONTENT = 2000
EMBEDS = 10
EMBED_CHARACTERS = 6000
COLOURS = 0xFFFFFF
FILES = 10
UPLOAD_BYTES = 10 * 1024 * 1024
CHOICES = 25

_EMBED_TEXTS = (("title", 256), ("description", 4096))
_EMBED_CONTENTS = ("title", "description", "fields", "image", "thumbnail", "footer", "author")
_FIELD_TEXTS = (("name", 256), ("value", 1024))


def check_content(content: object) -> str:
    """Answers with the content as Discord keeps it: without the white space around it."""
    if content is None:
        return ""
    if not isinstance(content, str):
        raise invalid_form(["content"], "BASE_TYPE_BAD_TYPE", "Could not interpret as string.")
    if len(content) > CONTENT:
        raise too_long(["content"], CONTENT)
    return content.strip()


def check_embeds(embeds: list[dict[str, Any]]) -> None:
    if len(embeds) > EMBEDS:
        raise invalid_form(["embeds"], "BASE_TYPE_MAX_LENGTH", f"Must be {EMBEDS} or fewer in length.")
    for index, embed in enumerate(embeds):
        _check_embed(index, embed)
    if sum(map(embed_characters, embeds)) > EMBED_CHARACTERS:
        raise invalid_form(
            ["embeds"], "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_CHARACTERS}"
        )


def _check_embed(index: int, embed: dict[str, Any]) -> None:
    if not any(embed.get(key) for key in _EMBED_CONTENTS):
        raise missing(["embeds", index, "description"])
    if not 0 <= (embed.get("color") or 0) <= COLOURS:
        raise invalid_form(["embeds", index, "color"], "NUMBER_TYPE_MAX", f"Must be at most {COLOURS}.")
    for key in ("image", "thumbnail"):
        _check_picture(["embeds", index, key, "url"], (embed.get(key) or {}).get("url"))
    for key, limit in _EMBED_TEXTS:
        if len(embed.get(key) or "") > limit:
            raise too_long(["embeds", index, key], limit)
    fields: list[dict[str, Any]] = embed.get("fields") or []
    if len(fields) > 25:
        raise too_long(["embeds", index, "fields"], 25)
    for place, entry in enumerate(fields):
        for key, limit in _FIELD_TEXTS:
            if not (entry.get(key) or "").strip():
                raise missing(["embeds", index, "fields", place, key])
            if len(entry[key]) > limit:
                raise too_long(["embeds", index, "fields", place, key], limit)
    if len((embed.get("footer") or {}).get("text", "")) > 2048:
        raise too_long(["embeds", index, "footer", "text"], 2048)
    if len((embed.get("author") or {}).get("name", "")) > 256:
        raise too_long(["embeds", index, "author", "name"], 256)


def _check_picture(path: list[str | int], url: str | None) -> None:
    if url is None:
        return
    if len(url) > 2048:
        raise too_long(path, 2048)
    scheme, _, rest = url.partition("://")
    if scheme not in {"http", "https", "attachment"} or not rest:
        message = f"Scheme \"{scheme}\" is not supported. Scheme must be one of ('http', 'https')."
        raise invalid_form(path, "URL_TYPE_INVALID_SCHEME", message)


def embed_characters(embed: dict[str, Any]) -> int:
    """What counts towards the 6000 of a message: title, description, names and values, footer, author."""
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    for entry in embed.get("fields") or []:
        texts += [entry.get("name"), entry.get("value")]
    return sum(len(text) for text in texts if text)


def check_allowed_mentions(allowed: dict[str, Any] | None) -> None:
    if not allowed:
        return
    parse = allowed.get("parse") or []
    for place, kind in enumerate(parse):
        if kind not in {"everyone", "users", "roles"}:
            raise wrong_value(
                ["allowed_mentions", "parse", place], "Value must be one of ('everyone', 'roles', 'users')."
            )
    for kind in ("users", "roles"):
        listed = allowed.get(kind) or []
        if kind in parse and listed:
            message = f"parse:[{kind!r}] and {kind}: [ids...] are mutually exclusive."
            raise invalid_form(["allowed_mentions"], "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message)
        if len(listed) > 100:
            raise too_long(["allowed_mentions", kind], 100)
        if len(set(listed)) < len(listed):
            raise invalid_form(
                ["allowed_mentions", kind],
                "SET_TYPE_ALREADY_CONTAINS_VALUE",
                "The set already contains this value",
            )


def check_nonce(nonce: object) -> None:
    if nonce is not None and len(str(nonce)) > 25:
        raise too_long(["nonce"], 25)


def check_choices(choices: object) -> list[dict[str, Any]]:
    """The answer to an autocomplete: at most 25 choices, names and text values of 1 to 100 characters."""
    path: list[str | int] = ["data", "choices"]
    if not isinstance(choices, list):
        raise missing(path)
    if len(choices) > CHOICES:
        raise too_long(path, CHOICES)
    for place, choice in enumerate(choices):
        _check_choice([*path, place], choice)
    return choices


def _check_choice(path: list[str | int], choice: dict[str, Any]) -> None:
    for key in ("name", "value"):
        value = choice.get(key)
        if value is None or value == "":
            raise missing([*path, key])
        if isinstance(value, str) and len(value) > 100:
            raise too_long([*path, key], 100)
