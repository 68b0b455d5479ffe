"""What a provider's prefix cache may know a conversation by: always the same, and nobody's id."""

from hashlib import blake2b

from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.session import SessionKey


def cache_key(key: SessionKey | ChannelKey) -> str:
    """16 characters that stay the same over restarts."""
    match key:
        case SessionKey(user_id, channel_id, agent):
            name = f"session {user_id} {channel_id} {agent}"
        case ChannelKey(channel_id, thread_id):
            name = f"channel {channel_id} {thread_id}"
    return blake2b(name.encode("utf-8", "replace"), digest_size=8, person=b"cc-bot").hexdigest()
