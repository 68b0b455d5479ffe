"""Calls that a server has not answered, and which of them a question of its belongs to.

In the older protocol a question names no call. It belongs to a call only where that is the only one that the
server has not answered: it may still work on one that nobody waits for any more.
"""

from collections import deque
from contextvars import ContextVar
from typing import Final

from mcp_types import (
    CONNECTION_CLOSED,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from cc_bot.mcp.forms import CallUnderway

CALL: Final = ContextVar["CallUnderway | None"]("CALL", default=None)
"""The call that a task makes."""
MOST_QUESTIONS: Final = 100
"""That are read, and not looked at yet."""
LONGEST_NUMBER: Final = 200
"""Characters of what a server numbers a question with."""


class Unanswered:
    """The calls that one connection was given and has not answered, and the questions that came meanwhile."""

    def __init__(self) -> None:
        self._calls = dict[RequestId, CallUnderway | None]()
        self._questions = deque[tuple[RequestId, CallUnderway]](maxlen=MOST_QUESTIONS)

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

    def note_came(self, message: JSONRPCMessage) -> None:
        """Take in what it says, in the order that it says it: whose a question is, is decided when it comes,
        for an answer may follow at once."""
        match message:
            case JSONRPCError(id=int() | str() as number, error=error):
                if not is_of_the_way(error.code, error.message):
                    self._calls.pop(number, None)
            case JSONRPCResponse(id=number):
                self._calls.pop(number, None)
            case JSONRPCRequest(method="elicitation/create", id=number) if len(self._calls) == 1:
                [call] = self._calls.values()
                if call is not None and len(str(number)) <= LONGEST_NUMBER:
                    self._questions.append((number, call))

    def asking(self, number: RequestId) -> CallUnderway | None:
        """Return the call that a question came in; None where that is not known."""
        for question in self._questions:
            if question[0] == number:
                self._questions.remove(question)
                return question[1]
        return None


def is_of_the_way(code: int, message: str) -> bool:
    """Return whether the library says so: that the way is broken. Servers use its code for errors of theirs,
    so its words decide; a server that has the same words is told as lost, which claims less."""
    own = ("Connection closed", "SSE stream ", "server answered a request with 202 Accepted")
    return code == CONNECTION_CLOSED and message.startswith(own)
