import asyncio
import secrets
from dataclasses import dataclass

from tests.loopback.discord import commands
from tests.loopback.discord.channels import Channel, User
from tests.loopback.discord.commands import Typed, Value
from tests.loopback.discord.interactions import Interaction, Kind
from tests.loopback.discord.limits import BUTTON, TEXT_INPUT, TEXT_SELECT, Component, Json, walk
from tests.loopback.discord.messages import File, Message, Shown
from tests.loopback.discord.posting import Posting
from tests.loopback.discord.watched import Reply
from tests.loopback.discord.wire import Transcript
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

    def _typed(self, name: str) -> Typed:
        first, *path = name.split()
        return Typed(self.world.commands.find(first, kind=commands.CHAT_INPUT), path)

    async def slash(self, user: User, channel: Channel, name: str, /, **options: Value) -> Reply:
        """`name` in the default locale, subcommands after a space: "memory add"."""
        typed, keep = self._typed(name), self.world.keep(channel, ephemeral=True)
        commands.check_required(typed.accepted, options)
        given = [
            typed.value(option, value, keep(value) if isinstance(value, File) else None)
            for option in typed.accepted
            if (value := options.get(option["name"])) is not None
        ]
        interaction = self._interaction(Kind.COMMAND, user, channel, typed.nest(given))
        commands.check_available(typed.command, interaction)
        return await self._send(interaction)

    async def message_command(
        self, user: User, channel: Channel, name: str, target: Shown | Message
    ) -> Reply:
        """Apps → `name` in the menu of a message; the bot gets its content whatever its intents are."""
        command = self.world.commands.find(name, kind=commands.MESSAGE_MENU)
        message = self._visible(user, target)
        assert message.channel is channel, "the message stands elsewhere"
        resolved = {"messages": {str(message.id): message.payload()}}
        data = Typed(command, []).nest([]) | {"target_id": str(message.id), "resolved": resolved}
        interaction = self._interaction(Kind.COMMAND, user, channel, data)
        commands.check_available(command, interaction)
        return await self._send(interaction)

    async def autocomplete(
        self, user: User, channel: Channel, name: str, /, **options: Value
    ) -> list[Choice]:
        """The last option is the one being typed; its value goes out as text, whatever its type is."""
        typed = self._typed(name)
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
        return await self._use(user, stored, button)

    async def select(
        self, user: User, message: Shown | Message, label_or_custom_id: str, *values: str
    ) -> Reply:
        """`values` are labels or values of the menu's options."""
        stored = self._visible(user, message)
        menu = stored.find_component(label_or_custom_id)
        assert menu["type"] == TEXT_SELECT, f"{label_or_custom_id!r} is no menu"
        by_name = {o[key]: o["value"] for key in ("label", "value") for o in menu["options"]}
        assert set(values) <= set(by_name), f"no option {set(values) - set(by_name)}; there are {by_name}"
        fits = menu.get("min_values", 1) <= len(values) <= menu.get("max_values", 1)
        assert fits, "too few or too many values"
        return await self._use(user, stored, menu, *(by_name[value] for value in values))

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
        replies = [await self._use(user, stored, component, *values)]
        if apart_s is not None:
            await asyncio.sleep(apart_s)
            replies.append(await self._use(user, stored, component, *values))
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

    async def _use(self, user: User, message: Message, component: Component, *values: str) -> Reply:
        kind = {"component_type": component["type"]} | ({"values": list(values)} if values else {})
        data = {"custom_id": component["custom_id"], "id": component["id"], **kind}
        interaction = self._interaction(Kind.COMPONENT, user, message.channel, data, source=message)
        return await self._send(interaction)

    def _interaction(
        self, kind: Kind, user: User, channel: Channel, data: Json, source: Message | None = None
    ) -> Interaction:
        self._check_member(user, channel)
        id_, token, own = self.world.ids.next(), secrets.token_urlsafe(96), user.id in self._installed
        application = self.world.application_id
        return Interaction(id_, token, kind, user, channel, data, loop_time(), application, own, source)

    async def _send(self, interaction: Interaction) -> Reply:
        reply = Reply(self.world, self._told, self.patience_s, interaction.user.locale, interaction)
        self.replies.append(reply)
        await self.world.send_interaction(interaction)
        return reply

    def _visible(self, user: User, message: Shown | Message) -> Message:
        """Raises AssertionError for a message that is gone, or that only someone else can see."""
        stored = self._stored(message)
        assert not stored.deleted, "that message was deleted"
        asker = (stored.interaction or {}).get("user", {}).get("id")
        assert not stored.ephemeral or asker == str(user.id), f"{user.name} cannot see that message"
        return stored


def _filled_in(components: list[Component], inputs: dict[str, str]) -> list[Component]:
    """The form as it comes back: rows or labels around inputs that carry their text."""

    def filled(component: Component, number: int) -> Component:
        answer: Json = {"type": component["type"], "id": component.get("id", number)}
        if component["type"] == TEXT_INPUT:
            value = inputs.get(component["custom_id"], component.get("value") or "")
            assert value or not component.get("required", True), (
                f"{component['custom_id']!r} must be filled in"
            )
            return answer | {"custom_id": component["custom_id"], "value": value}
        inner = component.get("components") or []
        return answer | {"components": [filled(c, 100 * number + i) for i, c in enumerate(inner, 1)]}

    return [filled(component, number) for number, component in enumerate(components, 1)]
