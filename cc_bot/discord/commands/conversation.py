"""`/clear`, `/reset`, `/summary` and `/agent …`: a channel's conversation, and who answers there."""

import asyncio
from collections.abc import Sequence

import hikari
import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.summaries import SummaryStore
from cc_bot.discord.delivery.beside import Beside
from cc_bot.discord.handlers import Choice, Press, command, on_press, reply_command, suggesting, text_option
from cc_bot.discord.interactions import defer
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.pages.custom_ids import SummaryButton
from cc_bot.discord.pages.page import COLOUR, Button, EphemeralView, timestamp
from cc_bot.discord.places import key_of_interaction
from cc_bot.discord.recipients import MANAGER_PERMISSIONS, Recipient, Recipients
from cc_bot.domain.errors import UnknownAgent
from cc_bot.domain.message import Agent
from cc_bot.domain.session import SessionKey
from cc_bot.features.agents.selector import AgentSelector, where
from cc_bot.features.agents.service import find_agent, matching_agents
from cc_bot.features.agents.texts import AgentTexts
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import Texts
from cc_bot.texts.answer import SummaryTexts

loader = lightbulb.Loader()


async def clear(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    sessions: SessionStore,
    chooser: AgentSelector,
    beside: Beside,
) -> Reply:
    key = (await chooser.of(ctx.interaction)).key
    await sessions.clear(key)
    await beside.refresh(key, interaction=ctx.interaction, below=False)  # the canvas is empty now
    return Reply((caller.words[SessionTexts].cleared,))


reply_command(loader.command, "clear", clear)


# `/reset` affects everyone, so it is announced publicly and needs a permission.

_ASK_DISCORD_S = 1.5
"""To find out who started a thread, which decides whether the reply, due within 3 s, is public."""


@command(
    loader.command,
    "reset",
    contexts=[hikari.ApplicationContextType.GUILD],
    integration_types=[hikari.ApplicationIntegrationType.GUILD_INSTALL],
)
class Reset:
    async def invoke(self, ctx: lightbulb.Context, recipients: Recipients, messages: Messages) -> None:
        interaction = ctx.interaction
        allowed = await _may_reset(interaction)
        await defer(interaction, ephemeral=not allowed)
        if allowed:
            await messages.reset(key_of_interaction(interaction.channel), int(interaction.id))
        words = (await recipients.of(interaction)).words[SessionTexts]
        refused = words.reset_unsure if allowed is None else words.reset_refused
        await interaction.edit_initial_response(words.reset if allowed else refused)


async def _may_reset(interaction: hikari.CommandInteraction) -> bool | None:
    """Return whether the member may manage messages or started the thread; None if Discord did not answer in
    time."""
    member = interaction.member
    if member is not None and member.permissions & hikari.Permissions.MANAGE_MESSAGES:
        return True
    if not key_of_interaction(interaction.channel).thread_id:
        return False
    try:
        asked = interaction.app.rest.fetch_channel(interaction.channel_id)
        thread = await asyncio.wait_for(asked, _ASK_DISCORD_S)
    except (hikari.HTTPError, TimeoutError):
        return None
    return isinstance(thread, hikari.GuildThreadChannel) and thread.owner_id == interaction.user.id


# The reply is ephemeral, so it may include private messages.


async def show_summary(
    caller: Recipient, *, ctx: lightbulb.Context, summaries: SummaryStore, chooser: AgentSelector
) -> EphemeralView:
    texts, key = caller.words[SummaryTexts], (await chooser.of(ctx.interaction)).key
    kept = await summaries.list_current(key)
    if not kept:
        return EphemeralView(texts.none)
    parts = [
        f"**{texts.private}**\n{each.content}" if each.visibility == "private" else each.content
        for each in kept
    ]
    written = timestamp(max(each.created_at for each in kept), "f")
    description = "\n\n".join((*parts, f"-# {written}"))
    embed = hikari.Embed(title=texts.title, description=description, colour=COLOUR)
    button = Button(texts.delete, SummaryButton(caller.user_id, key.agent).custom_id())
    return EphemeralView(embed=embed, buttons=(button,))


reply_command(loader.command, "summary", show_summary)


@on_press(SummaryButton, not_yours=lambda words: words[SummaryTexts].not_yours)
async def delete_summary(press: Press[SummaryButton], summaries: SummaryStore) -> EphemeralView:
    interaction, button, recipient = press
    await summaries.delete(SessionKey(button.user_id, int(interaction.channel_id), button.agent))
    return EphemeralView(recipient.words[SummaryTexts].deleted)


agent = lightbulb.Group("agent", "agent_description", localize=True)
loader.command(agent)

MAX_LIST_CHARACTERS = 3500
"""An embed takes 4096: notes need the rest."""


async def suggest_agents(
    ctx: lightbulb.AutocompleteContext[str],
    chooser: AgentSelector = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> Sequence[Choice]:
    recipient = await recipients.of(ctx.interaction)
    agents = await chooser.usable_at(where(ctx.interaction))
    return matching_agents(agents, str(ctx.focused.value or ""), recipient.locale)


def agent_name() -> str:
    return text_option("agent_name", max_length=100, autocomplete=suggesting(suggest_agents))


async def list_agents(caller: Recipient, *, ctx: lightbulb.Context, chooser: AgentSelector) -> Reply:
    place = where(ctx.interaction)
    chosen, default = await chooser.of(ctx.interaction), await chooser.default_of(place)
    return agent_list(
        await chooser.usable_at(place),
        caller.words,
        in_use=chosen.agent.name,
        default="" if place.guild_id is None else default.name,
        gone=chosen.stands_in,
    )


def agent_list(agents: Sequence[Agent], texts: Texts, *, in_use: str, default: str, gone: bool) -> Reply:
    """`in_use` is the reader's agent, `default` the channel's; `gone`: the reader's choice can't be used."""
    words, locale = texts[AgentTexts], texts.locale
    answering = next(agent for agent in agents if agent.name == in_use).display_name(locale)
    notes = [words.gone.format(display=answering)] if gone else []
    if len(agents) == 1:
        return Reply((words.only_one.format(display=answering),), notes=tuple(notes))
    lines: list[str] = []
    for agent in agents:
        marks = (words.in_use if agent.name == in_use else "") + (
            words.channel_default if agent.name == default else ""
        )
        line = f"- **{agent.display_name(locale)}** (`{agent.name}`){marks}"
        if description := agent.description(locale):
            line += f"\n  {description}"
        if sum(len(each) + 1 for each in (*lines, line)) > MAX_LIST_CHARACTERS:
            notes.append(words.more.format(count=len(agents) - len(lines)))
            break
        lines.append(line)
    return Reply(tuple(lines), title=words.title, notes=(*notes, words.usage))


reply_command(agent.register, "agent_list", list_agents)


async def use(
    caller: Recipient, name: str, *, ctx: lightbulb.Context, chooser: AgentSelector, beside: Beside
) -> Reply:
    """Raises UnknownAgent."""
    texts, place = caller.words[AgentTexts], where(ctx.interaction)
    wanted = find_agent(await chooser.usable_at(place), name)
    if wanted is None:
        raise UnknownAgent
    before, after = await chooser.choose(caller.user_id, place, wanted)
    if before.key != after.key:
        await beside.refresh(before.key, interaction=ctx.interaction)  # removes its message
        await beside.refresh(after.key, interaction=ctx.interaction)
    sentence = texts.using_already if before.agent.name == wanted.name else texts.using
    return Reply((sentence.format(display=wanted.display_name(caller.locale)),))


reply_command(agent.register, "agent_use", use, name=agent_name())


@command(agent.register, "agent_default")
class Default:
    name = agent_name()

    async def invoke(
        self, ctx: lightbulb.Context, chooser: AgentSelector, recipients: Recipients, beside: Beside
    ) -> None:
        """Public, because it affects everyone."""
        interaction, place = ctx.interaction, where(ctx.interaction)
        member = interaction.member
        allowed = member is not None and bool(member.permissions & MANAGER_PERMISSIONS)
        wanted = find_agent(await chooser.usable_at(place), self.name)
        done = allowed and wanted is not None and place.guild_id is not None
        await defer(interaction, ephemeral=not done)
        recipient = await recipients.of(interaction)
        words = recipient.words[AgentTexts]
        if place.guild_id is None:
            sentence = words.default_nowhere
        elif not allowed:
            sentence = words.default_refused
        elif wanted is None:
            raise UnknownAgent
        else:
            await chooser.set_default(place, place.guild_id, wanted, recipient.user_id)
            sentence = words.default_set.format(display=wanted.display_name(recipient.locale))
        await interaction.edit_initial_response(sentence)
        if done and wanted is not None:
            await beside.agent_changed(place.key.place_id, wanted.name)
