"""The subjects of what is stored of a place."""

from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Subject, channel


def of_place(key: ChannelKey) -> tuple[Subject, ...]:
    """A channel; a thread with the channel that it belongs to. What is done to a message that Discord tells
    of by the thread alone comes after what was done there before."""
    return (channel(key.channel_id), channel(key.place_id))
