"""What is kept of a conversation as an embed: two summaries have no room in a message's 2000 characters."""

from collections.abc import Sequence

import hikari

from cc_bot.discord.pages.memory_view import COLOUR
from cc_bot.domain.summary import Summary
from cc_bot.texts import Texts


def summary_embed(kept: Sequence[Summary], words: Texts) -> hikari.Embed:
    """The summaries, and when the newest was written, which clients show in their own zone and language."""
    parts = [
        f"**{words.summary.private}**\n{summary.content}"
        if summary.visibility == "private"
        else summary.content
        for summary in kept
    ]
    written = max(summary.created_at for summary in kept)
    return hikari.Embed(
        title=words.summary.title,
        description="\n\n".join((*parts, f"-# <t:{int(written.timestamp())}:f>")),
        colour=COLOUR,
    )
