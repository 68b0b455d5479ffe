"""The running program tells how it is: numbers for Prometheus, and whether it can do its work."""

import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from tests.end_to_end.stage import Stage, running_stage, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Hang, Reply, Say, calls, says
from tests.web.pages import free_port


@dataclass(frozen=True)
class Port:
    url: str

    async def health(self) -> tuple[int, dict[str, str]]:
        async with aiohttp.ClientSession() as client, client.get(f"{self.url}/healthz") as response:
            return response.status, (await response.json())["problems"]

    async def numbers(self) -> dict[str, float]:
        """By name and labels, as they are written: `cc_bot_turns_total{status="complete"}`."""
        async with aiohttp.ClientSession() as client, client.get(f"{self.url}/metrics") as response:
            families = text_string_to_metric_families(await response.text())
        found = dict[str, float]()
        for family in families:
            for sample in family.samples:
                labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
                found[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
        return found


@pytest.fixture(scope="module")
def port_number() -> int:
    return free_port()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory, port_number: int) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_METRICS_PORT": str(port_number)}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


@pytest.fixture
def port(port_number: int) -> Port:
    return Port(f"http://127.0.0.1:{port_number}")


async def test_they_tell_of_answers_and_name_nobody(
    stage: Stage, ben: User, channel: Channel, port: Port
) -> None:
    stage.model.script(calls(Call("recall", {"query": "cats"})), says("A kingfisher."))
    await stage.ask(ben, channel, "How are my cats?")
    await stage.discord.quiet(0.05)
    numbers = await port.numbers()
    assert numbers['cc_bot_turns_total{status="complete"}'] == 1
    for phase in ("queue", "store", "model_first_token", "model", "tools", "discord"):
        assert numbers[f'cc_bot_phase_seconds_count{{phase="{phase}"}}'] == 1
    assert numbers['cc_bot_tool_calls_total{outcome="ok",tool="recall"}'] == 1
    names = " ".join(numbers)
    for secret in (str(ben.id), str(channel.id), ben.name, "kingfisher", stage.discord.token):
        assert secret not in names


@pytest.mark.slow
async def test_health_follows_the_connection(stage: Stage, ben: User, channel: Channel, port: Port) -> None:
    async def becomes(status: int, problems: dict[str, str]) -> None:
        async with stage.patience():
            while await port.health() != (status, problems):
                pass

    assert '"host": "127.0.0.1"' in stage.program.output  # and so this machine alone is told
    await becomes(200, {})  # it may still be reconnecting from the test before
    await stage.discord.drop_gateway()
    await becomes(503, {"gateway": "disconnected"})
    await stage.discord.resumed()
    await becomes(200, {})
    stage.model.script(Reply(Say("Half"), Hang()))
    await streaming(await stage.begin(ben, channel), "Half")
    assert (await port.numbers())["cc_bot_turns_running"] == 1
    stage.program.send(signal.SIGTERM)
    await becomes(503, {"gateway": "disconnected"})
    await stage.restart()
