"""Calls that a server has not answered, which of them a question of its belongs to, and how many it may ask.

In the older protocol a question names no call. It belongs to a call only where that is the only one that the
server has not answered: it may still work on one that nobody waits for any more.
"""

from contextvars import ContextVar
from typing import Final

from mcp_types import (
    CONNECTION_CLOSED,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from cc_bot.mcp.forms import CallUnderway
from cc_bot.mcp.messages import Flooded

CALL: Final = ContextVar["CallUnderway | None"]("CALL", default=None)
"""The call that a task makes."""
MOST_QUESTIONS: Final = 16
"""Of a server, that wait for an answer at a time."""
LONGEST_NUMBER: Final = 200
"""Characters of what a server numbers a question with."""


class Unanswered:
    """The calls that one connection was given and has not answered, and the questions that came meanwhile."""

    def __init__(self) -> None:
        self._calls = dict[RequestId, CallUnderway | None]()
        self._open = dict[RequestId, CallUnderway | None]()
        """The questions that wait for an answer; of those that belong to a call, which."""

    @property
    def any_call(self) -> bool:
        """Return whether there is a call among them."""
        return bool(self._calls)

    def note_sent(self, message: JSONRPCMessage) -> None:
        """Take in what the server is sent, by the task that makes the call."""
        if isinstance(message, JSONRPCRequest) and message.method == "tools/call":
            self._calls[message.id] = call = CALL.get()
            if call is not None:
                call.requests.append(message.id)

    def note_answered(self, message: JSONRPCMessage) -> None:
        """Take in what the server was sent: a server that does not read its answers can't ask on."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._open.pop(message.id, None)

    def note_came(self, message: JSONRPCMessage) -> None:
        """Take in what it says, in the order that it says it: whose a question is, is decided when it comes,
        for an answer may follow at once. Raises Flooded where it asks too much at a time."""
        match message:
            case JSONRPCError(id=int() | str() as number, error=error):
                if not is_of_the_way(error.code, error.message):
                    self._calls.pop(number, None)
            case JSONRPCResponse(id=number):
                self._calls.pop(number, None)
            case JSONRPCRequest(id=number):
                if len(self._open) == MOST_QUESTIONS or number in self._open or _is_long(number):
                    raise Flooded
                self._open[number] = next(iter(self._calls.values())) if len(self._calls) == 1 else None
            case JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": int() | str() as number}
            ):
                self._open.pop(number, None)  # the library answers it no more
            case _:
                pass

    def asking(self, number: RequestId) -> CallUnderway | None:
        """Return the call that a question came in; None where that is not known."""
        return self._open.get(number)


def _is_long(number: RequestId) -> bool:
    return len(str(number)) > LONGEST_NUMBER


def is_of_the_way(code: int, message: str) -> bool:
    """Return whether the library says so: that the way is broken. Servers use its code for errors of theirs,
    so its words decide; a server that has the same words is told as lost, which claims less."""
    own = ("Connection closed", "SSE stream ", "server answered a request with 202 Accepted")
    return code == CONNECTION_CLOSED and message.startswith(own)
