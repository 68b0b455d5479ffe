"""What the doctor finds out about the model and the encoder: asked over real sockets."""

from collections.abc import AsyncIterator

import pytest

from cc_bot.doctor.checkup import Finding
from cc_bot.doctor.surroundings import check_embedder, check_model, check_speaker, check_transcriber
from cc_bot.domain import Locale
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.llm.openai import OpenAISpeaker, OpenAITranscriber, reach
from cc_bot.texts import texts
from tests.loopback.model_server import CutConnection, LoopbackModelServer, Reply, fails, hangs, says
from tests.loopback.speech_server import Heard, LoopbackSpeechServer
from tests.stores.encoders import TopicEncoder

JA = texts(Locale.JA)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackModelServer]:
    async with LoopbackModelServer() as server:
        yield server


async def asked(server: LoopbackModelServer, timeout_s: float = 5) -> Finding:
    async def ask() -> None:
        await reach("small", api_key="sk-secret", base_url=server.base_url, timeout_s=timeout_s)

    [finding] = await check_model("small", ask, JA)
    assert "small" in finding.detail
    assert "secret" not in str(finding)
    return finding


class TestAModel:
    async def test_that_answers_is_well_and_was_asked_for_one_token(
        self, server: LoopbackModelServer
    ) -> None:
        assert (await asked(server)).verdict == "ok"
        [request] = server.requests
        assert request.body["max_completion_tokens"] == 1
        assert request.body["model"] == "small"

    @pytest.mark.parametrize(
        ("status", "mend"),
        [
            (401, JA.doctor.model_refused_key_mend),
            (402, JA.doctor.model_refused_key_mend),
            (404, JA.doctor.model_refused_request_mend),
            (429, JA.doctor.model_unavailable_mend),
            (500, JA.doctor.model_unavailable_mend),
        ],
    )
    async def test_that_refuses_fails_with_the_way_to_mend_it(
        self, server: LoopbackModelServer, status: int, mend: str
    ) -> None:
        server.script(fails(status, "quota of sk-secret"))
        finding = await asked(server)
        assert (finding.verdict, finding.mend) == ("failed", mend)
        assert len(server.requests) == 1

    async def test_that_hangs_or_says_nothing_fails(self, server: LoopbackModelServer) -> None:
        server.script(hangs(), Reply(CutConnection()), Reply())
        for _ in range(3):
            assert (await asked(server, timeout_s=0.2)).verdict == "failed"

    async def test_that_nobody_serves_fails(self, server: LoopbackModelServer) -> None:
        async def ask() -> None:
            await reach("small", api_key=None, base_url="http://127.0.0.1:1/v1", timeout_s=5)

        [finding] = await check_model("small", ask, JA)
        assert finding.mend == JA.doctor.model_unavailable_mend

    async def test_that_knows_only_the_older_word_for_brevity_is_asked_in_that(
        self, server: LoopbackModelServer
    ) -> None:
        server.script(fails(400, "Unsupported parameter: 'max_completion_tokens'"), says("はい"))
        assert (await asked(server)).verdict == "ok"
        assert server.requests[1].body["max_tokens"] == 1

    async def test_that_must_think_first_is_asked_without_a_bound(self, server: LoopbackModelServer) -> None:
        refused = fails(400, "Could not finish the message because max_tokens was reached")
        server.script(refused, refused, says("はい"))
        assert (await asked(server)).verdict == "ok"
        assert not {"max_tokens", "max_completion_tokens"} & server.requests[2].body.keys()

    async def test_whose_name_is_unknown_is_not_asked_again(self, server: LoopbackModelServer) -> None:
        server.script(fails(400, "The model does not exist"))
        assert (await asked(server)).verdict == "failed"
        assert len(server.requests) == 1


class TestAnEncoder:
    async def test_that_works_is_well(self) -> None:
        [finding] = await check_embedder(TopicEncoder(), JA)
        assert finding.verdict == "ok"

    async def test_that_does_not_is_a_warning_for_search_goes_on(self) -> None:
        [finding] = await check_embedder(TopicEncoder(trouble=[ModelUnavailable()]), JA)
        assert (finding.verdict, "topics" in finding.detail) == ("warning", True)


class TestSpeech:
    async def test_that_nobody_asked_for_is_well(self) -> None:
        [hearing], [speaking] = await check_transcriber(None, JA), await check_speaker(None, JA)
        assert (hearing.verdict, speaking.verdict) == ("ok", "ok")

    async def test_that_works_is_well_and_was_asked_for_a_second(self) -> None:
        async with LoopbackSpeechServer(Heard("")) as server:
            transcriber = OpenAITranscriber("ears", base_url=server.base_url)
            speaker = OpenAISpeaker("mouth", "alloy", base_url=server.base_url)
            [hearing], [speaking] = await check_transcriber(transcriber, JA), await check_speaker(speaker, JA)
            assert [finding.verdict for finding in (hearing, speaking)] == ["ok", "ok"]
            assert (len(server.heard[0].data), server.spoken[0].text) == (32_044, "OK")
            await transcriber.close()
            await speaker.close()

    async def test_that_does_not_is_a_warning_for_who_types_is_answered(self) -> None:
        async with LoopbackSpeechServer(Heard(status=401)) as server:
            server.script_speech(Heard(status=401))
            transcriber = OpenAITranscriber("ears", base_url=server.base_url)
            speaker = OpenAISpeaker("mouth", "alloy", base_url=server.base_url)
            [hearing], [speaking] = await check_transcriber(transcriber, JA), await check_speaker(speaker, JA)
            assert [finding.verdict for finding in (hearing, speaking)] == ["warning", "warning"]
            assert ("ears" in hearing.detail, "mouth" in speaking.detail) == (True, True)
            await transcriber.close()
            await speaker.close()
