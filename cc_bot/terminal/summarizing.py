"""The `/summary` command."""

from cc_bot.domain.session import SessionKey
from cc_bot.stores import SummaryStore
from cc_bot.terminal.commands import ShowSummary
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.view import View
from cc_bot.texts import Texts


async def show_summary(
    command: ShowSummary, words: Texts, summaries: SummaryStore, key: SessionKey, view: View
) -> None:
    """Show what is kept of the conversation, or delete it; either way say so when there is nothing."""
    kept = await summaries.current(key)
    if command.delete and await summaries.delete(key):
        view.say(words.summary.deleted)
    elif not kept:
        view.say(words.summary.none)
    else:
        texts = (kept_apart(summary.content) for summary in kept)
        view.say("\n".join((words.summary.title, *texts)))
