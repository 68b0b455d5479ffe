"""The HTTP proxy of the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

aiohttp's `trust_env` misses Discord's gateway (WSS_PROXY), and refuses tokens where ~/.netrc knows the host.
"""

from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_SCHEMES: Final = {"ws": "http", "wss": "https"}


def proxy_for(url: str) -> str | None:
    """Return the proxy's URL; None without a proxy, or if NO_PROXY names the host."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxy = getproxies().get(_SCHEMES.get(parts.scheme, parts.scheme))
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
