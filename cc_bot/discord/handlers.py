"""Declares commands, and handlers of button presses, menu choices and submitted forms. All pass the gate.

A command's key is its name in `CommandTexts`. A control's custom id holds all that its handler needs, so the
control still works after a restart.
"""

import asyncio
import contextlib
import inspect
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, new_class
from typing import Any, Concatenate, Final, Generic, Literal, NamedTuple, ParamSpec, TypeVar, cast

import hikari
import lightbulb
import linkd
import structlog

from cc_bot.chat.reply import Reply
from cc_bot.concurrency import KeyedLock, Report
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.gate import Gate
from cc_bot.discord.interactions import (
    MAX_AUTOCOMPLETE_CHOICES,
    Answerable,
    Preloaded,
    defer,
    defer_update,
    tell,
)
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    Control,
    PrivacyButton,
    RetryButton,
    ShowButton,
    StopButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import NO_PINGS, EphemeralView, controls_of, reply_view
from cc_bot.discord.recipients import Recipient, Recipients, tell_failure
from cc_bot.domain.errors import AccessError, CcBotError, TooManyCommands
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale
from cc_bot.features import IncompleteFeature
from cc_bot.texts import Texts
from cc_bot.texts.answer import AnswerTexts
from cc_bot.texts.commands import command_names

_log = structlog.get_logger(__name__)

PressInteraction = hikari.ComponentInteraction | hikari.ModalInteraction
Kind = TypeVar("Kind", bound=Control)


class Press(NamedTuple, Generic[Kind]):
    interaction: hikari.ComponentInteraction
    button: Kind
    user: Recipient


class Submission(NamedTuple, Generic[Kind]):
    interaction: hikari.ModalInteraction
    form: Kind
    user: Recipient

    @property
    def values(self) -> dict[str, str]:
        return {each.custom_id: each.value or "" for row in self.interaction.components for each in row}


HandlerResult = Reply | EphemeralView | str | None
"""What replaces the response, a sentence for an ephemeral follow-up, or None if the handler has responded."""
Handler = Callable[..., Awaitable[HandlerResult]]
"""Gets a Press or Submission; its other parameters are injected."""
InitialResponse = Literal["update", "message", "later", "by_handler"]
"""Who responds first to a press. `update` and `message`: this module, before the handler runs, with an update
of the button's message or an ephemeral message. `later`: the handler. `by_handler`: the handler, which runs
without waiting for the database or for the user's earlier presses."""

_DOUBLE_PRESS_S: Final = 1.0  # about until the user sees the effect of the first press


@dataclass(frozen=True, slots=True)
class PressHandler:
    run: Handler
    not_yours: Callable[[Texts], str] | None
    matches: Callable[[Any], bool]
    response: InitialResponse


_HANDLERS: Final = defaultdict[type[Control], list[PressHandler]](list)


def on_press(
    *kinds: type[Control],
    not_yours: Callable[[Texts], str] | None,
    matches: Callable[[Any], bool] = lambda _: True,
    response: InitialResponse = "update",
) -> Callable[[Handler], Handler]:
    """Register a function for presses on controls that match. Users other than the control's get the
    sentence `not_yours`; if it is None, they may press, too."""

    def register(run: Handler) -> Handler:
        injected: Any = lightbulb.di.with_di(run)
        for kind in kinds:
            _HANDLERS[kind].append(PressHandler(injected, not_yours, matches, response))
        return run

    return register


_OrderKey = tuple[int, int, bool]  # message id, user id, whether the press asks for an answer
_PressContent = tuple[str, ...]  # the custom id, and the values chosen in a menu


class Presses:
    """Runs the handlers of presses. Presses of a user on a message run in order, and a double press counts
    once.

    StopButton skips the gate, since it reduces load. The gate admits everyone to /privacy, to erase their
    data. A queued press is acknowledged at once, and has no effect if its button is gone when it is due.
    """

    def __init__(self, client: lightbulb.Client, gate: Gate, recipients: Recipients) -> None:
        self._client = client
        self._gate = gate
        self._recipients = recipients
        self._order = KeyedLock()
        self._last_press = LruCache[_OrderKey, tuple[_PressContent, float]]()

    def listen(self, bot: hikari.GatewayBot) -> None:
        bot.subscribe(hikari.ComponentInteractionCreateEvent, self._on_press)
        bot.subscribe(hikari.ModalInteractionCreateEvent, self._on_press)

    async def _on_press(
        self, event: hikari.ComponentInteractionCreateEvent | hikari.ModalInteractionCreateEvent
    ) -> None:
        try:
            await self._dispatch(event.interaction)
        except Exception as error:  # noqa: BLE001 - hikari would only log it
            await tell_failure(event.interaction, error, self._recipients)

    async def _dispatch(self, interaction: PressInteraction) -> None:
        control, settings = parse_custom_id(interaction.custom_id), None
        handlers = _HANDLERS[type(control)] if control else ()
        handler = next((each for each in handlers if each.matches(control)), None)
        if handler is None or not isinstance(control, StopButton):
            preloaded = await self._gate.admit(interaction, always=isinstance(control, PrivacyButton))
            settings = preloaded.settings
        is_form = isinstance(interaction, hikari.ModalInteraction)
        if control is None or handler is None or control.is_form != is_form:
            _log.info("press_unknown")
            words = (await self._recipients.find_quickly(interaction, settings)).words
            await tell(interaction, words[AnswerTexts].unknown_press)
            return
        if settings is None and handler.response != "by_handler":  # reading the settings may take long
            await _acknowledge(interaction, handler)
        handle = partial(self._handle, interaction, control, handler, settings)
        if handler.response in ("update", "later") and isinstance(interaction, hikari.ComponentInteraction):
            await self._handle_in_order(interaction, control, handle)
        else:
            await handle()

    async def _handle_in_order(
        self,
        interaction: hikari.ComponentInteraction,
        control: Control,
        handle: Callable[[], Awaitable[None]],
    ) -> None:
        is_for_answer = isinstance(control, AnswerButton | RetryButton)
        key = (int(interaction.message.id), int(interaction.user.id), is_for_answer)
        content, now_s = (interaction.custom_id, *interaction.values), asyncio.get_running_loop().time()
        is_queued, last = self._order.count(key) > 0, self._last_press.get(key)
        if last and last[0] == content and (is_queued or now_s - last[1] < _DOUBLE_PRESS_S):
            await defer_update(interaction)
            return
        self._last_press[key] = content, now_s
        if is_queued:
            await defer_update(interaction)
        async with self._order.hold(key):
            if not is_queued or await _is_still_shown(interaction):
                await handle()

    async def _handle(
        self,
        interaction: PressInteraction,
        control: Control,
        handler: PressHandler,
        settings: UserSettings | None,
    ) -> None:
        find = self._recipients.find_quickly if handler.response == "by_handler" else self._recipients.find
        recipient = await find(interaction, settings)
        if handler.not_yours and control.user_id != recipient.user_id:
            await tell(interaction, handler.not_yours(recipient.words))
            return
        if handler.response in ("update", "message"):
            await _acknowledge(interaction, handler)
        async with (
            self._client.di.enter_context(lightbulb.di.Contexts.DEFAULT),
            self._client.di.enter_context(lightbulb.di.Contexts.LISTENER),
        ):
            if isinstance(interaction, hikari.ModalInteraction):
                result = await handler.run(Submission(interaction, control, recipient))
            else:
                result = await handler.run(Press(interaction, control, recipient))
        if isinstance(result, str):
            await tell(interaction, result)
        elif result is not None:
            await show(interaction, result, recipient)


async def _acknowledge(interaction: PressInteraction, handler: PressHandler) -> None:
    if handler.response == "message":
        await defer(interaction, ephemeral=True)
    else:
        await defer_update(interaction)


async def _is_still_shown(interaction: hikari.ComponentInteraction) -> bool:
    message = await interaction.fetch_initial_response()
    return any(
        each.custom_id == interaction.custom_id and not each.is_disabled for each in controls_of(message)
    )


async def show(interaction: Answerable, reply: Reply | EphemeralView, reader: Recipient) -> None:
    view = reply if isinstance(reply, EphemeralView) else reply_view(reply, reader)
    old_files: Any = {} if view.attachment else {"attachments": None}  # removed, unless new ones replace them
    edit = partial(interaction.edit_initial_response, None, embeds=[], **old_files, **NO_PINGS)
    try:
        await edit(components=view.components)
    except hikari.BadRequestError as error:
        _log.warning("card_refused", code=error.code)
        await edit(components=view.plain)


PROGRESS_INTERVAL_S: Final = 2.0


def make_reporter(interaction: Answerable, reader: Recipient, sentence: str) -> Report:
    """Return a function that shows `sentence`, with the numbers, every PROGRESS_INTERVAL_S seconds."""
    shown_s = time.monotonic()

    async def report(done: int, total: int) -> None:
        nonlocal shown_s
        if time.monotonic() - shown_s >= PROGRESS_INTERVAL_S:
            shown_s = time.monotonic()
            with contextlib.suppress(hikari.HikariError):  # the result is what counts
                numbers = {"done": f"{done:,}", "total": f"{total:,}"}
                await show(interaction, EphemeralView(sentence.format(**numbers)), reader)

    return report


P = ParamSpec("P")
T = TypeVar("T")
Run = TypeVar("Run", bound=Callable[..., Awaitable[None]])


def command(
    register: Callable[[Any], Any],
    key: str,
    *,
    base: type[lightbulb.commands.CommandBase] = lightbulb.SlashCommand,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> Callable[[Run], Run]:
    """Register a function as the command with this key. The function gets the context and the `options` (some
    may be fixed values); other parameters are injected by type. `parameters` are lightbulb's. Raises
    IncompleteFeature."""
    is_slash = base is lightbulb.SlashCommand
    option_names = [*options] if is_slash else ["target"]

    def declare(run: Run) -> Run:
        if key not in command_names(Locale.EN):
            file = next(each.filename for each in inspect.stack() if each.filename != __file__)
            raise IncompleteFeature(f"{file}: CommandTexts have no {key}")
        injected: Any = lightbulb.di.with_di(run)

        async def invoke(self: Any, ctx: lightbulb.Context) -> None:
            await injected(ctx, **{name: getattr(self, name) for name in option_names})

        lightbulb.invoke(invoke)  # marks `invoke`; the wrapper returned would generate code at each call
        description = {"description": f"{key}_description"} if is_slash else {}
        keywords = {"name": key, **description, "localize": True, **parameters}
        register(new_class(key, (base,), keywords, lambda body: body.update(options, invoke=invoke)))
        return run

    return declare


message_command = partial(command, base=lightbulb.MessageCommand)
"""Registers an entry of the message menu. The function gets the message as `target`."""


def reply_command(
    register: Callable[[Any], Any],
    key: str,
    run: Callable[..., Awaitable[Reply | EphemeralView | None]],
    *,
    hooks: Sequence[lightbulb.ExecutionHook] = (),
    shown_as: str = "",
    **options: Any,
) -> None:
    """Register a slash command with an ephemeral reply. The function gets the caller instead of the context,
    and returns None if it has replied itself. `shown_as`: ShowButtons of that name run it, too, without
    options and with the press as its `ctx`, if any."""
    injected: Any = lightbulb.di.with_di(run)
    if shown_as:
        takes_press = "ctx" in inspect.signature(run).parameters

        def matches(each: ShowButton) -> bool:
            return each.command.partition(":")[0] == shown_as

        @on_press(ShowButton, not_yours=None, matches=matches, response="message")
        async def show_pressed(press: Press[ShowButton]) -> Reply | EphemeralView | None:
            given = {"ctx": press} if takes_press else {}
            return cast("Reply | EphemeralView | None", await injected(press.user, **given))

    @command(register, key, parameters={"hooks": [*hooks]}, **options)
    async def reply_to(
        ctx: lightbulb.Context, *, recipients: Recipients, updater: ReceiptUpdater, **values: Any
    ) -> None:
        caller = await recipients.defer(ctx.interaction)
        reply = await injected(caller, **values)
        if reply is not None:
            await show(ctx.interaction, reply, caller)
        if isinstance(reply, Reply) and reply.receipts_changed:
            updater.redraw_outdated(caller.user_id, caller.words)


def _localized(option: Callable[Concatenate[str, str, P], T]) -> Callable[Concatenate[str, P], T]:
    def make(key: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        kwargs["localize"] = True
        return option(key, f"{key}_description", *args, **kwargs)

    return make


text_option = _localized(lightbulb.string)
number_option = _localized(lightbulb.integer)
switch_option = _localized(lightbulb.boolean)
file_option = _localized(lightbulb.attachment)


def choices(noun: str, *values: str) -> Sequence[lightbulb.Choice[str]]:
    return [lightbulb.Choice(f"{noun}_{value}_choice", value, localize=True) for value in values]


Choice = str | tuple[str, str] | tuple[str, int]
Suggest = Callable[..., Awaitable[Sequence[Choice]]]
"""Gets the context and returns choices; its other parameters are injected."""

_SUGGESTION_TIMEOUT_S: Final = 2.8  # Discord waits three seconds


@lightbulb.hook(lightbulb.ExecutionSteps.MAX_CONCURRENCY)
async def admit_commands(
    _: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, gate: Gate, container: linkd.Container
) -> None:
    """Pass a command through the gate. The command may inject what the gate read as Preloaded."""
    preloaded = await gate.admit(ctx.interaction, always=ctx.interaction.command_name == "privacy")
    container.add_value(Preloaded, preloaded)


def suggest_from(suggest: Suggest) -> Any:
    """Return an autocomplete provider that offers nothing to users without access."""
    injected: Any = lightbulb.di.with_di(suggest)

    @lightbulb.di.with_di
    async def suggest_if_admitted(
        ctx: lightbulb.AutocompleteContext[Any], gate: Gate = lightbulb.di.INJECTED
    ) -> None:
        offered: Sequence[Choice] = ()  # also after an error, which choices can't report
        try:
            await gate.admit(ctx.interaction, "read")
            async with asyncio.timeout(_SUGGESTION_TIMEOUT_S):
                offered = await injected(ctx)
        except TimeoutError:
            return
        except CcBotError as error:
            if isinstance(error, TooManyCommands) and error.reported:
                return
            if not isinstance(error, AccessError):
                _log.warning("autocomplete_failed", error=type(error).__name__)
        with contextlib.suppress(hikari.HikariError):  # too late, or Discord fails
            await ctx.respond(offered[:MAX_AUTOCOMPLETE_CHOICES])

    return suggest_if_admitted
