from typing import Any

from tests.loopback.discord.channels import Channel, User
from tests.loopback.discord.gateway import Intent
from tests.loopback.discord.messages import Message, Readable

Payload = dict[str, Any]


def needed_intent(channel: Channel) -> Intent:
    return Intent.GUILD_MESSAGES if channel.guild else Intent.DIRECT_MESSAGES


def about_message(message: Message, readable: Readable) -> Payload:
    """MESSAGE_CREATE and MESSAGE_UPDATE."""
    payload = message.payload(readable=readable)
    guild = message.channel.guild
    if guild is None:
        return payload

    def mentioned(user: User) -> Payload:
        return user.payload() | {"member": guild.member_payload(user, with_user=False)}

    payload |= {"guild_id": str(guild.id), "mentions": [mentioned(user) for user in message.mentions]}
    if not message.author.is_webhook:
        payload["member"] = guild.member_payload(message.author, with_user=False)
    return payload


def created(message: Message, readable: Readable) -> Payload:
    """Only here does the nonce come back, so that a client knows its own message."""
    nonce = {} if message.nonce is None else {"nonce": message.nonce}
    return about_message(message, readable) | nonce


def location_of(channel: Channel) -> Payload:
    in_guild = {"guild_id": str(channel.guild.id)} if channel.guild else {}
    return {"channel_id": str(channel.id), **in_guild}
