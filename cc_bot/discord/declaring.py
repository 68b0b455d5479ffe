"""Declares commands by their keys in texts/commands.py, behind the gate."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import new_class
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import hikari
import lightbulb
import linkd
import structlog

from cc_bot.commands.reply import Reply
from cc_bot.discord.agents import Preloaded
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.gate import Gate
from cc_bot.discord.interactions import MAX_CHOICES
from cc_bot.discord.pages.page import EphemeralView
from cc_bot.discord.presses import show
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.errors import AccessError, CcBotError, TooManyCommands

_log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Declared = TypeVar("Declared", bound=type)

_IMPLICIT = frozenset({"__dict__", "__weakref__", "__module__", "__doc__"})


def command(
    register: Callable[[Any], Any],
    key: str,
    *,
    base: type[lightbulb.commands.CommandBase] = lightbulb.SlashCommand,
    **given: Any,
) -> Callable[[Declared], Declared]:
    """Register a class as the command of a key. Its options come from `text_option` and the like; the
    parameters of `invoke(self, ctx, …)` are injected by type. `given` is for lightbulb."""

    def declare(declared: Declared) -> Declared:
        own: dict[str, Any] = {name: value for name, value in vars(declared).items() if name not in _IMPLICIT}
        own["invoke"] = lightbulb.invoke(own["invoke"])
        described = {"description": f"{key}_description"} if base is lightbulb.SlashCommand else {}
        parameters = {"name": key, **described, "localize": True, **given}
        made: Any = new_class(declared.__name__, (base,), parameters, lambda body: body.update(own))
        register(made)
        return made  # type: ignore[no-any-return]

    return declare


message_command = partial(command, base=lightbulb.MessageCommand)
"""An entry of the message menu: `self.target` is the message."""


def reply_command(
    register: Callable[[Any], Any],
    key: str,
    run: Callable[..., Awaitable[Reply | EphemeralView | None]],
    *,
    hooks: Sequence[lightbulb.ExecutionHook] = (),
    **options: Any,
) -> None:
    """Register a function as a slash command with an ephemeral reply. It gets the caller, the options by name
    (or fixed values), and other parameters injected by type. None: it has replied itself."""
    injected: Any = lightbulb.di.with_di(run)

    async def invoke(
        self: Any, ctx: lightbulb.Context, recipients: Recipients, upkeep: ReceiptUpkeep
    ) -> None:
        caller = await recipients.defer(ctx.interaction)
        reply = await injected(caller, **{name: getattr(self, name) for name in options})
        if reply is not None:
            await show(ctx.interaction, reply, caller)
        if isinstance(reply, Reply) and reply.receipts_changed:
            upkeep.refresh(caller.user_id, caller.words)

    command(register, key, hooks=[*hooks])(type(run.__name__, (), {**options, "invoke": invoke}))


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
"""Returns the choices; its other parameters are injected."""


_SUGGESTED_WITHIN_S: Final = 2.8
"""Discord waits three seconds."""


@lightbulb.hook(lightbulb.ExecutionSteps.MAX_CONCURRENCY)
async def admit_commands(
    _: lightbulb.ExecutionPipeline, ctx: lightbulb.Context, gate: Gate, given: linkd.Container
) -> None:
    """Pass a command through the gate, and provide what the gate read as Preloaded."""
    arrival = await gate.admit(ctx.interaction, always=ctx.interaction.command_name == "privacy")
    given.add_value(Preloaded, arrival)


def suggesting(suggest: Suggest) -> Any:
    """Return an autocomplete provider, without choices for users without access."""
    injected: Any = lightbulb.di.with_di(suggest)

    @lightbulb.di.with_di
    async def suggest_if_admitted(
        ctx: lightbulb.AutocompleteContext[Any], gate: Gate = lightbulb.di.INJECTED
    ) -> None:
        found: Sequence[Choice] = ()  # a list of choices can't show why it is empty
        try:
            await gate.admit(ctx.interaction, "choices")
            async with asyncio.timeout(_SUGGESTED_WITHIN_S):
                found = await injected(ctx)
        except TimeoutError:
            return
        except CcBotError as error:
            if isinstance(error, TooManyCommands) and error.told:
                return
            if not isinstance(error, AccessError):
                _log.warning("autocomplete_failed", error=type(error).__name__)
        with contextlib.suppress(hikari.HikariError):  # too late, or Discord fails
            await ctx.respond(found[:MAX_CHOICES])

    return suggest_if_admitted
