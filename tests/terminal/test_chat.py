"""The whole program as a process of its own: in a pipe, and at a terminal."""

import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import closing
from fcntl import ioctl
from pathlib import Path

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.cli import TerminalTexts

pytestmark = pytest.mark.slow

PROGRAM = [sys.executable, "-X", "dev", "-m", "tests.terminal.program"]
PATIENCE_S = 60.0


def stored(database: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT role, content, status FROM messages ORDER BY id").fetchall()


def run(url: str, given: bytes, locale: str = "ja") -> subprocess.CompletedProcess[bytes]:
    command = [*PROGRAM, url, locale]
    return subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE_S, check=False)


class TestInAPipe:
    def test_each_line_is_answered_in_plain_text_until_the_end(self, url: str) -> None:
        ended = run(url, "こんにちは\n\nremember\n/memory list\nbad \xff bytes".encode())
        assert (ended.returncode, ended.stderr.decode()) == (0, "💾 メモリに保存しています…\n")
        assert re.sub(r"\d+月\d+日$", "DATE", ended.stdout.decode(), flags=re.MULTILINE).splitlines() == [
            "答え: **こんにちは**",
            "答え: **remember**",
            "◆ 💾 覚えました（#1）: 誕生日は3月15日 (取り消す: /memory delete 1)",
            "あなたのメモリ（1件）",
            "  #1  誕生日は3月15日  #誕生日  DATE",
            "答え: **bad ÿ bytes**",
        ]
        ended = run(url, b"\xef\xbb\xbf\xff\xfe\r\n/nonsense\ndown\n/exit\nnever", "en")
        assert ended.stdout.decode().splitlines()[0] == "答え: **\ufffd\ufffd**"
        assert len(ended.stderr.decode().splitlines()) == 2
        assert b"never" not in ended.stdout

    def test_a_file_is_read_and_a_reader_that_goes_away_is_no_crash(self, url: str, tmp_path: Path) -> None:
        (tmp_path / "questions").write_text("x\n" * 50, encoding="utf-8")
        piped = f"{' '.join(PROGRAM)} {url} ja < {tmp_path}/questions | head -1"
        ended = subprocess.run(piped, shell=True, capture_output=True, timeout=PATIENCE_S, check=False)
        assert (ended.stdout.decode(), ended.stderr) == ("答え: **x**\n", b"")

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_leaves_a_whole_turn(self, url: str, tmp_path: Path, number: signal.Signals) -> None:
        with subprocess.Popen(
            [*PROGRAM, url, "ja"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"slow\nnever asked\n")
            process.stdin.flush()
            assert process.stdout.read(15).decode() == "ここまでは"
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, b"")
        assert texts(Locale.JA)[TerminalTexts].cut in out.decode()
        turn = [("user", "slow", "complete"), ("assistant", "ここまでは", "cut")]
        assert stored(tmp_path / "chat.db") == turn


class Terminal:
    """A pseudo terminal of 40 by 20 cells with the chat running in it."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 40, 0, 0))
        self.theirs = theirs
        self.settings = termios.tcgetattr(theirs)
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads here
            env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": ""},
        )
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def wait_for(self, text: str) -> str:
        """Everything that was written since the last call, up to this text."""
        until = time.monotonic() + PATIENCE_S
        pending = b""
        while text not in self.seen:
            assert time.monotonic() < until, self.seen
            if select.select([self._ours], [], [], 0.1)[0]:
                pending += os.read(self._ours, 65536)
                try:
                    self.seen += _visible(pending.decode())
                except UnicodeDecodeError:
                    continue
                if "\x1b[6n" in pending.decode():  # where is the cursor?
                    self.type("\x1b[1;1R")
                pending = b""
        before, self.seen = self.seen.split(text, 1)
        return before

    def enter(self, keys: str, expected: str) -> None:
        """Type at the next prompt, and wait for what that brings up."""
        self.wait_for("Enter 送信")
        self.type(keys)
        self.wait_for(expected)

    def ended(self) -> int:
        """The exit code, once the program has ended; whatever it still writes is read."""
        until = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < until, self.seen
            if select.select([self._ours], [], [], 0.05)[0]:
                self.seen += os.read(self._ours, 65536).decode(errors="replace")
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self.theirs)


def _visible(output: str) -> str:
    return re.sub(r"\x1b(\[[?\d;]*[A-Za-z]|\][^\x07]*\x07|.)", "", output)


@pytest.fixture
def terminal(url: str, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(url, "ja", f"{tmp_path}/history")
    yield terminal
    terminal.close()


class TestAtATerminal:
    def test_ask_stop_remember_decide_and_leave(self, terminal: Terminal, tmp_path: Path) -> None:
        terminal.wait_for(texts(Locale.JA)[TerminalTexts].examples[0][0])
        terminal.wait_for("Enter 送信")
        terminal.type("slow\r")
        terminal.wait_for("Ctrl-C で止める")
        terminal.wait_for("ここまでは")
        terminal.type("次の質問\r")
        terminal.type("\x03")
        terminal.wait_for("ここで止めました")
        terminal.wait_for("答え: 次の質問")
        terminal.enter("long\r", "段落 1:")
        terminal.wait_for("段落 40:")
        terminal.enter("remember\r", "覚えました（#1）")
        terminal.enter("/memory delete ", "#1")
        terminal.type("\t\r")
        terminal.wait_for("忘れました（#1）")
        for answer, outcome in (("n", "実行しませんでした"), ("ｙ", "◆ 💾 覚えました（#2）")):
            terminal.enter("これを remember して\x1b\r> 誕生日は3月15日\ry\r", "◆ 提案: 💾 メモリに覚える")
            terminal.wait_for("  │ 誕生日は3月15日")
            terminal.wait_for("（y/N）")
            terminal.type(f"{answer}\r")
            terminal.wait_for(outcome)
        terminal.wait_for("Enter 送信")
        terminal.type("\x04")
        assert terminal.ended() == 0
        assert termios.tcgetattr(terminal.theirs) == terminal.settings
        assert [row[2] for row in stored(tmp_path / "chat.db")][:4] == [
            *("complete", "stopped", "complete", "complete")
        ]
        assert "+/memory delete 1" in (tmp_path / "history").read_text()
