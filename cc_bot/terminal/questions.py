"""A question and its answer, and what the answer proposes."""

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from cc_bot.assistant import Assistant, Stop, TimeResolver, TurnOptions
from cc_bot.assistant.proposals import Proposals
from cc_bot.assistant.turn import until_stopped
from cc_bot.charts import table
from cc_bot.commands.reply import Caller
from cc_bot.domain import errors
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.claimed_call import CallMessage
from cc_bot.domain.clock import utc_now
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import MemoryChange, receipt_of
from cc_bot.domain.message import Agent, Message, Visibility
from cc_bot.domain.proposal import CallTool, Proposal
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.domain.turn import Done
from cc_bot.stores import Stores
from cc_bot.terminal.markdown import MARGIN, Notice, Quoted, one_line
from cc_bot.terminal.reminders import change_line
from cc_bot.terminal.view import RECEIPT_CHARACTERS, View, canvas_line, receipt_line
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.proposal import Time, Value, describe, gist


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """Who chats, where, and with whom."""

    key: SessionKey
    locale: Locale
    timezone: ZoneInfo
    model_label: str
    agent: Agent
    history_file: Path | None = None
    """Where the input line keeps what was typed; None: nowhere."""
    visibility: Visibility = "public"
    """`private` if others read the channel of the key."""
    offline: bool = False
    """Whether the built-in model answers, because no key is set."""

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


async def _refuse(_question: str) -> bool:
    return False


@dataclass(slots=True, eq=False, repr=False)
class Chat:
    """One chat: what its commands work with."""

    assistant: Assistant
    stores: Stores
    moments: TimeResolver
    profile: ChatProfile
    view: View
    confirm: Callable[[str], Awaitable[bool]] = _refuse
    """Asks a yes-or-no question. Through a pipe it is no: what comes there was written before."""
    answering: Stop | None = field(default=None, init=False)
    """Stops the running answer; None if there is none."""

    @property
    def texts(self) -> Texts:
        return self.profile.texts

    @property
    def user_id(self) -> int:
        return self.profile.user_id

    def stop(self) -> None:
        """Stop the running answer, if there is one; what came of it is kept."""
        if self.answering is not None:
            self.answering.request()


def explain_to_operator(error: errors.CcBotError, profile: ChatProfile) -> str:
    """Explain an error to somebody who can change the settings."""
    words = profile.texts
    sentences: Mapping[type[errors.CcBotError], str] = {
        errors.ModelNotFound: words.terminal.model_not_found,
        errors.ModelRefusedKey: words.terminal.model_refused_key,
        errors.ModelRefusedRequest: words.terminal.model_refused_request,
        errors.ModelUnreachable: words.terminal.model_unreachable,
    }
    if sentence := sentences.get(type(error)):
        return sentence.format(**error.params)
    return explain(error, words, profile.caller.at).replace(
        words.errors.tell_operator, words.terminal.ask_doctor
    )


# ---- questions -------------------------------------------------------------------------------------------


async def answer_question(chat: Chat, text: str) -> None:
    """Answer what a user typed. Raises as `Assistant.ask` does."""
    profile = chat.profile
    question = Message("user", text, visibility=profile.visibility, author_id=chat.user_id)
    done = await _answer(chat, question)
    if done.first and profile.offline and "OPENAI_API_KEY" not in done.answer.content:
        chat.view.notices([chat.texts.terminal.no_key])


async def _answer(chat: Chat, question: Message, options: TurnOptions | None = None) -> Done:
    """Show the answer to a question, and have the user decide what it proposes."""
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
        with chat.view.answer(chat.texts) as answer:
            async with aclosing(chat.assistant.ask(profile.key, question, options, stop)) as events:
                async for event in events:
                    answer.show(event)
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


# ---- proposals -------------------------------------------------------------------------------------------


async def _decide(chat: Chat, proposal: Proposal) -> None:
    """Show what is proposed, and do it if the user says yes."""
    words = chat.texts
    chat.view.notices([*proposal_notices(proposal, chat.profile)])
    if not await chat.confirm(words.terminal.confirm):
        if isinstance(proposal.change, CallTool):
            await chat.assistant.calls.decline(proposal)
        else:
            await Proposals(chat.stores, utc_now).decline(chat.user_id, proposal.id)
        what = one_line(gist(proposal, words), RECEIPT_CHARACTERS)
        chat.view.notices([words.proposal.undone(proposal.change).format(what=what)])
    elif isinstance(proposal.change, CallTool):
        try:
            await _call_tool(chat, proposal)
        except errors.CallPostponed as error:
            chat.view.fail(explain_to_operator(error, chat.profile))
            await _decide(chat, proposal)
    else:
        match await Proposals(chat.stores, utc_now).accept(chat.user_id, proposal.id):
            case MemoryChange() as change:
                if receipt := receipt_of(change):
                    chat.view.notices([receipt_line(receipt, words)])
            case ScheduleChange() as change:
                chat.view.notices([change_line(change, words)])
            case Canvas() as canvas:
                chat.view.notices([canvas_line(canvas, words)])


async def _call_tool(chat: Chat, proposal: Proposal) -> None:
    """Call a server's tool, and have the model go on with the result."""
    calls, words, profile, stop = chat.assistant.calls, chat.texts, chat.profile, Stop()
    place = ToolPlace(chat.user_id, (profile.key.channel_id,))
    chat.answering = stop
    try:
        await until_stopped(calls.prepare(proposal, profile.agent, place), stop)
        if stop.requested:
            return
        with chat.assistant.calling(chat.user_id, stop):
            claimed = await calls.claim(proposal, secrets.token_hex(4), CallMessage())
            what = one_line(claimed.change.what)
            chat.view.say(words.proposal.outcome("claimed", what))
            try:
                result = await calls.make(claimed, stop, profile.locale)
            except errors.CallPostponed:
                await calls.give_back(proposal, claimed)
                raise
    finally:
        chat.answering = None
    notices = [words.proposal.outcome(result.state, what, stopped=result.stopped)]
    if result.images:
        notices.append(words.terminal.images_given.format(count=len(result.images)))
    if result.problem:
        notices.append(MARGIN + result.problem)
    chat.view.notices(notices)
    await calls.settle(claimed)
    if result.answered:
        after_call = words.proposal.after_call.format(what=claimed.change.known_as)
        question = Message(
            "user", after_call, visibility=profile.visibility, author_id=chat.user_id, tainted=True
        )
        options = TurnOptions(profile.locale, profile.timezone, pictures=result.images)
        await _answer(chat, question, options)


async def tell_unfinished_calls(chat: Chat) -> None:
    """Say which tools an earlier chat may have called when it was ended. Raises StorageError."""
    for call in await chat.stores.claimed_calls.list_of_user(chat.user_id):
        if call.message.place_id is None:
            state = await chat.assistant.calls.give_up(call)
            chat.view.notices([chat.texts.proposal.outcome(state, one_line(call.change.what))])
            await chat.assistant.calls.settle(call)


def proposal_notices(proposal: Proposal, profile: ChatProfile) -> Iterator[Notice]:
    """Yield all that a proposal would do, its texts whole."""
    words = profile.texts
    for number, part in enumerate(describe(proposal, words)):
        line = part.line(lambda value: _write_value(value, profile))
        yield MARGIN + line if number else words.terminal.proposal.format(what=line)
        if part.below is not None:
            yield Quoted(table(part.below) if isinstance(part.below, Chart) else part.below)


def _write_value(value: Value, profile: ChatProfile) -> str:
    words = profile.texts
    match value:
        case None:
            return words.memory_card.nothing
        case str():
            return value
        case datetime():
            last_day = (value - timedelta(seconds=1)).astimezone(profile.timezone).date()
            return words.memory.until.format(date=last_day.isoformat())
        case Time(due_at, repeat, zone, place):
            zone = zone or profile.timezone
            written = replace(profile.caller, timezone=zone).at(due_at)
            if zone.key != profile.timezone.key:
                written += words.terminal.in_zone.format(zone=zone.key)
            if repeat:
                written = words.proposal.repeated.format(repeat=repeat, time=written)
            return written if place in (None, "terminal") else f"{written} ({words.reminder.elsewhere})"
