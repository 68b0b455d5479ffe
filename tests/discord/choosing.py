"""Who answers, and who may ask, where no file says anything else."""

from pathlib import Path

import hikari

from cc_bot.agents import Agents
from cc_bot.discord.access.gate import Gate, Owners
from cc_bot.discord.agents import Chooser
from cc_bot.discord.places import Places
from cc_bot.domain.locale import Locale
from cc_bot.policy import Policies
from cc_bot.stores import Stores


def chooser_over(stores: Stores, rest: hikari.api.RESTClient, file: Path = Path("no agents.toml")) -> Chooser:
    return Chooser(
        Agents(file, tools=(), locale=Locale.JA), stores.agents, stores.channel_models, Places(rest)
    )


def gate_over(
    stores: Stores,
    rest: hikari.api.RESTClient,
    *,
    owners: frozenset[int] = frozenset(),
    file: Path = Path("no policy.toml"),
    patience_s: float = 1.0,
) -> Gate:
    policies = Policies(file, locale=Locale.JA)
    return Gate(Owners(owners, policies), policies, stores.access, Places(rest), rest, patience_s)
