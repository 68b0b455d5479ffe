"""Turns of channels: several people's conversation, of which one or more messages are answered."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cc_bot.assistant.channel_prompts import ChannelPrompts
from cc_bot.assistant.channel_turn import ChannelTurn, user_of
from cc_bot.assistant.turn import Turn, TurnOptions
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.errors import NotNewest
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.stores import ChannelStore, MentionStore, StoredTurn


class ChannelTurns:
    def __init__(self, channels: ChannelStore, mentions: MentionStore, prompts: ChannelPrompts) -> None:
        self._channels = channels
        self._mentions = mentions
        self._prompts = prompts

    async def ask(self, key: ChannelKey, questions: Sequence[Message], options: TurnOptions) -> Turn:
        """A turn for questions that stand in the channel's archive."""
        return self._turn(ChannelTurn(key, tuple(questions), options))

    async def regenerate(
        self,
        key: ChannelKey,
        answer_discord_id: int,
        options: TurnOptions,
        questions: Sequence[Message] = (),
    ) -> Turn:
        """A turn for the questions of the newest answer that are left, in the words and with the files that
        they are given with, else as they are stored. Raises NotNewest when there is a newer answer, or none
        of its questions is left."""
        newest = await self._channels.newest_answer(key)
        stored = await self._mentions.questions(answer_discord_id)
        if newest is None or newest.discord_id != answer_discord_id or not stored:
            raise NotNewest
        given = {question.discord_id: question for question in questions}
        questions = tuple(given.get(question.discord_id, question) for question in stored)
        options = replace(options, answer_discord_id=answer_discord_id)
        return self._turn(ChannelTurn(key, questions, options, replaces=True, replaced=newest))

    async def asker(self, answer_discord_id: int, questions: Sequence[Message]) -> int:
        """Who asked last of those that an answer is for: `questions`, else those stored; 0 for nobody."""
        asked = questions or await self._mentions.questions(answer_discord_id)
        return asked[-1].author_id if asked else 0

    def _turn(self, turn: ChannelTurn) -> Turn:
        user_id = user_of(turn.questions)
        return Turn(
            turn.options,
            "public",
            user_id,
            prompt=partial(self._prompts.begin, turn),
            store=partial(self._store, turn),
            look_back=lambda *_: None,  # what leaves a channel's window is not written down
            question="\n".join(question.content for question in turn.questions),
            before=turn.replaced,
            replaces=turn.replaces,
            key=None if user_id is None else SessionKey(user_id, turn.key.place_id, turn.options.agent.name),
        )

    async def _store(
        self, turn: ChannelTurn, answer: Message, proposals: Sequence[ProposedChange]
    ) -> StoredTurn:
        answer = replace(answer, discord_id=turn.options.answer_discord_id, author_id=turn.options.bot_id)
        agent = turn.options.agent.name
        return await self._channels.archive_answer(turn.key, answer, turn.questions, proposals, agent=agent)
