"""Answers in flight whose question or message is deleted meanwhile.

A user who deletes a question, or a message that shows the answer, does not want the answer: it is stopped and
removed. The same goes for a deleted channel or thread. Discord does not say who deletes a message. What the
turn had done by then stays done, and its author is told so by DM.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cc_bot.assistant import Stop
from cc_bot.discord.delivery.reply import Reply
from cc_bot.domain.message import ChannelKey


@dataclass(slots=True)
class InFlightAnswer:
    """An answer until its end is shown. All ids are Discord's."""

    questions: frozenset[int]
    reply: Reply | None
    """None for an approved call."""
    key: ChannelKey | None = None
    """The channel whose conversation it belongs to; None for a session's."""
    answer_id: int | None = None
    """The first message that shows it, once there is one."""
    withdrawn: bool = False
    _stop: Stop | None = None

    def begin(self, stop: Stop) -> None:
        self._stop = stop
        if self.withdrawn:
            stop.request()

    def withdraw(self, deleted: Collection[int]) -> None:
        """Stop it if one of its messages was deleted, or the last of its questions."""
        unasked = bool(self.questions) and self.questions <= frozenset(deleted)
        self.questions -= frozenset(deleted)
        shown = self.reply is not None and any(map(self.reply.shows, deleted))
        if unasked or self.answer_id in deleted or shown:
            self.stop()

    def stop(self) -> None:
        self.withdrawn = True
        if self.reply:
            self.reply.unwanted = True
        if self._stop:
            self._stop.request()


class Withdrawals:
    def __init__(self) -> None:
        self._in_flight: list[InFlightAnswer] = []

    @contextmanager
    def watch(
        self, questions: Collection[int], reply: Reply | None, key: ChannelKey | None = None
    ) -> Iterator[InFlightAnswer]:
        """Watch the messages of an answer to these questions."""
        answer = InFlightAnswer(frozenset(questions), reply, key)
        self._in_flight.append(answer)
        try:
            yield answer
        finally:
            self._in_flight.remove(answer)

    def withdraw(self, message_ids: Collection[int]) -> None:
        for answer in self._in_flight:
            answer.withdraw(message_ids)

    def withdraw_channel(self, key: ChannelKey) -> None:
        """Stop the answers in a thread, or in a channel with its threads."""
        for answer in self._in_flight:
            if answer.key == key or (
                answer.key and not key.thread_id and answer.key.channel_id == key.channel_id
            ):
                answer.stop()
