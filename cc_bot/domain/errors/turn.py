"""A turn ended without an answer; asking again may help."""

from cc_bot.domain.errors.root import CcBotError


class TurnError(CcBotError):
    """A turn ended without an answer."""


class Busy(TurnError):
    """This user has too many turns waiting."""


class Crowded(TurnError):
    """No place became free for too long."""


class ShuttingDown(TurnError):
    """The program is stopping and takes no new turns."""


class Postponed(ShuttingDown):
    """The program is about to stop, and has the question on record."""


class NotNewest(TurnError):
    """The answer is no longer the newest of an open session."""


class AgentGone(TurnError):
    """The agent that gave an answer is in the file no more, or may not be used there any more."""


class BeingErased(TurnError):
    """Everything of the user's is being erased, so nothing of this turn is kept."""


class ModelError(TurnError):
    """The model gave no answer."""


class ModelUnavailable(ModelError):
    """No model of the chain answered in time: overloaded, unreachable, or broken."""


class ModelSaidNothing(ModelError):
    """The model ended its answer without a word."""


class ModelWentInCircles(ModelError):
    """The model called its tools as often as it may, and came to no answer."""


class ModelRefusedKey(ModelError):
    """The server does not accept the operator's key."""


class ModelRefusedRequest(ModelError):
    """The server does not take the request: most often a question that it can't handle."""


class ModelNotFound(ModelRefusedRequest):
    """The server has no such model, or is not where it is looked for. Parameters: model, as it was named."""


class ContextTooLong(ModelError):
    """The request has more tokens than the model takes. Parameters: limit (tokens), where the server told."""

    @property
    def limit(self) -> int | None:
        """The most tokens that the model takes; None when the server did not tell."""
        return limit if isinstance(limit := self.params.get("limit"), int) else None


class LimitReached(TurnError):
    """The user has used what there is for now. Parameters: what (the limit's name), resets (the moment from
    which on there is something again)."""


class ServerLimitReached(LimitReached):
    """The members of the server together have used what there is for now. Parameters: as above."""


class TooManyAtOnce(LimitReached):
    """As many turns are on their way as may be. Parameters: what."""
