"""Pulling the plug at a chosen step of a turn: the requests that would come next are held back."""

from typing import Final

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Reply

EDIT: Final = "PATCH /webhooks/{application}/{token}/messages/@original"
FOLLOW_UP: Final = "POST /webhooks/{application}/{token}"
POST_MESSAGE: Final = "POST /channels/{channel}/messages"
HISTORY: Final = "GET /channels/{channel}/messages"

ON_THEIR_WAY: Final = (
    "SELECT state, count(*) FROM turns WHERE user_id = ? AND state <> 'shown' GROUP BY state"
)
RETRY: Final = {"ja": "もう一度試す", "en-US": "Try again"}
CUT_OFF: Final = {"ja": "書いている途中で動かなくなったため", "en-US": "I was cut off before I could finish"}
PAST_THE_TOKEN_S: Final = 15 * 60


async def pull_the_plug(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()
    stage.discord.faults.forget()


async def start_late(stage: Stage, *replies: Reply) -> None:
    """Start it when the tokens of these replies work no more."""
    for reply in replies:
        reply.age(PAST_THE_TOKEN_S + 1)
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(PAST_THE_TOKEN_S)
    await stage.start()


async def offers_to_ask_again(stage: Stage, reply: Reply) -> None:
    """The waiting reply says that it was cut off, in one message, and only the question is kept."""
    locale = reply.interaction.user.locale
    await reply.until(
        lambda shown: RETRY[locale] in shown.labels and len(shown.messages) == 1, "the button to ask again"
    )
    assert reply.text.startswith(CUT_OFF[locale])
    assert reply.labels == [RETRY[locale]]
    await stage.eventually(ON_THEIR_WAY, reply.interaction.user.id, gives=[("interrupted", 1)])
    assert stage.rows("SELECT token FROM turns WHERE user_id = ?", reply.interaction.user.id) == [(None,)]


async def is_settled(stage: Stage, reply: Reply) -> None:
    """Nothing of the turn is on its way any more."""
    await stage.eventually(ON_THEIR_WAY, reply.interaction.user.id, gives=[])
