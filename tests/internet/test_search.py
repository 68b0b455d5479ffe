"""Searching by the configured services."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from cc_bot.features.web_pages.errors import SearchFailed, SearchJsonOff
from cc_bot.features.web_pages.searches import MAX_BYTES, MAX_RESULTS, BraveSearch, SearxngSearch, WebSearch
from tests.loopback.search_server import LoopbackSearchServer, Result

WEATHER = Result(
    "https://weather.example/tokyo", "東京の<strong>天気</strong> &amp; 気温", "晴れの\n<b>見込み</b>です。"
)


class TestSearxng:
    async def test_is_asked_in_the_words_of_the_search(self) -> None:
        async with LoopbackSearchServer(WEATHER) as server:
            [found] = await SearxngSearch(f"{server.url}/").search("東京 天気&format=html")
        assert server.queries == [("searxng", "東京 天気&format=html")]
        assert (found.address.url, found.title, found.snippet) == (
            "https://weather.example/tokyo",
            "東京の天気 & 気温",
            "晴れの 見込みです。",
        )

    async def test_that_answers_no_programs_or_something_else_or_nothing_has_failed(self) -> None:
        async with LoopbackSearchServer(WEATHER, json=False) as server:
            with pytest.raises(SearchJsonOff):
                await SearxngSearch(server.url).search("天気")
        answers: list[Any] = [{}, [], {"results": "?"}, {"results": None}, "?", 1]
        async with LoopbackSearchServer() as server:
            for server.broken in (*answers, {"results": [], "more": "x" * MAX_BYTES}):
                with pytest.raises(SearchFailed):
                    await SearxngSearch(server.url).search("天気")
        with pytest.raises(SearchFailed):
            await SearxngSearch("http://127.0.0.1:1").search("天気")

    async def test_is_believed_little(self) -> None:
        odd = [
            Result("javascript:alert(1)", "a"),
            Result("http://user@b.example/", "b"),
            Result("file:///etc/passwd", "c"),
            Result("http://127.0.0.2/in", "内部"),
            Result("http://192.168.1.1/", "inside"),
            Result("https://[::ffff:10.0.0.1]/", "内部"),
            *(Result(f"https://{n}.example/", "長い" * 500, "長い" * 500) for n in range(20)),
        ]
        async with LoopbackSearchServer(*odd) as server:
            found = await SearxngSearch(server.url).search("天気")
        assert [each.address.host for each in found] == [f"{n}.example" for n in range(MAX_RESULTS)]
        assert max(len(each.title) + len(each.snippet) for each in found) <= 520


class TestBrave:
    async def test_is_asked_with_its_key_and_may_find_nothing(self) -> None:
        async with LoopbackSearchServer(WEATHER) as server:
            [found] = await BraveSearch(server.key, server.brave_url).search("東京 天気")
        assert server.queries == [("brave", "東京 天気")]
        assert found.title == "東京の天気 & 気温"
        async with LoopbackSearchServer() as server:
            assert list(await BraveSearch(server.key, server.brave_url).search("天気")) == []


class TestServices:
    async def test_are_asked_in_their_order(self) -> None:
        async with LoopbackSearchServer(WEATHER) as server:
            both = WebSearch([SearxngSearch(server.url), BraveSearch(server.key, server.brave_url)])
            assert len(await both.search("天気")) == 1
            assert server.queries == [("searxng", "天気")]
            server.json = False
            assert len(await both.search("気温")) == 1
        assert [query for query in server.queries if query[0] == "brave"] == [("brave", "気温")]

    async def test_log_no_word_of_a_search(self) -> None:
        async with LoopbackSearchServer(WEATHER) as server:
            with capture_logs() as records:
                await WebSearch([SearxngSearch(server.url)]).search("秘密の言葉")
        assert [(each["event"], each["service"]) for each in records] == [("searched", "searxng")]
        assert "秘密" not in str(records)
