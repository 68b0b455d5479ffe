"""How far a backup or a restore is, on a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from cc_bot.terminal.rich import bars

NAMES = {"copying": "コピーしています…", "checking": "中身を確かめています…"}


@pytest.fixture
def written() -> StringIO:
    return StringIO()


@pytest.fixture
def console(written: StringIO) -> Console:
    return Console(file=written, force_terminal=True, width=60)


class TestBars:
    def test_tell_the_stage_and_how_much_of_it_is_done(self, console: Console, written: StringIO) -> None:
        with bars(NAMES, console) as progress:
            progress("copying", 2**20, 2**22)
            progress("copying", 2**21, 2**22)
        assert "コピーしています…" in written.getvalue()
        assert "2.0/4.0 MiB" in written.getvalue()

    def test_go_on_with_one_stage_at_a_time(self, console: Console, written: StringIO) -> None:
        with bars(NAMES, console) as progress:
            progress("copying", 0, 2**22)
            written.truncate(0)
            progress("checking", 0, 0)
        assert "中身を確かめています…" in written.getvalue()
        assert "コピーしています…" not in written.getvalue()
        assert "MiB" not in written.getvalue()

    def test_leave_the_terminal_to_others_during_a_stage_without_a_name(
        self, console: Console, written: StringIO
    ) -> None:
        with bars(NAMES, console) as progress:
            progress("copying", 0, 2**22)
            progress("waiting", 0, 0)
            stopped = written.tell()
            console.print("実行しますか？")
            assert written.getvalue()[stopped:] == "実行しますか？\n"
            progress("checking", 0, 0)
        assert "中身を確かめています…" in written.getvalue()[stopped:]
