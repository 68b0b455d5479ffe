"""What the doctor finds out about models, the encoder, speech, pages and search: asked over real sockets."""

from collections.abc import AsyncIterator

import pytest

from cc_bot.doctor.checkup import Finding
from cc_bot.doctor.surroundings import (
    check_embedder,
    check_model,
    check_reading,
    check_search,
    check_speaker,
    check_transcriber,
)
from cc_bot.domain import Locale
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.internet.search import BraveSearch, SearxngSearch
from cc_bot.llm.openai import OpenAIChatModel, OpenAISpeaker, OpenAITranscriber
from cc_bot.texts import texts
from tests.llm.asking import hear
from tests.loopback.model_server import CutConnection, LoopbackModelServer, Reply, fails, hangs
from tests.loopback.search_server import LoopbackSearchServer, Result
from tests.loopback.speech_server import Heard, LoopbackSpeechServer
from tests.stores.encoders import TopicEncoder

JA, EN = texts(Locale.JA), texts(Locale.EN)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackModelServer]:
    async with LoopbackModelServer() as server:
        yield server


async def asked(base_url: str, timeout_s: float = 5) -> Finding:
    async def ask() -> None:
        model = OpenAIChatModel(
            "small", api_key="sk-secret", base_url=base_url, timeout_s=timeout_s, max_retries=0
        )
        try:
            await hear(model)
        finally:
            await model.close()

    [finding] = await check_model("small", ask, JA)
    assert "small" in finding.detail
    assert "secret" not in str(finding)
    return finding


class TestAModel:
    async def test_that_answers_is_well(self, server: LoopbackModelServer) -> None:
        assert (await asked(server.base_url)).verdict == "ok"
        [request] = server.requests
        assert request.body["model"] == "small"

    async def test_that_refuses_fails_with_the_way_to_mend_it_and_is_not_asked_again(
        self, server: LoopbackModelServer
    ) -> None:
        expected = {
            401: JA.doctor.model_refused_key_mend,
            402: JA.doctor.model_refused_key_mend,
            404: JA.doctor.model_refused_request_mend,
            429: JA.doctor.model_unavailable_mend,
            500: JA.doctor.model_unavailable_mend,
        }
        server.script(*(fails(status, "quota of sk-secret") for status in expected))
        found = {status: await asked(server.base_url) for status in expected}
        assert {status: finding.mend for status, finding in found.items()} == expected
        assert {finding.verdict for finding in found.values()} == {"failed"}
        assert len(server.requests) == len(expected)

    async def test_that_hangs_or_says_nothing_or_is_not_there_fails(
        self, server: LoopbackModelServer
    ) -> None:
        server.script(hangs(), Reply(CutConnection()), Reply())
        found = [await asked(server.base_url, timeout_s=0.2) for _ in range(3)]
        found.append(await asked("http://127.0.0.1:1/v1"))
        assert {finding.verdict for finding in found} == {"failed"}
        assert found[-1].mend == JA.doctor.model_unavailable_mend


async def test_an_encoder_that_does_not_work_is_a_warning_for_search_goes_on() -> None:
    [works] = await check_embedder(TopicEncoder(), JA)
    [fails_] = await check_embedder(TopicEncoder(trouble=[ModelUnavailable()]), JA)
    assert (works.verdict, fails_.verdict, "topics" in fails_.detail) == ("ok", "warning", True)


class TestSpeech:
    async def found(self, server: LoopbackSpeechServer) -> list[Finding]:
        transcriber = OpenAITranscriber("ears", base_url=server.base_url)
        speaker = OpenAISpeaker("mouth", "alloy", base_url=server.base_url)
        found = [*await check_transcriber(transcriber, JA), *await check_speaker(speaker, JA)]
        await transcriber.close()
        await speaker.close()
        return found

    async def test_that_works_is_well_and_was_asked_for_a_second(self) -> None:
        async with LoopbackSpeechServer(Heard("")) as server:
            found = await self.found(server)
            assert (len(server.heard[0].data), server.spoken[0].text) == (32_044, "OK")
        unwanted = [*await check_transcriber(None, JA), *await check_speaker(None, JA)]
        assert [finding.verdict for finding in (*found, *unwanted)] == ["ok"] * 4

    async def test_that_does_not_is_a_warning_for_who_types_is_answered(self) -> None:
        async with LoopbackSpeechServer(Heard(status=401)) as server:
            server.script_speech(Heard(status=401))
            found = await self.found(server)
        assert [finding.verdict for finding in found] == ["warning", "warning"]
        assert ["ears" in found[0].detail, "mouth" in found[1].detail] == [True, True]


class TestPagesAndSearch:
    async def test_are_well_where_they_work_and_where_nobody_wants_them(self) -> None:
        async with LoopbackSearchServer(Result("https://a.example/", "a")) as server:
            services = (SearxngSearch(server.url), BraveSearch(server.key, server.brave_url))
            found = [*await check_search(services, EN)]
        assert [kind for kind, _ in server.queries] == ["searxng", "brave"]
        found += await check_search((), EN)
        found += [*await check_reading(EN, wanted=True), *await check_reading(EN, wanted=False)]
        assert {finding.verdict for finding in found} == {"ok"}
        told = [finding.detail for finding in found[2:]]
        assert told == [EN.doctor.search_none, EN.doctor.reading_ok, EN.doctor.reading_off]

    async def test_that_do_not_answer_are_told_with_what_mends_it_and_without_the_key(self) -> None:
        async with LoopbackSearchServer(json=False) as server:
            [no_json] = await check_search([SearxngSearch(server.url)], JA)
        [own] = await check_search([SearxngSearch("http://127.0.0.1:1")], JA)
        [brave] = await check_search([BraveSearch("secret-key", "http://127.0.0.1:1/")], JA)
        assert {each.verdict for each in (no_json, own, brave)} == {"failed"}
        wanted = ("search.formats", "CC_BOT_SEARCH_URL", "CC_BOT_BRAVE_KEY")
        assert [word in each.mend for word, each in zip(wanted, (no_json, own, brave), strict=True)] == [
            True
        ] * 3
        assert "secret-key" not in f"{own}{brave}"
