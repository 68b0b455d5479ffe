"""Answers that are read aloud, attached to the message that shows them once it stands there.

It is made beside all else: the answer is done, and nobody waits for it. Of an answer that is about to be made
anew nothing is attached any more.
"""

import asyncio
from contextlib import suppress

import hikari
import structlog

from cc_bot.assistant.speaking import Speaking
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.page import SoundFile
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.limits import UsageSubject

_log = structlog.get_logger(__name__)


class SpokenAnswers:
    def __init__(self, speaking: Speaking) -> None:
        self._speaking = speaking
        self._making: dict[int, asyncio.Task[bool]] = {}
        """By the message that shows the answer."""

    @property
    def possible(self) -> bool:
        """Return whether there is a model that reads aloud."""
        return self._speaking.speaker is not None

    async def begin(
        self, reply: Reply, recipient: Recipient, state: AnswerState, payer: UsageSubject
    ) -> None:
        """Begin to read an answer aloud, if its user wants that. Never raises."""
        if not (self.possible and recipient.spoken and state.done and not state.unseen):
            return
        try:
            message_id = (await reply.message_ids())[-1]
        except hikari.HikariError as error:
            _log.info("answer_not_spoken", error=type(error).__name__)
            return
        task = asyncio.create_task(self._speak(reply, recipient, state, payer))
        self._making[message_id] = task
        task.add_done_callback(lambda _: self._making.pop(message_id, None))

    async def stop(self, message_id: int) -> bool:
        """Have nothing attached to a message any more, and return whether something was in this moment."""
        task = self._making.get(message_id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait((task,))
        return not task.cancelled() and task.exception() is None and task.result()

    async def close(self) -> None:
        """End what is on its way: an answer is as good without."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _speak(
        self, reply: Reply, recipient: Recipient, state: AnswerState, payer: UsageSubject
    ) -> bool:
        """Make it, and attach it to the last message of the answer. Return whether it is there."""
        answer = state.done.answer if state.done else None
        data = await self._speaking.read_aloud(answer, payer) if answer else None
        if data is None:
            return False
        # What is on its way to Discord takes effect whether anybody waits for it or not.
        attaching = asyncio.ensure_future(reply.attach(SoundFile(recipient.words.answer.sound_name, data)))
        with suppress(asyncio.CancelledError):
            await asyncio.wait((attaching,))
        try:
            await attaching
        except hikari.HikariError as error:  # the message is gone, or takes no files
            _log.info("answer_not_spoken", error=type(error).__name__)
            return False
        return True
