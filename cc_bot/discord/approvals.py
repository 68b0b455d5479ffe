"""Handles the buttons of proposals: makes approved calls, shows the outcome, and has the model continue."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import hikari
import structlog

from cc_bot.chat.approvals import ApprovedResult
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.concurrency import Tasks
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import noop
from cc_bot.discord.delivery.reply import NotPosted
from cc_bot.discord.delivery.turns import RunningTurn
from cc_bot.discord.gate import Owners
from cc_bot.discord.interactions import author_name, is_ephemeral, roles_of, tell, visibility_of
from cc_bot.discord.locations import key_of_interaction
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import ProposalButton
from cc_bot.discord.pages.proposals import declined_line, outcome_line
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.access import Visitor
from cc_bot.domain.change import Change
from cc_bot.domain.errors import CcBotError, ProposalGone, StorageError
from cc_bot.domain.proposal import CallMessage, Proposal
from cc_bot.domain.turn import TOKEN_LIFETIME, AskedQuestion
from cc_bot.log import log_failure
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import CanvasChangeTexts
from cc_bot.texts.proposal import ProposalTexts

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Press:
    interaction: hikari.ComponentInteraction
    button: ProposalButton
    proposal: Proposal
    presser: Recipient
    author: Recipient
    role_ids: tuple[int, ...] | None  # roles of the question's author; None if unknown

    @property
    def ephemeral(self) -> bool:
        return is_ephemeral(self.interaction.message)

    @property
    def visitor(self) -> Visitor:
        """The question's author. Both channels count: the question's, which decides about the tools, and the
        button's."""
        guild_id, key = self.interaction.guild_id, self.proposal.key
        channel_id = key_of_interaction(self.interaction.channel).channel_id
        return Visitor(
            key.user_id,
            tuple(dict.fromkeys((key.channel_id, channel_id))),
            None if guild_id is None else int(guild_id),
            None if self.role_ids is None else frozenset(self.role_ids),
        )


@dataclass(eq=False, slots=True)
class ApprovalHandler:
    assistant: Assistant
    answers: Answers
    owners: Owners
    _tasks: Tasks = field(default_factory=Tasks)

    async def decide(
        self, interaction: hikari.ComponentInteraction, button: ProposalButton, presser: Recipient
    ) -> None:
        """Handle a press. Returns as soon as the calls have begun, or wait for a tool server to start:
        further presses on the message are held back until then."""
        may_return = asyncio.Event()
        task = self._tasks.start(self._decide(interaction, button, presser, may_return))
        task.add_done_callback(_log_error)
        waiting = asyncio.create_task(may_return.wait())
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()

    @property
    def _store(self) -> ProposalStore:
        return self.assistant.approvals.stores.proposals

    async def may_decide(self, proposal: Proposal, user_id: int) -> bool:
        if proposal.content.approvers == "owners":
            return user_id in await self.owners.ids(fresh=True)
        return user_id == proposal.key.user_id

    async def _decide(
        self,
        interaction: hikari.ComponentInteraction,
        button: ProposalButton,
        presser: Recipient,
        may_return: asyncio.Event,
    ) -> None:
        try:
            proposal = await self.assistant.approvals.find(button.user_id, button.proposal_id)
            if not await self.may_decide(proposal, presser.user_id):
                words = presser.words[ProposalTexts]
                by_owners = proposal.content.approvers == "owners"
                await tell(interaction, words.not_an_owner if by_owners else words.not_yours)
                return
            author, roles = presser, await _fetch_roles(interaction, button.user_id)
            if presser.user_id != button.user_id:
                author = await self.answers.recipients.for_user(
                    button.user_id, proposal.content.origin.locale
                )
            press = _Press(interaction, button, proposal, presser, author, roles)
            if button.action == "do":
                await self._approve(press, may_return)
            else:
                await self.assistant.approvals.decline(proposal)
                await self._edit(interaction, button, author.words, declined_line(proposal, author.words))
        except ProposalGone as error:
            if presser.user_id == button.user_id:
                await self._edit(interaction, button, presser.words)
            # If it is set, this press waited for a server, and meanwhile another press decided.
            if not may_return.is_set():
                await tell(interaction, explain(error, presser.words))
        except CcBotError as error:
            await tell(interaction, explain(error, presser.words))

    async def _approve(self, press: _Press, may_return: asyncio.Event) -> None:
        """Make the calls once, then continue the turn if the proposal says so. Raises AnswerUnderway,
        AgentGone, CallPostponed, ProposalGone, ShuttingDown, BeingErased, InputError or StorageError if no
        call was made."""
        guild_id, approvals = press.interaction.guild_id, self.assistant.approvals
        with approvals.mark_in_flight(press.proposal):
            selected = await self.answers.agent_selector.for_session(
                press.proposal.key, int(guild_id) if guild_id else None
            )
            if approvals.is_server_starting(press.proposal):
                may_return.set()
                await approvals.wait_for_server(press.proposal)
            result = await self._run_calls(press, selected, may_return)
        if result and result.canvas is not None:
            canvas_messages = self.answers.side_messages
            await canvas_messages.show_change(
                press.proposal.key, press.interaction, ephemeral=press.ephemeral
            )
        if result and result.continues:
            # The outcome is shown already.
            with log_failure("turn_not_gone_on", CcBotError, hikari.HikariError, NotPosted):
                await self._continue_turn(press, selected, result)

    async def _run_calls(
        self, press: _Press, selected: SelectedAgent, may_return: asyncio.Event
    ) -> ApprovedResult | None:
        """Return None if the outcome was not stored, or the message was deleted."""
        approvals, running = self.assistant.approvals, self.answers.running_turns
        message = press.interaction.message
        question_id = message.message_reference and message.message_reference.id
        turn = RunningTurn(
            running.new_id(),
            author_ids=frozenset({press.author.user_id, press.presser.user_id}),
            question_ids=frozenset({int(question_id)} if question_id else ()),
            call_message_id=int(message.id),
        )
        with running.track(turn), self.assistant.track_approved_call(press.author.user_id, turn.stop):
            channel_id, until = int(press.interaction.channel_id), approvals.clock() + TOKEN_LIFETIME
            token = press.interaction.token
            call_message = CallMessage(channel_id, int(message.id), token, until, press.ephemeral)
            claimed = await approvals.claim(press.proposal, turn.id, call_message)
            show_begun = asyncio.create_task(self._show_begun(press, may_return))
            try:
                result = await approvals.run(claimed, selected.agent, press.visitor, turn.stop)
            except CcBotError:
                await show_begun
                await self._reopen(press, claimed)
                raise
            finally:
                await show_begun
            return await self._show_result(press, result)

    async def _show_result(self, press: _Press, result: ApprovedResult) -> ApprovedResult | None:
        finished = deleted = False
        if result.outcome_stored:
            words = press.author.words
            lines = _outcome_lines(result, words)
            error = await self._edit(press.interaction, press.button, words, *lines, receipts=result.changes)
            deleted = isinstance(error, hikari.NotFoundError)
            finished = error is None or deleted
        if finished:
            try:
                await self._store.delete(result.proposal)
            except StorageError as failure:
                _log.warning("approved_call_not_settled", error=type(failure).__name__)
                finished = False
        if not finished:
            self.answers.running_turns.recovery_due.set()
        return result if result.outcome_stored and not deleted else None

    async def _reopen(self, press: _Press, claimed: Proposal) -> None:
        """Show the proposal as open, then reopen it: after a crash in between, recovery edits the message."""
        error = None
        if claimed.content.goes_on:  # only these were shown as begun
            words = press.author.words
            error = await self._edit(press.interaction, press.button, words, shown_open=press.proposal)
        try:
            reopened = error is None and await self._store.reopen(claimed)
        except StorageError as failure:
            _log.warning("approved_call_not_reopened", error=type(failure).__name__)
            reopened = False
        if not reopened:
            self.answers.running_turns.recovery_due.set()

    async def _show_begun(self, press: _Press, may_return: asyncio.Event) -> None:
        try:
            if press.proposal.content.goes_on:
                await self._edit(press.interaction, press.button, press.author.words)
        finally:
            may_return.set()

    async def _edit(
        self,
        interaction: hikari.ComponentInteraction,
        button: ProposalButton,
        words: Texts,
        *lines: str,
        receipts: Sequence[Change] = (),
        shown_open: Proposal | None = None,
    ) -> hikari.HikariError | None:
        """Show the card as stored, and `shown_open` as open. Returns Discord's error, if any."""
        updater, message = self.answers.running_turns.receipt_updater, interaction.message
        private = visibility_of(interaction, ephemeral=is_ephemeral(message)) == "private"

        def change(card: Card) -> Card:
            proposals = (
                shown_open if shown_open and each.id == shown_open.id else each for each in card.proposals
            )
            return replace(card, proposals=tuple(proposals)).with_notes(*lines).with_changes(receipts)

        try:
            card = await updater.redraw_pressed(interaction, button.user_id, words, change, private=private)
        except hikari.HikariError as error:
            _log.warning("approval_not_shown", error=type(error).__name__)
            return error
        if receipts:
            channel_id = None if is_ephemeral(message) else int(interaction.channel_id)
            await updater.record(card, channel_id, int(message.id), words)
        return None

    async def _continue_turn(self, press: _Press, selected: SelectedAgent, result: ApprovedResult) -> None:
        """Ask the model to continue, with the calls unless its history has them."""
        proposal, visibility = press.proposal, press.proposal.visibility
        question = await self.answers.references.find_question(press.author.user_id, proposal.answer_id)
        name = question.author_name if question else ""
        if press.presser.user_id == press.author.user_id:
            name = author_name(press.interaction)
        sentence = press.author.words[ProposalTexts].after_call.format(what=proposal.content.calls[0].name)
        sessions = self.assistant.approvals.stores.sessions
        session = await sessions.open(proposal.key, visibility=visibility, store=False)
        is_in_history = any(message.id == proposal.answer_id for message in session.history)
        turn = await self.answers.admit(
            press.interaction,
            press.author,
            selected,
            "continue",
            role_ids=press.role_ids,
            visibility=visibility,
            ephemeral=press.ephemeral and visibility == "private",
            below=True,
            shown_in=int(press.interaction.message.id),
            question=AskedQuestion(sentence, name, tainted=True),
            calls=() if question is not None and is_in_history else result.calls,
        )
        turn.pictures, turn.on_first_message = result.images, None if turn.entry.ephemeral else noop
        await self.answers.deliver(turn, self.answers.make_reply(turn))


def _log_error(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, CcBotError):
        _log.error("approved_call_broke", exc_info=error)


def _outcome_lines(result: ApprovedResult, words: Texts) -> Sequence[str]:
    """Return the lines that report the outcome. Changes by the bot's own tools have receipts instead."""
    line = outcome_line(result.proposal, result.state, words, stopped=result.stopped)
    if result.state == "unknown":
        return [line]
    if result.proposal.content.goes_on:
        return [line, *filter(None, [result.problem])]
    if result.state == "failed":
        return [result.problem or line]
    return [] if result.canvas is None else [words[CanvasChangeTexts].changed]


async def _fetch_roles(interaction: hikari.ComponentInteraction, user_id: int) -> tuple[int, ...] | None:
    if interaction.guild_id is None or interaction.user.id == user_id:
        return roles_of(interaction.member)
    try:
        return roles_of(await interaction.app.rest.fetch_member(interaction.guild_id, user_id))
    except hikari.HikariError:
        return None
