"""Shows forms that servers send during a call (MCP's elicitation) to the call's user. Forms that ask for
secrets, or have more than a few plain fields, are declined with a reason."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

import mcp_types as types
import structlog

from cc_bot.domain.errors import InputError, ToolServerError
from cc_bot.domain.forms import FieldKind, Form, FormAsker, FormChoice, FormField
from cc_bot.domain.text import one_line, printable
from cc_bot.features.mcp.errors import FormUnsuitable, SecretAsked
from cc_bot.features.mcp.model import FORM_TIMEOUT_S, MAX_ENTRY_LENGTH, MAX_FIELDS, MAX_NUMBER, read_form
from cc_bot.features.memory.secrets import asks_for_secret

_log = structlog.get_logger(__name__)

MAX_FORMS: Final = 3
MAX_MESSAGE_LENGTH: Final = 2000
MAX_LABEL_LENGTH: Final = 200
MAX_FORM_LENGTH: Final = 10_000
MAX_CHOICES: Final = 25
_DECLINED_NOTE: Final = "[A question from the server was declined: {why}]"
_DECLINE_REASONS: Final[Mapping[type[ToolServerError], str]] = {
    SecretAsked: "it asked for a secret, and users are never asked for those here.",
    FormUnsuitable: "it can't be asked here.",
}
_USER_DECLINED: Final = "the user did not want to answer."
_USER_TOO_LATE: Final = "the user did not answer in time."
# Declines a form that comes while several calls of the server run (server.py).
CALL_UNCLEAR: Final = "it did not say in which of several calls it asked. Try again when the others are over."
_TOO_MANY_FORMS: Final = f"a call may ask at most {MAX_FORMS} questions."

_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": "text",
    "number": "number",
    "integer": "whole",
    "boolean": "yes_or_no",
}


def to_form(server: str, params: types.ElicitRequestParams) -> Form:
    """Raises SecretAsked and FormUnsuitable."""
    if not isinstance(params, types.ElicitRequestFormParams):
        raise SecretAsked(server=server)  # a link (URL mode), by which servers ask for secrets
    schema = params.requested_schema
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not 1 <= len(properties) <= MAX_FIELDS:
        raise FormUnsuitable(server=server)
    if not all(isinstance(each, dict) for each in properties.values()):
        raise FormUnsuitable(server=server)
    texts = [params.message]
    for field in properties.values():
        texts += _field_texts(field)
    if sum(map(len, (*properties, *texts))) > MAX_FORM_LENGTH:
        raise FormUnsuitable(server=server)
    whole = " ".join(texts)  # a question may be split over several texts
    if any(map(asks_for_secret, (*properties, *texts, whole))) or any(
        each.get("format") == "password" or each.get("writeOnly") is True for each in properties.values()
    ):
        raise SecretAsked(server=server)
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    fields = tuple(_to_field(server, name, each, name in required) for name, each in properties.items())
    return Form(server, printable(params.message)[:MAX_MESSAGE_LENGTH], fields)


def _field_texts(schema: Mapping[str, Any]) -> Iterator[str]:
    for key in ("title", "description", "default"):
        if isinstance(text := schema.get(key), str):
            yield text
    for choice in _to_choices(schema):
        yield from {choice.label: None, choice.value: None}


def _to_field(server: str, name: str, schema: Mapping[str, Any], required: bool) -> FormField:
    kind, choices = _KINDS.get(str(schema.get("type", "string"))), _to_choices(schema)
    if kind is None or (not choices and ("enum" in schema or "oneOf" in schema)):
        raise FormUnsuitable(server=server)
    bounds = ("minLength", "maxLength") if kind == "text" else ("minimum", "maximum")
    minimum, maximum = (_to_number(schema.get(bound)) for bound in bounds)
    limit = MAX_ENTRY_LENGTH if kind == "text" else MAX_NUMBER
    largest = limit if maximum is None else min(limit, maximum)
    if minimum is not None and minimum > largest:  # no entry would be accepted
        raise FormUnsuitable(server=server)
    return FormField(
        name,
        _label(schema.get("title")) or _label(name) or "?",
        "choice" if choices else kind,
        _label(schema.get("description")),
        required,
        _to_default(schema.get("default")),
        choices,
        minimum,
        maximum,
    )


def _to_choices(schema: Mapping[str, Any]) -> tuple[FormChoice, ...]:
    values, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list):
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, labels, strict=True))
    elif isinstance(options := schema.get("oneOf"), list):
        constants = [each for each in options if isinstance(each, dict)]
        pairs = [(each.get("const"), each.get("title", each.get("const"))) for each in constants]
    else:
        return ()
    if len(pairs) > MAX_CHOICES or not all(isinstance(each, str) for pair in pairs for each in pair):
        return ()
    return tuple(FormChoice(value, _label(label) or value) for value, label in pairs)


def _label(value: object) -> str:
    return one_line(printable(value))[:MAX_LABEL_LENGTH] if isinstance(value, str) else ""


def _to_default(value: object) -> str:
    if isinstance(value, str):
        return printable(value)[:MAX_ENTRY_LENGTH]
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


def _to_number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


class ActiveCall:
    def __init__(self, server: str, form_asker: FormAsker | None, timeout: asyncio.Timeout) -> None:
        """`form_asker`: None declines forms. `timeout` pauses while a form is open."""
        self._server = server
        self._form_asker = form_asker
        self._timeout = timeout
        self.forms_received = 0
        self._form_lock = asyncio.Lock()
        self._open_form: asyncio.Task[Mapping[str, str] | None] | None = None
        self.notes = list[str]()
        """For the model, about declined forms."""

    async def answer(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.forms_received += 1
        if self.forms_received > MAX_FORMS:
            return self.decline(_TOO_MANY_FORMS)
        async with self._form_lock:
            if self._form_asker is None:
                return types.ElicitResult(action="decline")
            try:
                form = to_form(self._server, params)
            except (SecretAsked, FormUnsuitable) as refusal:
                await self._show_refusal(self._form_asker, refusal)
                return self.decline(_DECLINE_REASONS[type(refusal)])
            with self._pause_timeout():
                return await self._ask(self._form_asker, form)

    def end(self) -> None:
        self._form_asker = None
        if self._open_form:
            self._open_form.cancel()

    async def _ask(self, form_asker: FormAsker, form: Form) -> types.ElicitResult:
        self._open_form = open_form = asyncio.create_task(form_asker.ask(form))
        try:
            await asyncio.wait((open_form,), timeout=FORM_TIMEOUT_S)
        finally:
            open_form.cancel()
        if not open_form.done() or open_form.cancelled():
            return self.decline(_USER_TOO_LATE, action="cancel")
        try:
            entries = open_form.result()
            if entries is not None:
                return types.ElicitResult(action="accept", content=dict(read_form(form, entries)))
        except InputError as error:
            _log.warning("form_not_read", error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - any error of Discord
            _log.warning("form_not_asked", error=type(error).__name__)
            return self.decline(_DECLINE_REASONS[FormUnsuitable])
        return self.decline(_USER_DECLINED)

    async def _show_refusal(self, form_asker: FormAsker, refusal: ToolServerError) -> None:
        try:
            async with asyncio.timeout(FORM_TIMEOUT_S):
                await form_asker.show_error(refusal)
        except Exception as error:  # noqa: BLE001 - the form is declined anyway
            _log.warning("refusal_not_shown", error=type(error).__name__)

    def decline(self, reason: str, action: Literal["decline", "cancel"] = "decline") -> types.ElicitResult:
        if (note := _DECLINED_NOTE.format(why=reason)) not in self.notes:
            self.notes.append(note)
        return types.ElicitResult(action=action)

    @contextmanager
    def _pause_timeout(self) -> Iterator[None]:
        clock = asyncio.get_running_loop().time
        deadline = self._timeout.when()
        seconds_left = None if deadline is None else deadline - clock()
        with suppress(RuntimeError):  # the time has just run out
            self._timeout.reschedule(None)
        try:
            yield
        finally:
            if seconds_left is not None:
                with suppress(RuntimeError):
                    self._timeout.reschedule(clock() + seconds_left)
