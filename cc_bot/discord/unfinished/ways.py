"""The ways to a user whose turn another run of the program began.

While the interaction's token lives, the message that waits is edited by it, and its follow-ups. Past that the
bot writes by itself: in the channel where everybody could read the answer, else in its user's DM. Nothing is
posted twice: what is there already is on record or looked for, and what the bot posts by itself carries a
nonce that is made of the turn and the number of the message.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import hikari

from cc_bot.discord.delivery.entries import Entries
from cc_bot.discord.delivery.interaction_outlet import Hook, InteractionOutlet
from cc_bot.discord.delivery.message_outlet import MessageReplies
from cc_bot.discord.delivery.reply import Reply, Sent
from cc_bot.discord.unfinished.owed import Owed
from cc_bot.domain.ledger import PendingTurn
from cc_bot.stores import ChannelStore, TurnLedger

UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_WEBHOOK: Final = 10015
"""Of a token whose interaction was never acknowledged."""
INVALID_WEBHOOK_TOKEN: Final = 50027
"""All three of Discord's list of error codes ("Opcodes and Status Codes")."""

REFUSALS: Final = (hikari.BadRequestError, hikari.ForbiddenError, hikari.NotFoundError)


class Closed(Exception):
    """This way leads nowhere: not with this token, or not in this place."""


class NeverAcknowledged(Closed):
    """Discord was not told that the interaction was taken, and has told its user that it failed."""


class Gone(Exception):
    """The message was deleted: nobody wants the answer any more."""


@dataclass(frozen=True, slots=True)
class Ways:
    rest: hikari.api.RESTClient
    replies: MessageReplies
    channels: ChannelStore
    ledger: TurnLedger
    entries: Entries

    async def by_token(self, owed: Owed, token: str, application_id: int) -> Reply:
        """Raises Closed, Gone, and hikari's errors while Discord has trouble."""
        try:
            return await self._by_token(owed, token, application_id)
        except (*REFUSALS, hikari.UnauthorizedError) as error:
            if isinstance(error, hikari.UnauthorizedError) and error.code != INVALID_WEBHOOK_TOKEN:
                raise  # the bot's own token is refused: the program ends
            raise _meaning(error) from error

    async def in_channel(self, owed: Owed) -> Reply:
        """Where it was asked. Raises as `by_token`, and StorageError."""
        turn = owed.turn
        try:
            reply = await self._to_message(turn) if turn.kind == "message" else await self._late(owed)
            await owed.show(reply, one_message=False)
        except REFUSALS as error:
            raise _meaning(error) from error
        return reply

    async def by_dm(self, owed: Owed) -> Reply:
        """Raises as `in_channel`."""
        turn = owed.turn
        try:
            place_id = int((await self.rest.create_dm_channel(turn.key.user_id)).id)
            ids = _begun_in(turn) if turn.place_id == place_id else ()
            if turn.token is not None or turn.place_id != place_id:
                await self.ledger.moved(turn, place_id, ids)
            noting = self.entries.entry(turn).posted
            reply = self.replies.late(place_id, f"{turn.id}d", None, _sent(ids), noting=noting)
            await owed.show(reply, one_message=False, elsewhere=True)
        except REFUSALS as error:
            raise _meaning(error) from error
        return reply

    async def _by_token(self, owed: Owed, token: str, application_id: int) -> Reply:
        turn = owed.turn
        place_id = turn.place_id or turn.key.channel_id
        hook = Hook(self.rest, application_id, token, place_id, turn.interaction_id or 0)
        outlet = InteractionOutlet(hook, ephemeral=turn.ephemeral, noting=self.entries.entry(turn).posted)
        known = (*(() if turn.below else (Sent(None),)), *_sent(turn.pages))
        first_id = turn.shown_in or int(await outlet.first_id())
        strays = await self._strays(turn, place_id, (first_id, *turn.pages)[-1])
        reply = Reply(outlet, (*known, *_sent(strays or ())))
        if owed.answer is None and turn.below and owed.older and not (reply.begun or turn.calls):
            await outlet.whisper(owed.pages()[0].content)  # the older answer stands as it was
            return reply
        # Nobody can tell whether the next page is there already: then all of it comes in one.
        await owed.show(reply, one_message=strays is None and len(owed.pages()) > len(known))
        return reply

    async def _strays(self, turn: PendingTurn, place_id: int, after_id: int) -> tuple[int, ...] | None:
        """Follow-ups of which it is not on record that they were posted; None when nobody can tell."""
        if turn.ephemeral:
            return None
        try:
            messages = await self.rest.fetch_messages(place_id, after=after_id).limit(50)
        except hikari.ClientHTTPResponseError:
            return None
        found = (
            int(message.id)
            for message in messages
            if (told := message.interaction_metadata) and told.interaction_id == turn.interaction_id
        )
        return tuple(sorted(found))

    async def _to_message(self, turn: PendingTurn) -> Reply:
        """In the message that was begun for it, or in a first one: if that is there, its nonce finds it."""
        place_id, first_id = turn.place_id or turn.key.channel_id, turn.shown_in
        ids = () if first_id is None else (first_id, *await self.channels.pages(first_id))
        reply = self.replies.to(place_id, turn.question_id or first_id or 0, _sent(ids))
        if turn.question_id is not None and await self._deleted(place_id, turn.question_id):
            await reply.remove()
            raise Gone
        return reply

    async def _deleted(self, place_id: int, message_id: int) -> bool:
        """Whoever deleted a question while nobody listened wants no answer. A bot that may not read the past
        can't know."""
        try:
            await self.rest.fetch_message(place_id, message_id)
        except hikari.ForbiddenError:
            return False
        except hikari.NotFoundError as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
            return True
        return False

    async def _late(self, owed: Owed) -> Reply:
        turn = owed.turn
        place_id, waiting_id, ids = turn.key.channel_id, turn.shown_in, turn.pages
        if turn.place_id is None:
            ids = await self._shown_in(turn)
            last_id = ids[-1] if ids else turn.shown_in or turn.interaction_id
            ids += await self._strays(turn, place_id, last_id) or () if last_id else ()
            await self.ledger.moved(turn, place_id, ids)
        if ids:
            waiting_id = None
        noting = self.entries.entry(turn).posted
        return self.replies.late(place_id, turn.id, waiting_id, _sent(ids), noting=noting)

    async def _shown_in(self, turn: PendingTurn) -> tuple[int, ...]:
        """The messages in which the bot can go on by itself. One that only shows that it is thinking stays:
        past the token's life that can't be changed."""
        ids = _begun_in(turn)
        if not ids:
            return ()
        try:
            message = await self.rest.fetch_message(turn.key.channel_id, ids[0])
        except hikari.ForbiddenError:  # it may write there without reading the past
            return ()
        return () if hikari.MessageFlag.LOADING in message.flags else ids


def _begun_in(turn: PendingTurn) -> tuple[int, ...]:
    """The messages that show it so far. Once the bot writes by itself, all of them are pages."""
    if turn.token is None or turn.below or turn.shown_in is None:
        return turn.pages
    return (turn.shown_in, *turn.pages)


def _meaning(error: hikari.HTTPError) -> Closed | Gone:
    code = getattr(error, "code", 0)
    if code == UNKNOWN_MESSAGE:
        return Gone()
    return NeverAcknowledged() if code == UNKNOWN_WEBHOOK else Closed()


def _sent(ids: Sequence[int]) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in ids)
