"""The conversation: questions with their files, answers, and what answers propose."""

import io
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Final, assert_never

from prompt_toolkit.completion import Completion

from cc_bot.assistant import Stop, TurnOptions
from cc_bot.assistant.approved_calls import OPEN_MINUTES, CallResult
from cc_bot.assistant.files import read_files
from cc_bot.assistant.proposals import ProposalResult, Proposals
from cc_bot.assistant.turn import until_stopped
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.claimed_call import CallMessage
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import (
    AgentGone,
    CallGone,
    CallPostponed,
    CcBotError,
    HearingNotSetUp,
    InputError,
    NobodyListens,
    NothingHeard,
    RecordingRefused,
    StorageError,
)
from cc_bot.domain.form import OPEN_FOR_S, Form, FormField, read_form
from cc_bot.domain.memory import MemoryChange, receipt_of
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import CallTool, Proposal
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.domain.turn import Done, TurnEvent
from cc_bot.terminal.commands import (
    FILE,
    Argument,
    Chat,
    Flag,
    Person,
    command,
    completion_of,
    number_of,
    one_of,
    read_file,
)
from cc_bot.terminal.markdown import MARGIN, Quoted, Stated, one_line, set_apart
from cc_bot.terminal.view import RECEIPT_CHARACTERS, canvas_note, change_line, moment_line, receipt_line
from cc_bot.texts import Texts, explain
from cc_bot.texts.proposal import Time, Value, describe, gist, headline

_UNHEARD: Final = (NobodyListens, NothingHeard, RecordingRefused, HearingNotSetUp)
MAX_BYTES: Final = 64 * 2**20
"""No more is read of any file; what is that long is refused by `read_files`, with a sentence."""


@command("ask")
async def ask(
    chat: Chat, temporary: Annotated[bool, Flag(leading=True)], question: Annotated[str, Argument("question")]
) -> None:
    """Ask, with the files that are attached: they stay so until they came with a question that got an
    answer."""
    message = Message(
        "user",
        question,
        visibility=chat.profile.visibility,
        author_id=chat.user_id,
        attachments=chat.attachments,
    )
    stop = Stop()
    events = chat.assistant.ask(chat.person.key, message, _options(chat, chat.person, temporary), stop)
    try:
        done = await _follow(chat, events, stop)
    except _UNHEARD:  # what can't be heard would keep every later question from being answered
        chat.attachments = tuple(file for file in chat.attachments if not file.is_recording)
        raise
    if done.answer.content or done.answer.tool_calls:
        chat.attachments = ()


@command("regenerate")
async def regenerate(chat: Chat) -> None:
    answer_id = await _newest_answer(chat)
    if answer_id is None:
        chat.complain(chat.texts.terminal.no_answer_yet)
        return
    stop = Stop()
    events = chat.assistant.regenerate(chat.person.key, answer_id, _options(chat, chat.person), stop)
    await _follow(chat, events, stop)


@command("continue")
async def go_on(chat: Chat) -> None:
    if await _newest_answer(chat) is None:
        chat.complain(chat.texts.terminal.no_answer_yet)
    else:
        await ask.run(chat, temporary=False, question=chat.texts.answer.continue_question)


QuestionFile = Annotated[str, replace(FILE, optional=False, needed=lambda words: words.terminal.path_needed)]


@command("attach")
async def attach(chat: Chat, path: QuestionFile) -> None:
    data = await read_file(chat, path, MAX_BYTES)
    if data is not None:
        files = await read_files(PurePath(path).name, io.BytesIO(data), chat.documents)
        chat.attachments += files
        name, document = one_line(files[0].name), files[0].document
        chat.say(chat.texts.terminal.attached.format(name=name))
        if document and document.is_scan:
            chat.say(chat.texts.answer.scans_shown.format(names=name, pages=document.pictured))


@command("detach")
async def detach(chat: Chat) -> None:
    words = chat.texts.terminal
    chat.say(words.detached if chat.attachments else words.nothing_attached)
    chat.attachments = ()


@command("clear")
async def clear(chat: Chat) -> None:
    await chat.stores.sessions.clear(chat.person.key)
    chat.attachments = ()
    chat.say(chat.texts.session.cleared)


@command("summary")
async def show_summary(chat: Chat, word: Annotated[str | None, one_of("delete")]) -> None:
    """Show what is kept of the conversation, or delete it; either way say so when there is nothing."""
    words, summaries = chat.texts.summary, chat.stores.summaries
    kept = await summaries.list_current(chat.person.key)
    if word == "delete" and await summaries.delete(chat.person.key):
        chat.say(words.deleted)
    elif not kept:
        chat.say(words.none)
    else:
        chat.say("\n".join((words.title, *(set_apart(summary.content) for summary in kept))))


@command("canvas")
async def show_canvas(chat: Chat, word: Annotated[str | None, one_of("show", "clear")]) -> None:
    """Show what is up for the agent that answers, or take it down. Nobody reads along: all of it is shown."""
    words, canvases = chat.texts.canvas, chat.stores.canvases
    if word == "clear":
        chat.say(words.cleared if await canvases.clear(chat.person.key) else words.cleared_already)
        return
    seen = await canvases.get(chat.person.key)
    if seen is None or seen.canvas.empty:
        chat.say(words.empty)
    else:
        chat.view.canvas(seen.canvas, chat.texts)


# ---- a turn ----------------------------------------------------------------------------------------------


async def _newest_answer(chat: Chat) -> int | None:
    """Return the row of the newest answer; None when nothing was said yet."""
    session = await chat.stores.sessions.open(chat.person.key, visibility="private")
    return session.history[-1].id if session.history else None


async def _follow(chat: Chat, events: AsyncIterator[TurnEvent], stop: Stop) -> Done:
    """Show an answer to its end, and below it what it proposes; meanwhile `stop` ends it."""
    done, chat.answering = None, stop
    try:
        with chat.view.answer(chat.texts) as answer:
            chat.above_answer = answer.paused
            async with aclosing(events):  # type: ignore[type-var]  # both sources are generators
                async for event in events:
                    answer.show(event)
                    if isinstance(event, Done):
                        done = event
                        break
    finally:
        chat.answering, chat.above_answer = None, nullcontext
    if done is None:
        raise RuntimeError("a turn that does not raise ends with Done")
    if done.first and chat.profile.offline and "OPENAI_API_KEY" not in done.answer.content:
        chat.view.state([chat.texts.terminal.no_key])
    await show_proposals(chat, done.proposals)
    return done


def _options(chat: Chat, person: Person, temporary: bool = False) -> TurnOptions:
    return TurnOptions(
        person.locale,
        person.timezone,
        temporary,
        person.settings.welcomed,
        memory_paused=person.settings.memory_paused,
        agent=person.agent,
        front_end="terminal",
        asker=TerminalAsker(chat),
        by_owner=True,
    )


# ---- proposals -------------------------------------------------------------------------------------------


def proposal_lines(proposal: Proposal, person: Person, now: datetime) -> Iterator[Stated]:
    """Yield all of what it would do, its texts whole, and how its user decides."""
    words = person.texts
    for number, part in enumerate(describe(proposal, words)):
        line = part.line(lambda value: _value_text(value, person, now))
        yield MARGIN + line if number else words.terminal.proposal.format(id=proposal.number, what=line)
        if part.below is not None:
            yield Quoted(_chart_numbers(part.below) if isinstance(part.below, Chart) else part.below)
    yield MARGIN + words.terminal.how_to_decide.format(id=proposal.number)


def _value_text(value: Value, person: Person, now: datetime) -> str:
    """Return a value as it stands within a line of the program's own."""
    match value:
        case None:
            return person.texts.memory_card.nothing
        case str():
            return value
        case datetime():
            return person.until(value)
        case Time():
            return _time_text(value, person, now)


def _time_text(time: Time, person: Person, now: datetime) -> str:
    """Return a time where it counts: that is where its user was when it was proposed."""
    words, own = person.texts, person.timezone
    zone = time.zone or own
    told = moment_line(time.due_at, zone, now, words)
    if zone.key != own.key:
        told += words.terminal.in_zone.format(zone=zone.key)
    if time.repeat:
        told = words.proposal.repeated.format(repeat=time.repeat, time=told)
    return told if time.place in (None, "terminal") else told + words.remind_here.elsewhere


def _chart_numbers(chart: Chart) -> str:
    """Return every number of a chart, as it was given: a line for each label."""
    lines = []
    for index, label in enumerate(chart.labels):
        values = (f"{each.name} {each.values[index]:.15g}".strip() for each in chart.series)
        lines.append(f"{label}: {' / '.join(values)}")
    return "\n".join(lines)


# ---- deciding --------------------------------------------------------------------------------------------


async def proposals_like(chat: Chat, typed: str) -> Iterable[Completion]:
    """Return those that wait and whose number begins as typed; none while they can't be read."""
    words, begun = (await chat.read_person()).texts, typed.strip().lstrip("#＃")
    try:
        waiting = await _waiting_proposals(chat)
    except StorageError:
        return ()  # the command itself will say so
    return [
        completion_of(each.number, typed, headline(each.change, words))
        for each in waiting
        if str(each.number).startswith(begun)
    ]


ProposalNumber = Annotated[
    int | None,
    Argument(
        "number",
        number_of,
        optional=True,
        needed=lambda words: words.terminal.proposal_needed,
        completions=proposals_like,
    ),
]


@command("accept")
async def accept(chat: Chat, number: ProposalNumber) -> None:
    proposal_id = await _choose_proposal(chat, number)
    if proposal_id is None:
        return
    if await _is_call(chat, proposal_id):
        await _use_tool(chat, proposal_id)
    else:
        done = await Proposals(chat.stores, utc_now).accept(chat.user_id, proposal_id)
        _tell(chat, done, chat.texts)


@command("decline")
async def decline(chat: Chat, number: ProposalNumber) -> None:
    proposal_id = await _choose_proposal(chat, number)
    if proposal_id is not None:
        left = await _leave(chat, proposal_id)
        what = one_line(gist(left, chat.texts), RECEIPT_CHARACTERS)
        chat.view.state([chat.texts.proposal.undone(left.change).format(what=what)])


async def _leave(chat: Chat, proposal_id: int) -> Proposal:
    """Leave what was proposed, and return it. Raises ProposalGone, CallGone and CallExpired."""
    if not await _is_call(chat, proposal_id):
        return await Proposals(chat.stores, utc_now).decline(chat.user_id, proposal_id)
    proposal, _ = await chat.assistant.calls.find(chat.user_id, proposal_id)
    await chat.assistant.calls.decline(proposal)
    return proposal


async def show_proposals(chat: Chat, proposals: Sequence[Proposal]) -> None:
    """State what waits; do nothing where nothing does."""
    if not proposals:
        return
    words = chat.texts.proposal
    stated: list[Stated] = [f"📝 {words.title}: {words.reason(proposals)}"]
    for each in proposals:
        stated += proposal_lines(each, chat.person, utc_now())
    chat.view.state(stated)
    chat.seen.update(each.id for each in proposals)
    chat.calls_shown.update(each.number for each in proposals if isinstance(each.change, CallTool))


async def _waiting_proposals(chat: Chat) -> Sequence[Proposal]:
    return await chat.stores.proposals.list_for_place(chat.user_id, chat.profile.key.channel_id)


async def _choose_proposal(chat: Chat, number: int | None) -> int | None:
    """Return the id of what has this number; without a number, of the one that waits, if this chat has shown
    it. Otherwise show all that wait, and return None. Raises CallGone."""
    if number is not None:
        proposal_id = await chat.stores.proposals.get_id(chat.user_id, number)
        if not proposal_id and number in chat.calls_shown:
            raise CallGone(minutes=OPEN_MINUTES)
        return proposal_id
    waiting, words = await _waiting_proposals(chat), chat.texts.terminal
    if not waiting:
        chat.say(words.no_proposals)
    elif len(waiting) == 1 and waiting[0].id in chat.seen:
        return waiting[0].id
    else:
        await show_proposals(chat, waiting)
        if len(waiting) > 1:
            chat.say(words.which_proposal)
    return None


# ---- calls -----------------------------------------------------------------------------------------------
# Tools of servers that wait for a word. Whoever has the terminal runs the program: all are theirs to decide.


async def _is_call(chat: Chat, proposal_id: int) -> bool:
    found = await chat.stores.proposals.get(chat.user_id, proposal_id)
    return found is not None and isinstance(found.change, CallTool)


async def _use_tool(chat: Chat, proposal_id: int) -> None:
    """Have the call made, say what came of it, and have the model go on with that."""
    calls, words, stop = chat.assistant.calls, chat.texts.proposal, Stop()
    proposal, call = await calls.find(chat.user_id, proposal_id)
    agent = (await chat.agents.all()).get(proposal.key.agent)
    if agent is None:
        raise AgentGone
    place = ToolPlace(chat.user_id, (proposal.key.channel_id,))
    chat.answering = stop
    try:
        await until_stopped(calls.prepare(proposal, agent, place), stop)
        if stop.requested:
            return
        with chat.assistant.calling(chat.user_id, stop):
            claimed = await calls.claim(proposal, secrets.token_hex(4), CallMessage())
            chat.say(words.outcome("claimed", one_line(call.what)))
            try:
                result = await calls.make(claimed, stop, chat.person.locale, TerminalAsker(chat))
            except CallPostponed:
                await calls.give_back(proposal, claimed)
                raise
    finally:
        chat.answering = None
    lines = [words.outcome(result.state, one_line(call.what), stopped=result.stopped)]
    if result.images:
        lines.append(chat.texts.terminal.images_given.format(count=len(result.images)))
    chat.view.state([*lines, *([MARGIN + result.problem] if result.problem else ())])
    await calls.settle(claimed)
    if result.answered:
        await _go_on_after(chat, result, replace(chat.person, agent=agent, key=proposal.key))


async def _go_on_after(chat: Chat, result: CallResult, person: Person) -> None:
    question = Message(
        "user",
        person.texts.proposal.after_call.format(what=result.call.change.known_as),
        visibility=chat.profile.visibility,
        author_id=chat.user_id,
        tainted=True,
    )
    stop = Stop()
    options = replace(_options(chat, person), pictures=result.images)
    await _follow(chat, chat.assistant.ask(person.key, question, options, stop), stop)


async def tell_of_unfinished_calls(chat: Chat) -> None:
    """Say of calls under which a chat was ended that they may have been made. Raises StorageError."""
    calls, words = chat.assistant.calls, chat.texts.proposal
    for call in await chat.stores.claimed_calls.list_of_user(chat.user_id):
        if call.message.place_id is None:
            state = await calls.give_up(call)
            chat.view.state([words.outcome(state, one_line(call.change.what))])
            await calls.settle(call)


def _tell(chat: Chat, done: ProposalResult, words: Texts) -> None:
    match done:
        case MemoryChange():
            if receipt := receipt_of(done):
                chat.view.state([receipt_line(receipt, words)])
        case ScheduleChange():
            chat.view.state([change_line(done, words)])
        case Canvas():
            chat.view.state([canvas_note(done, words)])
            if not done.empty:
                chat.view.canvas(done, words)
        case _:
            assert_never(done)


# ---- forms -----------------------------------------------------------------------------------------------
# What a server asks back while a call is made, field by field. Through a pipe nobody is asked: what comes
# there was written before the question.

_FORM_CHARACTERS: Final = 600
"""Of what the server says."""


@dataclass(eq=False, slots=True)
class TerminalAsker:
    """Asks whoever has the terminal (an Asker)."""

    chat: Chat

    async def ask(self, form: Form) -> Mapping[str, str] | None:
        chat, words = self.chat, self.chat.texts
        if chat.ask_line is None:
            return None
        with chat.above_answer():
            asks = words.form.asks.format(server=form.server, minutes=OPEN_FOR_S // 60)
            declining = MARGIN + words.form.empty_declines
            chat.view.state([asks, Quoted(form.message[:_FORM_CHARACTERS]), declining])
            entered = dict[str, str]()
            for field in form.fields:
                given = await self._ask_field(form, field)
                if given is None:
                    chat.view.state([words.form.declined.format(server=form.server)])
                    return None
                entered[field.name] = given
            chat.view.state([words.form.answered.format(server=form.server)])
            return entered

    async def tell(self, refusal: CcBotError) -> None:
        with self.chat.above_answer():
            self.chat.view.state([explain(refusal, self.chat.texts)])

    async def _ask_field(self, form: Form, field: FormField) -> str | None:
        """Ask until it is as it has to be; None for an empty line."""
        alone = Form(form.server, form.message, (field,))
        label = _label(field, self.chat.texts)
        while given := await self._line(label, field.default):
            try:
                read_form(alone, {field.name: given})
            except InputError as error:
                self.chat.view.state([explain(error, self.chat.texts)])
            else:
                return given
        return None

    async def _line(self, label: str, default: str) -> str:
        if self.chat.ask_line is None:
            return ""
        return (await self.chat.ask_line(label, default) or "").strip()


def _label(field: FormField, words: Texts) -> str:
    known = " / ".join(choice.label for choice in field.choices) or field.hint
    hint = words.form.yes_or_no if field.kind == "yes_or_no" else known
    return f"{one_line(field.title)} ({one_line(hint)}): " if hint else f"{one_line(field.title)}: "
