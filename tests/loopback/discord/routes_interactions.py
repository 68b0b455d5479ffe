"""Answers to interactions: the callback within 3 s, and then the webhook of the interaction's token."""

from dataclasses import dataclass
from typing import Any

from tests.loopback.discord import refusals
from tests.loopback.discord.drafts import Upload, compose
from tests.loopback.discord.interactions import USER_INSTALL_FOLLOWUPS, Callback, Interaction, Kind
from tests.loopback.discord.limits import check_choices, check_modal
from tests.loopback.discord.messages import EPHEMERAL, LOADING, Message
from tests.loopback.discord.wire import Answer, Call, Route
from tests.loopback.discord.world import (
    COMMAND_MESSAGE,
    DEFAULT_MESSAGE,
    MENU_MESSAGE,
    REPLY_MESSAGE,
    World,
    loop_time,
)

_ALLOWED: dict[Kind, frozenset[Callback]] = {
    Kind.COMMAND: frozenset({Callback.MESSAGE, Callback.DEFERRED_MESSAGE, Callback.MODAL}),
    Kind.COMPONENT: frozenset(Callback) - {Callback.CHOICES},
    Kind.AUTOCOMPLETE: frozenset({Callback.CHOICES}),
    Kind.MODAL: frozenset(Callback) - {Callback.CHOICES, Callback.MODAL},
}


@dataclass(slots=True)
class InteractionRoutes:
    world: World

    def table(self) -> list[Route]:
        webhook, callback = "/webhooks/{application}/{token}", "/interactions/{interaction}/{token}/callback"
        original, one = f"{webhook}/messages/@original", webhook + "/messages/{message}"
        limited: dict[str, Any] = {"needs_token": False, "limit": "webhook", "major": "token"}
        return [
            Route("POST", callback, self.acknowledge, needs_token=False),
            Route("POST", webhook, self.follow_up, **limited),
            *(Route("GET", path, self.get, **limited) for path in (original, one)),
            *(Route("PATCH", path, self.edit, **limited) for path in (original, one)),
            *(Route("DELETE", path, self.delete, **limited) for path in (original, one)),
        ]

    # The callback

    async def acknowledge(self, call: Call) -> Answer:
        interaction = self.world.interactions.get(call.params["token"])
        now = loop_time()
        if interaction is None or interaction.id != call.id("interaction"):
            raise refusals.unknown_interaction()
        refusals.refuse_if(interaction.answered is not None, refusals.already_acknowledged)
        refusals.refuse_if(interaction.is_late(now), refusals.unknown_interaction)
        callback = self._callback(interaction, call)
        await self._answer(interaction, callback, Upload(call.body.get("data") or {}, call.files))
        if call.query.get("with_response", "").lower() in {"true", "1"}:
            return Answer(200, interaction.callback_payload())
        return Answer()

    def _callback(self, interaction: Interaction, call: Call) -> Callback:
        kind = int((call.body or {}).get("type") or 0)
        impossible = {Callback.UPDATE, Callback.DEFERRED_UPDATE} if interaction.source is None else set()
        allowed = sorted(map(int, _ALLOWED[interaction.kind] - impossible))
        refusals.require(kind in allowed, ["type"], f"Must be one of {allowed}.")
        return Callback(kind)

    async def _answer(self, interaction: Interaction, callback: Callback, upload: Upload) -> None:
        """Checks come first: a refused callback leaves the interaction open, as Discord does."""
        match callback:
            case Callback.MESSAGE:
                await self._respond(interaction, callback, upload)
            case Callback.DEFERRED_MESSAGE:
                flags = (upload.body.get("flags") or 0) & EPHEMERAL
                self._mark(interaction, callback)
                interaction.original = self._message(interaction, flags | LOADING, interaction.source)
                await self.world.post(interaction.original)
            case Callback.DEFERRED_UPDATE:
                self._mark(interaction, callback)
                interaction.original = interaction.source
            case Callback.UPDATE:
                assert interaction.source is not None
                draft = compose(upload, self.world.keep(interaction.channel), interaction.source)
                self._mark(interaction, callback)
                interaction.original = interaction.source
                await self.world.edit(interaction.source, draft, upload.body.get("allowed_mentions"))
            case Callback.CHOICES:
                interaction.choices = check_choices(upload.body.get("choices"))
                self._mark(interaction, callback)
            case Callback.MODAL:
                check_modal(upload.body)
                interaction.modal = upload.body
                self._mark(interaction, callback)
        self.world.pulse.beat()

    async def _respond(self, interaction: Interaction, callback: Callback, upload: Upload) -> None:
        flags = (upload.body.get("flags") or 0) & EPHEMERAL
        draft = compose(upload, self.world.keep(interaction.channel, ephemeral=bool(flags)))
        self._mark(interaction, callback)
        interaction.original = self._message(interaction, flags, interaction.source)
        draft.apply(interaction.original)
        await self.world.post(interaction.original, upload.body.get("allowed_mentions"))

    def _mark(self, interaction: Interaction, callback: Callback) -> None:
        interaction.answered, interaction.answered_at_s = callback, loop_time()

    def _message(self, interaction: Interaction, flags: int, reply_to: Message | None) -> Message:
        kind = DEFAULT_MESSAGE
        if interaction.kind is Kind.COMMAND:
            kind = MENU_MESSAGE if "target_id" in interaction.data else COMMAND_MESSAGE
        world, told = self.world, {"flags": flags, "kind": kind, "reply_to": reply_to}
        about = {"interaction": interaction.metadata, "application_id": world.application_id}
        return world.compose_message(interaction.channel, world.bot, **told, **about)

    # The webhook

    def _interaction(self, call: Call) -> Interaction:
        interaction = self.world.interactions.get(call.params["token"])
        if interaction is None or call.id("application") != self.world.application_id:
            raise refusals.unknown_webhook()
        refusals.refuse_if(interaction.is_expired(loop_time()), refusals.invalid_webhook_token)
        if interaction.answered is None:
            raise refusals.unknown_webhook()
        return interaction

    def _find(self, call: Call) -> Message:
        """The token reaches the original response and its follow-ups, and nothing else."""
        interaction = self._interaction(call)
        message = interaction.original
        if "message" in call.params:
            reachable = [m for m in [interaction.original, *interaction.followups] if m is not None]
            message = next((m for m in reachable if m.id == call.id("message")), None)
        if message is None or message.deleted:
            raise refusals.unknown_message()
        return message

    async def get(self, call: Call) -> Answer:
        return Answer(200, self._find(call).payload())

    async def edit(self, call: Call) -> Answer:
        message = self._find(call)
        await self._change(message, call)
        return Answer(200, message.payload())

    async def _change(self, message: Message, call: Call) -> None:
        """The first edit of a deferred response ends its 'thinking'; who sees it was decided by the defer."""
        draft = compose(call.upload, self.world.keep(message.channel, ephemeral=message.ephemeral), message)
        flags = message.flags & EPHEMERAL if message.loading else None
        await self.world.edit(message, draft, call.allowed_mentions, flags=flags)

    async def delete(self, call: Call) -> Answer:
        await self.world.delete(self._find(call))
        return Answer()

    async def follow_up(self, call: Call) -> Answer:
        interaction = self._interaction(call)
        original = interaction.original
        used_up = interaction.followups_sent >= USER_INSTALL_FOLLOWUPS and not interaction.guild_install
        refusals.refuse_if(used_up, refusals.too_many_followups)
        if original is not None and original.loading and not original.deleted:
            await self._change(original, call)
            interaction.followups_sent += 1
            return Answer(200, original.payload())
        flags = ((call.body or {}).get("flags") or 0) & EPHEMERAL
        draft = compose(call.upload, self.world.keep(interaction.channel, ephemeral=bool(flags)))
        message = self._message(interaction, flags, original or interaction.source)
        message.kind = REPLY_MESSAGE
        draft.apply(message)
        interaction.followups.append(message)
        interaction.followups_sent += 1
        await self.world.post(message, call.allowed_mentions)
        return Answer(200, message.payload())
