"""Asks a question and shows the answer and its proposals."""

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from cc_bot.charts import table
from cc_bot.chat.active import Stop, until_stopped
from cc_bot.chat.approvals import ApprovedResult
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.reply import Caller
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import ToolPlace
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain import errors
from cc_bot.domain.chart import Chart
from cc_bot.domain.clock import utc_now, zone_named
from cc_bot.domain.message import Agent, Message, Visibility
from cc_bot.domain.proposal import CallMessage, Moment, Proposal, Value
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Done
from cc_bot.domain.usage import UsageSubject
from cc_bot.features.memory.model import receipt_of
from cc_bot.features.memory.service import Memories
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts
from cc_bot.in_order import ExportQueue
from cc_bot.terminal.view import (
    MARGIN,
    MAX_RECEIPT_CHARACTERS,
    Notice,
    Quoted,
    View,
    canvas_line,
    change_line,
    one_line,
    receipt_line,
)
from cc_bot.texts import ErrorTexts, Texts, explain, texts
from cc_bot.texts.cli import TerminalTexts
from cc_bot.texts.proposal import ProposalTexts


@dataclass(frozen=True, slots=True)
class ChatProfile:
    key: SessionKey
    locale: Locale
    timezone: ZoneInfo
    model_label: str
    agent: Agent
    history_file: Path | None = None  # None to keep none
    visibility: Visibility = "public"
    offline: bool = False

    @property
    def texts(self) -> Texts:
        return texts(self.locale, names=Locale.EN)

    @property
    def caller(self) -> Caller:
        payer = UsageSubject(self.user_id, front_end="terminal")
        return Caller(self.user_id, self.locale, self.timezone, self.texts, payer=payer)

    @property
    def user_id(self) -> int:
        return self.key.user_id


P = TypeVar("P")


async def _refuse(_question: str) -> bool:
    return False


@dataclass(slots=True, eq=False, repr=False)
class Chat:
    assistant: Assistant
    stores: Stores
    parts: Mapping[type[Any], Any]  # of the features, by type
    profile: ChatProfile
    view: View
    confirm: Callable[[str], Awaitable[bool]] = _refuse  # in a pipe, whose lines were written before
    answering: Stop | None = field(default=None, init=False)

    @property
    def texts(self) -> Texts:
        return self.profile.texts

    @property
    def user_id(self) -> int:
        return self.profile.user_id

    @property
    def memories(self) -> Memories:
        return Memories(self.stores, ExportQueue(), utc_now)

    def __getitem__(self, kind: type[P]) -> P:
        part: P = self.parts[kind]
        return part

    def stop(self) -> None:
        if self.answering is not None:
            self.answering.request()


def explain_to_operator(error: errors.CcBotError, profile: ChatProfile) -> str:
    """Explain an error to the operator, who can change the settings."""
    words = profile.texts
    if sentence := words[TerminalTexts].of_model.get(type(error)):
        return sentence.format(**error.params)
    explained = explain(error, words, profile.caller.at)
    return explained.replace(words[ErrorTexts].tell_operator, words[TerminalTexts].ask_doctor)


async def answer(chat: Chat, question: Message, options: TurnOptions | None = None) -> Done:
    """Raises as `Assistant.ask`."""
    profile, stop = chat.profile, Stop()
    settings = await chat.stores.settings.get(chat.user_id)
    options = replace(
        options or TurnOptions(profile.locale, profile.timezone),
        welcomed=settings.welcomed,
        memory_paused=settings.memory_paused,
        agent=profile.agent,
        front_end="terminal",
        by_owner=True,
    )
    done, chat.answering = None, stop
    try:
        with chat.view.answer(chat.texts) as shown:
            async with aclosing(chat.assistant.ask(profile.key, question, options, stop)) as events:
                async for event in events:
                    shown.show(event)
                    if isinstance(event, Done):
                        done = event
    finally:
        chat.answering = None
    if done is None:
        raise RuntimeError("a turn that does not raise ends with Done")
    for proposal in done.proposals:
        try:
            await _decide(chat, proposal)
        except errors.CcBotError as error:
            chat.view.fail(explain_to_operator(error, profile))
    return done


async def _decide(chat: Chat, proposal: Proposal) -> None:
    words, approvals = chat.texts, chat.assistant.approvals
    chat.view.notices([*proposal_notices(proposal, chat.profile)])
    if not await chat.confirm(words[TerminalTexts].confirm):
        await approvals.decline(proposal)
        what = one_line(proposal.title, MAX_RECEIPT_CHARACTERS)
        chat.view.notices([words[ProposalTexts].declined.format(what=what)])
        return
    try:
        result = await _approve(chat, proposal)
    except errors.CallPostponed as error:
        chat.view.fail(explain_to_operator(error, chat.profile))
        await _decide(chat, proposal)
        return
    if result is None:
        return
    chat.view.notices([*_outcome_notices(result, words)])
    await chat.stores.proposals.delete(result.proposal)
    if result.goes_on:
        await _go_on(chat, result)


async def _approve(chat: Chat, proposal: Proposal) -> ApprovedResult | None:
    """Returns None if the user stopped it before it began."""
    approvals, words, profile, stop = chat.assistant.approvals, chat.texts, chat.profile, Stop()
    place = ToolPlace(chat.user_id, (profile.key.channel_id,))
    chat.answering = stop
    try:
        await until_stopped(approvals.wait_for_server(proposal), stop)
        if stop.requested:
            return None
        with chat.assistant.calling(chat.user_id, stop):
            claimed = await approvals.claim(proposal, secrets.token_hex(4), CallMessage())
            if claimed.content.goes_on:
                chat.view.say(words[ProposalTexts].outcome("claimed", one_line(claimed.title)))
            try:
                return await approvals.run(claimed, profile.agent, place, stop)
            except errors.CcBotError:
                await chat.stores.proposals.reopen(claimed)
                raise
    finally:
        chat.answering = None


async def _go_on(chat: Chat, result: ApprovedResult) -> None:
    profile, name = chat.profile, result.proposal.content.calls[0].name
    after_call = chat.texts[ProposalTexts].after_call.format(what=name)
    shown, author_id = profile.visibility, chat.user_id
    question = Message("user", after_call, visibility=shown, author_id=author_id, tainted=True)
    await answer(chat, question, TurnOptions(profile.locale, profile.timezone, pictures=result.images))


async def tell_unfinished_calls(chat: Chat) -> None:
    """Report calls that an interrupted chat may have made. Raises StorageError."""
    for call in await chat.stores.proposals.list_approved(chat.user_id):
        if call.message.place_id is None:
            state = await chat.assistant.approvals.give_up(call)
            chat.view.notices([chat.texts[ProposalTexts].outcome(state, one_line(call.title))])
            await chat.stores.proposals.delete(call)


def _outcome_notices(result: ApprovedResult, words: Texts) -> Iterator[Notice]:
    for change in result.memories:
        yield receipt_line(receipt_of(change), words)
    yield from (change_line(change, words) for change in result.items)
    if result.canvas is not None:
        yield canvas_line(result.canvas, words)
    if result.proposal.content.goes_on or result.state != "done":
        yield words[ProposalTexts].outcome(
            result.state, one_line(result.proposal.title), stopped=result.stopped
        )
    if result.images:
        yield words[TerminalTexts].images_given.format(count=len(result.images))
    if result.problem:
        yield MARGIN + result.problem


def proposal_notices(proposal: Proposal, profile: ChatProfile) -> Iterator[Notice]:
    """Yield everything that a proposal would do."""
    words = profile.texts
    for number, part in enumerate(proposal.content.shown.parts):
        line = part.line(lambda value: _write_value(value, profile))
        yield MARGIN + line if number else words[TerminalTexts].proposal.format(what=line)
        if part.below is not None:
            yield Quoted(table(part.below) if isinstance(part.below, Chart) else part.below)


def _write_value(value: Value, profile: ChatProfile) -> str:
    words = profile.texts
    match value:
        case None:
            return words[MemoryCardTexts].nothing
        case str():
            return value
        case Moment(at, ends_day=True):
            last_day = (at - timedelta(seconds=1)).astimezone(profile.timezone).date()
            return words[MemoryTexts].until.format(date=last_day.isoformat())
        case Moment(at, repeat=repeat, timezone=timezone, place=place):
            zone = zone_named(timezone, profile.timezone)
            written = replace(profile.caller, timezone=zone).at(at)
            if zone.key != profile.timezone.key:
                written += words[TerminalTexts].in_zone.format(zone=zone.key)
            if repeat:
                written = words[ProposalTexts].repeated.format(repeat=repeat, time=written)
            return (
                written if place in (None, "terminal") else f"{written} ({words[TerminalTexts].on_discord})"
            )
