"""What a turn is told of the conversation before its history: the summaries that may be seen in it."""

from cc_bot.domain.message import Visibility
from cc_bot.domain.session import Recollection, Session
from cc_bot.domain.summary import listed


def recap(session: Session, visibility: Visibility) -> Recollection:
    """What follows 'Previous conversation summary'; its text is empty when there is nothing to tell.

    `visibility` is that of the turn: what was written down of private turns is for private ones. An expired
    session's last words that are in no summary yet are told word for word, so that nothing waits for a model.
    """
    summaries, rest = (
        [known for known in all_known if visibility == "private" or known.visibility == "public"]
        for all_known in (session.summaries, session.rest)
    )
    texts = (*(known.text for known in summaries), listed(known.text for known in rest))
    tainted = any(known.tainted for known in (*summaries, *rest))
    return Recollection(visibility, "\n".join(filter(None, texts)), tainted)
