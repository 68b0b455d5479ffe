"""Questions and their answers: asking, asking again, going on, and the files that go with a question."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.context.attachments import read_attachment
from cc_bot.domain.events import Done, TurnEvent
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.person import ChatProfile, Person
from cc_bot.terminal.proposals import Deciding
from cc_bot.terminal.view import View
from cc_bot.texts import Texts

# ---- files -----------------------------------------------------------------------------------------------
# Reads a file that the user wants to attach.

MAX_BYTES = 64 * 2**20
"""No more is read of any file; what is that long is refused by `read_attachment`, with a sentence."""


def read_file(path: str) -> Attachment:
    """The file as an attachment; `~` is the home folder. Blocks while it reads.

    Raises OSError when it can't be read, and what `read_attachment` raises when it can't be used.
    """
    file = Path(path).expanduser()
    if not file.is_file():  # reading from a pipe or a device might never end
        raise FileNotFoundError(path) if not file.exists() else IsADirectoryError(path)
    with file.open("rb") as opened:
        data = opened.read(MAX_BYTES)
    return read_attachment(file.name, data)


# ---- answering -------------------------------------------------------------------------------------------


class Answering:
    """Between questions it holds only what is attached to the next one."""

    def __init__(
        self, assistant: Assistant, stores: Stores, profile: ChatProfile, view: View, deciding: Deciding
    ) -> None:
        self._assistant = assistant
        self._stores = stores
        self._profile = profile
        self._view = view
        self._deciding = deciding
        self._attachments: tuple[Attachment, ...] = ()
        self._running: Stop | None = None

    @property
    def attached(self) -> tuple[str, ...]:
        """The names of the files that go with the next question."""
        return tuple(attachment.name for attachment in self._attachments)

    def stop(self) -> None:
        """End the running answer, if there is one; what came of it is kept."""
        if self._running is not None:
            self._running.request()

    async def ask(self, question: str, person: Person, *, temporary: bool = False) -> None:
        """Files stay attached until they came with a question that got an answer."""
        message = Message(
            "user",
            question,
            visibility=self._profile.visibility,
            author_id=self._profile.key.user_id,
            author_name=self._profile.author_name,
            attachments=self._attachments,
        )
        stop = Stop()
        events = self._assistant.ask(person.key, message, _options(person, temporary), stop)
        done = await self._follow(events, stop, person)
        if done.answer.content or done.answer.tool_calls:
            self._attachments = ()

    async def regenerate(self, person: Person) -> None:
        answer_id = await self._newest_answer(person.key)
        if answer_id is None:
            self._view.complain(person.texts.terminal.no_answer_yet)
            return
        stop = Stop()
        events = self._assistant.regenerate(person.key, answer_id, _options(person), stop)
        await self._follow(events, stop, person)

    async def go_on(self, person: Person) -> None:
        if await self._newest_answer(person.key) is None:
            self._view.complain(person.texts.terminal.no_answer_yet)
        else:
            await self.ask(person.texts.answer.continue_question, person)

    async def attach(self, path: str, words: Texts) -> None:
        try:
            attachment = await asyncio.to_thread(read_file, path)
        except FileNotFoundError:
            self._view.complain(words.terminal.file_not_found.format(path=one_line(path)))
        except (OSError, ValueError):  # ValueError: a name that no file can have
            self._view.complain(words.terminal.file_not_read.format(path=one_line(path)))
        else:
            self._attachments = (*self._attachments, attachment)
            self._view.say(words.terminal.attached.format(name=one_line(attachment.name)))

    def detach(self, words: Texts) -> None:
        said = words.terminal.detached if self._attachments else words.terminal.nothing_attached
        self._attachments = ()
        self._view.say(said)

    async def clear(self, person: Person) -> None:
        await self._stores.sessions.clear(person.key)
        self._attachments = ()
        self._view.say(person.texts.session.cleared)

    async def _newest_answer(self, key: SessionKey) -> int | None:
        """The row of the newest answer; None when nothing was said yet."""
        session = await self._stores.sessions.open(key, visibility="private")
        return session.history[-1].id if session.history else None

    async def _follow(self, events: AsyncIterator[TurnEvent], stop: Stop, person: Person) -> Done:
        """Show an answer to its end, and below it what it proposes; meanwhile `stop` ends it."""
        done = await self._shown(events, stop, person.texts)
        await self._deciding.show(done.proposals, person)
        return done

    async def _shown(self, events: AsyncIterator[TurnEvent], stop: Stop, words: Texts) -> Done:
        self._running = stop
        try:
            with self._view.answer(words) as answer:
                async with aclosing(events):  # type: ignore[type-var]  # both sources are generators
                    async for event in events:
                        answer.show(event)
                        if isinstance(event, Done):
                            return event
        finally:
            self._running = None
        raise RuntimeError("a turn that does not raise ends with Done")


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
