"""Whether pages can be read and the web be searched, as doctor tells it."""

import pytest

from cc_bot.doctor.surroundings import check_reading, check_search
from cc_bot.domain import Locale
from cc_bot.internet.search import BraveSearch, SearxngSearch
from cc_bot.texts import Texts, texts
from tests.loopback.search_server import LoopbackSearchServer, Result

JA, EN = texts(Locale.JA), texts(Locale.EN)


class TestReading:
    async def test_is_told_as_it_is(self) -> None:
        [finding] = await check_reading(JA, wanted=True)
        assert (finding.verdict, finding.detail) == ("ok", JA.doctor.reading_ok)
        [finding] = await check_reading(EN, wanted=False)
        assert (finding.verdict, finding.detail) == ("ok", EN.doctor.reading_off)


class TestSearch:
    async def test_is_tried_with_each_service(self) -> None:
        async with LoopbackSearchServer(Result("https://a.example/", "a")) as server:
            services = (SearxngSearch(server.url), BraveSearch(server.key, server.brave_url))
            found = await check_search(services, EN)
        assert [finding.verdict for finding in found] == ["ok", "ok"]
        assert [kind for kind, _ in server.queries] == ["searxng", "brave"]

    async def test_that_answers_no_programs_is_told_with_what_mends_it(self) -> None:
        async with LoopbackSearchServer(json=False) as server:
            for words in (JA, EN):
                [finding] = await check_search([SearxngSearch(server.url)], words)
                assert finding.verdict == "failed"
                assert "search.formats" in finding.mend

    @pytest.mark.parametrize("words", [JA, EN])
    async def test_that_does_not_answer_is_told_by_its_setting(self, words: Texts) -> None:
        [own] = await check_search([SearxngSearch("http://127.0.0.1:1")], words)
        [brave] = await check_search([BraveSearch("secret-key", "http://127.0.0.1:1/")], words)
        assert ("CC_BOT_SEARCH_URL" in own.mend, "CC_BOT_BRAVE_KEY" in brave.mend) == (True, True)
        assert "secret-key" not in f"{own}{brave}"

    async def test_that_nobody_wants_is_no_fault(self) -> None:
        [finding] = await check_search((), JA)
        assert (finding.verdict, finding.detail) == ("ok", JA.doctor.search_none)
