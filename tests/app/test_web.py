"""The pages, put together: only where they are wanted, and by the operator's word."""

import subprocess
import sys
from pathlib import Path

import pytest

from cc_bot.config import read_config
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from tests.end_to_end.program import Program
from tests.web.pages import free_port

UNLOADED = (
    "import sys, cc_bot.app.discord, cc_bot.discord.bot;"
    "loaded = [name for name in sys.modules if name.startswith(('cc_bot.web', 'jinja2', 'markupsafe'))];"
    "print(*loaded)"
)
EVERYWHERE = {"CC_BOT_WEB_HOST": "0.0.0.0"}
REFUSED: list[tuple[dict[str, str], str]] = [
    (EVERYWHERE, "CC_BOT_WEB_URL"),
    (EVERYWHERE | {"CC_BOT_WEB_URL": "http://bot.example"}, "CC_BOT_WEB_URL"),
    (EVERYWHERE, "https://"),
    (EVERYWHERE | {"CC_BOT_WEB_URL": "https://0.0.0.0"}, "https://bot.example"),
    *(
        ({"CC_BOT_WEB_URL": url}, "CC_BOT_WEB_URL")
        for url in (
            "https://bot example",
            "https://a;script-src",
            "http://bot.example",
            "https://bot.example/pages",
            "https://user:pass@bot.example",
            "bot.example",
            "https://bot.example:x",
        )
    ),
    ({"CC_BOT_WEB_PORT": "0"}, "CC_BOT_WEB_PORT"),
    ({"CC_BOT_WEB_PORT": "八〇八〇"}, "CC_BOT_WEB_PORT"),
    ({"CC_BOT_WEB_PROXIES": "127.0.0.1/33"}, "CC_BOT_WEB_PROXIES"),
    ({"CC_BOT_WEB_PROXIES": "proxy.example"}, "CC_BOT_WEB_PROXIES"),
]


@pytest.mark.slow
def test_nothing_of_them_is_loaded_before_they_are_served() -> None:
    done = subprocess.run([sys.executable, "-c", UNLOADED], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0)


async def test_the_start_ends_with_one_sentence_for_what_can_not_be(tmp_path: Path) -> None:
    for settings, named in REFUSED:
        with pytest.raises(CcBotError) as refused:
            read_config({"CC_BOT_WEB_PORT": "8080", **settings}, tmp_path / ".env")
        assert named in explain(refused.value, texts(Locale.EN)), settings
    code, output = await Program(tmp_path, {"DISCORD_TOKEN": "x", "CC_BOT_WEB_PORT": "0"}).run("run")
    assert (code, "CC_BOT_WEB_PORT" in output, len(output.strip().splitlines())) == (2, True, 1)


async def test_the_link_for_the_terminal_is_printed_where_there_is_a_port(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    code, output = await Program(tmp_path, {"CC_BOT_LOCALE": "ja"}).run("web")
    assert (code, "CC_BOT_WEB_PORT" in output) == (2, True)
    settings = {"CC_BOT_WEB_PORT": str(free_port()), "CC_BOT_LOCALE": "ja"}
    code, output = await Program(tmp_path, settings).run("web")
    assert code == 0
    assert "/sign-in?code=" in output
    assert "cc-bot run" in output  # nobody serves it yet
