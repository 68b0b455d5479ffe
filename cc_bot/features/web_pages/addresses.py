"""Finds web addresses, and decides which may be read. A model that has read others' text may put
private data into an address, so it may only read addresses that the user wrote or a search found."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from itertools import islice
from typing import Final
from urllib.parse import quote, urljoin

from cc_bot.features.web_pages.errors import AddressNotGiven, AddressRefused

WEB_PORTS: Final = frozenset({80, 443})
MAX_HOST_LENGTH: Final = 253
MAX_ADDRESS_LENGTH: Final = 2000
MAX_ADDRESSES: Final = 50
_PORTS: Final = {"http": 80, "https": 443}
_URL: Final = re.compile(r"(https?+)://([^/?#\\]*+)((?:[/?][^#]*+)?)(?:#.*+)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY: Final = re.compile(r"(\[[^\[\]]*+\]|[^:\[\]]++)(?::([0-9]{0,5}+))?")
_HOST_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}+(?:\.[a-z0-9_-]{1,63}+)*+")
_PERCENT_ENCODED: Final = re.compile("%[0-9a-f]{2}", re.IGNORECASE)
_INVISIBLE: Final = re.compile("[\x00-\x20\x7f-\xa0\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff]")
_SAFE: Final = "!#$%&'()*+,-./:;=?@[]_~"
"""Characters of paths and queries that are kept. They include `%`, so encoded characters stay encoded."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    scheme: str
    host: str
    port: int
    target: str  # path and query, percent-encoded

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"

    def follow(self, location: str) -> "WebAddress":
        """Return the target of a redirect. Raises AddressRefused."""
        try:
            return parse_address(urljoin(self.url, location.strip(" \t").replace(" ", "%20")))
        except ValueError as error:
            raise AddressRefused from error


def parse_address(text: str, ports: frozenset[int] | None = WEB_PORTS) -> WebAddress:
    """`ports`: the allowed ports; None allows all. Raises AddressRefused, also for credentials."""
    parts = None if len(text) > MAX_ADDRESS_LENGTH or _INVISIBLE.search(text) else _URL.fullmatch(text)
    authority = _AUTHORITY.fullmatch(parts[2]) if parts else None
    if parts is None or authority is None:
        raise AddressRefused
    scheme = parts[1].lower()
    port = int(authority[2] or _PORTS[scheme])
    if (ports is not None and port not in ports) or not 0 < port < 1 << 16:
        raise AddressRefused
    path = parts[3] if parts[3].startswith("/") else f"/{parts[3]}"
    target = _PERCENT_ENCODED.sub(lambda match: match[0].upper(), quote(path, safe=_SAFE, errors="replace"))
    return WebAddress(scheme, _normalize_host(authority[1]), port, target)


def _normalize_host(text: str) -> str:
    if text.startswith("["):
        try:
            address = IPv6Address(text[1:-1])
        except AddressValueError as error:
            raise AddressRefused from error
        if address.scope_id is not None:  # names a network card
            raise AddressRefused
        return str(address)
    name = text.lower().removesuffix(".")
    if not name.isascii() and len(name) <= MAX_HOST_LENGTH:
        import idna  # noqa: PLC0415 - large tables for rare names

        try:
            name = idna.encode(name, uts46=True).decode()
        except UnicodeError as error:
            raise AddressRefused from error
    if len(name) > MAX_HOST_LENGTH or not _HOST_NAME.fullmatch(name):
        raise AddressRefused
    return name


# The end of an address may be unclear in Japanese (…/wiki/東京を見て). All possible ends are
# kept, and the model names the right one.

_ADDRESS: Final = re.compile(
    r"https?+://(?:\[[0-9a-f:.]{2,45}+\])?+[^\s<>\"`|\\^{}\[\]「」『』（）【】〔〕〈〉《》［］｛｝“”、。]*+",
    re.IGNORECASE,
)
_POSSIBLE_END: Final = re.compile(
    r"[！？：；，．…‥→※＊](?=.)|(?<=[^ぁ-ゟ])(?=[ぁ-ゟ])|(?<=[\x21-\x7e])(?=[^\x21-\x7e])"
)
_MAX_ENDS: Final = 8
_PUNCTUATION: Final = ".,:;!?'*_~-！？：；，．…"


def find_addresses(text: str) -> Iterator[WebAddress]:
    """Yield each address with all possible ends."""
    for found in islice(_ADDRESS.finditer(text), MAX_ADDRESSES):
        for candidate in dict.fromkeys(_possible_addresses(found[0])):
            try:
                yield parse_address(candidate)
            except AddressRefused:
                continue


def _possible_addresses(text: str) -> Iterator[str]:
    text = text[: MAX_ADDRESS_LENGTH + 1]
    yield _trim(text)
    yield text
    for end in islice(_POSSIBLE_END.finditer(text), _MAX_ENDS):
        yield _trim(text[: end.start()])


def _trim(text: str) -> str:
    end, unopened = len(text), text.count(")") - text.count("(")
    while end and (text[end - 1] in _PUNCTUATION or (text[end - 1] == ")" and unopened > 0)):
        unopened -= text[end - 1] == ")"
        end -= 1
    return text[:end]


class AddressBook:
    def __init__(self, typed_texts: Iterable[str] = (), seen_texts: Iterable[str] = ()) -> None:
        """`typed_texts`: what users typed, also in referenced messages. `seen_texts`: previews, forwards and
        quotations, too."""
        self._typed_texts = typed_texts
        self._seen_texts = seen_texts
        self._search_results = dict[str, WebAddress]()

    def add(self, address: WebAddress) -> None:
        self._search_results.setdefault(address.url, address)

    def find(self, text: str) -> WebAddress:
        """Return the address that a model wrote. Raises AddressRefused, or AddressNotGiven if unknown."""
        address = parse_address(text.strip().strip("<>"))
        if not self.is_typed_or_found(address) and address not in self.seen_addresses:
            raise AddressNotGiven
        return address

    def is_typed_or_found(self, address: WebAddress) -> bool:
        return address.url in self._search_results or address in self.typed_addresses

    @cached_property
    def typed_addresses(self) -> frozenset[WebAddress]:
        return addresses_in(self._typed_texts)

    @cached_property
    def seen_addresses(self) -> frozenset[WebAddress]:
        return addresses_in(self._seen_texts)


def addresses_in(texts: Iterable[str]) -> frozenset[WebAddress]:
    return frozenset(address for text in texts for address in find_addresses(text))


IpAddress = IPv4Address | IPv6Address

# Networks that some Python versions count as global.
_NOT_PUBLIC_IPV4: Final = (
    IPv4Network("168.63.129.16/32"),  # Azure's platform
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("224.0.0.0/3"),  # multicast
)
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_IPV6: Final = (
    IPv6Network("2001::/23"),  # protocols such as Teredo, with an IPv4 address in it
    IPv6Network("2002::/16"),  # 6to4, likewise
    IPv6Network("3fff::/20"),
)
_NAT64: Final = IPv6Network("64:ff9b::/96")  # contains an IPv4 address


def may_be_public(address: WebAddress) -> bool:
    """Return False for an IP address that is not public."""
    try:
        return is_public(ip_address(address.host))
    except ValueError:
        return True


def is_public(address: IpAddress) -> bool:
    """Return whether an IP address is on the public internet. An embedded IPv4 address decides."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_IPV4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address.scope_id is not None or address not in _GLOBAL_IPV6:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC_IPV6)
