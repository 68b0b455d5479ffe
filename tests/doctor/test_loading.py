"""What the doctor loads, and when."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.loopback.token"
LOADED_LATE = f"""
import asyncio, sys
from pathlib import Path
from cc_bot.app.doctor import run_doctor
from cc_bot.config import read_config

asked, late = [], []

def heed(event, arguments):
    if event == "socket.connect":
        asked.append(event)
    elif event == "import" and asked and arguments[0].partition(".")[0] in ("hikari", "lightbulb", "openai"):
        late.append(arguments[0])

sys.addaudithook(heed)
settings = {{
    "DISCORD_TOKEN": "{TOKEN}",
    "DISCORD_API_URL": "http://127.0.0.1:1",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "CC_BOT_EMBEDDING_MODEL": "off",
}}
asyncio.run(run_doctor(read_config(settings, Path("nowhere")), offline=False))
print([bool(asked), late, "hikari" in sys.modules])
"""


class TestLoading:
    def test_is_over_before_anybody_is_asked(self, tmp_path: Path) -> None:
        """It takes seconds on a slow machine, in which the answers wait and their time runs out."""
        told = subprocess.run(
            [sys.executable, "-c", LOADED_LATE], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        asked, late, loaded = ast.literal_eval(told.stdout)
        assert (asked, late, loaded) == (True, [], True)
