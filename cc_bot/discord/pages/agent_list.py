"""The agents of a place, as a user picks one."""

from collections.abc import Sequence
from typing import Final

from cc_bot.domain.agent import Agent
from cc_bot.texts import Texts

MAX_LIST_CHARACTERS: Final = 1500
"""Of a message's 2000: what stands around the list needs the rest."""


def agent_list(agents: Sequence[Agent], all_words: Texts, *, in_use: str, default: str, gone: bool) -> str:
    """The agents that may be used in a place. `in_use` and `default` are the names of the one that answers
    the reader there and of the channel's; `gone`: the reader chose another one, which can't be used."""
    words, locale = all_words.agents, all_words.locale
    answering = next(agent for agent in agents if agent.name == in_use).display_name(locale)
    note = [f"-# {words.gone.format(display=answering)}"] if gone else []
    if len(agents) == 1:
        return "\n".join((words.only_one.format(display=answering), *note))
    lines: list[str] = []
    for agent in agents:
        marks = (words.in_use if agent.name == in_use else "") + (
            words.channel_default if agent.name == default else ""
        )
        line = f"- **{agent.display_name(locale)}** (`{agent.name}`){marks}"
        if description := agent.description(locale):
            line += f"\n  {description}"
        if sum(len(each) + 1 for each in (*lines, line)) > MAX_LIST_CHARACTERS:
            note.append(f"-# {words.more.format(count=len(agents) - len(lines))}")
            break
        lines.append(line)
    return "\n".join((f"**{words.title}**", *lines, *note, f"-# {words.usage}"))
