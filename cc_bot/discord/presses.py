"""Dispatches button presses, menu choices and submitted forms to the function registered for their kind.

The custom id has all that the function needs, so a control still works after a restart.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

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
from cc_bot.discord.pages.memory import EphemeralView
from cc_bot.discord.pages.page import NO_PINGS, components
from cc_bot.discord.pages.replies import reply_view
from cc_bot.discord.recipients import Recipient, Recipients, tell, tell_failure
from cc_bot.domain.message import UserSettings
from cc_bot.in_order import KeyedLock
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

# ---- handlers ------------------------------------------------------------------------------------------

PressInteraction = hikari.ComponentInteraction | hikari.ModalInteraction
Act = Callable[..., Awaitable[None]]
"""Called with the interaction, the control and its recipient; other parameters are injected."""
Response = Literal["update", "message", "own"]
"""The first response. `update`: edits the button's message. `message`: an ephemeral message. `own`: the
handler responds at once, without the database, such as with a form."""


@dataclass(frozen=True, slots=True)
class PressHandler(lightbulb.Loadable):
    act: Act
    kinds: tuple[type[Control], ...]
    not_yours: Callable[[Texts], str]
    only: Callable[[Any], bool]
    anybody: bool
    response: Response

    async def load(self, client: lightbulb.Client) -> None:
        async with client.di.enter_context(lightbulb.di.Contexts.DEFAULT) as container:
            (await container.get(PressHandlers)).add(self)

    async def unload(self, _: lightbulb.Client) -> None:
        """Extensions are never unloaded."""


class PressHandlers:
    """The handlers of all extensions, by kind."""

    def __init__(self) -> None:
        self._by_kind = defaultdict[type[Control], list[PressHandler]](list)

    def add(self, handler: PressHandler) -> None:
        for kind in handler.kinds:
            self._by_kind[kind].append(handler)

    def find(self, pressed: Control) -> PressHandler | None:
        return next((each for each in self._by_kind[type(pressed)] if each.only(pressed)), None)


def on_press(
    loader: lightbulb.Loader,
    *kinds: type[Control],
    not_yours: Callable[[Texts], str],
    only: Callable[[Any], bool] = lambda _: True,
    anybody: bool = False,
    response: Response = "update",
) -> Callable[[Act], Act]:
    """Register a function for presses of these kinds that match `only`.

    Presses by users other than the one in the custom id are answered with `not_yours`, unless `anybody`.
    """

    def register(act: Act) -> Act:
        injected: Any = lightbulb.di.with_di(act)
        loader.add(PressHandler(injected, kinds, not_yours, only, anybody, response))
        return act

    return register


# ---- handling ------------------------------------------------------------------------------------------
# Every press and form passes the gate, except a StopButton, as stopping an answer reduces load. /privacy is
# also for users without access: they may erase their data.

_FORMS: Final = AskForm | EditForm | FormSheet


@dataclass(frozen=True, slots=True)
class _Press:
    interaction: PressInteraction
    control: Control
    handler: PressHandler
    settings: UserSettings | None


class Presses:
    def __init__(
        self, client: lightbulb.Client, gate: Gate, recipients: Recipients, handlers: PressHandlers
    ) -> None:
        self._client = client
        self._gate = gate
        self._recipients = recipients
        self._handlers = handlers
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
            if isinstance(interaction, hikari.ModalInteraction) or press.handler.response != "update":
                await self._handle(press)
            else:
                await self._order.run(interaction, press.control, lambda: self._handle(press))
        except Exception as error:  # noqa: BLE001 - hikari would only log it; the user must be told
            await tell_failure(interaction, error, self._recipients)

    async def _admit(self, interaction: PressInteraction) -> _Press | None:
        """Return the press; None if the control is unknown, after telling the user. Raises AccessError and
        the gate's errors."""
        control = parse_custom_id(interaction.custom_id)
        handler = self._handlers.find(control) if control else None
        if handler and isinstance(control, StopButton):
            return _Press(interaction, control, handler, None)
        arrival = await self._gate.admit(interaction, always=isinstance(control, PrivacyButton))
        is_form = isinstance(interaction, hikari.ModalInteraction)
        if control is None or handler is None or isinstance(control, _FORMS) != is_form:
            _log.info("press_unknown")
            words = (await self._recipients.soon(interaction, arrival.settings)).words
            await tell(interaction, words.answer.unknown_press)
            return None
        if arrival.settings is None and handler.response != "own":  # the database may take long
            await defer_early(interaction, shows=handler.response == "message")
        return _Press(interaction, control, handler, arrival.settings)

    async def _handle(self, press: _Press) -> None:
        handler, control = press.handler, press.control
        find = self._recipients.soon if handler.response == "own" else self._recipients.of
        recipient = await find(press.interaction, press.settings)
        shared = handler.anybody or (isinstance(control, StopButton) and control.user_id == ANY_ASKER)
        if not shared and control.user_id != recipient.user_id:
            await tell(press.interaction, handler.not_yours(recipient.words))
            return
        async with (
            self._client.di.enter_context(lightbulb.di.Contexts.DEFAULT),
            self._client.di.enter_context(lightbulb.di.Contexts.LISTENER),
        ):
            await handler.act(press.interaction, control, recipient)


# ---- order -----------------------------------------------------------------------------------------------
# One press at a time per user and message; a double press counts once.
#
# Phones send a press twice, and users press again while nothing seems to happen. While a press is handled,
# the user's next one on the same message is acknowledged (Discord waits 3 s) and queued. If its button is
# gone by then, it does nothing.

ONE_WISH_S: Final = 1.0
"""The user has not seen the effect of the first press yet."""
PRESSES_REMEMBERED: Final = 1000

_Place = tuple[int, int, bool]
"""Message id, user id, and whether the press is for an answer."""
_Wish = tuple[str, ...]
"""Custom id and chosen values."""


@dataclass(frozen=True, slots=True)
class _LastPress:
    wish: _Wish
    answer: int | str | None
    """The answer or turn that it belongs to."""
    at_s: float


_NO_PRESS: Final = _LastPress((), None, 0.0)


class PressOrder:
    def __init__(self) -> None:
        self._order = KeyedLock()
        self._last: OrderedDict[_Place, _LastPress] = OrderedDict()

    async def run(
        self, interaction: hikari.ComponentInteraction, pressed: Control, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Act on a press in its turn, unless it is a double press or its button is gone."""
        answer = _answer_of(pressed)
        place = (int(interaction.message.id), int(interaction.user.id), answer is not None)
        now_s = asyncio.get_running_loop().time()
        press = _LastPress((interaction.custom_id, *interaction.values), answer, now_s)
        if self._is_again(place, press):
            await defer_update(interaction)
            return
        waits = self._order.length(place) > 0
        if waits:
            await defer_early(interaction)
        async with self._order.after(place):
            if not waits or await _is_still_shown(interaction):
                await act()

    def _is_again(self, place: _Place, press: _LastPress) -> bool:
        """Return whether it is a double press: the same as the last one, in progress or a moment ago; or any
        press on an answer that is being replaced. Buttons of the new answer are exempt: they are shown before
        everything is recorded."""
        last, busy = self._last.get(place, _NO_PRESS), self._order.length(place) > 0
        if busy and last.answer is not None and press.answer == last.answer:
            return True
        if press.wish == last.wish and (busy or press.at_s - last.at_s < ONE_WISH_S):
            return True
        self._last[place] = press
        self._last.move_to_end(place)
        while len(self._last) > PRESSES_REMEMBERED:
            self._last.popitem(last=False)
        return False


def _answer_of(pressed: object) -> int | str | None:
    """Return the answer or turn that a press would replace or continue."""
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


# ---- replies ---------------------------------------------------------------------------------------------


async def show_view(interaction: Answerable, view: EphemeralView) -> None:
    """Show a view as the acknowledged response."""
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons, menu=view.menu),
        attachment=view.attachment or hikari.UNDEFINED,
        **NO_PINGS,
    )


async def show_reply(interaction: Answerable, reply: Reply, reader: Recipient) -> None:
    """Show a reply as the acknowledged response."""
    await show_view(interaction, reply_view(reply, reader))


async def whisper(interaction: hikari.ComponentInteraction, sentence: str) -> None:
    """Send an ephemeral follow-up to an acknowledged press."""
    await interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
