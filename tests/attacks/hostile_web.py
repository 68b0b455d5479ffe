"""A web server that sends what costs most to read, as fast as it can, in a process of its own.

    python -m tests.attacks.hostile_web      (prints its port)

The first part of a path names the answer: one of ANSWERS.
"""

import gzip
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from typing import Final

from tests.loopback.web import OUTSIDE

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_BATCH: Final = 1000


def _packed(members: bytes) -> Iterator[bytes]:
    """A hundred times these, which the server need not pack again."""
    yield _HEAD + b"Content-Encoding: gzip\r\n\r\n"
    yield from repeat(members, 100)


def _redirect() -> Iterator[bytes]:
    yield b"HTTP/1.1 302 Found\r\nLocation: /redirect/" + b"x/../" * 300 + b"\r\n"
    yield b'Content-Type: a; b="' + b";" * 7000 + b"\r\nContent-Length: 0\r\n\r\n"


def _kind() -> Iterator[bytes]:
    yield b'HTTP/1.1 200 OK\r\nContent-Type: text/html; a="' + b";" * 8000 + b"\r\n"
    yield b"Content-Length: 1\r\n\r\na"


def _text(kind: bytes, unit: bytes) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n" % kind
    yield unit * ((2 << 20) // len(unit))


def _endless(head: bytes, unit: bytes) -> Iterator[bytes]:
    return chain([head] if head else [], repeat(unit))


def _article() -> Iterator[bytes]:
    """Two megabytes of an article, no paragraph like another."""
    yield _HEAD + b"\r\n<title>T</title><article>"
    for n in range(15_000):
        yield f"<p>{n}: 東京の天気は晴れで、気温は{n}度です。明日は{n * n}度になるでしょう。</p>".encode()


ANSWERS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "chunks": lambda: _endless(_CHUNKED, b"1\r\na\r\n" * _BATCH),
    "slow-chunks": lambda: _endless(_CHUNKED, b"1\r\na\r\n"),
    "segments": lambda: _endless(_HEAD + b"\r\n", b"a"),
    "headers": lambda: _endless(_HEAD, b"A: b\r\n" * _BATCH),
    "header-segments": lambda: _endless(_HEAD + b"A: ", b"b"),
    "interim": lambda: _endless(b"", b"HTTP/1.1 103 X\r\nLink: </a>\r\n\r\n" * _BATCH),
    "bomb": lambda: _packed(gzip.compress(bytes(3 << 20), 9)),
    "members": lambda: _packed(gzip.compress(b"") * _BATCH),
    "extensions": lambda: _endless(_CHUNKED, b"1;" + b"x" * 4096 + b"\r\na\r\n"),
    "redirect": _redirect,
    "trailers": lambda: _endless(_CHUNKED + b"1\r\na\r\n0\r\n", b"A: b\r\n" * _BATCH),
    "kind": _kind,
    "old-encoding": lambda: _text(b"text/plain", "ｱﾞ".encode("cp932")),
    "json": lambda: _text(b"application/json", b'[["\\u3042"],'),
    "controls": lambda: _text(b"text/plain", b"a\x07\r\n"),
    "article": _article,
    "tags": lambda: _text(b"text/html", b"<p>a\x07&lt;"),
}


def _serve(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = connection.recv(1 << 16).split(b" ")[1].decode()
        for data in ANSWERS[asked.split("/")[1]]():
            connection.sendall(data)


def main() -> None:
    with socket.create_server((OUTSIDE, 0), backlog=100) as server:
        sys.stdout.write(f"{server.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            threading.Thread(target=_serve, args=(server.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
