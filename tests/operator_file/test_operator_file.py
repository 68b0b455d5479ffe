import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cc_bot.domain.errors import InvalidPolicy
from cc_bot.domain.text import Locale
from cc_bot.operator_file import FileKind, OperatorFile, hash_file
from cc_bot.texts import texts
from cc_bot.texts.cli import OperatorFileTexts
from tests.no_files import NO_FILES

WORDS = texts(Locale.EN)[OperatorFileTexts]


def followed(path: Path, parse: Callable[[str], str] = str, *, required: bool = True) -> OperatorFile[str]:
    kind = FileKind("policy", "CC_BOT_POLICY_FILE", parse, InvalidPolicy)
    return OperatorFile[str](path, kind, WORDS, required=required)


async def test_a_change_is_taken_though_who_read_it_was_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("前")
    reading, go_on = threading.Event(), threading.Event()

    def parse(text: str) -> str:
        if text == "後の内容":
            reading.set()
            go_on.wait(10)
        return text

    file = followed(path, parse)
    assert await file.load() == "前"
    path.write_text("後の内容")
    asking = asyncio.create_task(file.current())
    await asyncio.to_thread(reading.wait, 10)
    asking.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await file.current() == "後の内容"


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
async def test_what_is_no_file_is_refused_at_once_and_in_a_running_program_changes_nothing(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "policy.toml"
    file = followed(path)
    path.write_text("before")
    await file.load()
    path.unlink()
    make(path)
    assert await asyncio.wait_for(file.current(), 60) == "before"
    with pytest.raises(InvalidPolicy) as refused:
        await asyncio.wait_for(followed(path).load(), 60)
    assert refused.value.params["detail"] == WORDS.not_regular
    assert await asyncio.wait_for(asyncio.to_thread(hash_file, path), 60) == ""
