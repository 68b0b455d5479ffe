"""Who answers, where no file says anything else."""

from pathlib import Path

import hikari

from cc_bot.agents import Agents
from cc_bot.discord.agents import Chooser
from cc_bot.discord.places import Places
from cc_bot.domain.locale import Locale
from cc_bot.stores import Stores


def chooser_over(stores: Stores, rest: hikari.api.RESTClient, file: Path = Path("no agents.toml")) -> Chooser:
    return Chooser(Agents(file, tools=(), locale=Locale.JA), stores.agents, Places(rest))
