"""The names of the commands that this program has, found out without Discord."""

import pkgutil
from collections.abc import Sequence

import lightbulb

from cc_bot.discord import extensions
from cc_bot.discord.gateway import gateway_bot
from cc_bot.discord.localization import DEFAULT_LOCALE, command_names


def extension_names() -> Sequence[str]:
    """The modules that commands and buttons are in."""
    return [f"{extensions.__name__}.{module.name}" for module in pkgutil.iter_modules(extensions.__path__)]


async def offered_commands(token: str) -> frozenset[str]:
    """As Discord has them registered, those of message menus included.

    A client wants a bot, and a bot a token of the right form; nothing is connected, and the token goes
    nowhere. Raises ValueError for another form.
    """
    client = lightbulb.client_from_app(
        gateway_bot(token, None, "off"),
        localization_provider=command_names(),
        default_locale=DEFAULT_LOCALE,
    )
    await client.load_extensions(*extension_names())
    builders = [
        await command.as_command_builder(client.default_locale, client.localization_provider)
        for command in client.registered_commands
    ]
    return frozenset(builder.name for builder in builders)
