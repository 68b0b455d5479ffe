"""Attaches speech to answers that were shown, in the background."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import hikari
import structlog

from cc_bot.chat.parts import Parts
from cc_bot.concurrency import cancel_tasks
from cc_bot.discord.delivery.reply import DiscordReply
from cc_bot.discord.delivery.turns import SpokenAnswers
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.page import MediaFile
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.usage import Payer
from cc_bot.features.voice.speech import SynthesizedSpeech
from cc_bot.texts.answer import AnswerTexts

_log = structlog.get_logger(__name__)


def make_parts(given: Parts) -> Iterable[object]:
    speaking = given.get(SynthesizedSpeech)
    return (SynthesizedAnswers(speaking),) if speaking else ()


class SynthesizedAnswers(SpokenAnswers):
    def __init__(self, speaking: SynthesizedSpeech) -> None:
        self._speaking = speaking
        self._making: dict[int, asyncio.Task[bool]] = {}  # by message id

    async def begin(
        self, reply: DiscordReply, recipient: Recipient, state: AnswerState, payer: Payer
    ) -> None:
        if not state.done or state.unshown:
            return
        try:
            message_id = (await reply.text_ids())[-1]
        except hikari.HikariError as error:
            _log.info("answer_not_spoken", error=type(error).__name__)
            return
        task = asyncio.create_task(self._speak(reply, recipient, state, payer))
        self._making[message_id] = task
        task.add_done_callback(lambda _: self._making.pop(message_id, None))

    async def stop(self, message_id: int) -> bool:
        task = self._making.get(message_id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait((task,))
        return not task.cancelled() and task.exception() is None and task.result()

    async def close(self) -> None:
        await cancel_tasks(*self._making.values())

    async def _speak(
        self, reply: DiscordReply, recipient: Recipient, state: AnswerState, payer: Payer
    ) -> bool:
        answer = state.done.answer if state.done else None
        data = await self._speaking.read_aloud(answer, payer) if answer else None
        if data is None:
            return False
        # Not cancelled: a request in flight takes effect anyway.
        attaching = asyncio.ensure_future(
            reply.attach(MediaFile(recipient.words[AnswerTexts].sound_name, data))
        )
        with suppress(asyncio.CancelledError):
            await asyncio.wait((attaching,))
        try:
            await attaching
        except hikari.HikariError as error:  # the message was deleted, or files are refused
            _log.info("answer_not_spoken", error=type(error).__name__)
            return False
        return True
