"""An id for all log records of one piece of work, so that they are found together.

A turn has an id from the moment its front end hears of the question until the answer is shown: the front
end calls `begin_turn`, and the assistant `take_up_turn`, which makes an id where nobody has. Work of the
background has an id for each time that it is done. An id belongs to the task that it was given in, and to the
tasks that are started from there; it is random and tells nothing.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from structlog.contextvars import bind_contextvars, bound_contextvars


@dataclass(slots=True)
class _Turn:
    """An id that a front end has given, and whether its turn has been taken up."""

    taken_up: bool = False


_begun: ContextVar[_Turn | None] = ContextVar("begun", default=None)


def begin_turn() -> None:
    """Give what this task records from here on a turn of its own to belong to."""
    bind_contextvars(turn=secrets.token_hex(4))
    _begun.set(_Turn())


def take_up_turn() -> None:
    """Begin the turn that this task, or whoever started it, was told of; without that, one of its own."""
    begun = _begun.get()
    if begun is None or begun.taken_up:
        begin_turn()
        begun = _begun.get()
    if begun is not None:
        begun.taken_up = True


@contextmanager
def job(name: str) -> Iterator[None]:
    """Give what is recorded within to one time that this work of the background is done."""
    with bound_contextvars(job=f"{name}-{secrets.token_hex(4)}"):
        yield
