import asyncio
import os
from ipaddress import ip_address
from unittest.mock import patch

from cc_bot.app.cli import say_if_possible
from cc_bot.app.discord import run_discord
from cc_bot.config import read_config
from cc_bot.features.web_pages import http
from cc_bot.features.web_pages.addresses import IpAddress, is_public
from cc_bot.features.web_pages.http import Network
from cc_bot.log import configure_logging
from tests.loopback.web import OUTSIDE


def main() -> None:
    port = int(os.environ["TEST_WEB_PORT"])

    async def resolve(name: str, _: int) -> list[tuple[str, int]]:
        return [(OUTSIDE if name.endswith(".example") else str(ip_address(name)), port)]

    def is_allowed(address: IpAddress) -> bool:
        return str(address) == OUTSIDE or is_public(address)

    config = read_config()
    configure_logging(config.log_level, config.log_format)
    with patch.object(http, "PUBLIC_NETWORK", Network(resolve, is_allowed)):
        asyncio.run(run_discord(config, say_if_possible))


if __name__ == "__main__":
    main()
