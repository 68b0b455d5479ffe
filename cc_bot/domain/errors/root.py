"""The root of all errors that somebody is told of."""

from datetime import datetime


class CcBotError(Exception):
    """The root. Keyword arguments are what its text is formatted with; a moment is shown as each front end
    does."""

    def __init__(self, **params: str | int | datetime) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params
