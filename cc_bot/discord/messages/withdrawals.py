"""Answers on their way whose question or message is deleted meanwhile.

Who deletes a question, or one of the messages that show the answer, does not want the answer: it is stopped
and removed. So it is when all of its channel or thread is deleted. Discord does not say who deletes a
message. What the turn had done by then stays done, and its asker is told so by DM.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cc_bot.assistant import Stop
from cc_bot.discord.delivery.reply import Reply
from cc_bot.domain.message import ChannelKey


@dataclass(slots=True)
class OnItsWay:
    """An answer until it is shown to its end. All ids are Discord's."""

    questions: frozenset[int]
    reply: Reply
    key: ChannelKey | None = None
    """The channel whose conversation it belongs to; None for a session's."""
    answer_id: int | None = None
    """The first message that shows it, once there is one."""
    withdrawn: bool = False
    _stop: Stop | None = None

    def begin(self, stop: Stop) -> None:
        """Begin its turn."""
        self._stop = stop
        if self.withdrawn:
            stop.request()

    def withdraw(self, deleted: Collection[int]) -> None:
        """Stop it when one of its messages is deleted, or the last of its questions."""
        self.questions -= frozenset(deleted)
        if not self.questions or self.answer_id in deleted or any(map(self.reply.shows, deleted)):
            self.stop()

    def stop(self) -> None:
        """Stop it: nobody wants it any more."""
        self.withdrawn = self.reply.unwanted = True
        if self._stop:
            self._stop.request()


class Withdrawals:
    def __init__(self) -> None:
        self._on_their_way: list[OnItsWay] = []

    @contextmanager
    def watch(
        self,
        questions: Collection[int],
        reply: Reply,
        key: ChannelKey | None = None,
    ) -> Iterator[OnItsWay]:
        """An answer on its way to these questions."""
        answer = OnItsWay(frozenset(questions), reply, key)
        self._on_their_way.append(answer)
        try:
            yield answer
        finally:
            self._on_their_way.remove(answer)

    def withdraw(self, message_ids: Collection[int]) -> None:
        for answer in self._on_their_way:
            answer.withdraw(message_ids)

    def withdraw_place(self, key: ChannelKey) -> None:
        """A thread, or a channel with its threads."""
        for answer in self._on_their_way:
            if answer.key == key or (
                answer.key and not key.thread_id and answer.key.channel_id == key.channel_id
            ):
                answer.stop()
