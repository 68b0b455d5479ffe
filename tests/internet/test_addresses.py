"""Addresses: found in texts, compared, and allowed for a turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.web_pages.addresses import AddressBook, find_addresses, parse_address
from cc_bot.features.web_pages.errors import AddressNotGiven, AddressRefused

TARGETS = st.text(st.sampled_from("abcXYZ019-._~/?&=%+あ東ア"), max_size=40)
HOSTS = st.from_regex(r"\A[a-z0-9]{1,12}(\.[a-z0-9]{1,8}){1,3}\Z")


def urls(text: str) -> list[str]:
    return [address.url for address in find_addresses(text)]


IN_TEXTS = {
    "https://example.com/a を読んで": "https://example.com/a",
    "https://example.com/aを読んで": "https://example.com/a",
    "「https://example.com/あ」を読んで、要約して": "https://example.com/%E3%81%82",
    "『https://example.com/a』（https://example.com/b）": "https://example.com/b",
    "記事（https://example.com/a）です。": "https://example.com/a",
    "https://example.com/a、https://example.com/b。": "https://example.com/b",
    "https://ja.example/wiki/東京を見て": "https://ja.example/wiki/%E6%9D%B1%E4%BA%AC",
    "https://ja.example/けいおん！": "https://ja.example/%E3%81%91%E3%81%84%E3%81%8A%E3%82%93%EF%BC%81",
    "見て→https://example.com/a！": "https://example.com/a",
    "<https://example.com/a?b=c>": "https://example.com/a?b=c",
    "[here](https://example.com/a_(b)) is it": "https://example.com/a_(b)",
    "(see https://example.com/a).": "https://example.com/a",
    "**https://example.com/a**": "https://example.com/a",
    "||https://example.com/a||": "https://example.com/a",
    "> https://example.com/a": "https://example.com/a",
    "HTTPS://Example.COM": "https://example.com/",
    "https://日本語.jp/": "https://xn--wgv71a119e.jp/",
    "http://[::1]/a": "http://[::1]/a",
}
NORMAL = {
    "HTTP://EXAMPLE.com:80": "http://example.com/",
    "https://example.com:443/a#b": "https://example.com/a",
    "https://example.com:80/": "https://example.com:80/",
    "https://example.com?a=B": "https://example.com/?a=B",
    "https://example.com./": "https://example.com/",
    "https://ＥＸＡＭＰＬＥ.com/": "https://example.com/",
    "https://example.com/%e3%81%82": "https://example.com/%E3%81%82",
    "https://example.com/a/../b//c": "https://example.com/a/../b//c",
    "http://[2001:DB8:0::1]/": "http://[2001:db8::1]/",
}
NONE_OF_THE_WEB = [
    *("file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "", "https:///a", "http://[::1"),
    *("https://user@example.com/", "https://user:word@example.com/", "https://good.example\\@bad.example/"),
    *("https://example.com:8080/", "https://example.com:22/", "https://example.com:0443a/"),
    *("https://exa mple.com/", "https://example.com/a\r\nX: y", "https://example.com/\u202e"),
    *("http://[fe80::1%25eth0]/", f"https://{'a' * 300}.com/", f"https://example.com/{'a' * 3000}"),
]


class TestText:
    def test_gives_the_addresses_that_stand_in_it_and_no_others(self) -> None:
        assert [(text, urls(text)) for text, url in IN_TEXTS.items() if url not in urls(text)] == []
        for text in (
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://",
            "http:/a.b",
            "あ",
        ):
            assert urls(text) == []

    def test_that_is_all_addresses_is_read_in_no_time_and_not_for_ever(self) -> None:
        assert 0 < len(urls("https://a.example/あいうア " * 2000)) < 1000

    @given(HOSTS, TARGETS)
    def test_between_brackets_and_blanks_gives_the_address_as_it_was_written(
        self, host: str, target: str
    ) -> None:
        written = f"https://{host}/{target}"
        for text in (f"これ {written} です", f"「{written}」を読んで", f"<{written}>", f"{written}\n次"):
            assert parse_address(written).url in urls(text)

    @given(st.text(max_size=200))
    def test_of_any_kind_gives_addresses_that_are_their_own_normal_form(self, text: str) -> None:
        for url in urls(f"https://{text} http://a.example/{text}"):
            assert parse_address(url).url == url
            assert url.isascii()


class TestNormalForm:
    def test_leaves_path_and_query_as_they_are(self) -> None:
        assert {written: parse_address(written).url for written in NORMAL} == NORMAL

    def test_of_what_is_none_of_the_web_is_refused(self) -> None:
        for written in NONE_OF_THE_WEB:
            with pytest.raises(AddressRefused):
                parse_address(written)


class TestBook:
    def test_finds_what_the_user_wrote_however_the_model_spells_it(self) -> None:
        book = AddressBook(["https://Example.com/wiki/東京?a=%E3%81%82 を読んで"])
        asked = "https://example.com/wiki/%E6%9D%B1%E4%BA%AC?a=%E3%81%82"
        for named in ("https://example.com/wiki/東京?a=%E3%81%82", asked, asked.lower(), f" <{asked}#top> "):
            assert book.find(named).url == asked

    def test_finds_nothing_that_was_made_up(self) -> None:
        others = ("example.com/a?secret=1", "example.com/a/", "example.com/A", "secret.example.com/a")
        for named in (*others, "example.com.evil.example/a", "example.com:80/a"):
            with pytest.raises(AddressNotGiven):
                AddressBook(["https://example.com/a"]).find(f"https://{named}")
        book = AddressBook()
        with pytest.raises(AddressNotGiven):
            book.find("https://found.example/a")
        book.add(parse_address("https://found.example/a"))  # by a search
        assert book.find("https://found.example/a").host == "found.example"
