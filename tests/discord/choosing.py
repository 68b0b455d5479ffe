"""Who answers, and who may ask, where no file says anything else."""

from pathlib import Path

import hikari

from cc_bot.agents import Agents
from cc_bot.discord.access import Gate, Owners
from cc_bot.discord.agents import Chooser
from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.delivery.deliveries import NOTING_S, TurnDeliveries
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.places import Places
from cc_bot.discord.references import References
from cc_bot.domain.clock import utc_now
from cc_bot.domain.locale import Locale
from cc_bot.policy import Policies
from cc_bot.reading.reader import DocumentReader
from cc_bot.spending import Spending
from cc_bot.stores import Stores
from tests.reading.confinement import UNCONFINED


def chooser_over(stores: Stores, rest: hikari.api.RESTClient, file: Path = Path("no agents.toml")) -> Chooser:
    return Chooser(Agents(file, tools=(), locale=Locale.JA), stores.agents, Places(rest, stores.channels))


def deliveries_over(stores: Stores, running: RunningTurns, *, noting_s: float = NOTING_S) -> TurnDeliveries:
    spending = Spending(stores.usage)
    return TurnDeliveries(stores.ledger, stores.channels, spending, running, utc_now, noting_s=noting_s)


def references_over(
    stores: Stores, rest: hikari.api.RESTClient, bot: hikari.User | None = None
) -> References:
    """What questions point at, read over REST alone by a bot that is shown everything."""

    def own_user() -> hikari.User:
        assert bot is not None, "nobody told who the bot is"
        return bot

    return References(
        rest,
        stores,
        gate_over(stores, rest).reads,
        Places(rest, stores.channels),
        AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)),
        own_user,
        reads_all=True,
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
    return Gate(
        Owners(owners, policies, rest),
        policies,
        stores.access,
        Places(rest, stores.channels),
        rest,
        patience_s,
    )
