"""`/agent …`: who answers in a channel."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import lightbulb

from cc_bot.chat.reply import Caller, Reply
from cc_bot.discord.agents import AgentSelector, location_of
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.handlers import Choice, Press, command, on_press, reply_command, suggest_from, text_option
from cc_bot.discord.interactions import defer
from cc_bot.discord.pages.custom_ids import AgentButton
from cc_bot.discord.pages.page import Button, EphemeralView, Paragraph, small_print
from cc_bot.discord.recipients import MANAGER_PERMISSIONS, Recipient, Recipients
from cc_bot.domain.message import Agent
from cc_bot.features.agents.service import AgentChoices, UnknownAgent, find_agent, matching_agents
from cc_bot.features.agents.texts import AgentTexts

loader = lightbulb.Loader()
agent = lightbulb.Group("agent", "agent_description", localize=True)
loader.command(agent)

MAX_LISTED = 10  # each with a button; a message has at most 40 components
MAX_LIST_CHARACTERS = 3200  # a card has at most 4000


async def suggest_agents(
    ctx: lightbulb.AutocompleteContext[str],
    choices: AgentChoices = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> Sequence[Choice]:
    recipient = await recipients.find(ctx.interaction)
    usable = await choices.agents.list_available(location_of(ctx.interaction))
    return matching_agents(usable, str(ctx.focused.value or ""), recipient.locale)


def agent_name() -> str:
    return text_option("agent_name", max_length=100, autocomplete=suggest_from(suggest_agents))


async def list_agents(
    caller: Recipient,
    *,
    ctx: lightbulb.Context | Press[AgentButton],
    agent_selector: AgentSelector,
    choices: AgentChoices,
) -> EphemeralView:
    location = location_of(ctx.interaction)
    chosen = await agent_selector.for_interaction(ctx.interaction)
    default = await choices.get_default(location)
    return agent_list_view(
        await choices.agents.list_available(location),
        caller,
        in_use=chosen.agent.name,
        default="" if location.guild_id is None else default.name,
        gone=chosen.is_fallback,
    )


def agent_list_view(
    agents: Sequence[Agent], caller: Caller, *, in_use: str, default: str, gone: bool
) -> EphemeralView:
    """`in_use`: the caller's agent; `default`: the channel's; `gone`: the caller's choice can't be used."""
    words, locale = caller.words[AgentTexts], caller.locale
    answering = next(agent for agent in agents if agent.name == in_use).display_name(locale)
    notes = [words.gone.format(display=answering)] if gone else []
    if len(agents) == 1:
        lines = (words.only_one.format(display=answering), *small_print(*notes))
        return EphemeralView(title=words.title, paragraphs=(Paragraph("\n".join(lines)),))
    paragraphs: list[Paragraph] = []
    for agent in agents:
        marks = (words.in_use if agent.name == in_use else "") + (
            words.channel_default if agent.name == default else ""
        )
        heading = f"**{agent.display_name(locale)}** (`{agent.name}`){marks}"
        text = f"{heading}\n{agent.description(locale)}".strip()
        characters = sum(len(each.text) for each in paragraphs) + len(text)
        if len(paragraphs) == MAX_LISTED or characters > MAX_LIST_CHARACTERS:
            notes.append(words.more.format(count=len(agents) - len(paragraphs)))
            break
        button = Button(words.choose, AgentButton(caller.user_id, agent.name).custom_id())
        paragraphs.append(Paragraph(text, button if agent.name != in_use else None))
    paragraphs.append(Paragraph("\n".join(small_print(*notes, words.usage))))
    return EphemeralView(title=words.title, paragraphs=tuple(paragraphs))


reply_command(agent.register, "agent_list", list_agents)


async def use(
    caller: Recipient,
    name: str,
    *,
    ctx: lightbulb.Context | Press[AgentButton],
    agent_selector: AgentSelector,
    choices: AgentChoices,
    side_messages: SideMessages,
) -> Reply:
    """Raises UnknownAgent."""
    texts, location = caller.words[AgentTexts], location_of(ctx.interaction)
    wanted = find_agent(await choices.agents.list_available(location), name)
    if wanted is None:
        raise UnknownAgent
    before = await agent_selector.for_interaction(ctx.interaction)
    await choices.choose(caller.user_id, location, wanted)
    after = await agent_selector.for_interaction(ctx.interaction)
    if before.key != after.key:
        await side_messages.refresh(before.key, interaction=ctx.interaction)  # removes the old message
        await side_messages.refresh(after.key, interaction=ctx.interaction)
    sentence = texts.using_already if before.agent.name == wanted.name else texts.using
    return Reply((sentence.format(display=wanted.display_name(caller.locale)),))


reply_command(agent.register, "agent_use", use, name=agent_name())


@on_press(AgentButton, not_yours=None)  # others may press the button, too
async def use_listed(
    press: Press[AgentButton],
    agent_selector: AgentSelector,
    choices: AgentChoices,
    side_messages: SideMessages,
) -> EphemeralView:
    _, button, caller = press
    selection: Any = {"ctx": press, "agent_selector": agent_selector, "choices": choices}
    [sentence] = (await use(caller, button.name, **selection, side_messages=side_messages)).lines
    view = await list_agents(caller, **selection)
    return replace(view, content="\n".join(filter(None, (sentence, view.content))))


@command(agent.register, "agent_default", name=agent_name())
async def set_default(
    ctx: lightbulb.Context,
    *,
    name: str,
    choices: AgentChoices,
    recipients: Recipients,
    side_messages: SideMessages,
) -> None:
    """The reply is public, because the change affects everyone."""
    interaction, location = ctx.interaction, location_of(ctx.interaction)
    member = interaction.member
    allowed = member is not None and bool(member.permissions & MANAGER_PERMISSIONS)
    wanted = find_agent(await choices.agents.list_available(location), name)
    may_set = allowed and wanted is not None and location.guild_id is not None
    await defer(interaction, ephemeral=not may_set)
    recipient = await recipients.find(interaction)
    words = recipient.words[AgentTexts]
    if location.guild_id is None:
        sentence = words.default_nowhere
    elif not allowed:
        sentence = words.default_refused
    elif wanted is None:
        raise UnknownAgent
    else:
        await choices.set_default(location, location.guild_id, wanted, recipient.user_id)
        sentence = words.default_set.format(display=wanted.display_name(recipient.locale))
    await interaction.edit_initial_response(sentence)
    if may_set and wanted is not None:
        await side_messages.agent_changed(location.key.location_id, wanted.name)
