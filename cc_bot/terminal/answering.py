"""The conversation: questions with their files, answers, and what is kept of both."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, Final

from cc_bot.assistant import Stop, TurnOptions
from cc_bot.context.attachments import read_attachment
from cc_bot.domain.message import Message
from cc_bot.domain.turn import Done, TurnEvent
from cc_bot.terminal.context import Chat, Person
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.files import read_file
from cc_bot.terminal.lexer import FILE, Argument, Flag, command, one_of
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.proposals import show_proposals

MAX_BYTES: Final = 64 * 2**20
"""No more is read of any file; what is that long is refused by `read_attachment`, with a sentence."""


@command("ask")
async def ask(
    chat: Chat, temporary: Annotated[bool, Flag(leading=True)], question: Annotated[str, Argument("question")]
) -> None:
    await _ask(chat, question, temporary=temporary)


@command("regenerate")
async def regenerate(chat: Chat) -> None:
    answer_id = await _newest_answer(chat)
    if answer_id is None:
        chat.complain(chat.texts.terminal.no_answer_yet)
        return
    stop = Stop()
    events = chat.assistant.regenerate(chat.person.key, answer_id, _options(chat.person), stop)
    await _follow(chat, events, stop)


@command("continue")
async def go_on(chat: Chat) -> None:
    if await _newest_answer(chat) is None:
        chat.complain(chat.texts.terminal.no_answer_yet)
    else:
        await _ask(chat, chat.texts.answer.continue_question)


QuestionFile = Annotated[str, replace(FILE, optional=False, needed=lambda words: words.terminal.path_needed)]


@command("attach")
async def attach(chat: Chat, path: QuestionFile) -> None:
    data = await read_file(chat, path, MAX_BYTES)
    if data is not None:
        attachment = await asyncio.to_thread(read_attachment, PurePath(path).name, data)
        chat.attachments += (attachment,)
        chat.say(chat.texts.terminal.attached.format(name=one_line(attachment.name)))


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
        chat.say("\n".join((words.title, *(kept_apart(summary.content) for summary in kept))))


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


async def _ask(chat: Chat, question: str, *, temporary: bool = False) -> None:
    """Files stay attached until they came with a question that got an answer."""
    message = Message(
        "user",
        question,
        visibility=chat.profile.visibility,
        author_id=chat.user_id,
        attachments=chat.attachments,
    )
    stop = Stop()
    events = chat.assistant.ask(chat.person.key, message, _options(chat.person, temporary), stop)
    done = await _follow(chat, events, stop)
    if done.answer.content or done.answer.tool_calls:
        chat.attachments = ()


async def _newest_answer(chat: Chat) -> int | None:
    """Return the row of the newest answer; None when nothing was said yet."""
    session = await chat.stores.sessions.open(chat.person.key, visibility="private")
    return session.history[-1].id if session.history else None


async def _follow(chat: Chat, events: AsyncIterator[TurnEvent], stop: Stop) -> Done:
    """Show an answer to its end, and below it what it proposes; meanwhile `stop` ends it."""
    done, chat.answering = None, stop
    try:
        with chat.view.answer(chat.texts) as answer:
            async with aclosing(events):  # type: ignore[type-var]  # both sources are generators
                async for event in events:
                    answer.show(event)
                    if isinstance(event, Done):
                        done = event
                        break
    finally:
        chat.answering = None
    if done is None:
        raise RuntimeError("a turn that does not raise ends with Done")
    await show_proposals(chat, done.proposals)
    return done


def _options(person: Person, temporary: bool = False) -> TurnOptions:
    return TurnOptions(
        person.locale,
        person.timezone,
        temporary,
        person.settings.welcomed,
        memory_paused=person.settings.memory_paused,
        agent=person.agent,
        front_end="terminal",
    )
