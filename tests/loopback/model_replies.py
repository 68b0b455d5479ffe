import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4


@dataclass(frozen=True, slots=True)
class Say:
    """A chunk of text, after a delay in seconds."""

    text: str
    delay_s: float = 0


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a tool call. What is None is left out of the chunk."""

    arguments: str | None = None
    name: str | None = None
    id: str | None = None
    index: int | None = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk as given, for whatever the other steps are too polite to send."""

    body: Any


@dataclass(frozen=True, slots=True)
class Raw:
    """Text sent as it is: comments, malformed JSON, half an event."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Wait:
    """The rest comes once the test lets it."""

    event: asyncio.Event


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more is sent until the client goes away."""


@dataclass(frozen=True, slots=True)
class CutConnection:
    """The connection breaks here; as the first step, before the status line."""


@dataclass(frozen=True, slots=True)
class End:
    """The finish reason (None: the stream just ends), usage if it was asked for, and [DONE]."""

    reason: str | None = "stop"
    usage: tuple[int, int] | None = (11, 7)
    """Prompt and completion tokens; None for a server that never tells."""


Step = Say | Fragment | Chunk | Raw | Pause | Wait | Hang | CutConnection | End


class Reply:
    def __init__(
        self,
        *steps: Step,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        body: str = "",
        delay_s: float = 0,
    ) -> None:
        """`delay_s` is waited before the status line; `body` is sent when the status is not 200."""
        self.steps = steps
        self.status = status
        self.headers = dict(headers or {})
        self.body = body
        self.delay_s = delay_s


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as a test thinks of it."""

    name: str
    arguments: Mapping[str, Any]
    id: str | None = "auto"
    """`auto`: the server makes one up; None: it sends no id."""


def says(*texts: str, delay_s: float = 0, usage: tuple[int, int] | None = (11, 7)) -> Reply:
    """An answer in as many chunks as there are texts, each after `delay_s` seconds."""
    return Reply(*(Say(text, delay_s) for text in texts), End(usage=usage))


def calls(*wanted: Call, text: str = "", usage: tuple[int, int] | None = (11, 7)) -> Reply:
    """Tool calls, their arguments in two fragments as real servers send them."""
    steps: list[Step] = [Say(text)] if text else []
    for index, call in enumerate(wanted):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        half = len(arguments) // 2
        call_id = f"call_{uuid4().hex}" if call.id == "auto" else call.id
        steps.append(Fragment(arguments[:half], call.name, call_id, index))
        steps.append(Fragment(arguments[half:], index=index))
    return Reply(*steps, End("tool_calls", usage))


def fails(status: int, message: str = "scripted failure", headers: Mapping[str, str] | None = None) -> Reply:
    """An error as the API words it."""
    error = {"message": message, "type": "loopback_error", "param": None, "code": None}
    return Reply(status=status, headers=headers, body=json.dumps({"error": error}))


def hangs() -> Reply:
    """The stream opens and then nothing comes."""
    return Reply(Hang())
