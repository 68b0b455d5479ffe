"""When the program can't start as it is set up: one sentence, exit code 2, no traceback."""

import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, set_stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Everything in its place, and the program not started yet."""
    async with set_stage(tmp_path, {"CC_BOT_LOCALE": "en"}) as stage:
        yield stage


async def last_words(stage: Stage) -> str:
    """What `cc-bot run` says at its end, which comes at once and with exit code 2."""
    code, output = await stage.program.run("run")
    assert code == 2, output
    assert "Traceback" not in output
    return output.strip().splitlines()[-1]


class TestToken:
    async def test_missing(self, stage: Stage) -> None:
        del stage.program.environment["DISCORD_TOKEN"]
        stage.program.from_nothing = True
        assert (await last_words(stage)).startswith("DISCORD_TOKEN is not set.")

    async def test_missing_is_told_in_japanese(self, stage: Stage) -> None:
        stage.program.environment |= {"DISCORD_TOKEN": "", "CC_BOT_LOCALE": "ja"}
        assert (await last_words(stage)).startswith("DISCORD_TOKEN が設定されていません。")

    async def test_refused(self, stage: Stage) -> None:
        stage.program.environment["DISCORD_TOKEN"] = stage.discord.other_token
        assert (await last_words(stage)).startswith("Discord did not accept DISCORD_TOKEN.")

    async def test_malformed(self, stage: Stage) -> None:
        stage.program.environment["DISCORD_TOKEN"] = "ｔｏｋｅｎ あ"
        assert (await last_words(stage)).startswith("Discord did not accept DISCORD_TOKEN.")

    async def test_refused_later_by_the_gateway(self, stage: Stage) -> None:
        await stage.start()
        await stage.discord.drop_gateway(4004, resumable=False)
        assert await stage.program.ended() == 2
        assert stage.program.output.strip().splitlines()[-1].startswith("Discord did not accept")
        assert "Traceback" not in stage.program.output


class TestThePagesPort:
    async def test_that_is_taken_is_told_before_anybody_logs_in(self, stage: Stage) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            stage.program.environment["CC_BOT_WEB_PORT"] = str(other.getsockname()[1])
            assert "CC_BOT_WEB_PORT" in await last_words(stage)
        assert stage.discord.world.gateway.identifies == 0


class TestDiscord:
    async def test_out_of_reach(self, stage: Stage) -> None:
        stage.program.environment["DISCORD_API_URL"] = "http://127.0.0.1:9/api/v10"
        assert (await last_words(stage)).startswith("Discord can't be reached.")

    async def test_that_refuses_the_commands(self, stage: Stage) -> None:
        stage.discord.fail_next("PUT /applications/{application}/commands", 400)
        assert (await last_words(stage)).startswith("The commands could not be registered")

    async def test_that_fails_for_a_moment_is_asked_again(self, stage: Stage) -> None:
        stage.discord.fail_next("PUT /applications/{application}/commands", 503)
        await stage.start()
        assert {command.name for command in stage.discord.commands} >= {"ask", "memory", "settings"}

    async def test_that_withholds_the_gateway(self, stage: Stage) -> None:
        stage.discord.fail_next("GET /gateway/bot", 503, times=20)
        assert (await last_words(stage)).startswith("Discord can't be reached.")


class TestDatabase:
    async def test_in_a_folder_that_does_not_exist(self, stage: Stage) -> None:
        stage.program.environment["CC_BOT_DATABASE_URL"] = "sqlite:///no/such/folder/sessions.db"
        assert "no/such/folder does not exist" in await last_words(stage)

    async def test_of_a_newer_program(self, stage: Stage) -> None:
        code, output = await stage.program.run("migrate")
        assert code == 0, output
        with closing(sqlite3.connect(stage.database)) as connection, connection:
            connection.execute("INSERT INTO schema_migrations VALUES (9999, '2030-01-01', 'the future')")
        assert "was written by a newer cc-bot" in await last_words(stage)

    async def test_that_is_none(self, stage: Stage) -> None:
        stage.database.parent.mkdir()
        stage.database.write_text("Dear diary, this is not a database at all." * 100)
        assert "can't be opened" in await last_words(stage)

    async def test_of_a_bot_that_is_running(self, stage: Stage) -> None:
        await stage.start()
        async with set_stage(stage.program.folder, {"CC_BOT_LOCALE": "en"}) as second:
            assert (await last_words(second)).startswith("Another cc-bot is using")


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("CC_BOT_TIMEZONE", "Edo"),
            ("CC_BOT_LOCALE", "klingon"),
            ("CC_BOT_MODEL_TIMEOUT", "soon"),
            ("CC_BOT_HISTORY_LIMIT", "-1"),
            ("CC_BOT_DATABASE_URL", "mysql://bot:hunter2@example.invalid/db"),
            ("CC_BOT_DATABASE_URL", "postgresql://bot:hunter2@example.invalid/db?prepare=perhaps"),
        ],
    )
    async def test_with_a_wrong_value(self, stage: Stage, name: str, value: str) -> None:
        stage.program.environment |= {"LANG": "en_GB.UTF-8", name: value}
        words = await last_words(stage)
        assert words.startswith(f"The setting {name} is not valid.")
        assert "hunter2" not in words

    async def test_that_names_a_server_which_is_away(self, stage: Stage) -> None:
        stage.program.environment["CC_BOT_DATABASE_URL"] = "postgresql://bot:hunter2@127.0.0.1:1/db"
        words = await last_words(stage)
        assert words.startswith("The database server postgresql://bot@127.0.0.1:1/db can't be reached.")

    async def test_in_a_file_that_is_not_text(self, stage: Stage) -> None:
        (stage.program.folder / ".env").write_bytes(b"CC_BOT_LOCALE=\xff\xfe\n")
        assert (await last_words(stage)).startswith("The setting .env is not valid.")

    async def test_in_a_file_are_read(self, stage: Stage) -> None:
        token = stage.program.environment.pop("DISCORD_TOKEN")
        (stage.program.folder / ".env").write_text(f'DISCORD_TOKEN="{token}"  # from the portal\n')
        stage.program.from_nothing = True
        await stage.start()
        assert stage.discord.connected
