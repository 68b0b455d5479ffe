"""Approved calls on Discord: making one, showing its result in the message of the button, and the answer that
the model gives with the result.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import hikari
import structlog

from cc_bot.assistant import Assistant, Stop
from cc_bot.assistant.approved_calls import CallResult
from cc_bot.discord.agents import Chosen
from cc_bot.discord.delivery.answers import Answers, FollowUp
from cc_bot.discord.delivery.forms import FormAsker
from cc_bot.discord.delivery.outlets import reply_in_place
from cc_bot.discord.delivery.reply import RETRY_PAUSES_S, PostUncertain, repeat
from cc_bot.discord.interactions import author_name, is_ephemeral, roles_of
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.proposals import (
    call_line,
    language_of,
    left_line,
    with_call_begun,
    with_call_ended,
    with_call_waiting,
    without,
)
from cc_bot.discord.places import key_of_interaction
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.claimed_call import CallMessage, ClaimedCall
from cc_bot.domain.errors import CallPostponed, CcBotError, StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ToolCall, Visibility
from cc_bot.domain.proposal import CallTool, Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.domain.turn import TOKEN_LIVES, AskedQuestion
from cc_bot.in_order import InOrder

_log = structlog.get_logger(__name__)

# ---- press -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallPress:
    """A press of one of the two buttons of a call, by a user who may decide on it."""

    interaction: hikari.ComponentInteraction
    proposal: Proposal
    call: CallTool
    presser: Recipient
    asker: Recipient
    page: Page
    """The message of the button."""
    role_ids: tuple[int, ...] | None
    """The roles of the author of the question; None if unknown."""

    @property
    def by_asker(self) -> bool:
        return self.presser.user_id == self.asker.user_id

    @property
    def place(self) -> ToolPlace:
        """The channel of the question, which decides which tools there are."""
        guild_id, key = self.interaction.guild_id, self.proposal.key
        here = key_of_interaction(self.interaction.channel).channel_id
        return ToolPlace(
            key.user_id,
            tuple(dict.fromkeys((key.channel_id, here))),
            None if guild_id is None else int(guild_id),
            self.role_ids,
        )


@dataclass(eq=False, slots=True)
class CallDelivery:
    """Makes approved calls, and shows their results."""

    assistant: Assistant
    answers: Answers
    recipients: Recipients
    changes: InOrder
    """Of each message, by its id: a change begins with what the message is by then."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def press(
        self,
        interaction: hikari.ComponentInteraction,
        proposal: Proposal,
        call: CallTool,
        presser: Recipient,
        page: Page,
    ) -> CallPress:
        """Make a press, with the author of the question. Raises StorageError."""
        key = proposal.key
        if presser.user_id == key.user_id:
            own = roles_of(interaction.member)
            return CallPress(interaction, proposal, call, presser, presser, page, own)
        asker, roles = await self._asker(key, page), await _fetch_roles(interaction, key.user_id)
        return CallPress(interaction, proposal, call, presser, asker, page, roles)

    async def _asker(self, key: SessionKey, page: Page) -> Recipient:
        """Return the author of the question, in the language of the message. Raises StorageError."""
        spoken = language_of(page, self.recipients.words) or self.recipients.guilds.of(key.channel_id)
        return await self.recipients.of_author(key.user_id, spoken)

    async def makes(self, user_id: int, proposal_id: int) -> bool:
        """Return whether it was approved and its result was not shown yet. Raises StorageError."""
        claimed = await self.assistant.calls.stores.claimed_calls.list_of_user(user_id)
        return any(call.id == proposal_id for call in claimed)

    async def decline(self, press: CallPress) -> None:
        """Decline it, and show that. Raises CallGone, StorageError, and hikari's errors."""
        await self.assistant.calls.decline(press.proposal)
        line = left_line(press.proposal, press.asker.words)
        await self.note(press.interaction, press.asker.locale, press.proposal.id, line)

    async def note(
        self, interaction: hikari.ComponentInteraction, locale: Locale, proposal_id: int, line: str
    ) -> bool:
        """Replace the buttons of a decided proposal by a line. Returns whether they were still there. Raises
        hikari's errors."""
        async with self.changes.after(int(interaction.message.id)):
            page = page_of(await interaction.fetch_initial_response(), locale)
            decided = without(page, proposal_id)
            if decided == page:
                return False
            await self._show(interaction, page, replace(decided, facts=decided.facts.noting(line)))
            return True

    async def _show(self, interaction: hikari.ComponentInteraction, before: Page, page: Page) -> None:
        await reply_in_place(interaction, before).show((page,))

    async def until_begun(self, act: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
        """Run a button handler in the background. Returns when it finishes or sets its event, so that the
        user can press other buttons while the slow part runs."""
        begun = asyncio.Event()
        task = asyncio.create_task(act(begun))
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        waiting = asyncio.create_task(begun.wait())
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()

    def _on_done(self, task: asyncio.Task[None]) -> None:
        """Log an unexpected exception, which the press may no longer be waiting for."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, CcBotError):
            _log.error("approved_call_broke", exc_info=error)

    async def make(self, press: CallPress, begun: asyncio.Event) -> None:
        """Make the call, once, and have the model continue with its result. `begun` is set when its message
        says that it is being made, and while its server is awaited: **Don't** can still be pressed then.

        Raises AgentGone, ToolGone, CallOutdated, CallPostponed, CallGone, CallExpired, ShuttingDown,
        BeingErased and StorageError if it was not made.
        """
        guild_id = press.interaction.guild_id
        with self.assistant.calls.underway(press.proposal):
            chosen = await self.answers.chooser.of_session(
                press.proposal.key, int(guild_id) if guild_id else None
            )
            result = await self._make(press, chosen, begun)
        if result and result.answered:
            try:
                question = await self._question(press, result)
                await self._go_on(press, FollowUp(press.asker, chosen, *question, result.images))
            except (
                CcBotError,
                hikari.HikariError,
                PostUncertain,
            ) as error:  # the result of the call is shown
                _log.warning("turn_not_gone_on", error=type(error).__name__)

    async def _make(self, press: CallPress, chosen: Chosen, begun: asyncio.Event) -> CallResult | None:
        """Make it as `make` does. Returns None if its result is shown later, or not at all."""
        proposal, calls, stop = press.proposal, self.assistant.calls, Stop()
        if calls.must_wait(press.call):
            begun.set()
        await calls.prepare(proposal, chosen.agent, press.place)
        deciders = {press.asker.user_id, press.presser.user_id}
        with (
            self.answers.running.track(stop, deciders) as name,
            self.answers.running.withdrawals.watch(_question_of(press.interaction), None) as in_flight,
            self.assistant.calling(press.asker.user_id, stop),
        ):
            in_flight.answer_id = int(press.interaction.message.id)
            in_flight.begin(stop)
            call = await calls.claim(proposal, name, self._message(press))
            return await self._carry_out(press, call, stop, begun)

    async def _carry_out(
        self, press: CallPress, call: ClaimedCall, stop: Stop, begun: asyncio.Event
    ) -> CallResult | None:
        """Make it and show the result. Returns None if recovery shows it, or if the message was deleted."""
        calls, words = self.assistant.calls, press.asker.words
        showing = asyncio.create_task(self._show_begun(press, call, begun))
        try:
            result = await calls.make(call, stop, press.asker.locale, self._asker_of(press))
        except StorageError as error:
            _log.warning("approved_call_not_noted", error=type(error).__name__)
            self.answers.deliveries.retry_due.set()
            return None
        except CallPostponed:
            await showing
            await self._give_back(press, call)
            raise
        finally:
            await showing
        line = call_line(call.change, result.state, words, stopped=result.stopped)
        lines = (line, *((result.problem,) if result.problem and result.state == "failed" else ()))
        refusal = await self._show_as(press, lambda page: with_call_ended(page, call, words, *lines))
        deleted = isinstance(refusal, hikari.NotFoundError)
        if refusal is None or deleted:
            await self._settle(call)
        else:
            self.answers.deliveries.retry_due.set()
        return None if deleted else result

    async def _give_back(self, press: CallPress, call: ClaimedCall) -> None:
        """Put the call back to pending. Its buttons are restored first: after a crash in between it still
        counts as claimed, and recovery reports it."""
        words, given = press.asker.words, False
        refusal = await self._show_as(press, lambda page: with_call_waiting(page, call, words, press.page))
        try:
            given = refusal is None and await self.assistant.calls.give_back(press.proposal, call)
        except StorageError as error:
            _log.warning("approved_call_not_given_back", error=type(error).__name__)
        if not given:
            self.answers.deliveries.retry_due.set()

    def _asker_of(self, press: CallPress) -> FormAsker | None:
        """Return what asks the author of the question, if they see messages below that of the call."""
        if is_ephemeral(press.interaction.message) and not press.by_asker:
            return None
        below = reply_in_place(press.interaction, press.page)
        return self.answers.running.forms.asker(below, press.asker)

    async def _settle(self, call: ClaimedCall) -> None:
        try:
            await self.assistant.calls.settle(call)
        except StorageError as error:  # recovery shows it once more
            _log.warning("approved_call_not_settled", error=type(error).__name__)
            self.answers.deliveries.retry_due.set()

    async def _show_begun(self, press: CallPress, call: ClaimedCall, begun: asyncio.Event) -> None:
        """Show that it is being made, with a Stop button."""
        try:
            await self._show_as(press, lambda page: with_call_begun(page, call, press.asker.words))
        finally:
            begun.set()

    async def _show_as(self, press: CallPress, become: Callable[[Page], Page]) -> hikari.HikariError | None:
        """Edit the message of the press from what it is by now. Returns Discord's error, if any."""
        try:
            async with self.changes.after(int(press.interaction.message.id)):
                message = await repeat(press.interaction.fetch_initial_response, RETRY_PAUSES_S)
                page = page_of(message, press.asker.locale)
                await self._show(press.interaction, page, become(page))
        except hikari.HikariError as error:
            _log.warning("approved_call_not_shown", error=type(error).__name__)
            return error
        return None

    def _message(self, press: CallPress) -> CallMessage:
        interaction = press.interaction
        return CallMessage(
            int(interaction.channel_id),
            int(interaction.message.id),
            int(interaction.application_id),
            interaction.token,
            self.assistant.calls.clock() + TOKEN_LIVES,
            is_ephemeral(interaction.message),
            press.asker.locale,
        )

    async def _question(
        self, press: CallPress, result: CallResult
    ) -> tuple[Visibility, AskedQuestion, tuple[int, ...] | None, tuple[ToolCall, ...]]:
        """Return the turn that continues. It comes with the call if the author's conversation does not have
        the answer: that was in a channel, or before a reset."""
        before = await self.answers.references.find_question(press.asker.user_id, press.proposal.answer_id)
        words = press.asker.words.proposal
        asked_by = before.author_name if before else ""
        name = author_name(press.interaction) if press.by_asker else asked_by
        told = before is not None and await self._is_shown(press)
        question = AskedQuestion(words.after_call.format(what=press.call.known_as), name, tainted=True)
        return press.proposal.visibility, question, press.role_ids, () if told else (result.told,)

    async def _is_shown(self, press: CallPress) -> bool:
        """Return whether the author's conversation still has the answer. Raises StorageError."""
        sessions, key = self.assistant.calls.stores.sessions, press.proposal.key
        session = await sessions.open(key, visibility=press.proposal.visibility, lasting=False)
        return any(message.id == press.proposal.answer_id for message in session.history)

    async def _go_on(self, press: CallPress, follow_up: FollowUp) -> None:
        """Have the model continue where the answer can be read, wherever the button was."""
        ephemeral = is_ephemeral(press.interaction.message) and follow_up.visibility == "private"
        await self.answers.go_on_after_call(follow_up, press.interaction, ephemeral=ephemeral)


def _question_of(interaction: hikari.ComponentInteraction) -> frozenset[int]:
    """The message that the message of the button answers, if there is one."""
    asked = interaction.message.message_reference
    return frozenset({int(asked.id)} if asked and asked.id else ())


async def _fetch_roles(interaction: hikari.ComponentInteraction, user_id: int) -> tuple[int, ...] | None:
    """Fetch the roles of a user who did not press; None if Discord refuses."""
    if interaction.guild_id is None:
        return ()
    try:
        return roles_of(await interaction.app.rest.fetch_member(interaction.guild_id, user_id))
    except hikari.HikariError:
        return None
