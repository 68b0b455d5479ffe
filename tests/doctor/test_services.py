from collections.abc import AsyncIterator

import pytest

from cc_bot.chat.checks import Finding
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.services import check_model
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.features.memory.doctor import check_embedder
from cc_bot.features.voice.doctor import check_speaker, check_transcriber
from cc_bot.features.voice.openai import OpenAISpeaker, OpenAITranscriber
from cc_bot.features.web_pages.doctor import check_reading, check_search
from cc_bot.features.web_pages.reader import PageReader
from cc_bot.features.web_pages.searches import BraveSearch, SearxngSearch
from cc_bot.features.web_pages.texts import WebPageCheckTexts
from cc_bot.llm.model import ToolSchema
from cc_bot.llm.openai import OpenAIChatModel
from cc_bot.texts import texts
from tests.loopback.model_server import (
    Call,
    CutConnection,
    Json,
    LoopbackModelServer,
    Reply,
    calls,
    fails,
    hangs,
    says,
)
from tests.loopback.search_server import LoopbackSearchServer, Result
from tests.loopback.speech_server import Heard, LoopbackSpeechServer
from tests.loopback.web import Answer, LoopbackWeb
from tests.reading.confinement import UNCONFINED
from tests.stores.encoders import TopicEncoder

JA, EN = texts(Locale.JA), texts(Locale.EN)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackModelServer]:
    async with LoopbackModelServer() as server:
        yield server


RECALL = ToolSchema("recall", "Look it up.", {"type": "object", "properties": {"query": {"type": "string"}}})


async def asked(base_url: str, timeout_s: float = 5, name: str = "small") -> Finding:
    model = OpenAIChatModel(name, api_key="sk-secret", base_url=base_url, timeout_s=timeout_s, max_retries=0)
    finding = await check_model(name, model, [RECALL], JA)
    await model.close()
    assert name in finding.detail
    assert "secret" not in str(finding)
    return finding


def fix_of(sentence: str) -> str:
    return sentence.partition("\n→ ")[2]


def told(finding: Finding, *, tools: bool | None, pictures: bool, changes: str = "") -> bool:
    marks = {True: JA[DoctorTexts].model_yes, False: JA[DoctorTexts].model_no}
    changed = JA[DoctorTexts].model_changed.format(changes=changes) if changes else ""
    expected = JA[DoctorTexts].model_ok.format(
        model="",
        seconds="",
        tools=JA[DoctorTexts].model_not_called if tools is None else marks[tools],
        pictures=marks[pictures],
        changes=changed,
    )
    return finding.detail.endswith(expected.partition("、")[2])


class TestAModel:
    async def test_is_asked_as_in_a_turn_and_what_it_can_do_is_told(
        self, server: LoopbackModelServer
    ) -> None:
        server.script(calls(Call("recall", {"query": "doctor"})), says("何も"), says("はい"), says("赤"))
        found = await asked(server.base_url)
        assert found.verdict == "ok"
        assert told(found, tools=True, pictures=True)
        assert [each["role"] for each in server.requests[2].messages].count("system") == 2
        assert ["tools" in request.body for request in server.requests] == [True, True, True, False]

    async def test_that_takes_neither_tools_nor_pictures_is_a_warning(
        self, server: LoopbackModelServer
    ) -> None:
        def simple(body: Json) -> Reply | str:
            if "tools" in body:
                return fails(400, "small does not support tools")
            return fails(400, "unknown variant `image_url`") if "image_url" in str(body) else "はい"

        server.responder = simple
        found = await asked(server.base_url)
        assert (found.verdict, found.fix) == ("warning", JA[DoctorTexts].model_no_tools_fix)
        assert told(found, tools=False, pictures=False, changes="no tools, no images")

    async def test_that_refuses_a_picture_in_words_of_its_own_is_told_to_take_none(
        self, server: LoopbackModelServer
    ) -> None:
        server.responder = lambda body: (
            fails(400, "messages[1].content must be a string") if "image_url" in str(body) else "はい"
        )
        assert told(await asked(server.base_url), tools=None, pictures=False)

    async def test_that_refuses_fails_with_the_way_to_mend_it_and_is_not_asked_again(
        self, server: LoopbackModelServer
    ) -> None:
        expected = {
            401: fix_of(JA[DoctorTexts].model_refused_key),
            402: fix_of(JA[DoctorTexts].model_refused_key),
            404: fix_of(JA[DoctorTexts].model_refused_request),
            429: fix_of(JA[DoctorTexts].model_unavailable),
            500: fix_of(JA[DoctorTexts].model_unavailable),
        }
        server.script(*(fails(status, "quota of sk-secret") for status in expected))
        found = {status: await asked(server.base_url) for status in expected}
        assert {status: finding.fix for status, finding in found.items()} == expected
        assert {finding.verdict for finding in found.values()} == {"failed"}
        assert len(server.requests) == len(expected)
        assert (await asked(server.url)).fix == fix_of(JA[DoctorTexts].model_no_path)

    async def test_that_hangs_or_says_nothing_or_is_not_there_fails(
        self, server: LoopbackModelServer
    ) -> None:
        server.script(hangs(), Reply(CutConnection()), Reply())
        found = [await asked(server.base_url, timeout_s=0.2) for _ in range(3)]
        found.append(await asked("http://127.0.0.1:1/v1"))
        assert {finding.verdict for finding in found} == {"failed"}
        assert found[0].fix == fix_of(JA[DoctorTexts].model_unavailable)
        assert found[-1].fix == fix_of(JA[DoctorTexts].model_unreachable)
        assert "127.0.0.1:1" in found[-1].detail


async def test_an_encoder_that_does_not_work_is_a_warning_for_search_goes_on() -> None:
    works = await check_embedder(TopicEncoder(), JA, wanted=True)
    fails_ = await check_embedder(TopicEncoder(trouble=[ModelUnavailable()]), JA, wanted=True)
    assert (works.verdict, fails_.verdict, "topics" in fails_.detail) == ("ok", "warning", True)


async def speech(server: LoopbackSpeechServer) -> list[Finding]:
    transcriber = OpenAITranscriber("ears", base_url=server.base_url)
    speaker = OpenAISpeaker("mouth", "alloy", base_url=server.base_url)
    found = [await check_transcriber(transcriber, JA), await check_speaker(speaker, JA)]
    await transcriber.close()
    await speaker.close()
    return found


async def test_speech_that_does_not_work_is_a_warning_for_who_types_is_answered() -> None:
    async with LoopbackSpeechServer(Heard("")) as server:
        found = await speech(server)
        assert (len(server.heard[0].data), server.spoken[0].text) == (32_044, "OK")  # a second
    unwanted = [await check_transcriber(None, JA), await check_speaker(None, JA)]
    assert [finding.verdict for finding in (*found, *unwanted)] == ["ok", "ok", "off", "off"]
    async with LoopbackSpeechServer(Heard(status=401)) as server:
        server.script_speech(Heard(status=401))
        found = await speech(server)
    assert [finding.verdict for finding in found] == ["warning", "warning"]


class TestPagesAndSearch:
    async def test_are_well_where_they_work_and_where_nobody_wants_them(self) -> None:
        async with LoopbackSearchServer(Result("https://a.example/", "a")) as server:
            services = (SearxngSearch(server.url), BraveSearch(server.key, server.brave_url))
            found = [*await check_search(services, EN)]
        assert [kind for kind, _ in server.queries] == ["searxng", "brave"]
        found += await check_search((), EN)
        async with LoopbackWeb({"/": Answer(b"A page.", "text/plain")}) as web:
            pages, page = PageReader(web.network(), unconfined=UNCONFINED), "http://a.example/"
            found += await check_reading(pages, EN, enabled=True, page=page)
            assert await check_reading(None, EN, enabled=True) == []
            [missing] = await check_reading(pages, EN, enabled=True, page=f"{page}none")
        assert missing.verdict == "warning"
        found += await check_reading(None, EN, enabled=False)
        assert {finding.verdict for finding in found} == {"ok", "off"}
        told, said = [finding.detail for finding in found[2:]], EN[WebPageCheckTexts]
        assert told == [said.search_none, said.reading_ok, said.reading_off]

    async def test_that_do_not_answer_are_told_with_what_mends_it_and_without_the_key(self) -> None:
        async with LoopbackSearchServer(json=False) as server:
            [no_json] = await check_search([SearxngSearch(server.url)], JA)
        [own] = await check_search([SearxngSearch("http://127.0.0.1:1")], JA)
        [brave] = await check_search([BraveSearch("secret-key", "http://127.0.0.1:1/")], JA)
        assert {each.verdict for each in (no_json, own, brave)} == {"failed"}
        enabled = ("search.formats", "CC_BOT_SEARCH_URL", "CC_BOT_BRAVE_KEY")
        assert all(word in each.fix for word, each in zip(enabled, (no_json, own, brave), strict=True))
        assert "secret-key" not in f"{own}{brave}"
