"""Dispatches button presses, menu choices and submitted forms to the function registered for their kind.

The custom id has all that the function needs, so a control still works after a restart.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

import hikari
import lightbulb
import structlog

from cc_bot.commands.reply import Reply
from cc_bot.discord.gate import Gate
from cc_bot.discord.interactions import Answerable, defer_early, defer_update
from cc_bot.discord.pages.custom_ids import (
    ANY_ASKER,
    AnswerButton,
    AskForm,
    Control,
    EditForm,
    FormSheet,
    PrivacyButton,
    RetryButton,
    StopButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import NO_PINGS, EphemeralView, components, reply_view
from cc_bot.discord.places import Recent
from cc_bot.discord.recipients import Recipient, Recipients, tell, tell_failure
from cc_bot.domain.message import UserSettings
from cc_bot.in_order import KeyedLock
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

PressInteraction = hikari.ComponentInteraction | hikari.ModalInteraction
Kind = TypeVar("Kind", bound=Control)


class Press(NamedTuple, Generic[Kind]):
    interaction: hikari.ComponentInteraction
    button: Kind
    user: Recipient


class Submission(NamedTuple, Generic[Kind]):
    """A submitted form."""

    interaction: hikari.ModalInteraction
    form: Kind
    user: Recipient

    @property
    def values(self) -> dict[str, str]:
        """The input by the ids of its fields."""
        return {each.custom_id: each.value or "" for row in self.interaction.components for each in row}


Shown = Reply | EphemeralView | str | None
"""The response, a sentence for an ephemeral follow-up, or None if the handler has shown everything."""
Act = Callable[..., Awaitable[Shown]]
"""Called with a Press or Submission; other parameters are injected."""
Response = Literal["update", "message", "later", "own"]
"""Acknowledged before the handler runs: `update` edits the button's message, `message` is an ephemeral one.
Acknowledged by the handler: `later`, or `own`: at once, without the database and out of order."""

_FORMS: Final = AskForm | EditForm | FormSheet
_DOUBLE_PRESS_S: Final = 1.0
"""The user has not seen the effect of the first press yet."""
_MAX_PRESSES: Final = 1000


@dataclass(frozen=True, slots=True)
class PressHandler:
    act: Act
    not_yours: Callable[[Texts], str]
    only: Callable[[Any], bool]
    anybody: bool
    response: Response


_HANDLERS: Final = defaultdict[type[Control], list[PressHandler]](list)


def on_press(
    *kinds: type[Control],
    not_yours: Callable[[Texts], str],
    only: Callable[[Any], bool] = lambda _: True,
    anybody: bool = False,
    response: Response = "update",
) -> Callable[[Act], Act]:
    """Register a function for presses that match `only`. Other users than the one in the custom id are
    answered with `not_yours`, unless `anybody`."""

    def register(act: Act) -> Act:
        injected: Any = lightbulb.di.with_di(act)
        for kind in kinds:
            _HANDLERS[kind].append(PressHandler(injected, not_yours, only, anybody, response))
        return act

    return register


@dataclass(frozen=True, slots=True)
class _Admitted:
    interaction: PressInteraction
    control: Control
    handler: PressHandler
    settings: UserSettings | None


class Presses:
    """All but StopButton, which reduces load, pass the gate. It is open for /privacy: all may erase their
    data."""

    def __init__(self, client: lightbulb.Client, gate: Gate, recipients: Recipients) -> None:
        self._client = client
        self._gate = gate
        self._recipients = recipients
        self._order = PressOrder()

    def listen(self, bot: hikari.GatewayBot) -> None:
        bot.subscribe(hikari.ComponentInteractionCreateEvent, self._on_press)
        bot.subscribe(hikari.ModalInteractionCreateEvent, self._on_press)

    async def _on_press(
        self, event: hikari.ComponentInteractionCreateEvent | hikari.ModalInteractionCreateEvent
    ) -> None:
        interaction: PressInteraction = event.interaction
        try:
            press = await self._admit(interaction)
            if press is None:
                return
            in_order = press.handler.response in ("update", "later")
            if in_order and isinstance(interaction, hikari.ComponentInteraction):
                await self._order.run(interaction, press.control, lambda: self._handle(press))
            else:
                await self._handle(press)
        except Exception as error:  # noqa: BLE001 - hikari would only log it; the user must be told
            await tell_failure(interaction, error, self._recipients)

    async def _admit(self, interaction: PressInteraction) -> _Admitted | None:
        """Return the press; None after telling the user that its control is unknown. Raises the gate's
        errors."""
        control = parse_custom_id(interaction.custom_id)
        handlers = _HANDLERS[type(control)] if control else ()
        handler = next((each for each in handlers if each.only(control)), None)
        if handler and isinstance(control, StopButton):
            return _Admitted(interaction, control, handler, None)
        arrival = await self._gate.admit(interaction, always=isinstance(control, PrivacyButton))
        is_form = isinstance(interaction, hikari.ModalInteraction)
        if control is None or handler is None or isinstance(control, _FORMS) != is_form:
            _log.info("press_unknown")
            words = (await self._recipients.soon(interaction, arrival.settings)).words
            await tell(interaction, words.answer.unknown_press)
            return None
        if arrival.settings is None and handler.response != "own":  # the database may take long
            await defer_early(interaction, shows=handler.response == "message")
        return _Admitted(interaction, control, handler, arrival.settings)

    async def _handle(self, press: _Admitted) -> None:
        interaction, handler, control = press.interaction, press.handler, press.control
        find = self._recipients.soon if handler.response == "own" else self._recipients.of
        recipient = await find(interaction, press.settings)
        shared = handler.anybody or (isinstance(control, StopButton) and control.user_id == ANY_ASKER)
        if not shared and control.user_id != recipient.user_id:
            await tell(interaction, handler.not_yours(recipient.words))
            return
        if handler.response in ("update", "message"):
            await defer_early(interaction, shows=handler.response == "message")
        async with (
            self._client.di.enter_context(lightbulb.di.Contexts.DEFAULT),
            self._client.di.enter_context(lightbulb.di.Contexts.LISTENER),
        ):
            if isinstance(interaction, hikari.ModalInteraction):
                shown = await handler.act(Submission(interaction, control, recipient))
            else:
                shown = await handler.act(Press(interaction, control, recipient))
        if isinstance(shown, str):
            await whisper(interaction, shown)
        elif shown is not None:
            await show(interaction, shown, recipient)


_Key = tuple[int, int, bool]
"""Message id, user id, and whether the press is for an answer."""


@dataclass(frozen=True, slots=True)
class _LastPress:
    wish: tuple[str, ...]
    answer: int | str | None
    """The answer or turn that would be replaced or continued."""
    at_s: float


class PressOrder:
    """Runs one press at a time per user and message; a double press counts once.

    While a press is handled, the user's next one on the same message is acknowledged and queued. If its
    button is gone by then, it does nothing.
    """

    def __init__(self) -> None:
        self._order = KeyedLock()
        self._last = Recent[_Key, _LastPress](_MAX_PRESSES)

    async def run(
        self, interaction: hikari.ComponentInteraction, pressed: Control, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Act on a press in its turn, unless it is a double press or its button is gone."""
        answer = _answer_of(pressed)
        key = (int(interaction.message.id), int(interaction.user.id), answer is not None)
        now_s = asyncio.get_running_loop().time()
        press = _LastPress((interaction.custom_id, *interaction.values), answer, now_s)
        waits = self._order.length(key) > 0
        if self._is_again(key, press, waits):
            await defer_update(interaction)
            return
        if waits:
            await defer_early(interaction)
        async with self._order.after(key):
            if not waits or await _is_still_shown(interaction):
                await act()

    def _is_again(self, key: _Key, press: _LastPress, busy: bool) -> bool:
        """Return whether the same was pressed a moment ago or is in progress, or the answer is being
        replaced. Buttons of the new answer are exempt: they are shown before everything is recorded."""
        if last := self._last.get(key):
            if busy and last.answer is not None and press.answer == last.answer:
                return True
            if press.wish == last.wish and (busy or press.at_s - last.at_s < _DOUBLE_PRESS_S):
                return True
        self._last[key] = press
        return False


def _answer_of(pressed: object) -> int | str | None:
    match pressed:
        case AnswerButton(answer_id=answer_id):
            return answer_id
        case RetryButton(entry=entry):
            return entry
        case _:
            return None


async def _is_still_shown(interaction: hikari.ComponentInteraction) -> bool:
    message = await interaction.fetch_initial_response()
    return any(
        getattr(component, "custom_id", None) == interaction.custom_id
        for row in message.components
        if isinstance(row, hikari.ActionRowComponent)
        for component in row.components
    )


async def show(interaction: Answerable, shown: Reply | EphemeralView, reader: Recipient) -> None:
    """Replace the acknowledged response."""
    view = shown if isinstance(shown, EphemeralView) else reply_view(shown, reader)
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons, menu=view.menu),
        attachment=view.attachment,
        **NO_PINGS,
    )


async def whisper(interaction: PressInteraction, sentence: str) -> None:
    await interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
