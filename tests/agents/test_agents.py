"""The file while the program runs: read again when it is another one, kept as it was while it is wrong."""

import asyncio
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.agents import Agents
from cc_bot.domain.errors import InvalidAgents
from cc_bot.domain.locale import Locale


def make_agents(path: Path, *, required: bool = False) -> Agents:
    return Agents(path, tools=("recall",), locale=Locale.EN, required=required)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agents.toml"


def write(file: Path, text: str | bytes) -> None:
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def remove(file: Path) -> None:
    file.unlink()


def replaced(file: Path, text: str) -> None:
    """Another file of the same age, in its place."""
    state = file.stat()
    other = file.with_name("new")
    write(other, text)
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(file)


class TestStart:
    async def test_without_a_file_has_the_default_agent(self, file: Path) -> None:
        assert list(await make_agents(file).load()) == ["default"]

    async def test_reads_the_file(self, file: Path) -> None:
        write(file, "[agents.tutor]")
        assert list(await make_agents(file).load()) == ["default", "tutor"]

    async def test_reads_a_file_with_a_byte_order_mark(self, file: Path) -> None:
        write(file, b"\xef\xbb\xbf[agents.tutor]\r\n")
        assert list(await make_agents(file).load()) == ["default", "tutor"]

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"[agents.tutor]\ntemperature = 3", "[agents.tutor] temperature"),
            ("[agents.a]\nprompt = '先生'".encode("shift_jis"), "Save it in UTF-8."),
            (b"#" * 1_000_001, "too large (up to 1000 KB)"),
        ],
    )
    async def test_ends_with_what_is_wrong_and_where(self, file: Path, content: bytes, told: str) -> None:
        write(file, content)
        with pytest.raises(InvalidAgents) as refused:
            await make_agents(file).load()
        assert told in str(refused.value.params["detail"])
        assert refused.value.params["path"] == str(file)

    async def test_ends_when_there_is_a_folder_in_its_place(self, file: Path) -> None:
        with pytest.raises(InvalidAgents, match="no ordinary file"):
            await make_agents(file.parent).load()

    async def test_ends_when_the_file_that_the_operator_named_is_missing(self, file: Path) -> None:
        with pytest.raises(InvalidAgents, match="CC_BOT_AGENTS_FILE"):
            await make_agents(file, required=True).load()


class TestChange:
    async def test_is_seen_at_the_next_use(self, file: Path) -> None:
        agents = make_agents(file)
        await agents.load()
        write(file, "[agents.tutor]")
        tutor = await agents.get("tutor")
        write(file, '[agents.tutor]\nprompt = "Now strict."')
        changed = await agents.get("tutor")
        assert tutor is not None
        assert changed is not None
        assert (tutor.prompt, changed.prompt) == ("", "Now strict.")

    async def test_of_the_same_length_is_seen_too(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        write(file, "[agents.dog]")
        assert list(await agents.all()) == ["default", "dog"]

    async def test_by_another_file_in_its_place_is_seen(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        replaced(file, "[agents.dog]")
        assert list(await agents.all()) == ["default", "dog"]

    async def test_that_removes_the_file_leaves_the_default_agent(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        remove(file)
        assert list(await agents.all()) == ["default"]

    async def test_is_read_once_nobody_writes_any_more(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        write(file, "")
        using = asyncio.create_task(agents.all())
        await asyncio.sleep(0.01)
        write(file, "[agents.cat]\n[agents.dog]\n")
        assert list(await using) == ["default", "cat", "dog"]

    async def test_is_read_once_for_all_who_wait(self, file: Path) -> None:
        agents = make_agents(file)
        await agents.load()
        write(file, "[agents.dog]")
        with capture_logs() as records:
            found = await asyncio.gather(*(agents.get("dog") for _ in range(20)))
        assert all(found)
        assert [record["event"] for record in records] == ["agents_reloaded"]

    async def test_changes_nothing_for_who_holds_an_agent(self, file: Path) -> None:
        write(file, '[agents.cat]\nprompt = "Meow."')
        agents = make_agents(file)
        await agents.load()
        held = await agents.get("cat")
        remove(file)
        assert await agents.get("cat") is None
        assert held is not None
        assert held.prompt == "Meow."


class TestBrokenChange:
    async def test_keeps_what_there_was_and_is_on_record_once(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        write(file, "[agents.cat]\ntemperature = 9")
        with capture_logs() as records:
            for _ in range(3):
                assert list(await agents.all()) == ["default", "cat"]
        [record] = records
        assert (record["event"], record["log_level"]) == ("agents_not_reloaded", "warning")
        assert "[agents.cat] temperature" in record["problem"]

    async def test_is_over_when_the_file_is_right_again(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file)
        await agents.load()
        write(file, "[agents")
        assert list(await agents.all()) == ["default", "cat"]
        write(file, "[agents.dog]")
        assert list(await agents.all()) == ["default", "dog"]

    async def test_keeps_what_there_was_when_a_named_file_is_gone(self, file: Path) -> None:
        write(file, "[agents.cat]")
        agents = make_agents(file, required=True)
        await agents.load()
        remove(file)
        assert list(await agents.all()) == ["default", "cat"]
