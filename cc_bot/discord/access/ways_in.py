"""How interactions pass the gate before anything sees them: commands, lists of choices, buttons and forms.

Commands pass it as a hook of all of them. Buttons, menus and forms come to whoever listens as `ButtonPress`
and `ModalSubmit`, which are told of only after the gate; nobody listens for hikari's own events of them. So
no extension can forget to ask, and a test sees to it that none listens past the gate. `/privacy` and the
buttons that stop answers are for everybody. How often each user does any of it is counted here as well. What
an older or a newer version made, and nobody here knows, is answered here.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

import hikari
import lightbulb
import linkd
import structlog

from cc_bot.discord.access.gate import Gate
from cc_bot.discord.agents import Arrival
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.in_order import InOrder
from cc_bot.discord.interactions import accept_ahead, defer_update
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.admin_view import PrivacyButton, parse_privacy_id
from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    EditForm,
    MemoryButton,
    OpenMenu,
    RetryButton,
    SeeProposalsButton,
    StopButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
    parse_memory_id,
    parse_schedule_id,
)
from cc_bot.domain.errors import AccessError, CcBotError

# ---- presses ---------------------------------------------------------------------------------------------
# One press at a time, of each user on each message; and a press that comes twice is one wish.
#
# Phones send a press twice, and people press again while nothing seems to happen. Where one press is acted
# on, the next of the same user on the same message waits, and is accepted meanwhile: Discord waits 3 s for
# that. What it was to do may be done by then: if its button no longer stands there, the message shows what
# came of it. Nobody waits for other users, nor for other messages, nor for an answer that is on its way.

ONE_WISH_S: Final = 1.0
"""Who presses the same again so soon has not seen yet what came of it."""
PRESSES_REMEMBERED: Final = 1000
"""Messages on which somebody pressed last."""

_AT_ONCE: Final = (StopButton, UsedMemoriesButton, UntellButton, SeeProposalsButton, OpenMenu)
"""What stops an answer that is on its way, and what shows something in a message of its own."""

_Place = tuple[int, int, bool]
"""A message, who presses there, and whether it is for an answer."""
_Wish = tuple[str, ...]
"""What was pressed, and what was chosen of it."""


class Presses:
    def __init__(self) -> None:
        self._order = InOrder()
        self._last: OrderedDict[_Place, tuple[_Wish, float]] = OrderedDict()

    async def one_by_one(
        self, interaction: hikari.ComponentInteraction, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Act on a press when it is its turn, unless what it wants is done, or being done."""
        pressed = parse_custom_id(interaction.custom_id) or parse_memory_id(interaction.custom_id)
        if isinstance(pressed, _AT_ONCE) or _opens_form(pressed):
            await act()
            return
        answer = isinstance(pressed, AnswerButton | RetryButton)
        place = (int(interaction.message.id), int(interaction.user.id), answer)
        if self._is_again(place, interaction) or (answer and self._order.joined(place)):
            await defer_update(interaction)
        else:
            await self._in_turn(place, interaction, act)

    async def _in_turn(
        self, place: _Place, interaction: hikari.ComponentInteraction, act: Callable[[], Awaitable[object]]
    ) -> None:
        waits = self._order.joined(place) > 0
        if waits:
            await accept_ahead(interaction)
        async with self._order.after(place):
            if not waits or await _stands_there(interaction):
                await act()

    def _is_again(self, place: _Place, interaction: hikari.ComponentInteraction) -> bool:
        """Whether its user pressed the same there last, and that is still acted on or was a moment ago."""
        wish, now = (interaction.custom_id, *interaction.values), asyncio.get_running_loop().time()
        before, at = self._last.get(place, ((), 0.0))
        if wish == before and (self._order.joined(place) or now - at < ONE_WISH_S):
            return True
        self._last[place] = wish, now
        self._last.move_to_end(place)
        while len(self._last) > PRESSES_REMEMBERED:
            self._last.popitem(last=False)
        return False


def _opens_form(pressed: object) -> bool:
    """A form must be the first response, and changes nothing."""
    return isinstance(pressed, MemoryButton) and pressed.action == "edit"


async def _stands_there(interaction: hikari.ComponentInteraction) -> bool:
    """Whether the button of an accepted press is still in its message."""
    message = await interaction.fetch_initial_response()
    return any(
        getattr(component, "custom_id", None) == interaction.custom_id
        for row in message.components
        if isinstance(row, hikari.ActionRowComponent)
        for component in row.components
    )


# ---- ways in ---------------------------------------------------------------------------------------------

_log = structlog.get_logger(__name__)

Suggest = Callable[..., Awaitable[None]]
"""Answers an autocomplete interaction; the parameters after its context are injected."""


class ButtonPress(hikari.Event):
    """A button was pressed, or something chosen from a menu, by somebody who may use the bot there."""

    def __init__(self, interaction: hikari.ComponentInteraction) -> None:
        self.interaction = interaction

    @property
    def app(self) -> hikari.RESTAware:
        return self.interaction.app


class ModalSubmit(hikari.Event):
    """A form was sent, by somebody who may use the bot there."""

    def __init__(self, interaction: hikari.ModalInteraction) -> None:
        self.interaction = interaction

    @property
    def app(self) -> hikari.RESTAware:
        return self.interaction.app


_SUGGESTED_WITHIN_S: Final = 2.8
"""Discord takes a list of choices within three seconds; what comes later is work for nothing."""


_PARSERS: Final[tuple[Callable[[str], object | None], ...]] = (
    parse_custom_id,
    parse_memory_id,
    parse_schedule_id,
    parse_privacy_id,
)


@lightbulb.hook(lightbulb.ExecutionSteps.MAX_CONCURRENCY)
async def admit_commands(
    _: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, gate: Gate, given: linkd.Container
) -> None:
    """Of every command, before anything of it runs; a command that asks for its Arrival is given what was
    read here. Its errors are told by the handler of all commands."""
    arrival = await gate.admit(ctx.interaction, always=_about_ones_own(ctx.interaction))
    given.add_value(Arrival, arrival)


def suggesting(suggest: Suggest) -> Any:
    """A list of choices, for those who may use the bot there; others get an empty one."""
    injected = lightbulb.di.with_di(suggest)

    @lightbulb.di.with_di
    async def guarded(ctx: lightbulb.AutocompleteContext[Any], gate: Gate = lightbulb.di.INJECTED) -> None:
        try:
            await gate.admit(ctx.interaction, "choices")
        except CcBotError as error:
            if not isinstance(error, AccessError):
                _log.warning("autocomplete_failed", error=type(error).__name__)
            with contextlib.suppress(hikari.HikariError):  # a list of choices has no place for a sentence
                await ctx.respond([])
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SUGGESTED_WITHIN_S):
                await injected(ctx)

    return guarded


def admit_presses(bot: hikari.GatewayBot, gate: Gate, readers: Readers) -> None:
    """From now on presses and forms are told of as Pressed and Entered: of each user's on a message one after
    another."""

    presses = Presses()

    async def on_press(event: hikari.ComponentInteractionCreateEvent) -> None:
        interaction = event.interaction
        if not await _admitted(interaction, gate, readers):
            return
        if not _is_known(interaction):
            await _tell_unknown(interaction, readers)
            return
        try:
            await presses.one_by_one(
                interaction, lambda: bot.dispatch(ButtonPress(interaction), return_tasks=True)
            )
        except Exception as error:  # noqa: BLE001 - as below
            await tell_failure(interaction, error, readers)

    async def on_form(event: hikari.ModalInteractionCreateEvent) -> None:
        if not await _admitted(event.interaction, gate, readers):
            return
        if _is_known(event.interaction):
            bot.dispatch(ModalSubmit(event.interaction))
        else:
            await _tell_unknown(event.interaction, readers)

    bot.subscribe(hikari.ComponentInteractionCreateEvent, on_press)
    bot.subscribe(hikari.ModalInteractionCreateEvent, on_form)


def _about_ones_own(
    interaction: hikari.CommandInteraction | hikari.ComponentInteraction | hikari.ModalInteraction,
) -> bool:
    """Whether it is of `/privacy`, or stops an answer. What is stored about somebody is theirs to see and to
    have erased, also when they may not use the bot any more; and so is an answer that is on its way."""
    if isinstance(interaction, hikari.CommandInteraction):
        return interaction.command_name == "privacy"
    button = parse_privacy_id(interaction.custom_id) or parse_custom_id(interaction.custom_id)
    return isinstance(button, PrivacyButton | StopButton)


def _is_known(interaction: hikari.ComponentInteraction | hikari.ModalInteraction) -> bool:
    """Whether anything here made what was pressed or sent."""
    made = (parse(interaction.custom_id) for parse in _PARSERS)
    is_form = isinstance(interaction, hikari.ModalInteraction)
    return any(each is not None and isinstance(each, EditForm) == is_form for each in made)


async def _tell_unknown(
    interaction: hikari.ComponentInteraction | hikari.ModalInteraction, readers: Readers
) -> None:
    _log.info("press_unknown")
    try:
        await tell(interaction, (await readers.of(interaction)).words.answer.unknown_press)
    except Exception as error:  # noqa: BLE001 - as below
        await tell_failure(interaction, error, readers)


def _stops(interaction: hikari.ComponentInteraction | hikari.ModalInteraction) -> bool:
    """Whether it stops an answer: that is less work, however often it is done."""
    return isinstance(parse_custom_id(interaction.custom_id), StopButton)


async def _admitted(
    interaction: hikari.ComponentInteraction | hikari.ModalInteraction, gate: Gate, readers: Readers
) -> bool:
    if _stops(interaction):
        return True
    try:
        await gate.admit(interaction, always=_about_ones_own(interaction))
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)
        return False
    return True
