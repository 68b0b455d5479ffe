"""`/agent …`: who answers in a channel."""

from collections.abc import Sequence

import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.discord.agents import AgentSelector, location_of
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.handlers import Choice, command, reply_command, suggest_from, text_option
from cc_bot.discord.interactions import defer
from cc_bot.discord.recipients import MANAGER_PERMISSIONS, Recipient, Recipients
from cc_bot.domain.message import Agent
from cc_bot.features.agents.service import AgentChoices, UnknownAgent, find_agent, matching_agents
from cc_bot.features.agents.texts import AgentTexts
from cc_bot.texts import Texts

loader = lightbulb.Loader()
agent = lightbulb.Group("agent", "agent_description", localize=True)
loader.command(agent)

MAX_LIST_CHARACTERS = 3500  # an embed takes 4096: notes need the rest


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
    caller: Recipient, *, ctx: lightbulb.Context, agent_selector: AgentSelector, choices: AgentChoices
) -> Reply:
    location = location_of(ctx.interaction)
    chosen = await agent_selector.for_interaction(ctx.interaction)
    default = await choices.get_default(location)
    return agent_list(
        await choices.agents.list_available(location),
        caller.words,
        in_use=chosen.agent.name,
        default="" if location.guild_id is None else default.name,
        gone=chosen.is_fallback,
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
    caller: Recipient,
    name: str,
    *,
    ctx: lightbulb.Context,
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
        await side_messages.refresh(before.key, interaction=ctx.interaction)  # removes its message
        await side_messages.refresh(after.key, interaction=ctx.interaction)
    sentence = texts.using_already if before.agent.name == wanted.name else texts.using
    return Reply((sentence.format(display=wanted.display_name(caller.locale)),))


reply_command(agent.register, "agent_use", use, name=agent_name())


@command(agent.register, "agent_default", name=agent_name())
async def set_default(
    ctx: lightbulb.Context,
    *,
    name: str,
    choices: AgentChoices,
    recipients: Recipients,
    side_messages: SideMessages,
) -> None:
    """Public, because it affects everyone."""
    interaction, location = ctx.interaction, location_of(ctx.interaction)
    member = interaction.member
    allowed = member is not None and bool(member.permissions & MANAGER_PERMISSIONS)
    wanted = find_agent(await choices.agents.list_available(location), name)
    done = allowed and wanted is not None and location.guild_id is not None
    await defer(interaction, ephemeral=not done)
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
    if done and wanted is not None:
        await side_messages.agent_changed(location.key.location_id, wanted.name)
