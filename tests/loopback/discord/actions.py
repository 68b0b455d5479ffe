"""What users do with the bot's own offers: run commands, press buttons, choose, fill in forms."""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Any

from tests.loopback.discord import commands, typing_in
from tests.loopback.discord.channels import Channel
from tests.loopback.discord.components import BUTTON, TEXT_INPUT, TEXT_SELECT, Component, walk
from tests.loopback.discord.interactions import Interaction, Kind
from tests.loopback.discord.messages import File, Message, Shown
from tests.loopback.discord.posting import Posting
from tests.loopback.discord.reply import Reply
from tests.loopback.discord.transcript import Transcript
from tests.loopback.discord.typing_in import Typed, Value
from tests.loopback.discord.users import User
from tests.loopback.discord.world import World, loop_time


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of an autocomplete menu."""

    name: str
    value: str | int | float


class Actions(Posting):
    def __init__(self, world: World, transcript: Transcript, patience_s: float) -> None:
        super().__init__(world, transcript, patience_s)
        self.replies: list[Reply] = []

    async def slash(self, user: User, channel: Channel, name: str, /, **options: Value) -> Reply:
        """`name` in the default locale, subcommands after a space: "memory add"."""
        first, *path = name.split()
        typed = Typed(self._command(first, commands.CHAT_INPUT), path)
        typing_in.check_required(typed.accepted, options)
        keep = self.world.keep(channel, ephemeral=True)
        given = [
            typed.value(option, value, keep(value) if isinstance(value, File) else None)
            for option in typed.accepted
            if (value := options.get(option["name"])) is not None
        ]
        interaction = self._interaction(Kind.COMMAND, user, channel, typed.nest(given))
        typing_in.check_available(typed.command, interaction)
        return await self._send(interaction)

    async def message_command(
        self, user: User, channel: Channel, name: str, target: Shown | Message
    ) -> Reply:
        """Apps → `name` in the menu of a message; the bot gets its content whatever its intents are."""
        command = self._command(name, commands.MESSAGE_MENU)
        message = self._visible(user, target)
        assert message.channel is channel, "the message stands elsewhere"
        data = Typed(command, []).nest([]) | {
            "target_id": str(message.id),
            "resolved": {"messages": {str(message.id): message.payload()}},
        }
        interaction = self._interaction(Kind.COMMAND, user, channel, data)
        typing_in.check_available(command, interaction)
        return await self._send(interaction)

    async def autocomplete(
        self, user: User, channel: Channel, name: str, /, **options: Value
    ) -> list[Choice]:
        """The last option is the one being typed; its value goes out as text, whatever its type is."""
        first, *path = name.split()
        typed = Typed(self._command(first, commands.CHAT_INPUT), path)
        accepted = {option["name"]: option for option in typed.accepted}
        *before, focused = options
        assert accepted[focused].get("autocomplete"), f"{focused!r} has no autocomplete"
        given = [typed.value(accepted[key], options[key], None) for key in before]
        kind = accepted[focused]["type"]
        given.append({"name": focused, "type": kind, "value": str(options[focused]), "focused": True})
        reply = await self._send(self._interaction(Kind.AUTOCOMPLETE, user, channel, typed.nest(given)))
        await reply.acknowledged()
        return [Choice(c["name"], c["value"]) for c in reply.interaction.choices or []]

    async def click(self, user: User, message: Shown | Message, label_or_custom_id: str) -> Reply:
        stored = self._visible(user, message)
        button = stored.find_component(label_or_custom_id)
        assert button["type"] == BUTTON, f"{label_or_custom_id!r} is no button"
        return await self._use(user, stored, button, {})

    async def select(
        self, user: User, message: Shown | Message, label_or_custom_id: str, *values: str
    ) -> Reply:
        """`values` are labels or values of the menu's options."""
        stored = self._visible(user, message)
        menu = stored.find_component(label_or_custom_id)
        assert menu["type"] == TEXT_SELECT, f"{label_or_custom_id!r} is no menu"
        by_name = {o["label"]: o["value"] for o in menu["options"]} | {
            o["value"]: o["value"] for o in menu["options"]
        }
        assert set(values) <= set(by_name), (
            f"no option {set(values) - set(by_name)}; there are {list(by_name)}"
        )
        assert menu.get("min_values", 1) <= len(values) <= menu.get("max_values", 1), (
            "too few or too many values"
        )
        return await self._use(user, stored, menu, {"values": [by_name[value] for value in values]})

    async def press(
        self,
        user: User,
        message: Shown | Message,
        label_or_custom_id: str,
        *values: str,
        apart_s: float | None = None,
    ) -> list[Reply]:
        """A button, or values of a menu; and again so much later, as a client sends it that has not drawn yet
        what the first press has changed."""
        stored = self._visible(user, message)
        component = {**stored.find_component(label_or_custom_id)}
        extra = {"values": list(values)} if values else {}
        replies = [await self._use(user, stored, component, extra)]
        if apart_s is not None:
            await asyncio.sleep(apart_s)
            replies.append(await self._use(user, stored, component, extra))
        return replies

    async def submit_modal(self, reply: Reply, **inputs: str) -> Reply:
        """Fills in the form that `reply` opened, by custom id; other fields keep their prefilled text."""
        modal, cause = reply.modal, reply.interaction
        assert modal is not None, f"no form is open: {reply.describe()}"
        known = {c["custom_id"] for c in walk(modal["components"]) if c.get("type") == TEXT_INPUT}
        assert set(inputs) <= known, f"no field {set(inputs) - known}; there are {known}"
        data = {"custom_id": modal["custom_id"], "components": _filled_in(modal["components"], inputs)}
        interaction = self._interaction(Kind.MODAL, cause.user, cause.channel, data, source=cause.source)
        interaction.cause = cause
        return await self._send(interaction)

    async def _use(self, user: User, message: Message, component: Component, extra: dict[str, Any]) -> Reply:
        data = {
            "custom_id": component["custom_id"],
            "component_type": component["type"],
            "id": component["id"],
            **extra,
        }
        return await self._send(
            self._interaction(Kind.COMPONENT, user, message.channel, data, source=message)
        )

    def _command(self, name: str, kind: int) -> commands.Command:
        return self.world.commands.find(name, kind=kind)

    def _interaction(
        self, kind: Kind, user: User, channel: Channel, data: dict[str, Any], source: Message | None = None
    ) -> Interaction:
        self._check_member(user, channel)
        return Interaction(
            id=self.world.ids.next(),
            token=secrets.token_urlsafe(96),
            kind=kind,
            user=user,
            channel=channel,
            data=data,
            sent_at_s=loop_time(),
            application_id=self.world.application_id,
            user_installed=user.id in self._installed,
            source=source,
        )

    async def _send(self, interaction: Interaction) -> Reply:
        reply = Reply(self.world, self._told, self.patience_s, interaction.user.locale, interaction)
        self.replies.append(reply)
        await self.world.send_interaction(interaction)
        return reply

    def _visible(self, user: User, message: Shown | Message) -> Message:
        """Raises AssertionError for a message that is gone, or that only someone else can see."""
        stored = self._stored(message)
        assert not stored.deleted, "that message was deleted"
        if stored.ephemeral:
            asker = (stored.interaction or {}).get("user", {}).get("id")
            assert asker == str(user.id), f"{user.name} cannot see that message"
        return stored


def _filled_in(components: list[Component], inputs: dict[str, str]) -> list[Component]:
    """The form as it comes back: rows or labels around inputs that carry their text."""

    def filled(component: Component, number: int) -> Component:
        answer: Component = {"type": component["type"], "id": component.get("id", number)}
        if component["type"] == TEXT_INPUT:
            value = inputs.get(component["custom_id"], component.get("value") or "")
            assert value or not component.get("required", True), (
                f"{component['custom_id']!r} must be filled in"
            )
            return answer | {"custom_id": component["custom_id"], "value": value}
        inner = component.get("components") or []
        return answer | {"components": [filled(c, 100 * number + i) for i, c in enumerate(inner, 1)]}

    return [filled(component, number) for number, component in enumerate(components, 1)]
