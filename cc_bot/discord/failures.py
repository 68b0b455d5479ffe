"""Tells a user of an error, exactly once.

lightbulb's error handler covers commands only; hikari would merely log errors of buttons and listeners.
"""

from collections.abc import Callable, Coroutine

import hikari
import lightbulb
import structlog

from cc_bot.discord.interactions import Answerable, is_accepted_ahead
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.errors import AccessError, CcBotError, TooManyCommands
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)

UNKNOWN_INTERACTION = 10062
"""Discord's code for an acknowledgement after its 3 s."""


async def tell(interaction: Answerable, sentence: str) -> None:
    """Respond to an interaction that was not acknowledged, ephemerally."""
    if is_accepted_ahead(interaction):
        await interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL)
        return
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_CREATE, sentence, flags=hikari.MessageFlag.EPHEMERAL
    )


async def respond_or_follow_up(interaction: Answerable, sentence: str) -> None:
    """The same for one that most likely was: replaces 'thinking…' or follows up."""
    try:
        await interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL)
    except hikari.NotFoundError:  # not acknowledged: there is nothing to follow up on
        await tell(interaction, sentence)


async def tell_failure(interaction: Answerable, error: Exception, recipients: Recipients) -> None:
    """Tell the user in one sentence and the log in one record. Never raises."""
    if isinstance(error, TooManyCommands) and error.told:
        return  # a burst is answered once
    if isinstance(error, hikari.NotFoundError) and error.code == UNKNOWN_INTERACTION:
        _log.warning("interaction_expired")  # Discord has told the user by now that we did not respond
        return
    if not interaction.app.rest.is_alive:
        _log.info("interaction_left")  # the bot has logged out, and can tell nobody anything
        return
    if isinstance(error, AccessError):
        pass  # whoever refused it has it on record
    elif isinstance(error, CcBotError):
        _log.warning("interaction_failed", error=type(error).__name__)
    else:
        _log.error("interaction_broke", exc_info=error)
    told = error if isinstance(error, CcBotError) else CcBotError()
    say = (
        tell if isinstance(error, AccessError) else respond_or_follow_up
    )  # refused before it was acknowledged
    try:
        await say(interaction, explain(told, (await recipients.soon(interaction)).words))
    except hikari.HikariError as unreachable:  # Discord's trouble, or the connection is closed already
        _log.warning("user_not_told", error=type(unreachable).__name__)


def command_error_handler(
    recipients: Recipients,
) -> Callable[[lightbulb.exceptions.ExecutionPipelineFailedException], Coroutine[object, object, bool]]:
    """Return lightbulb's error handler for commands."""

    async def handle(failed: lightbulb.exceptions.ExecutionPipelineFailedException) -> bool:
        await tell_failure(failed.context.interaction, failed.causes[0], recipients)
        return True

    return handle
