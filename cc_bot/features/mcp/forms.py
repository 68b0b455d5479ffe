"""Forms that servers send during a call (elicitation), shown to the user who made the call. Forms that ask
for a secret or are more than a few plain fields are declined, and the user reads why. A form that belongs
to no running call is declined silently."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import mcp_types as types
import structlog

from cc_bot.domain.errors import FormUnsuitable, InputError, SecretAsked, ToolServerError
from cc_bot.domain.forms import Asker, FieldKind, Form, FormChoice, FormField
from cc_bot.domain.text import one_line, printable
from cc_bot.features.mcp.model import MAX_ENTRY_LENGTH, MAX_FIELDS, MAX_NUMBER, OPEN_FOR_S, read_form
from cc_bot.features.memory.secrets import asks_for_secret

_log = structlog.get_logger(__name__)

MAX_FORMS: Final = 3
MAX_MESSAGE_LENGTH: Final = 2000
MAX_LABEL_LENGTH: Final = 200
MAX_FORM_LENGTH: Final = 10_000
MAX_CHOICES: Final = 25
_DECLINED: Final = "[A question of the server's was declined: {why}]"
_WHY: Final[Mapping[type[ToolServerError], str]] = {
    SecretAsked: "it asked for a secret, which is never asked for here.",
    FormUnsuitable: "it can't be asked here.",
}
_BY_USER: Final = "the user did not want to answer."
_TOO_LATE: Final = "the user did not answer in time."
UNCLEAR: Final = "it did not say in which of several calls it asked. Try again when the others are over."
_TOO_MANY: Final = f"{MAX_FORMS} questions a call are enough."

_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": "text",
    "number": "number",
    "integer": "whole",
    "boolean": "yes_or_no",
}


def form_of(server: str, params: types.ElicitRequestParams) -> Form:
    """Convert what a server asks. Raises SecretAsked and FormUnsuitable."""
    if not isinstance(params, types.ElicitRequestFormParams):
        raise SecretAsked(server=server)  # an address is where secrets are asked for
    schema = params.requested_schema
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not 1 <= len(properties) <= MAX_FIELDS:
        raise FormUnsuitable(server=server)
    if not all(isinstance(each, dict) for each in properties.values()):
        raise FormUnsuitable(server=server)
    shown = (params.message, *(words for field in properties.values() for words in _words(field)))
    if sum(map(len, (*properties, *shown))) > MAX_FORM_LENGTH:
        raise FormUnsuitable(server=server)
    asked = (*properties, *shown, " ".join(shown))  # a question may be split over several of them
    if any(map(asks_for_secret, asked)) or any(
        each.get("format") == "password" or each.get("writeOnly") is True for each in properties.values()
    ):
        raise SecretAsked(server=server)
    required = schema.get("required")
    needed = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    fields = tuple(_field(server, name, each, name in needed) for name, each in properties.items())
    return Form(server, printable(params.message)[:MAX_MESSAGE_LENGTH], fields)


def _words(schema: Mapping[str, Any]) -> Iterator[str]:
    """Any text of a field may hold the question."""
    for key in ("title", "description", "default"):
        if isinstance(words := schema.get(key), str):
            yield words
    for choice in _choices(schema):
        yield from {choice.label: None, choice.value: None}


def _field(server: str, name: str, schema: Mapping[str, Any], required: bool) -> FormField:
    kind, choices = _KINDS.get(str(schema.get("type", "string"))), _choices(schema)
    if kind is None or (not choices and ("enum" in schema or "oneOf" in schema)):
        raise FormUnsuitable(server=server)
    bounds = ("minLength", "maxLength") if kind == "text" else ("minimum", "maximum")
    minimum, maximum = (_number(schema.get(bound)) for bound in bounds)
    longest = MAX_ENTRY_LENGTH if kind == "text" else MAX_NUMBER
    if minimum is not None and minimum > min(longest, longest if maximum is None else maximum):
        raise FormUnsuitable(server=server)  # whatever is entered, it is refused
    return FormField(
        name,
        _text(schema.get("title")) or _text(name) or "?",
        "choice" if choices else kind,
        _text(schema.get("description")),
        required,
        _default(schema.get("default")),
        choices,
        minimum,
        maximum,
    )


def _choices(schema: Mapping[str, Any]) -> tuple[FormChoice, ...]:
    listed, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(listed, list):
        labels = names if isinstance(names, list) and len(names) == len(listed) else listed
        pairs = list(zip(listed, labels, strict=True))
    elif isinstance(given := schema.get("oneOf"), list):
        known = [each for each in given if isinstance(each, dict)]
        pairs = [(each.get("const"), each.get("title", each.get("const"))) for each in known]
    else:
        return ()
    if len(pairs) > MAX_CHOICES or not all(isinstance(each, str) for pair in pairs for each in pair):
        return ()
    return tuple(FormChoice(value, _text(label) or value) for value, label in pairs)


def _text(value: object) -> str:
    return one_line(printable(value))[:MAX_LABEL_LENGTH] if isinstance(value, str) else ""


def _default(value: object) -> str:
    if isinstance(value, str):
        return printable(value)[:MAX_ENTRY_LENGTH]
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


class ActiveCall:
    """A running call, during which the server may ask something."""

    def __init__(self, server: str, asker: Asker | None, time: asyncio.Timeout) -> None:
        """`time`: the call's time limit, paused while the user is asked."""
        self._server = server
        self._asker = asker
        self._time = time
        self.asked = 0
        self._one_by_one = asyncio.Lock()
        self._asking: asyncio.Task[Mapping[str, str] | None] | None = None
        self.notes = list[str]()
        """Lines for the model about declined questions."""

    async def answer(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked += 1
        if self.asked > MAX_FORMS:
            return self.decline(_TOO_MANY)
        async with self._one_by_one:
            if self._asker is None:
                return types.ElicitResult(action="decline")
            try:
                form = form_of(self._server, params)
            except (SecretAsked, FormUnsuitable) as refusal:
                await self._tell(self._asker, refusal)
                return self.decline(_WHY[type(refusal)])
            with self._paused():
                return await self._ask(self._asker, form)

    def end(self) -> None:
        """Withdraw an open question: the call is over."""
        self._asker = None
        if self._asking:
            self._asking.cancel()

    async def _ask(self, asker: Asker, form: Form) -> types.ElicitResult:
        self._asking = asking = asyncio.create_task(asker.ask(form))
        try:
            await asyncio.wait((asking,), timeout=OPEN_FOR_S)
        finally:
            asking.cancel()
        if not asking.done() or asking.cancelled():
            self.decline(_TOO_LATE)
            return types.ElicitResult(action="cancel")
        try:
            entered = asking.result()
            if entered is not None:
                return types.ElicitResult(action="accept", content=dict(read_form(form, entered)))
        except InputError as error:
            _log.warning("form_not_read", error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - whatever keeps them from being asked
            _log.warning("form_not_asked", error=type(error).__name__)
            return self.decline(_WHY[FormUnsuitable])
        return self.decline(_BY_USER)

    async def _tell(self, asker: Asker, refusal: ToolServerError) -> None:
        try:
            async with asyncio.timeout(OPEN_FOR_S):
                await asker.tell(refusal)
        except Exception as error:  # noqa: BLE001 - it is declined, whether they know or not
            _log.warning("refusal_not_shown", error=type(error).__name__)

    def decline(self, why: str) -> types.ElicitResult:
        """Decline, with a note for the model."""
        if (note := _DECLINED.format(why=why)) not in self.notes:
            self.notes.append(note)
        return types.ElicitResult(action="decline")

    @contextmanager
    def _paused(self) -> Iterator[None]:
        clock = asyncio.get_running_loop().time
        ends = self._time.when()
        left = None if ends is None else ends - clock()
        with suppress(RuntimeError):  # it has run out a moment ago
            self._time.reschedule(None)
        try:
            yield
        finally:
            if left is not None:
                with suppress(RuntimeError):
                    self._time.reschedule(clock() + left)
