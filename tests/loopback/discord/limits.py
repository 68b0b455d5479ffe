"""What a message may hold. Every rule raises the Refusal that Discord answers with.

Lengths are counted in code points, as the API does (the client's own counter differs).
Source: "Message Object", "Embed Limits" and "Allowed Mentions Object" of the documentation. Which pictures an
embed may name is in "Using Attachments within Embeds" ("Uploading Files"); that texts of white space count as
missing, and an embed of nothing as one without a description, is what the API answers (the errors
BASE_TYPE_REQUIRED and URL_TYPE_INVALID_SCHEME are quoted all over the issues of Discord's libraries).
"""

from typing import Any

from tests.loopback.discord.refusals import require, require_length

CONTENT = 2000
EMBEDS = 10
EMBED_CHARACTERS = 6000
COLOURS = 0xFFFFFF
FILES = 10
UPLOAD_BYTES = 10 * 1024 * 1024
CHOICES = 25

_EMBED_TEXTS = (("title", 256), ("description", 4096))
_EMBED_CONTENTS = ("title", "description", "fields", "image", "thumbnail", "footer", "author")
Path = list[str | int]


def check_content(content: object) -> str:
    """Answers with the content as Discord keeps it: without the white space around it."""
    if content is None:
        return ""
    require(isinstance(content, str), ["content"], "Could not interpret as string.")
    require_length(str(content), ["content"], CONTENT)
    return str(content).strip()


def check_embeds(embeds: list[dict[str, Any]]) -> None:
    require_length(embeds, ["embeds"], EMBEDS)
    for index, embed in enumerate(embeds):
        _check_embed(["embeds", index], embed)
    fine = sum(map(embed_characters, embeds)) <= EMBED_CHARACTERS
    require(fine, ["embeds"], f"Embed size exceeds maximum size of {EMBED_CHARACTERS}")


def _check_embed(path: Path, embed: dict[str, Any]) -> None:
    has_content = any(embed.get(key) for key in _EMBED_CONTENTS)
    require(has_content, [*path, "description"], "This field is required")
    require(0 <= (embed.get("color") or 0) <= COLOURS, [*path, "color"], f"Must be at most {COLOURS}.")
    for key in ("image", "thumbnail"):
        _check_picture([*path, key, "url"], (embed.get(key) or {}).get("url"))
    for key, limit in _EMBED_TEXTS:
        require_length(embed.get(key), [*path, key], limit)
    require_length(embed.get("fields"), [*path, "fields"], 25)
    for place, entry in enumerate(embed.get("fields") or []):
        for key, limit in (("name", 256), ("value", 1024)):
            require((entry.get(key) or "").strip(), [*path, "fields", place, key], "This field is required")
            require_length(entry[key], [*path, "fields", place, key], limit)
    require_length((embed.get("footer") or {}).get("text"), [*path, "footer", "text"], 2048)
    require_length((embed.get("author") or {}).get("name"), [*path, "author", "name"], 256)


def _check_picture(path: Path, url: str | None) -> None:
    if url is None:
        return
    require_length(url, path, 2048)
    scheme, _, rest = url.partition("://")
    fine = scheme in {"http", "https", "attachment"} and rest
    require(fine, path, f'Scheme "{scheme}" is not supported.')


def embed_characters(embed: dict[str, Any]) -> int:
    """What counts towards the 6000 of a message: title, description, names and values, footer, author."""
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    for entry in embed.get("fields") or []:
        texts += [entry.get("name"), entry.get("value")]
    return sum(len(text) for text in texts if text)


def check_allowed_mentions(allowed: dict[str, Any] | None) -> None:
    parse, path = (allowed or {}).get("parse") or [], Path(["allowed_mentions"])
    require({*parse} <= {"everyone", "users", "roles"}, path, "parse must be of everyone, users and roles.")
    for kind in ("users", "roles"):
        listed = (allowed or {}).get(kind) or []
        require(
            not (kind in parse and listed), path, f"parse:[{kind!r}] and {kind}: [ids...] exclude each other"
        )
        require_length(listed, [*path, kind], 100)
        require(len({*listed}) == len(listed), [*path, kind], "The set already contains this value")


def check_nonce(nonce: object) -> None:
    require_length("" if nonce is None else str(nonce), ["nonce"], 25)


def check_choices(choices: object) -> list[dict[str, Any]]:
    """The answer to an autocomplete: at most 25 choices, names and text values of 1 to 100 characters."""
    path: Path = ["data", "choices"]
    listed = choices if isinstance(choices, list) else []
    require(isinstance(choices, list), path, "This field is required")
    require_length(listed, path, CHOICES)
    for place, choice in enumerate(listed):
        for key in ("name", "value"):
            value = choice.get(key)
            require(value is not None, [*path, place, key], "This field is required")
            if isinstance(value, str):
                require_length(value, [*path, place, key], 100, least=1)
    return listed
