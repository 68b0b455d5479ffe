"""What a turn is told of the conversation before its history: the summaries that may be seen in it."""

from cc_bot.domain.message import Visibility
from cc_bot.domain.session import Session
from cc_bot.domain.summary import listed


def recap(session: Session, visibility: Visibility) -> str:
    """The text after 'Previous conversation summary'; empty when there is nothing to tell.

    `visibility` is that of the turn: what was written down of private turns is for private ones. An expired
    session's last words that are in no summary yet are told word for word, so that nothing waits for a model.
    """
    summaries, rest = (
        [known.text for known in all_known if visibility == "private" or known.visibility == "public"]
        for all_known in (session.summaries, session.rest)
    )
    return "\n".join(filter(None, (*summaries, listed(rest))))
