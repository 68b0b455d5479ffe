"""Which IP addresses are public."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.web_pages.addresses import is_public

PUBLIC = [
    *("1.1.1.1", "93.184.215.14", "172.32.0.1", "100.63.255.255", "2606:4700::1111", "::ffff:1.1.1.1"),
    "64:ff9b::101:101",
]
NOT_PUBLIC = [
    *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16"),
    *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
    *("192.168.0.1", "198.18.0.1", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254"),
    *("::ffff:168.63.129.16", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1"),
    *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"),
]


class TestAddress:
    def test_of_the_internet_is_public(self) -> None:
        assert [each for each in PUBLIC if not is_public(ip_address(each))] == []

    def test_of_a_machine_or_a_network_is_not(self) -> None:
        assert [each for each in NOT_PUBLIC if is_public(ip_address(each))] == []

    @given(st.ip_addresses(v=4))
    def test_that_is_mapped_is_what_it_stands_for(self, address: IPv4Address) -> None:
        assert is_public(IPv6Address(f"::ffff:{address}")) == is_public(address)
        assert is_public(IPv6Address(int(IPv6Address("64:ff9b::")) + int(address))) == is_public(address)
        assert not is_public(IPv6Address(int(IPv6Address("2002::")) + (int(address) << 80)))
