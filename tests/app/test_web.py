"""The pages, put together: only where they are wanted, and by the operator's word."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.program import Program
from tests.web.pages import free_port

UNLOADED = (
    "import sys, cc_bot.app.discord, cc_bot.discord.bot;"
    "loaded = [name for name in sys.modules if name.startswith(('cc_bot.web', 'jinja2', 'markupsafe'))];"
    "print(*loaded)"
)


@pytest.mark.slow
def test_nothing_of_them_is_loaded_before_they_are_served() -> None:
    done = subprocess.run([sys.executable, "-c", UNLOADED], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0)


class TestTheStart:
    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"CC_BOT_WEB_HOST": "0.0.0.0"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_HOST": "0.0.0.0", "CC_BOT_WEB_URL": "http://bot.example"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_HOST": "0.0.0.0"}, "https://"),
            ({"CC_BOT_WEB_HOST": "0.0.0.0", "CC_BOT_WEB_URL": "https://0.0.0.0"}, "https://bot.example"),
            ({"CC_BOT_WEB_URL": "https://bot example"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "https://a;script-src"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "http://bot.example"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "https://bot.example/pages"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "https://user:pass@bot.example"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "bot.example"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_URL": "https://bot.example:x"}, "CC_BOT_WEB_URL"),
            ({"CC_BOT_WEB_PORT": "0"}, "CC_BOT_WEB_PORT"),
            ({"CC_BOT_WEB_PORT": "八〇八〇"}, "CC_BOT_WEB_PORT"),
            ({"CC_BOT_WEB_PROXIES": "127.0.0.1/33"}, "CC_BOT_WEB_PROXIES"),
            ({"CC_BOT_WEB_PROXIES": "proxy.example"}, "CC_BOT_WEB_PROXIES"),
        ],
    )
    async def test_ends_with_one_sentence_for_what_can_not_be(
        self, tmp_path: Path, settings: dict[str, str], named: str
    ) -> None:
        environment = {"DISCORD_TOKEN": "x", "CC_BOT_WEB_PORT": "8080", **settings}
        program = Program(tmp_path, environment)
        code, output = await program.run("run")
        assert code == 2
        assert named in output
        assert len(output.strip().splitlines()) == 1


class TestTheLinkForTheTerminal:
    async def test_is_printed_and_says_that_nobody_serves_it_yet(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        program = Program(tmp_path, {"CC_BOT_WEB_PORT": str(free_port()), "CC_BOT_LOCALE": "ja"})
        code, output = await program.run("web")
        assert code == 0
        assert "/sign-in?code=" in output
        assert "cc-bot run" in output

    async def test_needs_a_port(self, tmp_path: Path) -> None:
        program = Program(tmp_path, {"CC_BOT_LOCALE": "ja"})
        code, output = await program.run("web")
        assert code == 2
        assert "CC_BOT_WEB_PORT" in output
