"""The root of all errors that somebody is told of."""


class CcBotError(Exception):
    """The root. Keyword arguments are what its text is formatted with."""

    def __init__(self, **params: str | int) -> None:
        super().__init__(type(self).__name__, params)
        self.params = params
