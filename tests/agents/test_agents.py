"""The file while the program runs: read again when it is another one, kept as it was while it is wrong."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.text import Locale
from cc_bot.features.agents.file import AgentsFile, InvalidAgents


@dataclass
class Program:
    file: Path

    def __post_init__(self) -> None:
        self.agents = self.anew()

    def anew(self, *, required: bool = False) -> AgentsFile:
        return AgentsFile(self.file, tools=("recall",), locale=Locale.EN, required=required)

    def write(self, text: str | bytes) -> None:
        self.file.write_bytes(text.encode() if isinstance(text, str) else text)

    async def started(self, text: str = "[agents.cat]") -> None:
        self.write(text)
        await self.agents.load()

    async def names(self) -> list[str]:
        return list(await self.agents.get_all())


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path / "agents.toml")


class TestStart:
    async def test_reads_the_file_or_has_the_default_agent(self, program: Program) -> None:
        assert list(await program.anew().load()) == ["default"]
        for text in (b"[agents.tutor]", b"\xef\xbb\xbf[agents.tutor]\r\n"):
            program.write(text)
            assert list(await program.anew().load()) == ["default", "tutor"]

    async def test_ends_with_what_is_wrong_and_where(self, program: Program) -> None:
        for content, told in (
            (b"[agents.tutor]\ntemperature = 3", "[agents.tutor] temperature"),
            ("[agents.a]\nprompt = '先生'".encode("shift_jis"), "Save it in UTF-8."),
            (b"#" * 1_000_001, "too large (up to 1000 KB)"),
        ):
            program.write(content)
            with pytest.raises(InvalidAgents) as refused:
                await program.anew().load()
            assert told in str(refused.value.params["detail"])
            assert refused.value.params["path"] == str(program.file)

    async def test_ends_when_there_is_a_folder_or_nothing_in_its_location(self, program: Program) -> None:
        with pytest.raises(InvalidAgents, match="CC_BOT_AGENTS_FILE"):
            await program.anew(required=True).load()
        program.file.mkdir()
        with pytest.raises(InvalidAgents, match="not a regular file"):
            await program.anew().load()


class TestChange:
    async def test_is_seen_at_the_next_use_and_changes_nothing_for_who_holds_an_agent(
        self, program: Program
    ) -> None:
        await program.started('[agents.cat]\nprompt = "Meow."')
        held = await program.agents.get("cat")
        program.write('[agents.cat]\nprompt = "Now strict."')
        changed = await program.agents.get("cat")
        assert held is not None
        assert changed is not None
        assert (held.prompt, changed.prompt) == ("Meow.", "Now strict.")
        program.write('[agents.dog]\nprompt = "Now strict."')  # of the same length
        assert await program.names() == ["default", "dog"]
        program.file.unlink()
        assert await program.names() == ["default"]

    async def test_is_read_once_nobody_writes_any_more(self, program: Program) -> None:
        await program.started()
        program.write("")
        using = asyncio.create_task(program.names())
        await asyncio.sleep(0.01)
        program.write("[agents.cat]\n[agents.dog]\n")
        assert await using == ["default", "cat", "dog"]


class TestBrokenChange:
    async def test_keeps_what_there_was_on_record_once_until_the_file_is_right_again(
        self, program: Program
    ) -> None:
        await program.started()
        program.write("[agents.cat]\ntemperature = 9")
        with capture_logs() as records:
            for _ in range(3):
                assert await program.names() == ["default", "cat"]
        [record] = records
        assert (record["event"], record["log_level"]) == ("agents_not_reloaded", "warning")
        assert "[agents.cat] temperature" in record["problem"]
        program.write("[agents")
        assert await program.names() == ["default", "cat"]
        program.write("[agents.dog]")
        assert await program.names() == ["default", "dog"]
