"""Messages as hikari hands them over, made from what Discord sends."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import hikari
from hikari.impl.entity_factory import EntityFactoryImpl

BOT, AIKO, BEN, DISCORD, EVE, GUILD, CHANNEL = 100, 101, 102, 103, 104, 200, 300
NAMES = {AIKO: "あいこ", BEN: "Ben", EVE: "https://eve.example"}
KINDS = {BOT: {"bot": True}, DISCORD: {"system": True}}

_factory = EntityFactoryImpl(cast("hikari.RESTAware", None))


def user(user_id: int) -> dict[str, Any]:
    return {
        "id": str(user_id),
        "username": "cc-bot" if user_id == BOT else f"user{user_id}",
        "global_name": NAMES.get(user_id),
        "discriminator": "0",
        "avatar": None,
        "public_flags": 0,
        **KINDS.get(user_id, {}),
    }


def bot_user() -> hikari.User:
    return _factory.deserialize_user(user(BOT))


def payload(content: str = "", author: int = AIKO, **fields: Any) -> dict[str, Any]:
    return {
        "id": "400",
        "channel_id": str(CHANNEL),
        "guild_id": str(GUILD),
        "author": user(author),
        "content": content,
        "timestamp": "2026-11-22T05:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
        "flags": 0,
        **fields,
    }


def message(
    content: str = "",
    author: int = AIKO,
    *,
    mentions: Sequence[int] = (),
    replies_to: Mapping[str, Any] | None = None,
    files: Sequence[str] = (),
    **fields: Any,
) -> hikari.Message:
    """`replies_to` is a payload."""
    if replies_to is not None:
        fields |= {"type": 19, "referenced_message": replies_to}
    attachments = [
        {"id": str(500 + number), "filename": name, "size": 1, "url": "http://x/", "proxy_url": "http://x/"}
        for number, name in enumerate(files)
    ]
    people = [user(user_id) for user_id in mentions]
    return _factory.deserialize_message(
        payload(content, author, mentions=people, attachments=attachments, **fields)
    )
